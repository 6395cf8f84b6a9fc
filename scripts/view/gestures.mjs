// Drives what people do with the page: search, hover, selections of tracks, trees, tracks, keys, the overview, the address.
import path from 'node:path';
import { openTab, serve } from './page.mjs';

const text = (id) => `document.getElementById('${id}').textContent`;

// Moves the mouse to a point of an element and drags it to another, with a modifier if one is given.
async function drag(tab, id, from, to, modifiers = 0) {
  const box = await tab.run(`(({ left, top }) => ({ left, top }))(document.getElementById('${id}').getBoundingClientRect())`);
  const at = ([x, y]) => [box.left + x, box.top + y];
  await tab.mouse('mouseMoved', ...at(from), { button: 'none', modifiers });
  await tab.mouse('mousePressed', ...at(from), { modifiers });
  for (const part of [0.3, 0.7, 1]) await tab.mouse('mouseMoved', ...at(from.map((start, side) => start + (to[side] - start) * part)), { modifiers });
  await tab.mouse('mouseReleased', ...at(to), { modifiers });
  await tab.still();
}

async function hover(tab, id, x, y) {
  const box = await tab.run(`(({ left, top }) => ({ left, top }))(document.getElementById('${id}').getBoundingClientRect())`);
  await tab.mouse('mouseMoved', box.left + x, box.top + y, { button: 'none', clickCount: 0 });
}

// Where an event of a name is drawn: the first that is seen.
const spot = (name) => `(() => {
  const { lanes } = tracemill;
  for (let y = 0; y < lanes.height; y += lanes.rowHeight / 2) for (let x = 1; x < lanes.width; x += 2) {
    const picked = lanes.under(x, y)?.picked;
    if (picked && lanes.texts.get(picked.name) === '${name}') return [x, y];
  }
  return null;
})()`;

async function searches(tab, check) {
  await tab.key('/');
  await tab.send('Input.insertText', { text: 'FunctionCall' });
  await tab.until(`/^\\d/.test(${text('found')})`);
  const count = Number(await tab.run(text('found')));
  await tab.key('Enter');
  await tab.until(`${text('found')}.startsWith('1 / ')`);
  await tab.key('Enter');
  await tab.until(`${text('found')} === '2 / ${count}'`);
  await tab.key('Enter', { shift: true });
  await tab.until(`${text('found')} === '1 / ${count}'`);
  check('matches are numbered, forwards and back', true, `1 / ${count}`);
  check('all of them are marked in the overview', await tab.run('tracemill.minimap.marks.columns.length > 0'));
  await tab.run("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input')); document.getElementById('base').focus()");
  await tab.key('Escape');
}

async function hovers(tab, check) {
  await tab.run('tracemill.model.show(195e6, 246e6)');
  await tab.still();
  await tab.until(`${spot('EvaluateScript')} !== null`);
  const [x, y] = await tab.run(spot('EvaluateScript'));
  await hover(tab, 'base', x, y);
  await tab.until(`/EvaluateScript.*CrRendererMain.*url: /s.test(${text('tip')})`);
  check('the mouse shows thread and arguments', true, await tab.run(text('tip')));
  await hover(tab, 'minimap', 230, 30);
  check('and values of the overview', /ms.* %/.test(await tab.run(text('tip'))), await tab.run(text('tip')));
}

async function calls(tab, check) {
  const [x, y] = await tab.run(spot('fibonacci'));
  await drag(tab, 'base', [x, y], [x, y]);
  await tab.until("/app\\.js:\\d+:\\d+/.test(document.getElementById('event').textContent)");
  const facts = await tab.run("[...document.querySelectorAll('#event dt')].map((term) => term.textContent)");
  check('a call has a function, a location, self and total time', ['Function', 'Location', 'Total time', 'Self time'].every((fact) => facts.includes(fact)), facts.join());
}

