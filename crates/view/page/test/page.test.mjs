// The parts of the page that need no browser: `npm test`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueAt } from './built/counter.mjs';
import { flags, wordOf } from './built/damage.mjs';
import { bytes, exact, short, stamp, step, visible } from './built/format.mjs';
import { Model } from './built/model.mjs';
import { loadOf, withCalls } from './built/mainload.mjs';
import { folded, mainOf, ordered } from './built/order.mjs';
import { contrasts, columnAt, draw, hit, paint } from './built/raster.mjs';
import { place } from './built/strips.mjs';
import { argsOf } from './built/tip.mjs';
import { COLUMNS, levelOf, parse, ranges } from './built/tiles.mjs';

const random = (seed) => (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};

test('times are told to the last digit', () => {
  const cases = [[0, '0 ns'], [999, '999 ns'], [1000, '1 µs'], [1500, '1.5 µs'], [1385141000, '1.385141 s'], [-1500, '-1.5 µs'], [9007199254740993n, '9\u202f007\u202f199.254740993 s']];
  for (const [nanos, text] of cases) assert.equal(exact(nanos), text);
  assert.equal(stamp(9007199254740993000n, 1), '9007199254740993.001 µs');
  assert.equal(stamp(-5n, 0), '-0.005 µs');
  assert.deepEqual([short(1234567), short(12.4e9), short(5)], ['1.23 ms', '12.4 s', '5 ns']);
  assert.deepEqual([bytes(5), bytes(2048), bytes(5 << 20)], ['5 B', '2.0 KiB', '5.0 MiB']);
  for (let least = 1; least < 1e12; least *= 1.7) assert.ok(step(least) >= least && step(least) <= least * 2.51, String(least));
});

test('nothing in a name is hidden', () => {
  assert.equal(visible('a\u202eb\u0000\u2069<b>'), 'a⟨U+202E⟩b␀⟨U+2069⟩<b>');
});

const trace = (duration) => ({ start: '5', duration: String(duration), processes: [] });

test('a window stays within the trace, whatever is done', () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const below = random(seed);
    const duration = [1, 7, 1000, 1e15][seed % 4];
    const model = new Model(trace(duration));
    for (let act = 0; act < 200; act += 1) {
      const at = (below(1e6) / 1e6) * duration * 1.4 - duration * 0.2;
      [() => model.zoom(0.1 + below(30) / 10, at), () => model.pan(at), () => model.show(at, at + below(1e6)), () => model.push(model.view), () => model.crumbs.length && model.pop(below(model.crumbs.length)), () => model.restore(model.hash())][below(6)]();
      const { from, to } = model.view;
      assert.ok(from >= 0 && to <= duration * (1 + 1e-12) && to - from > 0, `${from} ${to} of ${duration}`);
    }
  }
});

test('the address brings back what was seen', () => {
  const model = new Model(trace(1e9));
  model.push({ from: 1e8, to: 9e8 });
  model.show(2e8, 3e8);
  model.select({ from: 2.1e8, to: 2.2e8 });
  model.pick({ lane: 3, row: 2, start: 25, dur: 1, place: 0, name: 0, flags: 0 });
  [model.order, model.search, model.filter] = ['name', 'a&b=ü', '#'];
  model.fold(['l1', 'p2'], true);
  model.hidden.add('p1');
  model.pinned.add('l4');
  const other = new Model(trace(1e9));
  other.restore(model.hash());
  const state = ({ view, crumbs, selection, order, search, filter, toggled, hidden, pinned }) => ({ view, crumbs, selection, order, search, filter, toggled, hidden, pinned });
  assert.deepEqual(state(other), state(model));
  assert.deepEqual(other.sought, { lane: 3, row: 2, start: 25 });
  assert.deepEqual([other.isClosed('l1'), other.isClosed('l2')], [true, false]);
  for (const hash of ['', '#v=9-1', '#v=x&c=,,&s=1-', '#v=0-99999999999999999999999', '#q=%&f=x,l-1&e=1.2&o=none']) new Model(trace(50)).restore(hash);
});

