// Starts Chromium and speaks its DevTools protocol over --remote-debugging-pipe; needs nothing but Node.
import { spawn } from 'node:child_process';

// Flags by which Chromium runs without a screen, a user or a network of its own.
const flags = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
  '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage',
  '--remote-debugging-pipe',
];

// A browser: send(method, params, session) resolves to the answer, listen(f) hands all events to f, next(method) waits
// for one, close() ends it, kill() at once.
export function launch(chromium, profileDir, ...more) {
  const browser = spawn(chromium, [...flags, ...more, `--user-data-dir=${profileDir}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const replies = new Map();
  const listeners = [];
  const exited = new Promise((resolve) => browser.once('exit', resolve));
  exited.then((status) => {
    for (const { reject } of replies.values()) reject(new Error(`the browser has ended: ${status}`));
  });

  // Messages on the pipe are JSON texts, each ended by a NUL byte.
  let pending = Buffer.alloc(0);
  browser.stdio[4].on('data', (data) => {
    pending = Buffer.concat([pending, data]);
    for (let end; (end = pending.indexOf(0)) >= 0; pending = pending.subarray(end + 1)) {
      const message = JSON.parse(pending.subarray(0, end).toString());
      if (message.id) {
        const { resolve, reject } = replies.get(message.id);
        replies.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      } else {
        for (const listener of listeners) listener(message);
      }
    }
  });

  let nextId = 1;
  function send(method, params = {}, sessionId = undefined) {
    const id = nextId++;
    browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => replies.set(id, { resolve, reject }));
  }

  return {
    send,
    listen: (listener) => listeners.push(listener),
    next: (method) => new Promise((resolve) => {
      listeners.push((message) => message.method === method && resolve(message.params));
    }),
    close: async () => {
      send('Browser.close').catch(() => {});
      await exited;
    },
    kill: async () => {
      // who waits for an answer is not told
      replies.clear();
      browser.kill('SIGKILL');
      await exited;
      // its processes end after it, and have files in its folder until then
      await new Promise((resolve) => setTimeout(resolve, 1000));
    },
  };
}
