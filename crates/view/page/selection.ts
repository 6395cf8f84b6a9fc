// What is in the selection, or else in the visible window: a table by name, trees of calls, a flame graph.

import { exact, grouped, refused, short, visible } from './format';
import type { Model, Picked } from './model';
import type { Names } from './names';
import { CATEGORIES, isOfDevtools, type Paint } from './raster';
import { ranges } from './tiles';

export type Shape = 'stats' | 'bottom' | 'tree' | 'flame';

interface Row { name: string; id: number; count: number; total: number; self: number | null; min: number | null; max: number; longest?: Picked | null; }
interface Stats { events: number; exact: boolean; distinct: number; names: Row[]; lanes: { lane: number; busy: number }[]; }
// A row of a tree; times are milliseconds.
interface TreeRow { depth: number; name: string; self: number; total: number; count: number; category: string; place: string; }
interface Tree { state: 'reading' | 'failed' | 'ready'; why: string; rows: TreeRow[]; more: number; busy: number; threads: number; }

const AGAIN = 400;
const COLUMNS: [string, (row: Row) => string | number | null][] = [
  ['Name', (row) => row.name], ['Self', (row) => row.self], ['Total', (row) => row.total], ['Count', (row) => row.count],
  ['Average', (row) => row.total / row.count], ['Min', (row) => row.min], ['Max', (row) => row.max],
];

