// In which order processes and lanes stand below each other, and which are not shown.

import type { Lane, Process } from './model';

export type Order = 'trace' | 'busy' | 'name' | 'id';
export const ORDERS: [Order, string][] = [['trace', 'as in the trace'], ['busy', 'busiest first'], ['name', 'by name'], ['id', 'by id']];

export interface Group { process: Process; lanes: Lane[]; key: string; }

const number = (text: string): number => Number(/(\d+)\D*$/.exec(text)?.[1] ?? Infinity);
const words = new Intl.Collator('en', { numeric: true });

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

const busiest = (lanes: Lane[]): number => Math.max(0, ...lanes.map((lane) => (lane.kind === 'counter' ? 0 : lane.busy)));

export function ordered(processes: Process[], order: Order, hidden: ReadonlySet<string>): Group[] {
  const groups = processes.map((process, at) => ({ process, lanes: process.lanes, key: `p${at}` })).filter(({ key }) => !hidden.has(key));
  const by = <T>(all: T[], keys: { busy: (own: T) => number; name: (own: T) => string; id: (own: T) => number }): T[] => {
    if (order === 'trace') return all;
    if (order === 'name') return [...all].sort((a, b) => words.compare(keys.name(a), keys.name(b)));
    const value = order === 'busy' ? (own: T): number => -keys.busy(own) : keys.id;
    // equal ones as they are in the trace
    return [...all].sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
  };
  for (const group of groups) {
    const own = by(chunks(group.process.lanes), { busy: busiest, name: ([lane]) => lane!.name, id: ([lane]) => number(lane!.name) });
    group.lanes = own.flat().filter((lane) => !hidden.has(`l${lane.id}`));
  }
  return by(groups, { busy: ({ process }) => process.lanes.reduce((sum, lane) => sum + busiest([lane]), 0), name: ({ process }) => process.name, id: ({ process }) => number(process.pid) });
}