async function selects(tab, check, picture) {
  const [top, main] = await tab.run("(({ lanes }) => { const item = lanes.items.find(({ lane }) => lane?.name.startsWith('CrRendererMain')); return [lanes.topOf(item), item.lane.id]; })(tracemill)");
  await drag(tab, 'base', [100, top + 5], [900, top + 25], 8);
  check('Shift and drag selects tracks and time', JSON.stringify(await tab.run('tracemill.model.selection.lanes')) === `[${main}]`);
  await tab.until("document.querySelector('#stats .jump')");
  const first = "document.querySelector('#stats tbody td')?.textContent";
  await tab.run("[...document.querySelectorAll('#stats .sort')].find((head) => head.textContent === 'Count').click()");
  const counts = await tab.run("[...document.querySelectorAll('#stats tbody tr')].map((row) => Number(row.cells[3].textContent.replace(/\\D/g, '')))");
  check('the table sorts', counts.length > 3 && counts.every((count, at) => at === 0 || count <= counts[at - 1]), counts.slice(0, 5).join());
  const name = await tab.run(first);
  await tab.run("document.querySelector('#stats .jump').click()");
  await tab.until(`document.querySelector('#event dd')?.textContent === ${JSON.stringify(name)}`);
  check('a row leads to an event', true, name);
  for (const [tab_, shows] of [['tree', '#stats .branch'], ['bottom', '#stats .branch'], ['flame', '#stats .flame button']]) {
    await tab.run(`document.getElementById('tab-${tab_}').click()`);
    await tab.until(`document.querySelectorAll('${shows}').length > 2`);
    await tab.picture(picture(`selection-${tab_}.png`));
  }
  const wide = "document.querySelector('#stats .flame button').getBoundingClientRect().width";
  const before = await tab.run(wide);
  await tab.run("document.querySelectorAll('#stats .flame button')[1].click()");
  check('trees and flame graph are there, and it zooms', before > 0 && (await tab.run("document.querySelector('#stats .flame .back') !== null")));
  await tab.run("document.getElementById('close').click(); tracemill.model.select(null)");
  await tab.still();
}

async function tracks(tab, check) {
  const main = await tab.run("tracemill.lanes.items.find(({ lane }) => lane?.name.startsWith('CrRendererMain')).key");
  const last = await tab.run("tracemill.lanes.items.findLast(({ lane }) => lane).key");
  await tab.run(`tracemill.model.pinned.add('${last}'); tracemill.model.tell('layout')`);
  await tab.still();
  await tab.run("document.getElementById('scroll').scrollTop = 300");
  await tab.still();
  check('a pinned track stays at the top', await tab.run(`tracemill.lanes.topOf(tracemill.lanes.items[0]) === 0 && tracemill.lanes.items[0].key === '${last}'`));
  await tab.run(`tracemill.model.pinned.clear(); document.getElementById('scroll').scrollTop = 0; document.getElementById('filter').value = 'Compositor'; document.getElementById('filter').dispatchEvent(new Event('input'))`);
  await tab.still();
  const shown = await tab.run("tracemill.lanes.items.filter(({ lane }) => lane).map(({ lane }) => lane.name)");
  check('names filter tracks', shown.length > 0 && shown.every((name) => name.includes('Compositor')), shown.join());
  await tab.run("document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input')); document.getElementById('fold').click()");
  await tab.still();
  check('all are folded at once', await tab.run('tracemill.lanes.items.every(({ lane }) => !lane)'));
  await tab.run("document.getElementById('fold').click()");
  await tab.still();
  check('and opened', await tab.run(`tracemill.lanes.items.some(({ key, rows }) => key === '${main}' && rows > 1)`));
  const width = "document.getElementById('names').clientWidth";
  const before = await tab.run(width);
  await drag(tab, 'grip', [3, 200], [103, 200]);
  check('the names can be made wider', (await tab.run(width)) > before + 90, `${before} ${await tab.run(width)}`);
  const full = await tab.run("[...document.querySelectorAll('#names .lane')].every((lane) => lane.title.length > 0)");
  check('and have their full text under the mouse', full);
}

async function keys(tab, check) {
  await tab.run("document.getElementById('base').focus()");
  const size = 'tracemill.model.view.to - tracemill.model.view.from';
  const [before] = [await tab.run(size)];
  await tab.key('+');
  const near = await tab.run(size);
  await tab.key('-');
  check('+ and - zoom', near < before && (await tab.run(size)) > near);
  const first = await tab.run('tracemill.model.picked.start');
  await tab.key(']');
  const next = await tab.run('tracemill.model.picked.start');
  await tab.key('[');
  check('[ and ] go to siblings', next > first && (await tab.run('tracemill.model.picked.start')) === first);
  await tab.run("document.getElementById('scroll').scrollTop = 1e6");
  await tab.key('f');
  await tab.still();
  const y = await tab.run('tracemill.lanes.y(tracemill.model.picked)');
  check('f keeps the event in sight', y > 0 && y < (await tab.run('tracemill.lanes.height')), String(y));
}