export function make(tag: string, text: string, name = ''): HTMLElement {
  const own = document.createElement(tag);
  own.textContent = text;
  if (name) own.className = name;
  return own;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const named = (name: string): string => (name === '' ? '(no name)' : visible(name));

export class Selected {
  csv = '';
  private asked: AbortController | null = null;
  private sort = { column: 1, down: true };

  constructor(private readonly model: Model, private readonly names: Names, private readonly place: HTMLElement, private readonly colors: () => Paint) {}

  private get query(): string {
    const { from, to } = this.model.chosen;
    const lanes = this.model.selection?.lanes;
    return `from=${Math.floor(from)}&to=${Math.ceil(to)}${lanes ? `&lanes=${ranges(lanes)}` : ''}`;
  }

  // What is looked at, in words.
  private get scope(): string {
    const { selection, chosen } = this.model;
    const tracks = selection?.lanes ? ` of ${grouped(selection.lanes.length)} ${selection.lanes.length === 1 ? 'track' : 'tracks'}` : '';
    return `${exact(chosen.to - chosen.from)}${tracks}${selection ? '' : ' (visible window)'}`;
  }

  async show(shape: Shape): Promise<void> {
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    this.place.replaceChildren(make('p', 'Adding up…', 'note'));
    const [trees, bottom] = [shape !== 'stats', shape === 'bottom'];
    const route = trees ? `api/tree?${this.query}&shape=${bottom ? 'bottom-up' : 'calls'}` : `api/stats?${this.query}`;
    try {
      for (;;) {
        const answer = await fetch(route, { signal });
        if (signal.aborted) return;
        if (!answer.ok) return this.place.replaceChildren(make('p', await refused(answer), 'note'));
        const found = (await answer.json()) as Stats & Tree;
        if (!trees) return this.table(found);
        if (found.state === 'failed') return this.place.replaceChildren(make('p', `Trees are not shown: ${visible(found.why)}`, 'note'));
        if (found.state === 'ready') return shape === 'flame' ? this.flame(found) : this.tree(found, bottom);
        this.place.replaceChildren(make('p', 'The trace is read again for trees…', 'note'));
        await new Promise((go) => setTimeout(go, AGAIN));
        if (signal.aborted) return;
      }
    } catch {
      if (!signal.aborted) this.place.replaceChildren(make('p', 'The server does not answer.', 'note'));
    }
  }

  // The lanes in which most happens.
  private busiest(stats: Stats): string {
    const { from, to } = this.model.chosen;
    const busy = [...stats.lanes].sort((a, b) => b.busy - a.busy).slice(0, 3).filter((lane) => lane.busy > 0);
    return busy.map(({ lane, busy: own }) => `${visible(this.model.lanes.get(lane)?.name ?? '')} ${Math.round((own / (to - from)) * 100)} %`).join(', ');
  }

  private table(stats: Stats): void {
    const busiest = this.busiest(stats);
    if (!stats.exact && !stats.names.length) {
      const about = this.model.trace.by_index ? '≈ ' : '';
      const words = `${this.scope} with ${about}${grouped(stats.events)} events: select fewer to see totals by name.${busiest && about ? ` Busiest: ${about}${busiest}.` : ''}`;
      return this.place.replaceChildren(make('p', words, 'note'));
    }
    const more = stats.distinct > stats.names.length ? ` The ${stats.names.length} names with the most ${stats.exact ? 'self ' : ''}time of ${grouped(stats.distinct)}.` : '';
    const note = `${this.scope} · ${grouped(stats.events)} events. Times count within the selection; min and max are of whole events.${busiest ? ` Busiest: ${busiest}.` : ''}${more}`;
    const table = document.createElement('table');
    this.rows(table, stats.names);
    const lines = stats.names.map((row) => [quoted(row.name), row.self ?? '', row.total, row.count, row.min ?? '', row.max].join(','));
    this.csv = ['name,self_ns,total_ns,count,min_ns,max_ns', ...lines].join('\n');
    this.place.replaceChildren(make('p', note, 'note'), table);
    (document.getElementById('live') as HTMLElement).textContent = `${grouped(stats.events)} events in ${this.scope}`;
  }

  // The rows of the table, sorted by a column; a row leads to the longest event of its name.
  private rows(table: HTMLTableElement, all: Row[]): void {
    const { column, down } = this.sort;
    const value = COLUMNS[column]![1];
    const sorted = [...all].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = typeof x === 'string' ? x.localeCompare(String(y)) : (x ?? -1) < ((y as number) ?? -1) ? -1 : 1;
      return x === y ? 0 : down ? -order : order;
    });
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    COLUMNS.forEach(([text], at) => {
      const [cell, button] = [make('th', ''), make('button', `${text}${at === column ? (down ? ' ▾' : ' ▴') : ''}`, 'sort')];
      cell.setAttribute('aria-sort', at !== column ? 'none' : down ? 'descending' : 'ascending');
      button.addEventListener('click', () => {
        this.sort = { column: at, down: at === column ? !down : at > 0 };
        this.rows(table, all);
      });
      cell.append(button);
      head.append(cell);
    });
    const body = table.createTBody();
    const time = (nanos: number | null): string => (nanos === null ? '–' : short(nanos));
    for (const row of sorted) {
      const line = body.insertRow();
      this.names.set(row.id, row.name === '' ? '(no name)' : row.name);
      const first = make('td', row.longest ? '' : named(row.name));
      const { longest } = row;
      if (longest) {
        const button = make('button', named(row.name), 'jump');
        button.title = `${named(row.name)}\nShow the longest of them`;
        button.addEventListener('click', () => this.model.pick(longest));
        first.append(button);
      }
      line.append(first, ...[time(row.self), short(row.total), grouped(row.count), short(row.total / row.count), time(row.min), short(row.max)].map((text) => make('td', text)));
    }
  }

  private note({ busy, threads, more }: Tree): HTMLElement {
    const left = more ? ` ${grouped(more)} smaller ${more === 1 ? 'row is' : 'rows are'} left out.` : '';
    return make('p', `${this.scope} · ${short(busy * 1e6)} busy in ${grouped(threads)} ${threads === 1 ? 'thread' : 'threads'}, as top counts it.${left}`, 'note');
  }

  private tree(found: Tree, bottom: boolean): void {
    const { rows } = found;
    const open = new Set<number>();
    const has = (at: number): boolean => (rows[at + 1]?.depth ?? 0) > rows[at]!.depth;
    // the heaviest path is open at first
    if (!bottom) for (let at = 0, { total } = rows[0] ?? { total: 0 }; at < rows.length && has(at) && rows[at]!.total >= total / 2; at += 1) open.add(at);
    const table = document.createElement('table');
    const draw = (): void => {
      table.replaceChildren();
      const head = table.createTHead().insertRow();
      for (const text of [bottom ? 'Function and its callers' : 'Activity', 'Self', 'Total', 'Share', 'Location']) head.append(make('th', text));
      const body = table.createTBody();
      let hidden = Infinity;
      rows.forEach((row, at) => {
        if (row.depth > hidden) return;
        hidden = open.has(at) || !has(at) ? Infinity : row.depth;
        const line = body.insertRow();
        const cell = make('td', '');
        const button = make('button', `${has(at) ? (open.has(at) ? '▾ ' : '▸ ') : '  '}${named(row.name)}`, 'branch');
        button.style.paddingLeft = `${Math.min(row.depth, 60) * 0.8}rem`;
        button.addEventListener('click', () => {
          if (!open.delete(at)) open.add(at);
          draw();
        });
        cell.append(button);
        const own = bottom ? row.self : row.total;
        line.append(cell, make('td', short(row.self * 1e6)), make('td', short(row.total * 1e6)), make('td', `${((own / (found.busy || 1)) * 100).toFixed(1)} %`), make('td', visible(tail(row.place)), 'source'));
        line.lastElementChild!.setAttribute('title', visible(row.place));
      });
    };
    draw();
    this.csv = ['depth,name,self_ms,total_ms,count,place', ...rows.map((row) => [row.depth, quoted(row.name), row.self, row.total, row.count, quoted(row.place)].join(','))].join('\n');
    this.place.replaceChildren(this.note(found), table);
  }

  private flame(found: Tree): void {
    const { rows } = found;
    const box = make('div', '', 'flame');
    const colors = this.colors();
    const byCategory = isOfDevtools(this.model.trace);
    const colorOf = (row: TreeRow): string => {
      if (byCategory) return colors.categories[Math.max(0, CATEGORIES.findIndex(([, , , keys]) => keys.includes(row.category)))]!;
      let hash = 7;
      for (const letter of row.name) hash = (Math.imul(hash, 31) + letter.codePointAt(0)!) >>> 0;
      return colors.styles[hash % colors.styles.length]!;
    };
    // where each row begins, after its siblings
    const starts: number[] = [];
    const ends: number[] = [];
    rows.forEach((row, at) => {
      starts[at] = ends[row.depth] ?? 0;
      ends[row.depth] = starts[at]! + row.total;
      ends[row.depth + 1] = starts[at]!;
      ends.length = row.depth + 2;
    });
    const all = rows.reduce((sum, row) => sum + (row.depth ? 0 : row.total), 0);
    const draw = (from: number, to: number): void => {
      box.replaceChildren();
      let depth = 0;
      rows.forEach((row, at) => {
        const [left, right] = [Math.max(starts[at]!, from), Math.min(starts[at]! + row.total, to)];
        const part = (right - left) / (to - from);
        if (part < 0.0008) return;
        depth = Math.max(depth, row.depth + 1);
        const cell = make('button', part > 0.02 ? named(row.name) : '');
        cell.style.left = `${((left - from) / (to - from)) * 100}%`;
        cell.style.width = `${part * 100}%`;
        cell.style.top = `${row.depth * 1.25}rem`;
        cell.style.background = colorOf(row);
        cell.title = `${named(row.name)} ${visible(tail(row.place))}\n${short(row.total * 1e6)} total, ${short(row.self * 1e6)} self, ${((row.total / (all || 1)) * 100).toFixed(1)} %`;
        cell.setAttribute('aria-label', cell.title);
        const whole = from <= starts[at]! && starts[at]! + row.total <= to && part > 0.999 && row.depth === 0 && from > 0;
        cell.addEventListener('click', () => (whole ? draw(0, all) : draw(starts[at]!, starts[at]! + row.total)));
        box.append(cell);
      });
      if (to - from < all * 0.999) {
        const back = make('button', 'Show all', 'back');
        back.addEventListener('click', () => draw(0, all));
        box.append(back);
      }
      box.style.height = `${depth * 1.25 + 0.3}rem`;
    };
    draw(0, all || 1);
    this.place.replaceChildren(this.note(found), box);
  }
}

// The last part of a place: `app.mjs:5:21`.
export function tail(place: string): string {
  return place.replace(/^.*\/(?=[^/])/, '');
}
