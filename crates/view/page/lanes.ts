// Lanes below each other: which are seen, what is drawn in them, and their names beside them.

import { counter } from './counter';
import { Labels, ROWS } from './labels';
import type { Item, Model, Picked } from './model';
import type { Names } from './names';
import { ordered, type Group } from './order';
import { columnAt, draw, hit, namedOf, paletteOf, type Lines, type Paint } from './raster';
import { corner, type Strips } from './strips';
import type { Lane, Process, StripRow } from './trace';
import { COLUMNS, levelOf, rowsOf, Tiles, type Tile } from './tiles';

// From how many nanoseconds on a task is long.
const LONG_TASK = 50e6;

export interface Under { item: Item; row: number; time: number; picked: Picked | null; count: number; about: boolean; }

interface Part { tile: Tile; from: number; to: number; }

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export class Lanes {
  items: Item[] = [];
  rowHeight = 18;
  width = 1;
  height = 1;
  colors: Paint;
  // the part at the top that pinned lanes take, which does not scroll
  pinnedHeight = 0;
  private stripsHeight = 0;
  private groups: { key: unknown[]; all: Group[] } = { key: [], all: [] };
  private readonly base = element<HTMLCanvasElement>('base');
  private readonly scroll = element('scroll');
  private readonly labels: Labels;
  private readonly offscreen = document.createElement('canvas');
  private lines: Lines | null = null;
  drawn = { lanes: 0, spans: 0, approximate: false, about: false };

  constructor(readonly model: Model, readonly tiles: Tiles, readonly texts: Names, readonly strips: Strips, colors: Paint) {
    this.colors = colors;
    this.labels = new Labels(model);
  }

  // Those that are shown, in order. To sort many takes long, so it is done when something changed.
  private shown(): Group[] {
    const { model } = this;
    const key = [model.trace, model.order, model.filter, [...model.hidden].join()];
    if (key.some((own, at) => own !== this.groups.key[at])) {
      const text = model.filter.toLowerCase();
      const holds = (name: string): boolean => name.toLowerCase().includes(text);
      const isHidden = (key: string): boolean => {
        if (model.hidden.has(key)) return true;
        const lane = key.startsWith('l') ? model.lanes.get(Number(key.slice(1))) : undefined;
        const process = lane && model.processOf.get(lane.id);
        return text !== '' && lane !== undefined && !holds(lane.name) && !holds(`${process!.name} ${process!.pid}`);
      };
      const all = ordered(model.trace.processes, model.order, isHidden);
      this.groups = { key, all: all.filter(({ lanes }) => lanes.length || text === '') };
    }
    return this.groups.all;
  }

  // Puts everything in its place.
  layout(): void {
    const { model } = this;
    const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.rowHeight = Math.round(size * 1.1);
    const head = Math.round(size * 1.35);
    const many = model.trace.processes.length > 1 || model.lanes.size > 1;
    this.items = [];
    this.height = this.scroll.clientHeight;
    let top = 0;
    const put = (item: Omit<Item, 'top'>): void => {
      this.items.push({ ...item, top });
      top += item.height;
    };
    const of = (process: Process, lane: Lane): Omit<Item, 'top'> => {
      const key = `l${lane.id}`;
      const closed = model.isClosed(key);
      const rows = lane.kind === 'counter' || closed ? 1 : Math.min(lane.rows, ROWS);
      const height = lane.kind === 'counter' ? Math.round(this.rowHeight * (closed ? 1 : 2)) : rows * this.rowHeight;
      return { height: Math.max(height, this.rowHeight) + 5, process, lane, rows, key, pinned: false };
    };
    for (const key of model.pinned) {
      const lane = model.lanes.get(Number(key.slice(1)));
      if (!lane) continue;
      const item = of(model.processOf.get(lane.id)!, lane);
      // what does not fit scrolls
      put({ ...item, pinned: top + item.height < this.height * 0.6 });
      if (this.items.at(-1)!.pinned) this.pinnedHeight = top;
    }
    if (!this.items.some(({ pinned }) => pinned)) this.pinnedHeight = 0;
    const before = top;
    for (const strip of model.filter ? [] : this.strips.all) {
      const key = `s${strip.name.replace(/[^\w-]/g, '_')}`;
      if (model.hidden.has(key)) continue;
      const rows = model.isClosed(key) ? 1 : strip.depth;
      put({ height: rows * this.rowHeight + 5, process: model.trace.processes[0]!, lane: null, rows, key, pinned: false, strip });
    }
    const moved = top - before - this.stripsHeight;
    this.stripsHeight = top - before;
    for (const { process, lanes, key } of this.shown()) {
      if (many) put({ height: head, process, lane: null, rows: 0, key, pinned: false });
      if (model.isClosed(key) && model.filter === '') continue;
      for (const lane of lanes) if (!model.pinned.has(`l${lane.id}`)) put(of(process, lane));
    }
    element('shown').hidden = model.hidden.size === 0;
    element('shown').textContent = `Show ${model.hidden.size} hidden`;
    element('space').style.height = `${top}px`;
    // what is looked at stays where it is when strips come above it
    if (moved && this.scroll.scrollTop > 0) this.scroll.scrollTop += moved;
    this.resize();
  }

  resize(): void {
    const box = element('drawing').parentElement!;
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

  // All lanes that are not hidden, in order.
  get all(): Lane[] { return this.shown().flatMap(({ lanes }) => lanes); }

  // Folds all tracks, or opens them where all are folded.
  foldAll(): void {
    const groups = this.shown();
    const keys = groups.length > 1 ? groups.map(({ key }) => key) : groups.flatMap(({ lanes }) => lanes.map(({ id }) => `l${id}`));
    const closes = keys.some((key) => !this.model.isClosed(key));
    this.model.fold(closes ? keys : groups.flatMap(({ key, lanes }) => [key, ...lanes.map(({ id }) => `l${id}`)]), closes);
  }

  // Opens the lane of an event, so that its row is seen; returns whether something was closed.
  open({ lane, row }: Pick<Picked, 'lane' | 'row'>): boolean {
    const { model } = this;
    const group = this.groups.all.find(({ lanes }) => lanes.some(({ id }) => id === lane));
    const keys = [...(group && !model.pinned.has(`l${lane}`) ? [group.key] : []), ...(row ? [`l${lane}`] : [])].filter((key) => model.isClosed(key));
    if (keys.length) model.fold(keys, false);
    if (!group && model.hidden.delete(`l${lane}`)) model.tell('layout');
    return keys.length > 0;
  }

  // Those that are seen, pinned ones last: of those that scroll the first is found by halving.
  visible(): Item[] {
    const pinned = this.items.filter((item) => item.pinned);
    const from = this.scroll.scrollTop;
    const seen: Item[] = [];
    for (let at = Math.max(this.after(from + this.pinnedHeight), pinned.length); at < this.items.length && this.items[at]!.top < from + this.height; at += 1) seen.push(this.items[at]!);
    return [...seen, ...pinned];
  }

  // How far down an item is drawn.
  topOf(item: Item): number { return item.pinned ? item.top : item.top - this.scroll.scrollTop; }

  // The item at a point of the drawing.
  itemAt(y: number): Item | undefined { return this.items[this.after(y < this.pinnedHeight ? y : y + this.scroll.scrollTop)]; }

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
    return item && picked.row < item.rows ? this.topOf(item) + 2 + picked.row * this.rowHeight : null;
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
    this.labels.show(seen, (item) => this.topOf(item));
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
        draw(tile, { pixels, width: this.width, rows: item.rows }, map, [least, most], this.colors, paletteOf(item.lane!.kind, this.colors));
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
    const top = this.topOf(item);
    if (item.pinned) {
      pen.fillStyle = this.colors.back;
      pen.fillRect(0, top, this.width, item.height);
    }
    pen.fillStyle = this.colors.line;
    pen.fillRect(0, top + item.height - 1, this.width, 1);
    if (item.strip) return this.strips.draw(pen, item.strip, top, item.height - 1, this);
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

  // Lanes between two points of the drawing, from top to bottom; those of folded processes too.
  between(y0: number, y1: number): number[] {
    const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const within = this.items.filter((item) => this.topOf(item) < bottom && this.topOf(item) + item.height > top);
    const folded = (item: Item): number[] => (this.model.isClosed(item.key) ? item.process.lanes.map(({ id }) => id) : []);
    return [...new Set(within.flatMap((item) => (item.lane ? [item.lane.id] : folded(item))))];
  }

  // The tiles of what is seen of a lane.
  tilesAt(lane: number): Tile[] {
    const { from, to } = this.model.view;
    const level = levelOf((to - from) / this.width);
    return this.tilesOf(lane, level, this.tiles.indexes(from, to, level)).map(({ tile }) => tile);
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
    const isPage = item.lane!.kind === 'thread' && item.lane!.name.startsWith('CrRendererMain');
    for (const { tile, from: least, to: most } of parts) {
      for (let at = 0; at < tile.start.length; at += 1) {
        const row = tile.row[at]!;
        const start = tile.start[at]!;
        // an interval that lies in several tiles is named in the first that is seen
        const anchor = Math.max(start, this.model.view.from);
        if (row >= item.rows || anchor < least || anchor >= most) continue;
        const x0 = Math.max(0, this.x(start));
        if (isPage && row === 0 && tile.dur[at]! > LONG_TASK) this.long(pen, start, tile.dur[at]!, top + 2);
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

  // What of a task is long: striped beyond 50 ms, with a corner.
  private long(pen: CanvasRenderingContext2D, start: number, dur: number, top: number): void {
    const [from, to] = [Math.max(0, this.x(start + LONG_TASK)), Math.min(this.width, this.x(start + dur) - 1)];
    if (to < 0 || from > this.width) return;
    pen.save();
    pen.beginPath();
    pen.rect(from, top, to - from, this.rowHeight - 1);
    pen.clip();
    pen.strokeStyle = this.colors.bad;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = from - (from % 6) - this.rowHeight; x < to; x += 6) {
      pen.moveTo(x, top + this.rowHeight);
      pen.lineTo(x + this.rowHeight, top);
    }
    pen.stroke();
    pen.restore();
    corner(pen, to, top, this.colors.bad);
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

  // The row of a strip under a point of the drawing.
  stripRow(x: number, y: number): StripRow | null {
    const item = this.itemAt(y);
    if (!item?.strip) return null;
    const perPixel = (this.model.view.to - this.model.view.from) / this.width;
    return this.strips.hit(item.strip, this.time(x), Math.floor((y - this.topOf(item) - 2) / this.rowHeight), perPixel * 3);
  }

  // What lies under a point of the drawing.
  under(x: number, y: number): Under | null {
    const item = this.itemAt(y);
    if (!item?.lane) return null;
    const row = Math.floor((y - this.topOf(item) - 2) / this.rowHeight);
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
