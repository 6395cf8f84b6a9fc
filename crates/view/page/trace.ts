// The shape of a trace and of its tracks, as the server sends them.

export type Kind = 'thread' | 'async' | 'counter' | 'calls';
export interface Lane { id: number; kind: Kind; name: string; rows: number; events: number; busy: number; first: number; last: number; }
export interface Process { pid: string; name: string; labels: string | null; inputs: number[]; lanes: Lane[]; }
// A place where an input is damaged: at the time of the event before it, if there is one.
export interface Damage { kind: string; sentence: string; input: string; offset: number; bytes: number; excerpt: string; at: number | null; }
export interface Trace {
  file: string; command: string; start: string; end: string; duration: string; events: number; bytes: number; event_bytes: number;
  by_index: boolean; colors: string[]; categories: Record<string, number[]>; undrawn: number | null; lone_ends: number | null; unended: number; folded: number; lost: number; damage: Damage[]; names: number; calls: boolean | string; changed: string | null; joined: string | null; merged: boolean; warnings: string[]; whole: string | null;
  viewers: { perfetto: string | null; devtools: boolean; speedscope: boolean };
  inputs: { name: string; at: number | null }[]; processes: Process[];
}
export interface StripRow { name: string; kind: string; start: number; dur: number; parts: [number, number, number] | null; score: number | null; row: number; }
export interface Strip { name: string; title: string; rows: StripRow[]; depth: number; more: number; }
