// Drives Chromium over --remote-debugging-pipe and records a trace of one small page with a
// worker. Used by scripts/record-chromium; it needs nothing but Node.
//
//   node chromium.mjs CHROMIUM PROFILE_DIR TRACE_OUT
//
// The page is served out of this file (Fetch domain) under http://demo.test/, so that no path of
// the recording machine enters the trace as a URL.
import { writeFileSync } from 'node:fs';
import { launch } from '../ui/protocol.mjs';

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

const { send, listen, next, close } = launch(chromium, profileDir);
const { targetInfos } = await send('Target.getTargets');
const { targetId } = targetInfos.find((target) => target.type === 'page');
const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
listen((message) => {
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
const complete = next('Tracing.tracingComplete');
await send('Tracing.end');
const { stream } = await complete;
const parts = [];
for (let eof = false; !eof;) {
  const part = await send('IO.read', { handle: stream });
  parts.push(Buffer.from(part.data, part.base64Encoded ? 'base64' : 'utf8'));
  eof = part.eof;
}
writeFileSync(traceOut, Buffer.concat(parts));
await close();
