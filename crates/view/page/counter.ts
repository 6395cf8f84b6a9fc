// Values over time.

import { grouped } from './format';
import type { Item, Model } from './model';
import { colorOf, type Paint } from './raster';
import type { Tile } from './tiles';

// What it is drawn on.
interface Sheet { model: Model; colors: Paint; width: number; rowHeight: number; x(time: number): number; }

// The value at a time: the greatest of the column that has it.
export function valueAt(tiles: Tile[], time: number): number | null {
  let [best, value] = [-Infinity, null as number | null];
  for (const tile of tiles) {
    for (let at = 0; at < tile.start.length; at += 1) {
      const start = tile.start[at]!;
      if (start <= time && start >= best) [best, value] = [start, tile.place[at]!];
    }
  }
  return value;
}

// A counter: the band between its least and greatest value of each column, from 0 or the least.
export function counter(pen: CanvasRenderingContext2D, item: Item, top: number, tiles: Tile[], lanes: Sheet): void {
  let [least, most] = [0, -Infinity];
  for (const tile of tiles) {
    for (const value of tile.dur) if (value < least) least = value;
    for (const value of tile.place) if (value > most) most = value;
  }
  const all = tiles.flatMap((tile) => Array.from(tile.start, (start, at) => ({ start, low: tile.dur[at]!, high: tile.place[at]! })));
  all.sort((a, b) => a.start - b.start);
  if (!all.length) return;
  const room = item.height - 7;
  const y = (value: number): number => top + 3 + room - ((value - least) / (most - least || 1)) * room;
  pen.beginPath();
  const ends = [...all.slice(1).map((point) => point.start), lanes.model.view.to];
  all.forEach((point, at) => {
    const [x0, x1] = [Math.max(lanes.x(point.start), -5), Math.min(lanes.x(ends[at]!), lanes.width + 5)];
    if (x1 < 0 || x0 > lanes.width) return;
    pen.rect(x0, y(point.high), Math.max(x1 - x0, 1), Math.max(y(least) - y(point.high), 1));
  });
  pen.fillStyle = lanes.colors.styles[colorOf(item.lane!.id) % lanes.colors.styles.length]!;
  pen.fill();
  pen.fillStyle = lanes.colors.soft;
  pen.font = `${lanes.rowHeight * 0.56}px system-ui, sans-serif`;
  pen.textBaseline = 'top';
  pen.fillText(grouped(Number(most.toPrecision(6))), 3, top + 3);
}
