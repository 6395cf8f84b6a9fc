// What is looked at: the trace, the visible window, the crumbs above it, the selection, and how tracks are arranged. All times are
// nanoseconds after the start of the trace. Each change is passed to all listeners; the address has the state too.

import { folded, ORDERS, type Order } from './order';
import { ranges } from './tiles';
import type { Lane, Process, Strip, Trace } from './trace';

// What stands below each other on the sheet: a process, or one of its lanes.
export interface Item { top: number; height: number; process: Process; lane: Lane | null; rows: number; key: string; pinned: boolean; strip?: Strip; }
export interface Span { from: number; to: number; }
// A window of some lanes; of all if there is no list.
export interface Selection extends Span { lanes: number[] | null; }
export interface Picked { lane: number; row: number; start: number; dur: number; place: number; name: number; flags: number; }
export type Change = 'view' | 'crumbs' | 'selection' | 'picked' | 'layout' | 'hover' | 'address';

const LEAST = 20;

export class Model {
  duration = 1;
  start = 0n;
  readonly lanes = new Map<number, Lane>();
  readonly processOf = new Map<number, Process>();
  view: Span = { from: 0, to: 1 };
  crumbs: Span[] = [];
  selection: Selection | null = null;
  picked: Picked | null = null;
  // an event of the address that is not read yet
  sought: Pick<Picked, 'lane' | 'row' | 'start'> | null = null;
  order: Order = 'main';
  search = '';
  // a part of the names of the lanes that are shown
  filter = '';
  // what the user did to tracks, by their keys; those that are not folded as at first are toggled
  readonly toggled = new Set<string>();
  readonly hidden = new Set<string>();
  readonly pinned = new Set<string>();
  private folded: ReadonlySet<string> = new Set();
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(public trace: Trace) {
    this.take(trace);
    this.view = { from: 0, to: this.duration };
  }

  // The trace with what came to it: times count from its start, which may be another now.
  update(trace: Trace): void {
    const by = Number(this.start - BigInt(trace.start));
    const all = this.view.from <= 0 && this.view.to >= this.duration;
    const rows = new Map([...this.lanes].map(([id, lane]) => [id, lane.rows]));
    this.take(trace);
    for (const [id, lane] of this.lanes) lane.rows = Math.max(lane.rows, rows.get(id) ?? 0);
    const moved = ({ from, to }: Span): Span => ({ from: from + by, to: to + by });
    this.crumbs = this.crumbs.map(moved);
    this.selection = this.selection && { ...this.selection, ...moved(this.selection) };
    this.picked = this.picked && { ...this.picked, start: this.picked.start + by };
    this.view = all ? { from: 0, to: this.duration } : moved(this.view);
    this.tell('crumbs');
  }

  private take(trace: Trace): void {
    this.trace = trace;
    this.duration = Math.max(Number(trace.duration), 1);
    this.start = BigInt(trace.start);
    this.lanes.clear();
    this.processOf.clear();
    this.folded = folded(trace.processes);
    for (const process of trace.processes) {
      for (const lane of process.lanes) {
        this.lanes.set(lane.id, lane);
        this.processOf.set(lane.id, process);
      }
    }
  }

  isClosed(key: string): boolean { return this.folded.has(key) !== this.toggled.has(key); }

  // Folds or opens some lanes and processes.
  fold(keys: string[], closed: boolean): void {
    for (const key of keys) {
      if (this.folded.has(key) === closed) this.toggled.delete(key);
      else this.toggled.add(key);
    }
    this.tell('layout');
  }

  listen(listener: (change: Change) => void): void { this.listeners.push(listener); }

  tell(change: Change): void { for (const listener of this.listeners) listener(change); }

  // The input in which the event of a place stands; nothing where there is but one.
  inputOf(place: number): string | null {
    const { inputs } = this.trace;
    const own = inputs.length > 1 && place >= 0 ? [...inputs].reverse().find(({ at }) => at !== null && at <= place) : undefined;
    return own?.name ?? null;
  }

  // The input of a process, without its folder, if it is in one of several.
  sourceOf({ inputs }: Process): string | null {
    const [first, ...others] = inputs;
    const own = first === undefined || others.length || this.trace.inputs.length < 2 ? undefined : this.trace.inputs[first];
    return own ? (own.name.split('/').at(-1) ?? null) : null;
  }

  // What the overview shows: the innermost crumb, or everything.
  get outer(): Span { return this.crumbs.at(-1) ?? { from: 0, to: this.duration }; }

  // What is handed on, and counted: the selection, or what is visible.
  get chosen(): Span { return this.selection ?? this.view; }