test('what comes to a trace leaves what is seen where it is', () => {
  const lane = (id, rows) => ({ id, kind: 'thread', name: '', rows, events: 1, busy: 1, first: 0, last: 1 });
  const processes = (...lanes) => [{ pid: '1', name: '', labels: null, inputs: [], lanes }];
  const model = new Model({ ...trace(1e9), processes: processes(lane(0, 1)) });
  model.push({ from: 1e8, to: 9e8 });
  model.show(2e8, 3e8);
  model.select({ from: 2.1e8, to: 2.2e8 });
  model.pick({ lane: 0, row: 0, start: 25, dur: 1, place: 0, name: 0, flags: 0 });
  model.lanes.get(0).rows = 7;
  // it begins 3 ns earlier now, and lasts longer
  model.update({ start: '2', duration: String(1e9 + 10), processes: processes(lane(0, 2), lane(1, 4)) });
  assert.deepEqual([model.view, model.selection, model.crumbs], [{ from: 2e8 + 3, to: 3e8 + 3 }, { from: 2.1e8 + 3, to: 2.2e8 + 3, lanes: null }, [{ from: 1e8 + 3, to: 9e8 + 3 }]]);
  assert.deepEqual([model.picked.start, model.duration, model.lanes.get(0).rows, model.lanes.get(1).rows], [28, 1e9 + 10, 7, 4]);
  // who sees all of it sees all of it then
  const whole = new Model(trace(1e9));
  whole.update({ start: '5', duration: '2000000000', processes: [] });
  assert.deepEqual(whole.view, { from: 0, to: 2e9 });
});

// A tile of one lane, as the server writes it.
function tile(spans, columns) {
  const parts = [];
  const put = (array) => parts.push(Buffer.from(array.buffer, array.byteOffset, array.byteLength), Buffer.alloc((8 - (array.byteLength % 8)) % 8));
  const of = (Type, list, key) => put(Type.from(list, (own) => own[key]));
  parts.push(Buffer.from('TMT1'), Buffer.from(Uint32Array.of(1, 7, columns.length ? 1 : 0, spans.length, columns.length).buffer));
  for (const key of ['start', 'dur', 'place']) of(Float64Array, spans, key);
  of(Uint32Array, spans, 'name');
  of(Uint16Array, spans, 'row');
  of(Uint8Array, spans, 'flags');
  for (const key of ['column', 'count', 'name']) of(Uint32Array, columns, key);
  of(Uint16Array, columns, 'row');
  of(Uint8Array, columns, 'busy');
  const whole = Buffer.concat(parts);
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length);
}

test('tiles are read where they lie', () => {
  const spans = [{ start: 3, dur: 5, place: 99, name: 4, row: 1, flags: 1 }];
  const columns = [{ column: 8, count: 3, name: 2, row: 0, busy: 200 }, { column: 9, count: 1, name: 2, row: 2, busy: 3 }, { column: 9, count: 1, name: 2, row: 3, busy: 3 }];
  const [read] = parse(tile(spans, columns), 0, 1);
  assert.deepEqual([read.lane, read.exact, read.start[0], read.dur[0], read.place[0], read.name[0], read.row[0], read.flags[0]], [7, false, 3, 5, 99, 4, 1, 1]);
  assert.deepEqual([[...read.column], [...read.count], [...read.columnRow], [...read.busy]], [[8, 9, 9], [3, 1, 1], [0, 2, 3], [200, 3, 3]]);
  assert.equal(columnAt(read, 2, 9.5), 1);
  assert.throws(() => parse(new ArrayBuffer(16), 0, 1));
  assert.deepEqual([levelOf(0.2), levelOf(1), levelOf(1023), levelOf(1024)], [0, 0, 9, 10]);
  assert.equal(ranges([5, 1, 2, 3, 9]), '1-3,5,9');
});

test('pixels are where intervals are', () => {
  const colors = paint(false);
  for (let seed = 0; seed < 60; seed += 1) {
    const below = random(seed + 7);
    const [rows, width] = [3, 200];
    const spans = [];
    for (let row = 0; row < rows; row += 1) {
      for (let at = below(40); at < 900; at += 1 + below(60)) {
        const dur = below(90);
        spans.push({ start: at, dur, place: 0, name: below(50), row, flags: 0 });
        at += dur;
      }
    }
    const [read] = parse(tile(spans, []), 0, 1);
    const map = { from: below(300), perPixel: 0.3 + below(40) / 10 };
    const pixels = new Uint32Array(width * rows);
    draw(read, { pixels, width, rows }, map, [0, COLUMNS], colors, colors.palettes.events);
    for (let row = 0; row < rows; row += 1) {
      for (let x = 0; x < width; x += 1) {
        const [from, to] = [map.from + x * map.perPixel, map.from + (x + 1) * map.perPixel];
        const own = spans.filter((span) => span.row === row);
        const covered = own.some((span) => span.start <= from && span.start + span.dur >= to + map.perPixel * 1.01);
        const touched = own.some((span) => span.start < to + 1e-9 && span.start + span.dur >= from - 1e-9);
        const seen = pixels[row * width + x] !== 0;
        if (covered) assert.ok(seen, `seed ${seed}: ${row} ${x} is covered`);
        if (!touched && from < COLUMNS) assert.ok(!seen, `seed ${seed}: ${row} ${x} is free`);
      }
    }
    const span = spans[below(spans.length)];
    const found = hit(read, span.row, span.start + span.dur / 2, 0.01);
    assert.ok(found >= 0 && read.start[found] <= span.start + span.dur / 2);
  }
});

