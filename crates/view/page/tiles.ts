// Tiles: windows of 1024 columns of 2^k ns, asked of the server once and kept as long as there is room.

import { refused } from './format';

export const COLUMNS = 1024;
const ROOM = 64 << 20;
const AT_ONCE = 4;
const LANES = 256;

export interface Tile {
  // whether every event stands in it; else whether what columns say is known only about
  lane: number; exact: boolean; about: boolean; counter: boolean;
  // nanoseconds of the tile's start, and of a column
  from: number; width: number;
  start: Float64Array; dur: Float64Array; place: Float64Array; name: Uint32Array; row: Uint16Array; flags: Uint8Array;
  column: Uint32Array; count: Uint32Array; columnName: Uint32Array; columnRow: Uint16Array; busy: Uint8Array;
  bytes: number;
}

// Reads the lanes of an answer, where they lie.
export function parse(buffer: ArrayBuffer, from: number, width: number): Tile[] {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, false) !== 0x544d5431) throw new Error('this is no tile');
  const tiles: Tile[] = [];
  let at = 8;
  const take = (bytes: number): number => {
    const here = at;
    at += Math.ceil(bytes / 8) * 8;
    return here;
  };
  for (let left = view.getUint32(4, true); left > 0; left -= 1) {
    const begin = at;
    const head = take(16);
    const [n, m] = [view.getUint32(head + 8, true), view.getUint32(head + 12, true)];
    const floats = (): Float64Array => new Float64Array(buffer, take(n * 8), n);
    const [start, dur, place] = [floats(), floats(), floats()];
    const name = new Uint32Array(buffer, take(n * 4), n);
    const row = new Uint16Array(buffer, take(n * 2), n);
    const flags = new Uint8Array(buffer, take(n), n);
    const words = (): Uint32Array => new Uint32Array(buffer, take(m * 4), m);
    const [column, count, columnName] = [words(), words(), words()];
    const columnRow = new Uint16Array(buffer, take(m * 2), m);
    const busy = new Uint8Array(buffer, take(m), m);
    tiles.push({
      lane: view.getUint32(head, true), exact: view.getUint8(head + 4) === 0, about: view.getUint8(head + 4) === 2, counter: view.getUint8(head + 5) === 2, from, width,
      start, dur, place, name, row, flags, column, count, columnName, columnRow, busy, bytes: at - begin,
    });
  }
  return tiles;
}

// How many rows a tile has something in.
export function rowsOf({ row, columnRow }: Tile): number {
  const most = (all: Uint16Array): number => all.reduce((rows, own) => Math.max(rows, own + 1), 0);
  return Math.max(most(row), most(columnRow));
}

// The level whose columns are no wider than so many nanoseconds.
export function levelOf(nanosPerPixel: number): number {
  return Math.max(0, Math.floor(Math.log2(Math.max(nanosPerPixel, 1))));
}

const key = (lane: number, level: number, index: number): string => `${lane}/${level}/${index}`;

export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private used = 0;
  private readonly flying = new Map<string, { lanes: Set<number>; abort: AbortController; level: number; index: number }>();
  private waiting: { lanes: number[]; level: number; index: number }[] = [];
  // what is asked for and not there yet
  get pending(): number { return this.flying.size + this.waiting.length; }

  constructor(private duration: number, private readonly arrived: (tiles: Tile[]) => void, private readonly failed: (error: string) => void) {}

  // All tiles are asked for anew, of a trace that lasts so long.
  forget(duration: number): void {
    this.duration = duration;
    for (const { abort } of this.flying.values()) abort.abort();
    this.flying.clear();
    this.kept.clear();
    [this.waiting, this.used] = [[], 0];
  }

  // The tiles that a window needs, as far as they are there: else coarser ones.
  get(lane: number, level: number, index: number): { tile: Tile; fits: boolean } | null {
    for (let up = 0; up <= 12; up += 1) {
      const tile = this.find(lane, level + up, Math.floor(index / 2 ** up));
      if (tile) return { tile, fits: up === 0 };
    }
    return null;
  }

  private find(lane: number, level: number, index: number): Tile | undefined {
    const own = key(lane, level, index);
    const tile = this.kept.get(own);
    if (tile) {
      this.kept.delete(own);
      this.kept.set(own, tile);
    }
    return tile;
  }

  // Asks for what is missing of these lanes; what was asked for other windows is given up.
  want(lanes: number[], level: number, indexes: number[]): void {
    for (const [own, flight] of this.flying) {
      if (flight.level !== level || !indexes.includes(flight.index)) {
        flight.abort.abort();
        this.flying.delete(own);
      }
    }
    this.waiting = [];
    for (const index of indexes) {
      const coming = new Set([...this.flying.values()].filter((flight) => flight.index === index).flatMap((flight) => [...flight.lanes]));
      const missing = lanes.filter((lane) => !this.kept.has(key(lane, level, index)) && !coming.has(lane));
      for (let at = 0; at < missing.length; at += LANES) this.waiting.push({ lanes: missing.slice(at, at + LANES), level, index });
    }
    this.go();
  }

  private go(): void {
    while (this.flying.size < AT_ONCE && this.waiting.length) {
      const next = this.waiting.shift();
      if (next) void this.fetch(next.lanes, next.level, next.index);
    }
  }

  private async fetch(lanes: number[], level: number, index: number): Promise<void> {
    const width = 2 ** level;
    const from = index * COLUMNS * width;
    const own = `${level}/${index}/${lanes[0]}`;
    const flight = { lanes: new Set(lanes), abort: new AbortController(), level, index };
    this.flying.set(own, flight);
    let tiles: Tile[] = [];
    try {
      const to = from + COLUMNS * width;
      const answer = await fetch(`api/tile?from=${from}&to=${to}&px=${COLUMNS}&lanes=${ranges(lanes)}`, { signal: flight.abort.signal });
      if (answer.status === 429) {
        await new Promise((go) => setTimeout(go, 50));
      } else if (!answer.ok) {
        this.failed(await refused(answer));
        return;
      } else {
        const buffer = await answer.arrayBuffer();
        tiles = parse(buffer, from, width);
        for (const tile of tiles) this.keep(key(tile.lane, level, index), tile);
      }
    } catch (error) {
      if (!flight.abort.signal.aborted) this.failed(`the server does not answer: ${String(error)}`);
    } finally {
      if (this.flying.get(own) === flight) this.flying.delete(own);
      this.go();
    }
    if (!flight.abort.signal.aborted) this.arrived(tiles);
  }

  private keep(own: string, tile: Tile): void {
    const before = this.kept.get(own);
    if (before) this.used -= before.bytes;
    this.kept.set(own, tile);
    this.used += tile.bytes + 200;
    for (const [oldest, old] of this.kept) {
      if (this.used <= ROOM) break;
      this.kept.delete(oldest);
      this.used -= old.bytes + 200;
    }
  }

  // The indexes of tiles that a window touches.
  indexes(from: number, to: number, level: number): number[] {
    const size = COLUMNS * 2 ** level;
    const [first, last] = [Math.floor(Math.max(from, 0) / size), Math.floor(Math.min(to, this.duration) / size)];
    return Array.from({ length: Math.min(last - first + 1, 16) }, (_, at) => first + at);
  }
}

// 1,2,3,7 as 1-3,7.
export function ranges(numbers: number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length;) {
    let end = at;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end]! + 1) end += 1;
    parts.push(end > at ? `${sorted[at]}-${sorted[end]}` : `${sorted[at]}`);
    at = end + 1;
  }
  return parts.join(',');
}
