// The overview: what the main thread does, or how busy each process is, over the whole trace; the window that is seen, with its two
// handles; matches of a search. Crumbs above it.

import { drawBands, type Bands } from './bands';
import { drawMarks } from './damage';
import { rem, short, step, visible } from './format';
import { drawLoad, loadMain, type Load } from './mainload';
import type { Model, Span } from './model';
import type { Lane } from './trace';
import { mainOf } from './order';
import { CATEGORIES, isOfDevtools, type Paint } from './raster';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const EDGE = 6;

export class Minimap {
  private readonly canvas = element<HTMLCanvasElement>('minimap');
  private overview: Bands | null = null;
  private load: Load | null = null;
  private main: Lane | null = null;
  // the columns in which matches of a search begin
  marks: { px: number; columns: number[] } | null = null;
  private readonly still = document.createElement('canvas');
  private drawn = '';
  private drag: { kind: 'from' | 'to' | 'window' | 'new'; at: number; view: Span; moved: boolean } | null = null;
  private readonly tip = element('tip');

  constructor(private readonly model: Model, public colors: Paint) {
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', () => this.up());
    this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    this.canvas.addEventListener('dblclick', () => model.push(model.view));
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      model.zoom(Math.exp(event.deltaY * 0.002), this.time(event.offsetX));
    }, { passive: false });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }

  async read(): Promise<void> {
    this.main = isOfDevtools(this.model.trace) ? mainOf(this.model.trace.processes) : null;
    this.legend();
    if (this.main) return this.readMain();
    const px = Math.min(2048, Math.max(256, this.canvas.clientWidth));
    const answer = await fetch(`api/overview?px=${px}`);
    if (!answer.ok) return;
    const buffer = await answer.arrayBuffer();
    const view = new DataView(buffer);
    const [columns, groups] = [view.getUint32(4, true), view.getUint32(8, true)];
    const size = Math.ceil(columns / 8) * 8;
    this.overview = { px: columns, values: Array.from({ length: groups }, (_, at) => new Uint8Array(buffer, 16 + at * size, columns)) };
    this.render();
  }

  private async readMain(): Promise<void> {
    const { from, to } = this.model.outer;
    const [px, { categoryOf, categories }] = [Math.min(2048, Math.max(256, this.canvas.clientWidth)), this.colors];
    if (!this.main) return;
    const lanes = this.model.processOf.get(this.main.id)!.lanes;
    const calls = lanes[lanes.indexOf(this.main) + 1];
    const load = await loadMain([this.main.id, ...(calls?.kind === 'calls' ? [calls.id] : [])], from, to, px, categories.length, categoryOf);
    if (!load) return;
    this.load = load;
    this.drawn = '';
    this.render();
  }

  // What colours mean.
  private legend(): void {
    const { model, colors, main } = this;
    const swatches: [string, string][] = main
      ? CATEGORIES.flatMap(([name, , , keys], at): [string, string][] => (name === 'System' || keys.some((key) => model.trace.categories[key]) ? [[colors.categories[at]!, name]] : []))
      : model.trace.processes.slice(0, 8).map(({ name, pid }, at) => [colors.bars[(at * 5) % colors.bars.length]!, at === 7 && model.trace.processes.length > 8 ? 'others' : visible(`${name} ${pid}`)]);
    element('legend').title = main ? `The overview shows the CPU time of ${visible(main.name)} by category, as Chrome DevTools does. Other events are grey in Chrome, and have a colour of their name elsewhere.` : 'The overview shows how busy each process is. Events have a colour of their name.';
    element('legend').replaceChildren(...(swatches.length > 1 ? swatches : []).map(([color, name]) => {
      const [line, swatch] = [document.createElement('span'), document.createElement('i')];
      swatch.style.background = color;
      line.append(swatch, name);
      return line;
    }));
  }

  private x(time: number): number {
    const { from, to } = this.model.outer;
    return ((time - from) / (to - from)) * this.canvas.clientWidth;
  }

  private time(x: number): number {
    const { from, to } = this.model.outer;
    return from + (Math.min(Math.max(x, 0), this.canvas.clientWidth) / this.canvas.clientWidth) * (to - from);
  }

  private key(event: KeyboardEvent): void {
    const { from, to } = this.model.view;
    const moves: Record<string, number> = { ArrowLeft: -0.2, ArrowRight: 0.2, PageUp: -1, PageDown: 1 };
    const move = moves[event.key];
    if (move !== undefined) this.model.pan(move * (to - from));
    else if (event.key === 'Home') this.model.show(0, to - from);
    else if (event.key === 'End') this.model.show(this.model.duration - (to - from), this.model.duration);
    else if (event.key === 'ArrowUp') this.model.zoom(0.7, (from + to) / 2);
    else if (event.key === 'ArrowDown') this.model.zoom(1 / 0.7, (from + to) / 2);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private part(x: number): 'from' | 'to' | 'window' | 'new' {
    const [left, right] = [this.x(this.model.view.from), this.x(this.model.view.to)];
    if (Math.abs(x - left) <= EDGE) return 'from';
    if (Math.abs(x - right) <= EDGE) return 'to';
    const whole = this.model.view.to - this.model.view.from >= (this.model.outer.to - this.model.outer.from) * 0.999;
    return x > left && x < right && !whole ? 'window' : 'new';
  }

  // What is under the mouse.
  private hover(event: PointerEvent): void {
    const { load, overview, model } = this;
    const time = this.time(event.offsetX);
    const told: string[] = [];
    if (load) {
      const at = Math.floor(((time - load.from) / (load.to - load.from)) * load.px);
      load.values.forEach((own, category) => { if (own[at]! >= 0.005) told.push(`${CATEGORIES[category]![0]} ${Math.round(Math.min(own[at]!, 1) * 100)} %`); });
    } else if (overview) {
      const at = Math.floor((time / model.duration) * overview.px);
      overview.values.forEach((own, group) => { if (own[at]) told.push(`${group === 7 ? 'others' : visible(model.trace.processes[group]?.name ?? '')} ${Math.round((own[at]! / 255) * 100)} %`); });
    }
    this.tip.textContent = [short(time), ...told].join(' · ');
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - box.width - 8)}px`;
    this.tip.style.top = `${this.canvas.getBoundingClientRect().bottom + 4}px`;
  }

  // A click shows what is there.
  private up(): void {
    const { drag, model } = this;
    this.drag = null;
    if (!drag || drag.moved || drag.kind === 'from' || drag.kind === 'to') return;
    const { from, to } = model.view;
    const all = to - from >= (model.outer.to - model.outer.from) * 0.999;
    const half = all ? (to - from) / 16 : (to - from) / 2;
    model.show(drag.at - half, drag.at + half);
  }

  private down(event: PointerEvent): void {
    this.tip.hidden = true;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { kind: this.part(event.offsetX), at: this.time(event.offsetX), view: { ...this.model.view }, moved: false };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      const cursors = { from: 'ew-resize', to: 'ew-resize', window: 'grab', new: 'crosshair' };
      this.canvas.style.cursor = cursors[this.part(event.offsetX)];
      return this.hover(event);
    }
    const time = this.time(event.offsetX);
    drag.moved ||= Math.abs(this.x(time) - this.x(drag.at)) > 3;
    if (!drag.moved) return;
    const { from, to } = drag.view;
    if (drag.kind === 'from') this.model.show(Math.min(time, to), to);
    else if (drag.kind === 'to') this.model.show(from, Math.max(time, from));
    else if (drag.kind === 'window') this.model.show(from + time - drag.at, to + time - drag.at);
    else this.model.show(Math.min(time, drag.at), Math.max(time, drag.at));
  }

  render(): void {
    const { canvas, colors, overview } = this;
    const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext('2d');
    if (!pen) return;
    pen.scale(ratio, ratio);
    const { from, to } = this.model.outer;
    const drawn = [from, to, width, height, ratio, rem(1), colors.back, overview !== null].join();
    if (drawn !== this.drawn) {
      // it stays as it is while the window moves
      this.drawn = drawn;
      [this.still.width, this.still.height] = [canvas.width, canvas.height];
      const own = this.still.getContext('2d');
      own?.scale(ratio, ratio);
      const [first, each] = [from / this.model.duration, (to - from) / this.model.duration];
      if (own && this.load) drawLoad(own, this.load, (time) => this.x(time), { top: rem(1), height: height - rem(1) }, colors.categories);
      else if (own && overview) drawBands(own, overview, { first: first * overview.px, each: each * (overview.px / width) }, { width, height }, colors.bars);
      if (own) this.ticks(own, { from, to }, { width, height });
    }
    if (this.still.width && this.still.height) pen.drawImage(this.still, 0, 0, width, height);
    if (this.marks) {
      const each = this.model.duration / this.marks.px;
      pen.fillStyle = colors.accent;
      for (const column of this.marks.columns) pen.fillRect(this.x(column * each) - 0.5, height - 6, Math.max(1.5, this.x(each) - this.x(0)), 6);
    }
    const [left, right] = [this.x(this.model.view.from), this.x(this.model.view.to)];
    pen.fillStyle = colors.back;
    pen.globalAlpha = 0.62;
    pen.fillRect(0, 0, left, height);
    pen.fillRect(right, 0, width - right, height);
    pen.globalAlpha = 1;
    pen.fillStyle = colors.accent;
    for (const x of [left, right]) {
      pen.fillRect(Math.min(Math.max(x - 1, 0), width - 2), 0, 2, height);
      pen.fillRect(Math.min(Math.max(x - 3, 0), width - 6), height / 2 - 10, 6, 20);
    }
    drawMarks(pen, this.model.trace.damage, (time) => this.x(time), colors, { width, height });
    const { selection } = this.model;
    if (selection) {
      pen.fillStyle = colors.shade;
      pen.fillRect(this.x(selection.from), 0, Math.max(2, this.x(selection.to) - this.x(selection.from)), height);
    }
    canvas.setAttribute('aria-valuenow', String(Math.round((this.model.view.from / this.model.duration) * 100)));
    canvas.setAttribute('aria-valuetext', `${short(this.model.view.from)} to ${short(this.model.view.to)}`);
  }

  private ticks(pen: CanvasRenderingContext2D, { from, to }: Span, { width, height }: { width: number; height: number }): void {
    const by = step(((to - from) / width) * rem(7));
    pen.fillStyle = this.colors.soft;
    pen.font = `${Math.round(rem(0.6875))}px system-ui, sans-serif`;
    pen.textBaseline = 'top';
    for (let time = Math.ceil(from / by) * by; time < to; time += by) {
      const x = Math.round(this.x(time));
      pen.globalAlpha = 0.25;
      pen.fillRect(x, 0, 1, height);
      pen.globalAlpha = 1;
      const text = short(time);
      // none is cut
      if (x + 3 + pen.measureText(text).width <= width) pen.fillText(text, x + 3, 2);
    }
  }

  crumbs(): void {
    const { from, to } = this.model.outer;
    if (this.load && (Math.abs(this.load.from - from) > 1 || Math.abs(this.load.to - to) > 1)) void this.readMain();
    const bar = element('crumbs');
    const all: (Span | null)[] = [null, ...this.model.crumbs];
    bar.replaceChildren(...all.flatMap((crumb, at) => {
      const button = document.createElement('button');
      button.textContent = crumb ? `${short(crumb.from)} to ${short(crumb.to)}` : `Whole trace (${short(this.model.duration)})`;
      if (at === all.length - 1) button.setAttribute('aria-current', 'true');
      button.addEventListener('click', () => this.model.pop(at - 1));
      return at ? [document.createTextNode(' › '), button] : [button];
    }));
    const more = document.createElement('button');
    more.textContent = 'Zoom in here';
    more.title = 'Narrow the overview to the visible window (b)';
    more.addEventListener('click', () => this.model.push(this.model.view));
    bar.append(more);
  }
}