test('intervals have the colours that they name', () => {
  const colors = paint(false, ['#b40000', '#ffff77']);
  const pixel = (flags) => {
    const [read] = parse(tile([{ start: 0, dur: 90, place: 0, name: 5, row: 0, flags }], []), 0, 1);
    const pixels = new Uint32Array(100);
    draw(read, { pixels, width: 100, rows: 1 }, { from: 0, perPixel: 1 }, [0, COLUMNS], colors, colors.palettes.events);
    return pixels[50];
  };
  assert.deepEqual([pixel(8), pixel(17), colors.inks], [0xff0000b4, 0xff77ffff, ['#ffffff', '#000000']]);
  assert.ok(colors.colors.includes(pixel(0)) && pixel(4) === pixel(0));
  const grey = Array.from({ length: 256 }, (_, level) => `#${level.toString(16).padStart(2, '0').repeat(3)}`);
  assert.ok(Math.min(...contrasts(paint(true, grey))) >= 4.5);
});

test('texts are read on every colour, in both schemes', () => {
  for (const dark of [false, true]) assert.ok(Math.min(...contrasts(paint(dark))) >= 4.5, String(contrasts(paint(dark))));
});

test('lanes stand in the order that was chosen, calls below their thread', () => {
  const lane = (id, kind, name, busy) => ({ id, kind, name, busy });
  const of = (pid, name, lanes) => ({ pid, name, lanes });
  const processes = [
    of('20', 'zebra', [lane(0, 'counter', 'heap', 1e18), lane(1, 'thread', 'Thread 10', 5), lane(2, 'calls', 'Thread 10', 9), lane(3, 'thread', 'Thread 9', 7)]),
    of('3', 'ant', [lane(4, 'thread', 'main 4', 100)]),
  ];
  const told = (order, hidden = []) => ordered(processes, order, (key) => hidden.includes(key)).map(({ key, lanes }) => `${key}:${lanes.map(({ id }) => id)}`).join(' ');
  assert.equal(told('trace'), 'p0:0,1,2,3 p1:4');
  assert.equal(told('busy'), 'p1:4 p0:1,2,3,0');
  assert.equal(told('main'), 'p1:4 p0:1,2,3,0');
  assert.equal(told('name'), 'p1:4 p0:0,3,1,2');
  assert.equal(told('id'), 'p1:4 p0:3,1,2,0');
  assert.equal(told('id', ['l1', 'p1']), 'p0:3,2,0');
  assert.deepEqual(processes.map(({ lanes }) => lanes.length), [4, 1]);
});

test('the main thread comes first and is open, what does little is folded', () => {
  const lane = (id, kind, name, busy, rows) => ({ id, kind, name, busy, rows });
  const processes = [
    { pid: '1', name: 'GPU', lanes: [lane(0, 'counter', 'memory', 1e12, 1), lane(1, 'thread', 'CrGpuMain 1', 900, 8)] },
    { pid: '0', name: '', lanes: [lane(2, 'thread', 'swapper/0 0', 1e9, 1)] },
    { pid: '7', name: 'Renderer', lanes: [lane(3, 'async', 'loading', 1e9, 6), lane(4, 'thread', 'Compositor 8', 300, 4), lane(5, 'thread', 'CrRendererMain 7', 200, 30), lane(6, 'calls', 'CrRendererMain 7', 150, 9), lane(7, 'thread', 'idle thread 9', 2, 3)] },
  ];
  assert.equal(mainOf(processes).id, 5);
  assert.deepEqual(ordered(processes, 'main', () => false).map(({ lanes }) => lanes.map(({ id }) => id)), [[5, 6, 4, 7, 3], [1, 0], [2]]);
  // async operations and counters do not make a process busy, nor does what idles
  assert.deepEqual(ordered(processes, 'busy', () => false).map(({ key }) => key), ['p0', 'p2', 'p1']);
  assert.deepEqual([...folded(processes)].sort(), ['l0', 'l1', 'l3', 'l7', 'p1']);
  // a trace that fits is shown as it is
  assert.deepEqual([...folded(processes.slice(0, 2))], []);
  const program = [{ pid: '4', name: 'a', lanes: [lane(0, 'thread', 'worker 5', 9, 1), lane(1, 'thread', 'Thread 4', 3, 1)] }];
  assert.equal(mainOf(program).id, 1);
});

