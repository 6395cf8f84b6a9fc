// What `tracemill record` has Node load before the program, in each process and worker: a CPU profile of every thread, written as it ends.
'use strict';
try {
  const { readlinkSync, writeFileSync } = require('fs');
  const { Session } = require('inspector');
  const { basename, join, relative } = require('path');
  const { isMainThread, threadId } = require('worker_threads');
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  session.post('Profiler.start');
  // traces name threads as the system does: by its number a profile stands beside its thread's events
  let tid = threadId;
  try {
    tid = readlinkSync('/proc/thread-self').split('/').pop();
  } catch {}
  // the profile of a main thread is named after the command of its process, as cpu-prof does
  let prefix = 'CPU';
  if (isMainThread) {
    const [node, script, ...args] = process.argv;
    const within = relative(process.cwd(), script || '');
    const file = within.startsWith('..') ? script : within;
    const words = [basename(node), ...(script ? [file] : []), ...args];
    let command = words.join(' ').replace(/\p{Cc}+/gu, ' ');
    // a file name has at most 255 bytes
    while (Buffer.byteLength(command) > 120) command = command.slice(0, -1);
    const encoded = Buffer.from(command).toString('base64');
    prefix = `MAIN-CPU--${encoded.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')}`;
  }
  const [date, time] = new Date().toISOString().replace(/[-:]|\..*/g, '').split('T');
  process.on('exit', () => {
    session.post('Profiler.stop', (error, answer) => {
      if (error) return;
      const name = `${prefix}.${date}.${time}.${process.pid}.${tid}.000.cpuprofile`;
      try {
        writeFileSync(join(FOLDER, name), JSON.stringify(answer.profile));
      } catch (problem) {
        console.error(`tracemill: the CPU profile of a thread of process ${process.pid} is lost: ${problem.message}`);
      }
    });
  });
  // a signal that nobody handles ends Node before anything is written
  if (isMainThread) {
    for (const [signal, number] of [['SIGHUP', 1], ['SIGINT', 2], ['SIGTERM', 15]]) {
      process.on(signal, () => {
        if (process.listenerCount(signal) === 1) process.exit(128 + number);
      });
    }
  }
} catch {}
