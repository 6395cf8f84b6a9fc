// Opens what tracemill writes in the Performance panel of Chromium's DevTools, and asserts which tracks it draws. Used by
// scripts/ui-check, which says what it needs.
//
//   node check.mjs TRACEMILL CHROMIUM FOLDER [NAME…]     only the cases named; FOLDER takes files and pictures
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launch } from './protocol.mjs';
import { openPanel } from './panel.mjs';

const [tracemill, chromium, folder, ...only] = process.argv.slice(2);
const testdata = path.join(import.meta.dirname, '../../testdata');
const recorded = path.join(testdata, 'chromium/trace.json.gz');
const nodeTrace = path.join(testdata, 'node/trace.json');
const profiles = path.join(testdata, 'node-cpu-prof');
// the recording as DevTools takes it, of which the verbs make what they make
const browserTrace = path.join(folder, 'browser.json');

// Tracks of the page in testdata/chromium, of the two programs in testdata/node-cpu-prof, each with a worker, and of
// testdata/node/trace.json.
const page = ['Timings', 'Frame — http://demo.test/', 'Worker — http://demo.test/worker.js', 'Thread pool'];
const profiled = ['Main — process:19476', 'worker 1', 'main thread', 'worker 1'];
const traced = ['JavaScriptMainThread', '[worker 1]'];

// name: flags that write the file, and tracks that must be drawn.
const cases = {
  'merged.json.gz': {
    words: ['merge', recorded, profiles, nodeTrace, '--align', 'start', '--for', 'devtools', '-o'],
    tracks: [...page, ...profiled, ...traced],
  },
  'profiles.json': { words: ['merge', profiles, '--for', 'devtools', '-o'], tracks: profiled },
  'sorted.json.gz': { words: ['merge', browserTrace, '-o'], tracks: page },
  'window.json': { words: ['slice', browserTrace, '--from', '200ms', '--duration', '500ms', '-o'], tracks: page },
  'filtered.json': { words: ['filter', browserTrace, '--drop', 'gpu,network', '-o'], tracks: page },
  'array.json': { words: ['convert', browserTrace, '--format', 'array', '-o'], tracks: page, loses: true },
  'part.json': {
    words: ['split', browserTrace, '--by', 'pid', '-f', '-O', 'part.{pid}.json', '-d', folder],
    file: 'part.5962.json', tracks: page,
  },
};

// Runs tracemill; only where something is lost by design may it end with 1.
function run(words, loses = false) {
  const { status, stderr } = spawnSync(tracemill, words, { encoding: 'utf8' });
  if (status !== 0 && !(loses && status === 1)) throw new Error(`tracemill ${words.join(' ')}: ${status}\n${stderr}`);
}

function make(name, { words, file, loses }) {
  const output = path.join(folder, file ?? name);
  run(file ? words : [...words, output, '-f'], loses);
  return output;
}

mkdirSync(folder, { recursive: true });
run(['merge', recorded, '--for', 'devtools', '-f', '-o', browserTrace]);
// DevTools pages open only where DevTools are open already
const flags = ['--window-size=1400,1000', '--auto-open-devtools-for-tabs'];
const browser = launch(chromium, path.join(folder, 'profile'), ...flags);
const show = await openPanel(browser);
let wrong = 0;
for (const [name, wanted] of Object.entries(cases)) {
  if (only.length > 0 && !only.includes(name)) continue;
  const seen = await show(readFileSync(make(name, wanted)), name);
  writeFileSync(path.join(folder, `${name}.png`), seen.picture);
  // each track drawn stands for one that is wanted: two of one name are two
  const drawn = seen.tracks.map((track) => track.trim());
  const missing = wanted.tracks.filter((track) => !drawn.includes(track) || !drawn.splice(drawn.indexOf(track), 1));
  const problems = [...seen.errors, ...missing.map((track) => `no track ${track}`)];
  if (seen.entries === 0) problems.push('nothing is drawn');
  console.log(`${problems.length ? 'WRONG' : 'ok   '} ${name}: ${seen.entries} entries`);
  for (const track of seen.tracks) console.log(`        ${track}`);
  for (const problem of problems) console.log(`      ! ${problem}`);
  wrong += problems.length > 0;
}
await browser.close();
process.exitCode = wrong ? 1 : 0;