test('rows of a strip do not overlap', () => {
  for (let seed = 0; seed < 30; seed += 1) {
    const below = random(seed);
    const rows = Array.from({ length: 1 + below(60) }, () => ({ start: below(500), dur: below(40), row: 0 })).sort((a, b) => a.start - b.start || b.dur - a.dur);
    const depth = place(rows);
    assert.ok(rows.every(({ row }) => row < depth));
    // the last row takes what has no room
    for (const [at, a] of rows.entries()) for (const b of rows.slice(at + 1)) if (a.row === b.row && a.row < 11) assert.ok(a.start + a.dur <= b.start, `seed ${seed}`);
  }
});

test('the first arguments of an event are shown, harmful marks visibly', () => {
  const text = '{"ph":"X","args":{"data":{"url":"http://a/b","line":7,"deep":{"er":{"est":1}}},"list":[1,2],"more":"a\u202eb","none":null}}';
  assert.deepEqual(argsOf(text), ['data.url: http://a/b', 'data.line: 7', 'data.deep.er: {"est":1}', 'list: [1,2]']);
  assert.deepEqual(argsOf('{"args":{"a":"\u202e"}}'), ['a: ⟨U+202E⟩']);
  assert.deepEqual([argsOf('{"args":'), argsOf('{}'), argsOf('{"args":{"a":"' + 'x'.repeat(200) + '"}}')[0].length], [[], [], 94]);
});

test('the value of a counter is that of the last sample', () => {
  const tiles = [{ start: [10, 20], place: [5, 7] }, { start: [30], place: [1] }];
  assert.deepEqual([5, 10, 25, 99].map((time) => valueAt(tiles, time)), [null, 5, 7, 1]);
});

test('the overview has the self times of categories', () => {
  // an event of 4 columns holds two others, of 1 and of 1.5 columns; one without an end does not count
  const spans = [{ start: 0, dur: 90, place: 0, name: 9, row: 0, flags: 1 }, { start: 0, dur: 40, place: 0, name: 0, row: 0, flags: 0 }, { start: 10, dur: 10, place: 0, name: 1, row: 1, flags: 0 }, { start: 20, dur: 15, place: 0, name: 2, row: 1, flags: 0 }];
  const [read] = parse(tile(spans, [{ column: 5, count: 3, name: 1, row: 0, busy: 51 }]), 0, 10);
  const load = loadOf(read, 8, 3, (name) => name);
  const seen = load.map((own) => [...own].map((part) => Math.round(part * 100)));
  // calls of half the time of columns 0 and 6 are scripting
  withCalls(load, parse(tile([], [{ column: 0, count: 1, name: 1, row: 0, busy: 128 }, { column: 6, count: 1, name: 1, row: 0, busy: 128 }]), 0, 10)[0], 8, 1);
  assert.deepEqual([load[1][0], load[1][6], load[2][0]].map((part) => Math.round(part * 10)), [0, 5, 0]);
  assert.deepEqual(seen, [[100, 0, 0, 50, 0, 0, 0, 0], [0, 100, 0, 0, 0, 20, 0, 0], [0, 0, 100, 50, 0, 0, 0, 0]]);
});

test('events of Chrome have the colours of their categories', () => {
  const processes = [{ lanes: [{ name: 'CrRendererMain 7' }] }];
  const own = paint(false, [], { processes, categories: { scripting: [3], layout: [5] } });
  assert.deepEqual([own.categoryOf(3), own.categoryOf(5), own.categoryOf(4)], [1, 2, own.categories.length - 1]);
  const byName = paint(false, [], { processes: [{ lanes: [{ name: 'main' }] }], categories: { scripting: [3] } });
  assert.deepEqual([own.palettes.events.table.length, byName.palettes.events.table], [6, null]);
  for (const dark of [false, true]) assert.ok(Math.min(...contrasts(paint(dark, [], { processes, categories: {} }))) >= 4.5, String(contrasts(paint(dark, [], { processes, categories: {} }))));
});

test('marks of damage have words, one for those that stand close', () => {
  const wide = (text) => text.length * 6;
  const mark = (x, word = 'damaged') => ({ x, word });
  const told = (marks, width = 1000) => flags(marks, width, wide).map(({ x, text, marks }) => `${x} ${text} ${marks}`);
  assert.deepEqual(told([mark(500), mark(10, 'cut off')]), ['10 cut off 10', '500 damaged 500']);
  assert.deepEqual(told([mark(10), mark(12), mark(60), mark(300)]), ['10 3 × damaged 10,12,60', '300 damaged 300']);
  // what lies outside a crumb is not marked
  assert.deepEqual(told([mark(-1), mark(0), mark(1000), mark(1001)]), ['0 damaged 0', '1000 damaged 1000']);
  assert.deepEqual([wordOf({ kind: 'truncated' }), wordOf({ kind: 'malformed' })], ['cut off', 'damaged']);
});
