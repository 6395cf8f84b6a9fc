// Details below the lanes: an event with its exact times and its text, or the sums of a selection.

import { exact, grouped, refused, short, stamp, visible } from './format';
import type { Around } from './around';
import type { Causes } from './causes';
import type { Model, Picked } from './model';
import type { Names } from './names';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

interface Row { name: string; id: number; count: number; total: number; self: number | null; min: number | null; max: number; }
interface Stats { events: number; exact: boolean; most: number; distinct: number; names: Row[]; lanes: { lane: number; busy: number }[]; }

function make(tag: string, text: string, name = ''): HTMLElement {
  const own = document.createElement(tag);
  own.textContent = text;
  if (name) own.className = name;
  return own;
}

export class Panel {
  private asked: AbortController | null = null;
  private timer = 0;
  private csv = '';

  constructor(private readonly model: Model, private readonly names: Names, private readonly around: Around, private readonly causes: Causes) {
    element('tab-event').addEventListener('click', () => this.tab('event'));
    element('tab-stats').addEventListener('click', () => this.tab('stats'));
    element('close').addEventListener('click', () => this.close());
    element('copy').addEventListener('click', () => void navigator.clipboard.writeText(this.csv));
  }

  close(): void {
    element('panel').hidden = true;
    this.model.tell('layout');
  }

  tab(which: 'event' | 'stats'): void {
    const was = element('panel').hidden;
    element('panel').hidden = false;
    for (const own of ['event', 'stats'] as const) {
      element(own).hidden = own !== which;
      element(`tab-${own}`).setAttribute('aria-selected', String(own === which));
    }
    element('copy').hidden = which !== 'stats';
    if (was) this.model.tell('layout');
  }

  async picked(picked: Picked | null): Promise<void> {
    if (!picked) {
      void this.causes.show(null, null);
      return void this.around.show(null, null);
    }
    this.tab('event');
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const lane = this.model.lanes.get(picked.lane);
    const process = this.model.processOf.get(picked.lane);
    const list = document.createElement('dl');
    const say = (key: string, value: string): void => list.append(make('dt', key), make('dd', value));
    say('Name', this.names.get(picked.name) ?? '…');
    say('Begins', `${exact(picked.start)} after start`);
    say('Time stamp', stamp(this.model.start, picked.start));
    const input = this.model.inputOf(picked.place);
    if (input) say('Input', visible(input));
    say('Lasts', picked.flags & 1 ? `${exact(picked.dur)}, to the end of the trace (no end event)` : picked.dur ? exact(picked.dur) : 'instant');
    if (picked.flags & 4) say('Row', 'below others that it overlaps without nesting');
    if (process) say('Process', visible(`${process.name} ${process.pid}`));
    if (lane) say(lane.kind === 'thread' ? 'Thread' : lane.kind === 'calls' ? 'Calls of' : 'Category', visible(lane.name));
    const text = make('pre', picked.place < 0 ? 'Derived from the samples of a CPU profile.' : '…');
    element('event').replaceChildren(list, text);
    // flows come before causes
    void this.around.show(picked, list).then(() => { if (list.isConnected) void this.causes.show(picked, list); });
    element('live').textContent = `${this.names.get(picked.name) ?? ''}, ${picked.dur ? exact(picked.dur) : 'instant'}, at ${short(picked.start)}`;
    if (picked.place < 0) return;
    try {
      const answer = await fetch(`api/event?place=${picked.place}`, { signal });
      if (!answer.ok) {
        text.textContent = await refused(answer);
        return;
      }
      const own = await answer.text();
      const size = Number(answer.headers.get('x-event-bytes'));
      const cut = size > own.length + 3 ? `\n… cut: it has ${grouped(size)} bytes` : '';
      text.textContent = visible(own.length < 100_000 ? pretty(own) : own).replaceAll('␊', '\n') + cut;
    } catch {
      if (!signal.aborted) text.textContent = 'The server does not answer.';
    }
  }

  // Asks for the sums of the selection, when it has been still for a moment.
  selected(): void {
    clearTimeout(this.timer);
    const { selection } = this.model;
    if (!selection) return;
    this.timer = window.setTimeout(() => void this.sums(), 120);
  }

