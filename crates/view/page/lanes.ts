// Lanes below each other: which are seen, what is drawn in them, and their names beside them.

import { short, visible, grouped } from './format';
import type { Lane, Model, Picked, Process } from './model';
import type { Names } from './names';
import { colorOf, columnAt, draw, hit, type Lines, type Paint } from './raster';
import { COLUMNS, levelOf, Tiles, type Tile } from './tiles';

export interface Item { top: number; height: number; process: Process; lane: Lane | null; rows: number; key: string; }
export interface Under { item: Item; row: number; time: number; picked: Picked | null; count: number; }

interface Part { tile: Tile; from: number; to: number; }

const ROWS = 64;
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export class Lanes {
  items: Item[] = [];
  rowHeight = 18;
  width = 1;
  height = 1;
  colors: Paint;
  private readonly closed = new Set<string>();
  private readonly base = element<HTMLCanvasElement>('base');
  private readonly scroll = element('scroll');
  private readonly names = element('names');
  private readonly offscreen = document.createElement('canvas');
  private lines: Lines | null = null;
  private readonly rendered = new Map<string, HTMLElement>();
  drawn = { lanes: 0, spans: 0, approximate: false };

  constructor(private readonly model: Model, readonly tiles: Tiles, private readonly texts: Names, colors: Paint) {
    this.colors = colors;
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
    this.model.trace.processes.forEach((process, number) => {
      const own = `p${number}`;
      if (many) put({ height: head, process, lane: null, rows: 0, key: own });
      if (this.closed.has(own)) return;
      for (const lane of process.lanes) {
        const closed = this.closed.has(`l${lane.id}`);
        const rows = lane.kind === 'counter' ? 1 : closed ? 1 : Math.min(lane.rows, ROWS);
        const height = lane.kind === 'counter' ? Math.round(this.rowHeight * (closed ? 1 : 2)) : rows * this.rowHeight;
        put({ height: Math.max(height, this.rowHeight) + 5, process, lane, rows, key: `l${lane.id}` });
      }
    });
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

  isClosed(key: string): boolean { return this.closed.has(key); }

  toggle(key: string): void {
    if (!this.closed.delete(key)) this.closed.add(key);
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
    this.drawn = { lanes: 0, spans: 0, approximate: false };
    for (const item of seen) this.item(pen, item, level, indexes);
    this.label(seen);
  }

  private item(pen: CanvasRenderingContext2D, item: Item, level: number, indexes: number[]): void {
    const top = item.top - this.scroll.scrollTop;
    pen.fillStyle = this.colors.line;
    pen.fillRect(0, top + item.height - 1, this.width, 1);
    if (!item.lane) {
      pen.globalAlpha = 0.35;
      pen.fillRect(0, top, this.width, item.height - 1);
      pen.globalAlpha = 1;
      return;
    }
    const found = this.tilesOf(item.lane.id, level, indexes);
    if (item.lane.kind === 'counter') return this.counter(pen, item, top, found.map((part) => part.tile));
    this.rows(pen, item, top, found);
  }

  private tilesOf(lane: number, level: number, indexes: number[]): Part[] {
    const size = COLUMNS * 2 ** level;
    return indexes.flatMap((index) => {
      const found = this.tiles.get(lane, level, index);
      return found ? [{ tile: found.tile, from: index * size, to: (index + 1) * size }] : [];
    });
  }

  private rows(pen: CanvasRenderingContext2D, item: Item, top: number, parts: Part[]): void {
    const { from, to } = this.model.view;
    const map = { from, perPixel: (to - from) / this.width };
    const [width, rows] = [this.width, item.rows];
    if (!this.lines || this.lines.width !== width || this.lines.rows < rows) {
      this.lines = { width, rows: Math.max(rows, ROWS), pixels: new Uint32Array(width * Math.max(rows, ROWS)) };
      this.offscreen.width = width;
      this.offscreen.height = this.lines.rows;
    }
    const pixels = this.lines.pixels.subarray(0, width * rows);
    pixels.fill(0);
    for (const { tile, from: least, to: most } of parts) {
      draw(tile, { pixels, width, rows }, map, [least, most], this.colors.colors);
      this.drawn.spans += tile.start.length + tile.column.length;
      this.drawn.approximate ||= !tile.exact;
    }
    this.drawn.lanes += 1;
    const line = this.offscreen.getContext('2d');
    if (!line) return;
    line.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.byteLength) as Uint8ClampedArray<ArrayBuffer>, width, rows), 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.offscreen, 0, 0, width, rows, 0, top + 2, width, rows * this.rowHeight);
    pen.fillStyle = this.colors.back;
    for (let row = 1; row <= rows; row += 1) pen.fillRect(0, top + 1 + row * this.rowHeight, width, 1);
    this.texted(pen, item, top, parts);
  }

  // Names in intervals that have room for them.
  private texted(pen: CanvasRenderingContext2D, item: Item, top: number, parts: Part[]): void {
    pen.fillStyle = this.colors.text;
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
        pen.fillText(fits, x0 + 3, top + 2.5 + (row + 0.5) * this.rowHeight, room);
      }
    }
  }

  // A counter: the band between its least and greatest value of each column, from 0 or the least.
  private counter(pen: CanvasRenderingContext2D, item: Item, top: number, tiles: Tile[]): void {
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
    const ends = [...all.slice(1).map((point) => point.start), item.lane!.last >= this.model.view.to ? this.model.view.to : all.at(-1)!.start];
    all.forEach((point, at) => {
      const [x0, x1] = [Math.max(this.x(point.start), -5), Math.min(this.x(ends[at]!), this.width + 5)];
      if (x1 < 0 || x0 > this.width) return;
      pen.rect(x0, y(point.high), Math.max(x1 - x0, 1), Math.max(y(least) - y(point.high), 1));
    });
    pen.fillStyle = this.colors.styles[colorOf(item.lane!.id) % this.colors.styles.length]!;
    pen.fill();
    pen.fillStyle = this.colors.soft;
    pen.font = `${this.rowHeight * 0.56}px system-ui, sans-serif`;
    pen.textBaseline = 'top';
    pen.fillText(grouped(Number(most.toPrecision(6))), 3, top + 3);
    this.drawn.lanes += 1;
  }

  // Names of the lanes that are seen, as elements: for the mouse, the keyboard and screen readers.
  private label(seen: Item[]): void {
    const keep = new Set(seen.map((item) => item.key));
    for (const [key, own] of this.rendered) {
      if (keep.has(key)) continue;
      own.remove();
      this.rendered.delete(key);
    }
    for (const item of seen) {
      const own = this.rendered.get(item.key) ?? this.makeLabel(item);
      own.style.top = `${item.top - this.scroll.scrollTop}px`;
      own.style.height = `${item.height}px`;
      const open = !this.closed.has(item.key);
      own.setAttribute('aria-expanded', String(open));
      own.querySelector('.twist')!.textContent = open ? '▾' : '▸';
    }
  }

  private makeLabel(item: Item): HTMLElement {
    const own = document.createElement('div');
    own.className = item.lane ? 'lane' : 'lane process';
    own.setAttribute('role', 'treeitem');
    own.setAttribute('aria-level', item.lane ? '2' : '1');
    own.tabIndex = 0;
    const { process, lane } = item;
    const title = lane ? visible(lane.name) : visible(`${process.name} ${process.pid}${process.labels ? ` · ${process.labels}` : ''}`);
    const kind = lane && lane.kind !== 'thread' ? ` (${lane.kind})` : '';
    for (const [name, text] of [['twist', ''], ['', title + kind], ['count', lane ? '' : grouped(process.lanes.length)]] as const) {
      const part = document.createElement('span');
      part.className = name;
      part.textContent = text;
      own.append(part);
    }
    const more = lane && lane.rows > ROWS ? `, ${lane.rows - ROWS} rows more than are drawn` : '';
    own.title = lane ? `${title}${kind}\n${grouped(lane.events)} events, ${short(lane.busy)} busy, ${lane.rows} rows${more}` : `${title}\n${process.lanes.length} lanes`;
    own.addEventListener('click', () => this.toggle(item.key));
    own.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      event.stopPropagation();
      this.toggle(item.key);
    });
    this.rendered.set(item.key, own);
    // in the order in which they are seen, so that Tab goes down
    const next = [...this.names.children].find((other) => parseFloat((other as HTMLElement).style.top) + this.scroll.scrollTop > item.top);
    this.names.insertBefore(own, next ?? null);
    return own;
  }

  forget(): void {
    for (const own of this.rendered.values()) own.remove();
    this.rendered.clear();
  }

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
    const none = { item, row, time, picked: null, count: 0 };
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
