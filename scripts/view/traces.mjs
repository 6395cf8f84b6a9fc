// Traces for the check of the page, with what must be seen of them.
import { createWriteStream, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

// Numbers at random, the same each time.
export function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// Threads of events that nest; resolves to { file, events: [{ tid, start, dur, row, name }] } in ns, the longer ones only.
export async function nested(folder, { threads, seconds, seed }) {
  const file = path.join(folder, `nested-${threads}x${seconds}.json`);
  const [below, events, out] = [random(seed), [], createWriteStream(file)];
  out.write('[{"ph":"i","name":"first","pid":2,"tid":1,"ts":0,"s":"t"}');
  let [count, lines] = [1, []];
  const put = (tid, start, dur, row) => {
    const name = `work ${below(40)}`;
    lines.push(`,\n{"ph":"X","name":"${name}","cat":"c","pid":${1 + (tid % 4)},"tid":${tid},"ts":${start},"dur":${dur}}`);
    count += 1;
    if (dur > seconds * 1000) events.push({ tid, start: start * 1000, dur: dur * 1000, row, name });
  };
  const nest = (tid, from, to, row) => {
    put(tid, from, to - from, row);
    for (let at = from + 1 + below(20); at + 4 < to && row < 12;) {
      const end = Math.min(to - 1, at + 2 + below(Math.max(4, (to - from) >> 1)));
      nest(tid, at, end, row + 1);
      at = end + 2 + below(40);
    }
  };
  for (let tid = 1; tid <= threads; tid += 1) {
    for (let at = 1 + below(5000); at < seconds * 1e6;) {
      const end = at + 10 + below(below(10) ? 400 : 60_000);
      nest(tid, at, end, 0);
      at = end + 1 + below(300);
      if (lines.length > 20_000 && !out.write(lines.splice(0).join(''))) await once(out, 'drain');
    }
  }
  out.end(`${lines.join('')}]`);
  await once(out, 'finish');
  return { file, events, count };
}

// Names that would do harm if they were anything but text.
export function hostile(folder) {
  const file = path.join(folder, 'hostile.json');
  const names = ['<img src=x onerror="globalThis.harmed=1">', '\u202eabc\u202c.exe', 'שלום עולם', 'x'.repeat(1 << 20), '\u0000\u001b[31m', '"><script>globalThis.harmed=1</script>'];
  const events = names.flatMap((name, at) => [
    { ph: 'X', name, cat: name.slice(0, 50), pid: 1, tid: 1, ts: at * 100, dur: 90, args: { html: name.slice(0, 100) } },
    { ph: 'M', name: 'process_name', pid: at + 2, args: { name: name.slice(0, 1000) } },
    { ph: 'B', name, pid: at + 2, tid: name.slice(0, 30), ts: at * 100 },
    { ph: 'C', name: name.slice(0, 300), pid: at + 2, ts: at * 100, args: { [name.slice(0, 40)]: at } },
  ]);
  writeFileSync(file, JSON.stringify(events));
  return { file, names };
}

// A trace with bytes between its events that are none, an event that is broken, and no end: { file, torn, cut }, times of these in ns.
export function damaged(folder) {
  const file = path.join(folder, 'damaged.json');
  const event = (at) => JSON.stringify({ ph: 'X', name: `work ${at % 7}`, pid: 1, tid: 1 + (at % 3), ts: at * 10, dur: 8 });
  const lines = Array.from({ length: 1000 }, (_, at) => event(at));
  lines[300] = `?!?${lines[300]}`;
  lines[650] = '{"ph":"X","name":"bro"ken","pid":1,"tid":1,"ts":6500,"dur":8}';
  writeFileSync(file, `[${lines.join(',\n')},\n{"ph":"X","name":"cu`);
  return { file, torn: [2_990_000, 6_490_000], cut: 9_990_000 };
}