  private async sums(): Promise<void> {
    const { selection } = this.model;
    if (!selection) return;
    this.tab('stats');
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const place = element('stats');
    place.replaceChildren(make('p', 'Adding up…', 'note'));
    try {
      const answer = await fetch(`api/stats?from=${selection.from}&to=${selection.to}`, { signal });
      if (!answer.ok) {
        place.replaceChildren(make('p', await refused(answer), 'note'));
        return;
      }
      this.show((await answer.json()) as Stats, selection.to - selection.from);
    } catch {
      if (!signal.aborted) place.replaceChildren(make('p', 'The server does not answer.', 'note'));
    }
  }

  // The lanes in which most happens.
  private busiest(stats: Stats, length: number): string {
    const busy = [...stats.lanes].sort((a, b) => b.busy - a.busy).slice(0, 3).filter((lane) => lane.busy > 0);
    return busy.map(({ lane, busy: own }) => `${visible(this.model.lanes.get(lane)?.name ?? '')} ${Math.round((own / length) * 100)} %`).join(', ');
  }

  private show(stats: Stats, length: number): void {
    const place = element('stats');
    if (!stats.exact && !stats.names.length) {
      const busiest = this.busiest(stats, length);
      const about = this.model.trace.by_index ? '≈ ' : '';
      place.replaceChildren(make('p', `${short(length)} with ${about}${grouped(stats.events)} events: select fewer to see totals by name.${busiest && about ? ` Busiest: ${about}${busiest}.` : ''}`, 'note'));
      return;
    }
    const busiest = this.busiest(stats, length);
    const own = (nanos: number | null): string => (nanos === null ? '–' : short(nanos));
    const more = stats.distinct > stats.names.length ? ` The ${stats.names.length} names with the most ${stats.exact ? 'self ' : ''}time of ${grouped(stats.distinct)}.` : '';
    const note = `${exact(length)} · ${grouped(stats.events)} events. Times count within the selection; min and max are of whole events.${busiest ? ` Busiest: ${busiest}.` : ''}${more}`;
    const table = document.createElement('table');
    const head = table.createTHead().insertRow();
    for (const text of ['Name', 'Self', 'Total', 'Count', 'Average', 'Min', 'Max']) head.append(make('th', text));
    const body = table.createTBody();
    for (const row of stats.names) {
      const line = body.insertRow();
      const name = row.name === '' ? '(no name)' : visible(row.name);
      this.names.set(row.id, row.name === '' ? '(no name)' : row.name);
      for (const text of [name, own(row.self), short(row.total), grouped(row.count), short(row.total / row.count), own(row.min), short(row.max)]) line.append(make('td', text));
    }
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const lines = stats.names.map((row) => [quote(row.name), row.self ?? '', row.total, row.count, row.min ?? '', row.max].join(','));
    this.csv = ['name,self_ns,total_ns,count,min_ns,max_ns', ...lines].join('\n');
    place.replaceChildren(make('p', note, 'note'), table);
    element('live').textContent = `${grouped(stats.events)} events in ${short(length)}`;
  }
}

// JSON with a member a line; digits stay as they are, which JSON.parse would change.
export function pretty(text: string): string {
  let [out, depth, inside] = ['', 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (inside) {
      out += letter;
      if (letter === '\\') out += text[(at += 1)] ?? '';
      else if (letter === '"') inside = false;
    } else if (letter === '"') {
      inside = true;
      out += letter;
    } else if (letter === '{' || letter === '[') {
      const next = text.slice(at + 1).trimStart()[0];
      depth += 1;
      out += next === '}' || next === ']' ? letter : `${letter}\n${'  '.repeat(Math.min(depth, 40))}`;
    } else if (letter === '}' || letter === ']') {
      depth = Math.max(0, depth - 1);
      out += /[{[]$/.test(out) ? letter : `\n${'  '.repeat(Math.min(depth, 40))}${letter}`;
    } else if (letter === ',') out += `,\n${'  '.repeat(Math.min(depth, 40))}`;
    else if (letter === ':') out += ': ';
    else if (!/\s/.test(letter)) out += letter;
  }
  return out;
}
