// Drives Chromium over --remote-debugging-pipe and records a trace of one small page with a
// worker. Used by scripts/record-chromium; it needs nothing but Node.
//
//   node chromium.mjs CHROMIUM PROFILE_DIR TRACE_OUT
//
// The page is served out of this file (Fetch domain) under http://demo.test/, so that no path of
// the recording machine enters the trace as a URL.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [chromium, profileDir, traceOut] = process.argv.slice(2);

const page = `<!doctype html><meta charset="utf-8"><title>demo</title>
<style>div { width: 40px; height: 20px; background: teal }</style>
<h1>tracemill demo</h1><div id="box"></div><button>press</button>
<script src="/app.js"></script>`;

const app = `
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function layout() {
  const box = document.getElementById('box');
  for (let i = 0; i < 20; i++) { box.style.width = 40 + i + 'px'; box.offsetWidth; }
}
const worker = new Worker('/worker.js');
worker.onmessage = () => { console.timeEnd('worker'); document.title = 'done'; };
console.time('worker');
performance.mark('boot');
fibonacci(24);
layout();
performance.measure('boot done', 'boot');
performance.mark('quotes " and \\\\ and \\n and \\ud83d');
document.querySelector('button').onclick = () => { fibonacci(20); layout(); };
requestAnimationFrame(() => document.querySelector('button').click());
setTimeout(() => { fibonacci(22); worker.postMessage(22); }, 20);
`;

const worker = `
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
onmessage = (event) => { performance.mark('in worker'); postMessage(fibonacci(event.data)); };
`;

const served = {
  '/': ['text/html', page],
  '/app.js': ['text/javascript', app],
  '/worker.js': ['text/javascript', worker],
};

const categories = [
  'toplevel', 'loading', 'blink.user_timing', 'blink.console', 'devtools.timeline', 'v8.execute',
  'latencyInfo', 'disabled-by-default-devtools.timeline', '__metadata',
  'disabled-by-default-v8.cpu_profiler', 'disabled-by-default-devtools.timeline.frame',
];

const browser = spawn(chromium, [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions',
  '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage',
  '--remote-debugging-pipe', `--user-data-dir=${profileDir}`, 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });

// Messages on the pipe are JSON texts, each ended by a NUL byte.
let nextId = 1;
const replies = new Map();
const listeners = [];
let pending = Buffer.alloc(0);
browser.stdio[4].on('data', (data) => {
  pending = Buffer.concat([pending, data]);
  for (let end; (end = pending.indexOf(0)) >= 0; pending = pending.subarray(end + 1)) {
    const message = JSON.parse(pending.subarray(0, end).toString());
    if (message.id) {
      const { resolve, reject } = replies.get(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    } else {
      for (const listener of listeners) listener(message);
    }
  }
});

function send(method, params = {}, sessionId = undefined) {
  const id = nextId++;
  browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve, reject) => replies.set(id, { resolve, reject }));
}

function event(method) {
  return new Promise((resolve) => {
    listeners.push((message) => message.method === method && resolve(message.params));
  });
}

const { targetInfos } = await send('Target.getTargets');
const { targetId } = targetInfos.find((target) => target.type === 'page');
const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
listeners.push((message) => {
  if (message.method !== 'Fetch.requestPaused') return;
  const { requestId, request } = message.params;
  const [type, text] = served[new URL(request.url).pathname] ?? ['text/plain', ''];
  send('Fetch.fulfillRequest', {
    requestId,
    responseCode: 200,
    responseHeaders: [{ name: 'content-type', value: type }],
    body: Buffer.from(text).toString('base64'),
  }, sessionId);
});
await send('Fetch.enable', {}, sessionId);
await send('Tracing.start', {
  transferMode: 'ReturnAsStream',
  streamFormat: 'json',
  traceConfig: { recordMode: 'recordUntilFull', includedCategories: categories,
    excludedCategories: ['*'] },
});
await send('Page.navigate', { url: 'http://demo.test/' }, sessionId);
await new Promise((resolve) => setTimeout(resolve, 1200));
const complete = event('Tracing.tracingComplete');
await send('Tracing.end');
const { stream } = await complete;
const parts = [];
for (let eof = false; !eof;) {
  const part = await send('IO.read', { handle: stream });
  parts.push(Buffer.from(part.data, part.base64Encoded ? 'base64' : 'utf8'));
  eof = part.eof;
}
writeFileSync(traceOut, Buffer.concat(parts));
const closed = new Promise((resolve) => browser.once('exit', resolve));
send('Browser.close');
await closed;
