// Opens an SVG flame graph of about 20,000 frames in Chromium and asserts how long it takes until it is
// painted. Used by scripts/picture-check, which lists the requirements.
//
//   node picture.mjs TRACEMILL CHROMIUM FOLDER RUNS LIMIT    FOLDER takes the trace, the picture and a screenshot; LIMIT is in seconds
import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './protocol.mjs';

const [tracemill, chromium, folder, runs, limit] = process.argv.slice(2);
// the goal: milliseconds from the navigation to the first frame that has all of it
const MOST = 1000;

// Stacks side by side, each frame wide enough to be drawn as a frame of its own; about as many as a picture may have.
function draw(name, columns, levels) {
  const [trace, picture] = [path.join(folder, `${name}.json`), path.join(folder, name)];
  const file = openSync(trace, 'w');
  let comma = '{"traceEvents":[\n';
  for (let column = 0; column < columns; column++) {
    const events = [];
    for (let level = 0; level < levels; level++) {
      const [ts, dur] = [1000 + column * 1000 + level, 1000 - 2 * level];
      events.push(JSON.stringify({ ph: 'X', cat: 'c', pid: 1, tid: 1, ts, dur, name: `level ${level} of stack ${column}` }));
    }
    writeSync(file, comma + events.join(',\n'));
    comma = ',\n';
  }
  writeSync(file, ']}');
  const made = spawnSync(tracemill, ['flame', trace, '-f', '-o', picture], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return { name, picture, frames: columns * levels };
}
const { name, picture, frames } = draw('wide.svg', 4990, 4);

const browser = launch(chromium, path.join(folder, 'profile'), '--window-size=1400,900');
// A page that is never painted asks for no frame, and would be waited for without end.
let step = 'to start';
const late = async () => {
  await browser.kill();
  console.log(`WRONG the browser had ${limit} s, and did not get ${step}`);
  process.exit(1);
};
const deadline = setTimeout(late, 1000 * Number(limit));
const { targetInfos } = await browser.send('Target.getTargets');
const { targetId } = targetInfos.find((target) => target.type === 'page');
const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
await browser.send('Page.enable', {}, sessionId);

async function evaluate(expression) {
  const { result, exceptionDetails } = await browser.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

// Milliseconds until the frame after `load` was made, by the page's own clock, which begins with the navigation.
const painted = `new Promise((done) => {
  const ready = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  document.readyState === 'complete' ? ready() : addEventListener('load', ready);
})`;
async function open() {
  await browser.send('Page.navigate', { url: 'about:blank' }, sessionId);
  await browser.send('Page.navigate', { url: pathToFileURL(picture).href }, sessionId);
  return evaluate(painted);
}

const times = [];
for (let run = 1; run <= Number(runs); run++) {
  step = `to the end of opening ${name}, number ${run}, after ${times.join(', ') || 'none'} ms`;
  times.push(Math.round(await open()));
}
step = `to a screenshot of ${name}`;
const elements = await evaluate('document.querySelectorAll("svg *").length');
const { data } = await browser.send('Page.captureScreenshot', { format: 'png' }, sessionId);
writeFileSync(path.join(folder, `${name}.png`), Buffer.from(data, 'base64'));
times.sort((a, b) => a - b);
// other work on the machine only makes it slower
const [quick, median] = [times[times.length >> 2], times[times.length >> 1]];
const isRight = quick < MOST && elements >= frames;
console.log(`${isRight ? 'ok   ' : 'WRONG'} ${name}: ${frames} frames, ${elements} elements, ${readFileSync(picture).length} bytes: ` +
  `a quarter is painted within ${quick} ms, half within ${median} (${times.join(', ')}; must ${MOST})`);
if (!isRight) process.exitCode = 1;
step = 'to its end';
await browser.close();
clearTimeout(deadline);
