// What `tracemill record` has Node load before the program, in each process and worker: a CPU profile of every thread, written as it ends.
'use strict';
try {
  const { readlinkSync, writeFileSync } = require('fs');
  const { Session } = require('inspector');
  const { join } = require('path');
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
  const [date, time] = new Date().toISOString().replace(/[-:]|\..*/g, '').split('T');
  process.on('exit', () => {
    session.post('Profiler.stop', (error, answer) => {
      if (error) return;
      const name = `CPU.${date}.${time}.${process.pid}.${tid}.000.cpuprofile`;
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
