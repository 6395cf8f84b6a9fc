// The workload that scripts/record-node records: a little of everything Node writes into a trace.
//
//   node workload.mjs solo          main thread + one worker thread
//   node workload.mjs               the same, and a forked child process that runs `solo`
//
// The worker runs this same file. Keep it short: the recordings are kept in testdata/.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread } from 'node:worker_threads';

const self = fileURLToPath(import.meta.url);

function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

function sortWords(count) {
  let seed = 1;
  const words = [];
  for (let i = 0; i < count; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    words.push(seed.toString(36));
  }
  return words.sort().length;
}

function hashSelf(rounds) {
  const text = readFileSync(self);
  const hash = createHash('sha256');
  for (let i = 0; i < rounds; i++) hash.update(text);
  return hash.digest('hex').length;
}

// Runs one named slice: a console timer around a mark pair, a measure and the work itself.
function slice(name, work) {
  console.time(name);
  performance.mark(`${name}:start`); // not traced by Node 20, but by others
  const result = work();
  performance.mark(`${name}:end`);
  performance.measure(name, `${name}:start`, `${name}:end`);
  console.timeEnd(name);
  return result;
}

function once(emitter, event) {
  return new Promise((resolve, reject) => {
    emitter.once(event, resolve);
    emitter.once('error', reject);
  });
}

if (isMainThread) {
  const ends = [once(new Worker(self), 'exit')];
  if (process.argv[2] !== 'solo') ends.push(once(fork(self, ['solo']), 'exit'));
  slice('fibonacci', () => fibonacci(27));
  slice('sort words', () => sortWords(20_000));
  readdirSync('.');
  // Nested and overlapping timers: async pairs that are not a stack.
  console.time('outer');
  console.time('overlap');
  await new Promise((resolve) => setTimeout(resolve, 5));
  console.timeLog('outer', 'half-way');
  slice('hash', () => hashSelf(400));
  console.timeEnd('outer');
  console.timeEnd('overlap');
  // A timer with letters beyond ASCII, well-formed.
  slice('größe 大小 🕒', () => fibonacci(20));
  await Promise.all(ends);
} else {
  slice('worker fibonacci', () => fibonacci(26));
  slice('worker hash', () => hashSelf(200));
}
