// How busy the main thread is with each category of events, by column: self times of what a coarse tile of it shows.

import { parse, ranges, type Tile } from './tiles';

// The number of the category of calls.
const SCRIPTING = 1;

export interface Load { from: number; to: number; px: number; values: Float32Array[]; }

// Sums up a tile: of each row the time that the row below does not cover, for the category of what covers most.
export function loadOf(tile: Tile, px: number, categories: number, categoryOf: (name: number) => number): Float32Array[] {
  const rows = 1 + Math.max(0, ...tile.row, ...tile.columnRow);
  const busy = Array.from({ length: rows + 1 }, () => new Float32Array(px));
  const [most, kind] = [new Float32Array(rows * px), new Uint8Array(rows * px)];
  const add = (row: number, x: number, part: number, name: number): void => {
    busy[row]![x] = Math.min(1, busy[row]![x]! + part);
    if (part <= most[row * px + x]!) return;
    most[row * px + x] = part;
    kind[row * px + x] = categoryOf(name);
  };
  for (let at = 0; at < tile.start.length; at += 1) {
    // events without an end say nothing of how busy the thread is
    if (tile.flags[at]! & 5) continue;
    const [x0, x1] = [(tile.start[at]! - tile.from) / tile.width, (tile.start[at]! + tile.dur[at]! - tile.from) / tile.width];
    for (let x = Math.max(0, Math.floor(x0)); x < Math.min(px, x1); x += 1) add(tile.row[at]!, x, Math.min(x + 1, x1) - Math.max(x, x0), tile.name[at]!);
  }
  for (let at = 0; at < tile.column.length; at += 1) if (tile.column[at]! < px) add(tile.columnRow[at]!, tile.column[at]!, tile.busy[at]! / 255, tile.columnName[at]!);
  const values = Array.from({ length: categories }, () => new Float32Array(px));
  for (let row = 0; row < rows; row += 1) for (let x = 0; x < px; x += 1) values[kind[row * px + x]!]![x]! += Math.max(0, busy[row]![x]! - busy[row + 1]![x]!);
  return values;
}

// Counts the time of calls as scripting, where the events of the thread say only that it is busy or nothing.
export function withCalls(values: Float32Array[], calls: Tile, px: number, scripting: number): void {
  const busy = new Float32Array(px);
  for (const own of loadOf(calls, px, 1, () => 0)) own.forEach((part, x) => { busy[x] = busy[x]! + part; });
  const other = values.at(-1)!;
  for (let x = 0; x < px; x += 1) {
    const known = values.reduce((sum, own) => sum + own[x]!, 0) - other[x]!;
    const part = Math.max(0, Math.min(busy[x]!, 1) - known);
    values[scripting]![x]! += part;
    other[x] = Math.max(0, other[x]! - part);
  }
}

export async function loadMain(lanes: number[], from: number, to: number, px: number, categories: number, categoryOf: (name: number) => number): Promise<Load | null> {
  const [first, last] = [Math.floor(from), Math.ceil(to)];
  const answer = await fetch(`api/tile?from=${first}&to=${last}&px=${px}&lanes=${ranges(lanes)}&exact=1`).catch(() => null);
  if (!answer?.ok) return null;
  const tiles = parse(await answer.arrayBuffer(), first, (last - first) / px);
  const [main, calls] = lanes.map((lane) => tiles.find((tile) => tile.lane === lane));
  if (!main) return null;
  const values = loadOf(main, px, categories, categoryOf);
  if (calls) withCalls(values, calls, px, SCRIPTING);
  return { from: first, to: last, px, values };
}

// Draws the categories on each other.
export function drawLoad(pen: CanvasRenderingContext2D, { from, to, px, values }: Load, x: (time: number) => number, { top, height }: { top: number; height: number }, colors: readonly string[]): void {
  const wide = (x(to) - x(from)) / px;
  const feet = new Float32Array(px);
  values.forEach((own, at) => {
    pen.fillStyle = colors[at]!;
    pen.beginPath();
    for (let column = 0; column < px; column += 1) {
      const part = Math.min(own[column]!, 1 - feet[column]!);
      if (part <= 0) continue;
      const size = part * height;
      pen.rect(x(from) + column * wide, top + height * (1 - feet[column]!) - size, Math.max(wide, 1), size);
      feet[column]! += part;
    }
    pen.fill();
  });
}