async function overview(tab, check) {
  await tab.run('tracemill.model.show(0, tracemill.model.duration)');
  await tab.still();
  const at = await tab.run("document.getElementById('minimap').clientWidth / 4");
  await drag(tab, 'minimap', [at, 40], [at, 40]);
  const middle = await tab.run('(tracemill.model.view.from + tracemill.model.view.to) / 2 / tracemill.model.duration');
  check('a click in the overview shows what is there', Math.abs(middle - 0.25) < 0.01, middle.toFixed(3));
  await drag(tab, 'minimap', [at * 2, 40], [at * 2.2, 40]);
  const { from, to } = await tab.run('({ from: tracemill.model.view.from / tracemill.model.duration, to: tracemill.model.view.to / tracemill.model.duration })');
  check('and a drag its window', Math.abs(from - 0.5) < 0.01 && Math.abs(to - 0.55) < 0.01, `${from.toFixed(3)} ${to.toFixed(3)}`);
  check('a legend says what colours mean', (await tab.run(text('legend'))).includes('Scripting'));
}

// An address shows to others what one sees.
async function address(tab, check, served) {
  await tab.run("tracemill.model.show(195e6, 246e6); tracemill.model.select({ from: 200e6, to: 210e6 }, [1, 2]); document.getElementById('search').value = 'Layout'; document.getElementById('search').dispatchEvent(new Event('input')); tracemill.model.order = 'name'; tracemill.model.fold(['p0'], true)");
  await tab.until("tracemill.model.search === 'Layout'");
  const state = "JSON.stringify([tracemill.model.view, tracemill.model.selection, tracemill.model.picked?.start, tracemill.model.order, tracemill.model.search, [...tracemill.model.toggled].sort(), tracemill.lanes.items.map(({ key }) => key)])";
  await tab.still();
  const before = await tab.run(state);
  const hash = await tab.run('tracemill.model.hash()');
  await tab.go('about:blank').catch(() => undefined);
  await tab.go(served.address + hash);
  await tab.until('tracemill.model.picked !== null');
  await tab.still();
  check('the address brings back what was seen', (await tab.run(state)) === before, hash);
  check('and the text that was searched', (await tab.run("document.getElementById('search').value")) === 'Layout');
}

// Tracks and markers of a page.
async function pages({ browser, check, picture, tracemill, folder }) {
  const served = await serve(tracemill, folder, path.join(import.meta.dirname, '../../testdata/tracks/page.json'));
  for (const [name, options] of [['light', {}], ['dark', { dark: true }], ['narrow', { width: 390, height: 800 }]]) {
    const tab = await openTab(browser, { width: 1400, height: 900, ...options });
    await tab.go(served.address);
    await tab.until('tracemill.lanes.strips.all.length > 0');
    await tab.still();
    const strips = await tab.run('tracemill.lanes.strips.all.map(({ title }) => title)');
    check(`${name}: a page has the tracks of DevTools`, ['Screenshots', 'Frames', 'Interactions', 'Timings', 'Layout shifts'].every((title) => strips.includes(title)), strips.join());
    await tab.run("document.getElementById('scroll').scrollTop = tracemill.lanes.items.find(({ lane }) => lane?.name === 'JS heap').top - 50");
    await tab.still();
    const [x, y] = await tab.run("(({ lanes }) => [lanes.width * 0.6, lanes.topOf(lanes.items.find(({ lane }) => lane?.name === 'JS heap')) + 10])(tracemill)");
    await hover(tab, 'base', x, y);
    await tab.until(`/^[\\d\u202f]+ +JS heap at /.test(${text('tip')})`);
    check('the mouse shows the value of a counter', true, await tab.run(text('tip')));
    await tab.run("document.getElementById('scroll').scrollTop = 0");
    await tab.still();
    check('and markers of its visits', (await tab.run('tracemill.lanes.strips.markers.length')) > 0);
    await tab.picture(picture(`page-${name}.png`));
    check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
    await tab.close();
  }
  await served.end();
}

export async function gestures(all) {
  const { browser, served, check, picture } = all;
  const tab = await openTab(browser, { width: 1400, height: 900 });
  await tab.go(served.address);
  const shown = await tab.run('tracemill.lanes.items.filter(({ strip }) => !strip).slice(0, 2).map(({ process, lane }) => lane?.name ?? process.name)');
  check('the main thread of the page comes first', shown[0] === 'Renderer' && shown[1].startsWith('CrRendererMain'), shown.join(' | '));
  check('what is not busy is folded', await tab.run('tracemill.lanes.items.some(({ key, lane }) => tracemill.model.isClosed(key))'));
  await tab.picture(picture('first.png'));
  await searches(tab, check);
  await hovers(tab, check);
  await calls(tab, check);
  await selects(tab, check, picture);
  await tracks(tab, check);
  await keys(tab, check);
  await overview(tab, check);
  await address(tab, check, served);
  check('no errors', tab.errors.length === 0, tab.errors.join(' · '));
  await tab.close();
  await pages(all);
}