  // Shows a window, as far as it lies in the trace; a little is seen beside it.
  show(from: number, to: number): void {
    const least = Math.min(LEAST, this.duration);
    const length = Math.min(Math.max(to - from, least), this.duration);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - length / 2, 0), this.duration - length);
    this.view = { from: start, to: start + length };
    const { from: left, to: right } = this.outer;
    if (this.crumbs.length && (this.view.from < left - 1 || this.view.to > right + 1)) {
      // who leaves a crumb has done with it
      while (this.crumbs.length && (this.view.from < this.outer.from - 1 || this.view.to > this.outer.to + 1)) this.crumbs.pop();
      this.tell('crumbs');
    }
    this.tell('view');
  }

  // Zooms so that `at` stays where it is; less than 1 shows less.
  zoom(factor: number, at: number): void {
    const { from, to } = this.view;
    const length = Math.min(Math.max((to - from) * factor, Math.min(LEAST, this.duration)), this.duration);
    const share = (at - from) / (to - from);
    const start = at - share * length;
    this.show(start, start + length);
  }

  pan(nanos: number): void {
    const { from, to } = this.view;
    const by = Math.min(Math.max(nanos, -from), this.duration - to);
    this.show(from + by, to + by);
  }

  // Narrows the overview to a window.
  push(span: Span): void {
    this.crumbs.push({ ...span });
    this.tell('crumbs');
    this.show(span.from, span.to);
  }

  // Goes back to the crumb of a number; -1 is everything.
  pop(to: number): void {
    this.crumbs.length = to + 1;
    this.tell('crumbs');
    this.show(this.outer.from, this.outer.to);
  }

  select(span: Span | null, lanes: number[] | null = null): void {
    this.selection = span && span.to > span.from ? { from: Math.max(0, Math.floor(span.from)), to: Math.min(this.duration, Math.ceil(span.to)), lanes } : null;
    this.tell('selection');
  }

  pick(picked: Picked | null): void {
    this.picked = picked;
    this.tell('picked');
  }

  // The address of what is seen.
  hash(): string {
    const span = ({ from, to }: Span): string => `${Math.round(from)}-${Math.round(to)}`;
    const parts = [`v=${span(this.view)}`];
    if (this.crumbs.length) parts.push(`c=${this.crumbs.map(span).join(',')}`);
    if (this.selection) parts.push(`s=${span(this.selection)}`);
    if (this.selection?.lanes) parts.push(`l=${ranges(this.selection.lanes)}`);
    if (this.picked) parts.push(`e=${this.picked.lane}.${this.picked.row}.${Math.round(this.picked.start)}`);
    if (this.order !== 'main') parts.push(`o=${this.order}`);
    for (const [name, keys] of this.sets) if (keys.size) parts.push(`${name}=${[...keys].slice(0, 200).join(',')}`);
    for (const [name, text] of [['q', this.search], ['t', this.filter]]) if (text) parts.push(`${name}=${encodeURIComponent(text)}`);
    return `#${parts.join('&')}`;
  }

  private get sets(): [string, Set<string>][] { return [['f', this.toggled], ['h', this.hidden], ['p', this.pinned]]; }

  restore(hash: string): void {
    const parts = new Map(hash.replace(/^#/, '').split('&').map((part): [string, string] => [part.slice(0, 1), part.slice(2)]));
    const span = (text: string | undefined): Span | null => {
      const found = /^(\d{1,19})-(\d{1,19})$/.exec(text ?? '');
      if (!found) return null;
      const [from, to] = [Number(found[1]), Math.min(Number(found[2]), this.duration)];
      return from < to ? { from, to } : null;
    };
    const crumbs = (parts.get('c') ?? '').split(',').map(span);
    this.crumbs = crumbs.filter((crumb): crumb is Span => crumb !== null).slice(0, 32);
    const selection = span(parts.get('s'));
    const lanes = (parts.get('l') ?? '').split(',').flatMap((part) => {
      const [first, last] = part.split('-').map(Number);
      return [...this.lanes.keys()].filter((id) => id >= first! && id <= (last ?? first!));
    });
    this.selection = selection && { ...selection, lanes: lanes.length ? lanes : null };
    this.order = ORDERS.find(([order]) => order === parts.get('o'))?.[0] ?? 'main';
    for (const [name, keys] of this.sets) {
      keys.clear();
      for (const key of (parts.get(name) ?? '').split(',')) if (/^([lp]\d+|s[\w-]+)$/.test(key)) keys.add(key);
    }
    const text = (name: string): string => {
      try {
        return decodeURIComponent(parts.get(name) ?? '');
      } catch {
        return '';
      }
    };
    [this.search, this.filter] = [text('q'), text('t')];
    const event = /^(\d+)\.(\d+)\.(\d+)$/.exec(parts.get('e') ?? '');
    this.sought = event && { lane: Number(event[1]), row: Number(event[2]), start: Number(event[3]) };
    const view = span(parts.get('v'));
    if (view) this.show(view.from, view.to);
    else this.show(0, this.duration);
    for (const change of ['crumbs', 'selection', 'layout', 'address'] as const) this.tell(change);
  }
}
