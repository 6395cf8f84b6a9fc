// Lanes below each other: which are seen, what is drawn in them, and their names beside them.

import { counter } from './counter';
import { Labels, ROWS } from './labels';
import type { Item, Model, Picked } from './model';
import type { Names } from './names';
import { ordered, type Order } from './order';
import { columnAt, draw, hit, namedOf, type Lines, type Paint } from './raster';
import { COLUMNS, levelOf, rowsOf, Tiles, type Tile } from './tiles';

export interface Under { item: Item; row: number; time: number; picked: Picked | null; count: number; about: boolean; }

interface Part { tile: Tile; from: number; to: number; }

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export class Lanes {
  items: Item[] = [];
  rowHeight = 18;
  width = 1;
  height = 1;
  colors: Paint;
  private readonly closed = new Set<string>();
  private readonly hidden = new Set<string>();
  private order: Order = 'trace';
  private readonly base = element<HTMLCanvasElement>('base');
  private readonly scroll = element('scroll');
  private readonly labels: Labels;
  private readonly offscreen = document.createElement('canvas');
  private lines: Lines | null = null;
  drawn = { lanes: 0, spans: 0, approximate: false, about: false };

  constructor(readonly model: Model, readonly tiles: Tiles, readonly texts: Names, colors: Paint) {
    this.colors = colors;
    this.labels = new Labels(model, this.closed, (key) => this.toggle(key), (key) => this.hide(key));
  }

  // Puts everything in its place.
  layout(): void {
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = Math.round(size * 1.1);
    const head = Math.round(size * 1.35);
    const many = this.model.trace.processes.length > 1 || this.model.lanes.size > 1;
    this.items = [];
    let top = 0;
    const put = (item: Omit<Item, 'top'>): void => {
      this.items.push({ ...item, top });
      top += item.height;
    };
    for (const { process, lanes, key } of ordered(this.model.trace.processes, this.order, this.hidden)) {
      if (many) put({ height: head, process, lane: null, rows: 0, key });
      if (this.closed.has(key)) continue;
      for (const lane of lanes) {
        const closed = this.closed.has(`l${lane.id}`);
        const rows = lane.kind === 'counter' ? 1 : closed ? 1 : Math.min(lane.rows, ROWS);
        const height = lane.kind === 'counter' ? Math.round(this.rowHeight * (closed ? 1 : 2)) : rows * this.rowHeight;
        put({ height: Math.max(height, this.rowHeight) + 5, process, lane, rows, key: `l${lane.id}` });
      }
    }
    element('shown').hidden = this.hidden.size === 0;
    element('shown').textContent = `Show ${this.hidden.size} hidden`;
    element('space').style.height = `${top}px`;
    this.resize();
  }

  resize(): void {
    const box = element('drawing').parentElement!;
    this.height = this.scroll.clientHeight;
    box.style.height = `${this.height}px`;
    const ratio = devicePixelRatio;
    this.width = Math.max(1, element('drawing').clientWidth);
    for (const canvas of [this.base, element<HTMLCanvasElement>('over')]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
  }

  // Of a trace by its index it shows in windows how many rows its lanes have.
  grow(tiles: Tile[]): void {
    let grown = false;
    for (const tile of tiles) {
      const lane = this.model.lanes.get(tile.lane);
      const rows = tile.counter ? 0 : rowsOf(tile);
      if (!lane || rows <= lane.rows) continue;
      grown ||= lane.rows < ROWS;
      lane.rows = rows;
    }
    this.model.tell(grown ? 'layout' : 'view');
  }

  toggle(key: string): void {
    if (!this.closed.delete(key)) this.closed.add(key);
    this.model.tell('layout');
  }

  hide(key: string): void {
    this.hidden.add(key);
    this.model.tell('layout');
  }

  unhide(): void {
    this.hidden.clear();
    this.model.tell('layout');
  }

  arrange(order: Order): void {
    this.order = order;
    this.model.tell('layout');
  }

  // Those that are seen, of all: found by halving.
  visible(): Item[] {
    const from = this.scroll.scrollTop;
    const first = this.after(from);
    const seen: Item[] = [];
    for (let at = first; at < this.items.length && this.items[at]!.top < from + this.height; at += 1) seen.push(this.items[at]!);
    return seen;
  }

  private after(y: number): number {
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle]!.top + this.items[middle]!.height <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // How far down an event is drawn; nothing if it is not.
  y(picked: Picked): number | null {
    const item = this.find(picked.lane);
    return item && picked.row < item.rows ? item.top - this.scroll.scrollTop + 2 + picked.row * this.rowHeight : null;
  }

  // The item of a lane.
  find(lane: number): Item | undefined { return this.items.find((item) => item.lane?.id === lane); }

  x(time: number): number { return ((time - this.model.view.from) / (this.model.view.to - this.model.view.from)) * this.width; }

  time(x: number): number { return this.model.view.from + (x / this.width) * (this.model.view.to - this.model.view.from); }

  render(): void {
    const seen = this.visible();
    const { from, to } = this.model.view;
    const perPixel = (to - from) / this.width;
    const level = levelOf(perPixel);
    const indexes = this.tiles.indexes(from, to, level);
    const lanes = seen.flatMap((item) => (item.lane && item.lane.last >= from && item.lane.first <= to ? [item.lane.id] : []));
    this.tiles.want(lanes, level, indexes);
    element('stage').style.transform = `translateY(${this.scroll.scrollTop}px)`;
    const pen = this.base.getContext('2d', { alpha: false });
    if (!pen) return;
    const ratio = devicePixelRatio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.colors.back;
    pen.fillRect(0, 0, this.width, this.height);
    this.drawn = { lanes: 0, spans: 0, approximate: false, about: false };
    this.paint(pen, seen.map((item) => ({ item, parts: item.lane ? this.tilesOf(item.lane.id, level, indexes) : [] })));
    this.labels.show(seen, this.scroll.scrollTop);
  }

  // All rows are lines of one picture, which is made at once: a picture a lane costs more than what is in it.
  private paint(pen: CanvasRenderingContext2D, seen: { item: Item; parts: Part[] }[]): void {
    const { from, to } = this.model.view;
    const map = { from, perPixel: (to - from) / this.width };
    const hasRows = (item: Item): boolean => item.lane !== null && item.lane.kind !== 'counter';
    const lines = this.room(seen.reduce((rows, { item }) => rows + (hasRows(item) ? item.rows : 0), 0));
    let line = 0;
    for (const { item, parts } of seen) {
      if (!hasRows(item)) continue;
      const pixels = lines.pixels.subarray(this.width * line, this.width * (line + item.rows));
      for (const { tile, from: least, to: most } of parts) {
        draw(tile, { pixels, width: this.width, rows: item.rows }, map, [least, most], this.colors);
        this.drawn.spans += tile.start.length + tile.column.length;
        this.drawn.approximate ||= !tile.exact;
      }
      line += item.rows;
    }
    if (line > 0) {
      const bytes = new Uint8ClampedArray(lines.pixels.buffer, 0, this.width * line * 4) as Uint8ClampedArray<ArrayBuffer>;
      this.offscreen.getContext('2d')?.putImageData(new ImageData(bytes, this.width, line), 0, 0);
    }
    line = 0;
    for (const { item, parts } of seen) {
      this.item(pen, item, parts, line);
      if (hasRows(item)) line += item.rows;
    }
  }

  // Lines for so many rows, with nothing in them.
  private room(rows: number): Lines {
    if (!this.lines || this.lines.width !== this.width || this.lines.rows < rows) {
      const most = Math.max(rows, ROWS);
      this.lines = { width: this.width, rows: most, pixels: new Uint32Array(this.width * most) };
      [this.offscreen.width, this.offscreen.height] = [this.width, most];
    }
    this.lines.pixels.fill(0, 0, this.width * rows);
    return this.lines;
  }

  private item(pen: CanvasRenderingContext2D, item: Item, parts: Part[], line: number): void {
    const top = item.top - this.scroll.scrollTop;
    pen.fillStyle = this.colors.line;
    pen.fillRect(0, top + item.height - 1, this.width, 1);
    if (!item.lane) {
      pen.globalAlpha = 0.35;
      pen.fillRect(0, top, this.width, item.height - 1);
      pen.globalAlpha = 1;
      return;
    }
    this.drawn.lanes += 1;
    this.drawn.about ||= parts.some((part) => part.tile.about);
    if (item.lane.kind === 'counter') return counter(pen, item, top, parts.map((part) => part.tile), this);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.offscreen, 0, line, this.width, item.rows, 0, top + 2, this.width, item.rows * this.rowHeight);
    pen.fillStyle = this.colors.back;
    for (let row = 1; row <= item.rows; row += 1) pen.fillRect(0, top + 1 + row * this.rowHeight, this.width, 1);
    this.texted(pen, item, top, parts);
  }

  private tilesOf(lane: number, level: number, indexes: number[]): Part[] {
    const size = COLUMNS * 2 ** level;
    return indexes.flatMap((index) => {
      const found = this.tiles.get(lane, level, index);
      return found ? [{ tile: found.tile, from: index * size, to: (index + 1) * size }] : [];
    });
  }

  // Names in intervals that have room for them.
  private texted(pen: CanvasRenderingContext2D, item: Item, top: number, parts: Part[]): void {
    pen.font = `${this.rowHeight * 0.64}px system-ui, "Segoe UI", Roboto, sans-serif`;
    pen.textBaseline = 'middle';
    pen.direction = 'ltr';
    const letter = this.rowHeight * 0.34;
    for (const { tile, from: least, to: most } of parts) {
      for (let at = 0; at < tile.start.length; at += 1) {
        const row = tile.row[at]!;
        const start = tile.start[at]!;
        // an interval that lies in several tiles is named in the first that is seen
        const anchor = Math.max(start, this.model.view.from);
        if (row >= item.rows || anchor < least || anchor >= most) continue;
        const x0 = Math.max(0, this.x(start));
        const room = Math.min(this.width, this.x(start + tile.dur[at]!)) - x0 - 6;
        if (room < 24) continue;
        const text = this.texts.get(tile.name[at]!);
        if (!text) continue;
        const most_letters = Math.floor(room / letter);
        const fits = text.length <= most_letters ? text : `${text.slice(0, Math.max(1, most_letters - 1))}…`;
        pen.fillStyle = this.colors.inks[namedOf(tile.flags[at]!)] ?? this.colors.text;
        pen.fillText(fits, x0 + 3, top + 2.5 + (row + 0.5) * this.rowHeight, room);
      }
    }
  }

  forget(): void { this.labels.forget(); }

  // The event of a row before or behind a time, of those that are drawn as they are; `beyond` leaves out one that begins there.
  beside(lane: number, row: number, time: number, forwards: boolean, beyond: boolean): Picked | null {
    const level = levelOf((this.model.view.to - this.model.view.from) / this.width);
    const { from, to } = this.model.view;
    let best: Picked | null = null;
    for (const { tile } of this.tilesOf(lane, level, this.tiles.indexes(from, to, level))) {
      for (let at = 0; at < tile.start.length; at += 1) {
        const start = tile.start[at]!;
        const is_behind = forwards ? start > time || (!beyond && start + tile.dur[at]! > time) : start < time;
        if (tile.row[at] !== row || !is_behind) continue;
        if (best && (forwards ? start >= best.start : start <= best.start)) continue;
        best = { lane, row, start, dur: tile.dur[at]!, place: tile.place[at]!, name: tile.name[at]!, flags: tile.flags[at]! };
      }
    }
    return best;
  }

  // What lies under a point of the drawing.
  under(x: number, y: number): Under | null {
    const item = this.items[this.after(y + this.scroll.scrollTop)];
    if (!item?.lane) return null;
    const row = Math.floor((y + this.scroll.scrollTop - item.top - 2) / this.rowHeight);
    const time = this.time(x);
    const perPixel = (this.model.view.to - this.model.view.from) / this.width;
    const level = levelOf(perPixel);
    const [index] = this.tiles.indexes(time, time, level);
    const found = index === undefined ? null : this.tiles.get(item.lane.id, level, index);
    const none = { item, row, time, picked: null, count: 0, about: found?.tile.about ?? false };
    if (!found || item.lane.kind === 'counter') return none;
    const { tile } = found;
    const at = hit(tile, row, time, perPixel * 2);
    if (at >= 0) {
      const picked = { lane: item.lane.id, row, start: tile.start[at]!, dur: tile.dur[at]!, place: tile.place[at]!, name: tile.name[at]!, flags: tile.flags[at]! };
      return { ...none, picked, count: 1 };
    }
    const column = columnAt(tile, row, time);
    return column < 0 ? none : { ...none, count: tile.count[column]! };
  }
}
