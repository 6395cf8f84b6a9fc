// Opens a flame graph of 20,000 frames in Chromium and asserts how long that takes until it is painted. Used by scripts/picture-check, which says
// what it needs.
//
//   node picture.mjs TRACEMILL CHROMIUM FOLDER RUNS LIMIT    FOLDER takes the trace, the picture and a screenshot; LIMIT is in seconds
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './protocol.mjs';

const [tracemill, chromium, folder, runs, limit] = process.argv.slice(2);
// the goal: milliseconds from the navigation to the first frame that has all of it
const MOST = 1000;
const [columns, levels] = [4990, 4];

// Stacks side by side, each frame 0.24 px wide, so that each is drawn as a frame of its own; about as many as a picture may have.
const events = [];
for (let column = 0; column < columns; column++) {
  for (let level = 0; level < levels; level++) {
    const [ts, dur] = [1000 + column * 100 + level, 100 - 2 * level];
    events.push({ ph: 'X', cat: 'c', pid: 1, tid: 1, ts, dur, name: `level ${level} of stack ${column}` });
  }
}
const [trace, svg] = [path.join(folder, 'wide.json'), path.join(folder, 'wide.svg')];
writeFileSync(trace, JSON.stringify({ traceEvents: events }));
const made = spawnSync(tracemill, ['flame', trace, '-f', '-o', svg], { encoding: 'utf8' });
if (made.status !== 0) throw new Error(made.stderr);
const bytes = readFileSync(svg).length;

const browser = launch(chromium, path.join(folder, 'profile'), '--window-size=1400,900');
// A page that is never painted asks for no frame, and would be waited for without end.
let step = 'to start';
const deadline = setTimeout(async () => {
  await browser.kill();
  console.log(`WRONG the browser had ${limit} s, and did not get ${step}`);
  process.exit(1);
}, 1000 * Number(limit));
const { targetInfos } = await browser.send('Target.getTargets');
const { targetId } = targetInfos.find((target) => target.type === 'page');
const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
await browser.send('Page.enable', {}, sessionId);

// Milliseconds until the frame after `load` was made, by the page's own clock, which begins with the navigation.
const painted = `new Promise((done) => {
  const ready = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  document.readyState === 'complete' ? ready() : addEventListener('load', ready);
})`;
async function open() {
  await browser.send('Page.navigate', { url: 'about:blank' }, sessionId);
  await browser.send('Page.navigate', { url: pathToFileURL(svg).href }, sessionId);
  const { result } = await browser.send('Runtime.evaluate', { expression: painted, awaitPromise: true, returnByValue: true }, sessionId);
  return result.value;
}
const times = [];
for (let run = 1; run <= Number(runs); run++) {
  step = `to the end of opening number ${run}, after ${times.map(Math.round).join(', ') || 'none'} ms`;
  times.push(await open());
}
step = 'to its screenshot';
const count = { expression: 'document.querySelectorAll("svg *").length', returnByValue: true };
const { result: elements } = await browser.send('Runtime.evaluate', count, sessionId);
const { data } = await browser.send('Page.captureScreenshot', { format: 'png' }, sessionId);
writeFileSync(path.join(folder, 'wide.png'), Buffer.from(data, 'base64'));
step = 'to its end';
await browser.close();
clearTimeout(deadline);

const sorted = times.map(Math.round).sort((a, b) => a - b);
const median = sorted[sorted.length >> 1];
const enough = elements.value >= 19960;
console.log(`${median < MOST && enough ? 'ok   ' : 'WRONG'} ${columns * levels} frames, ${elements.value} elements, ${bytes} bytes: ` +
  `${median} ms until it is painted (${sorted.join(', ')}; must ${MOST})`);
process.exitCode = median < MOST && enough ? 0 : 1;
