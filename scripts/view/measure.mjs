// Figures of the page for a large trace, of which there is an index; see scripts/view-check.
//
//   node measure.mjs TRACEMILL CHROMIUM TRACE FOLDER
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { launch } from '../ui/protocol.mjs';
import { openTab, serve } from './page.mjs';
import { random } from './traces.mjs';
import { quantile, walk } from './walk.mjs';

const [tracemill, chromium, trace, folder] = process.argv.slice(2).map((word) => path.resolve(word));
const MEMORY = '64M';
const told = (times) => `p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`;
const tell = (what, is) => console.log(`${what.padEnd(58)} ${is}`);

// Memory that is no file of a process, in MiB, the most of what was looked at.
function watched(pid) {
  const anonymous = () => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  let most = 0;
  const timer = setInterval(() => { most = Math.max(most, anonymous()); }, 20);
  return { end: () => { clearInterval(timer); return most; } };
}

// From the start of the process to its address, which it prints when it listens.
async function started() {
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    const before = performance.now();
    const served = await serve(tracemill, path.dirname(trace), trace, '-m', MEMORY);
    times.push(performance.now() - before);
    await served.end();
  }
  return times;
}

// How long tiles of random windows take: of some lanes, all of a window as sums, and to the last event.
async function tiles(address, routes) {
  const times = [];
  for (const route of routes) {
    const before = performance.now();
    const answer = await fetch(`${address}${route}`);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${route}: ${answer.status}`);
    times.push(performance.now() - before);
  }
  return times;
}

async function ready(address) {
  for (;;) {
    const answer = await fetch(`${address}api/trace`);
    if (answer.ok) return answer.json();
    await answer.arrayBuffer();
    await new Promise((go) => setTimeout(go, 20));
  }
}

spawnSync(tracemill, ['index', trace], { stdio: 'inherit' });
tell('start to listening', told(await started()));
const served = await serve(tracemill, path.dirname(trace), trace, '-m', MEMORY);
const memory = watched(served.pid);
const before = performance.now();
const known = await ready(served.address);
tell(`answers of a trace of ${(known.bytes / 2 ** 30).toFixed(1)} GiB, ${known.events} events, by its index: ${known.by_index}`, `${(performance.now() - before).toFixed(0)} ms after listening`);
const [below, duration] = [random(7), Number(known.duration)];
const lanes = known.processes.flatMap(({ lanes }) => lanes.map(({ id }) => id)).slice(0, 40).join();
const routes = (length, exact) => Array.from({ length: 60 }, () => {
  const from = Math.floor((below(1e9) / 1e9) * (duration - length));
  return `api/tile?from=${from}&to=${from + length}&px=1024&lanes=${lanes}${exact}`;
});
tell('tiles from the index', told(await tiles(served.address, routes(Math.floor(duration / 8), '&exact=0'))));
const few = Math.max(1000, Math.floor((duration / known.events) * 20_000));
tell(`tiles from the file, of ${(few / 1e6).toFixed(1)} ms, some 20,000 events`, told(await tiles(served.address, routes(few, ''))));

mkdirSync(folder, { recursive: true });
rmSync(path.join(folder, 'profile'), { recursive: true, force: true });
const browser = launch(chromium, path.join(folder, 'profile'));
const tab = await openTab(browser);
const drawn = [];
for (let round = 0; round < 5; round += 1) {
  await tab.send('Page.navigate', { url: 'about:blank' });
  await tab.go(served.address);
  drawn.push(await tab.run("performance.getEntriesByName('drawn')[0].startTime"));
}
tell('navigation to lanes drawn', told(drawn));
const { idle, own } = await walk(tab);
tell('300 frames of pans and zooms', `${told(own)}; of a page that does nothing ${told(idle)}`);
await tab.still();
tell('heap of the page', `${((await tab.run('performance.memory.usedJSHeapSize')) / 2 ** 20).toFixed(0)} MiB`);
tell(`memory of the server with -m ${MEMORY}, beside mapped files`, `${memory.end().toFixed(0)} MiB at most`);
tell('errors', tab.errors.join(' · ') || 'none');
await tab.picture(path.join(folder, 'measured.png'));
await browser.close();
await served.end();
