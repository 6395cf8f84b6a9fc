// In which order processes and lanes are listed, which are not shown, and which are folded at first.

import type { Lane, Process } from './trace';

export type Order = 'main' | 'busy' | 'trace' | 'name' | 'id';
export const ORDERS: [Order, string][] = [['main', 'main thread first'], ['busy', 'busiest first'], ['trace', 'as in the trace'], ['name', 'by name'], ['id', 'by id']];

export interface Group { process: Process; lanes: Lane[]; key: string; }

// Rows of all lanes that are open at first. It does not depend on the window of the browser, so that an address shows the same to all.
const OPEN_ROWS = 48;
// A lane below this part of the busiest one is folded at first.
const BUSY_PART = 0.01;

const number = (text: string): number => Number(/(\d+)\D*$/.exec(text)?.[1] ?? Infinity);
const words = new Intl.Collator('en', { numeric: true });
const isIdle = ({ name }: Lane): boolean => /^(swapper|<idle>)/.test(name);

// Lanes with the calls of their threads, which stay below them.
function chunks(lanes: Lane[]): Lane[][] {
  const all: Lane[][] = [];
  for (const lane of lanes) {
    const last = all.at(-1);
    if (lane.kind === 'calls' && last?.[0]?.kind === 'thread') last.push(lane);
    else all.push([lane]);
  }
  return all;
}

// The busy time of threads, as `report` counts it: without async operations and counters.
const busiest = (lanes: Lane[]): number => Math.max(0, ...lanes.map((lane) => (lane.kind === 'thread' || lane.kind === 'calls' ? lane.busy : 0)));
const rank = ([lane]: Lane[]): number => (lane!.kind === 'counter' ? 2 : lane!.kind === 'async' ? 1 : isIdle(lane!) ? 0.5 : 0);
const total = (lanes: Lane[]): number => chunks(lanes).reduce((sum, own) => sum + (rank(own) ? 0 : busiest(own)), 0);

// How much a thread is the main thread of a page or of a program.
function mainness({ pid, name }: Process, [lane]: Lane[]): number {
  if (lane!.kind !== 'thread' && lane!.kind !== 'calls') return 0;
  const id = /(\S+)$/.exec(lane!.name)?.[1];
  // the browser's own pages have other names than those of the web
  if (/^(CrRendererMain|JavaScriptMainThread)\b/.test(lane!.name)) return name.startsWith('WebUI') || name.startsWith('Extension') ? 2.5 : 3;
  if (/^main( thread)?\b/i.test(lane!.name) || (lane!.kind === 'calls' && id === '0')) return 2;
  return id === pid && id !== '0' ? 1 : 0;
}

// The lane of the main thread: that of the page before that of the browser, the busiest of several.
export function mainOf(processes: Process[]): Lane | null {
  let best: { lane: Lane; key: number[] } | null = null;
  for (const process of processes) {
    for (const own of chunks(process.lanes)) {
      const key = [mainness(process, own), busiest(own)];
      if (key[0]! > 0 && (!best || key[0]! > best.key[0]! || (key[0] === best.key[0] && key[1]! > best.key[1]!))) best = { lane: own[0]!, key };
    }
  }
  return best?.lane ?? null;
}

// Sorts by several numbers; equal ones stay as they are.
function sorted<T>(all: T[], keys: (own: T) => number[]): T[] {
  const keyed = all.map((own) => ({ own, key: keys(own) }));
  keyed.sort((a, b) => a.key.reduce((found, value, at) => found || (value < b.key[at]! ? -1 : value > b.key[at]! ? 1 : 0), 0));
  return keyed.map(({ own }) => own);
}

export function ordered(processes: Process[], order: Order, isHidden: (key: string) => boolean): Group[] {
  const groups = processes.map((process, at) => ({ process, lanes: process.lanes, key: `p${at}` })).filter(({ key }) => !isHidden(key));
  const main = order === 'main' ? mainOf(processes) : null;
  const by = (own: Lane[][]): Lane[][] => {
    if (order === 'trace') return own;
    if (order === 'name') return [...own].sort(([a], [b]) => words.compare(a!.name, b!.name));
    if (order === 'id') return sorted(own, ([lane]) => [number(lane!.name)]);
    return sorted(own, (lanes) => [lanes[0] === main ? -1 : rank(lanes), -busiest(lanes)]);
  };
  for (const group of groups) group.lanes = by(chunks(group.process.lanes)).flat().filter((lane) => !isHidden(`l${lane.id}`));
  if (order === 'trace') return groups;
  if (order === 'name') return groups.sort((a, b) => words.compare(a.process.name, b.process.name));
  if (order === 'id') return sorted(groups, ({ process }) => [number(process.pid)]);
  return sorted(groups, ({ process }) => [main && process.lanes.includes(main) ? 0 : 1, -total(process.lanes)]);
}

// The processes and lanes that are folded at first: those with little to do, and those for which there is no room.
export function folded(processes: Process[]): Set<string> {
  const closed = new Set<string>();
  const groups = ordered(processes, 'main', () => false);
  const rows = groups.reduce((sum, { lanes }) => sum + lanes.reduce((own, lane) => own + lane.rows, 1), 0);
  if (rows <= OPEN_ROWS) return closed;
  const least = BUSY_PART * Math.max(0, ...groups.map(({ lanes }) => total(lanes)));
  let room = OPEN_ROWS;
  for (const { process, lanes, key } of groups) {
    if (groups.length > 1 && least > 0 && total(process.lanes) < least) closed.add(key);
    for (const own of chunks(lanes)) {
      const isBusy = rank(own) === 0 && busiest(own) >= least;
      for (const lane of own) {
        const opens = (isBusy || least === 0) && (lane.rows <= room || room === OPEN_ROWS);
        if (opens) room -= lane.rows;
        else if (lane.rows > 1 || lane.kind === 'counter') closed.add(`l${lane.id}`);
      }
    }
  }
  return closed;
}
