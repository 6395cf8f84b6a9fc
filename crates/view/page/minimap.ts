// The overview: how busy each process is over the whole trace, and the window that is seen, with its two handles. Crumbs above it.

import { drawBands, type Bands } from './bands';
import { drawMarks } from './damage';
import { rem, short, step } from './format';
import type { Model, Span } from './model';
import type { Paint } from './raster';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const EDGE = 6;

export class Minimap {
  private readonly canvas = element<HTMLCanvasElement>('minimap');
  private overview: Bands | null = null;
  private readonly still = document.createElement('canvas');
  private drawn = '';
  private drag: { kind: 'from' | 'to' | 'window' | 'new'; at: number; view: Span } | null = null;

  constructor(private readonly model: Model, public colors: Paint) {
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', () => { this.drag = null; });
    this.canvas.addEventListener('dblclick', () => model.push(model.view));
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      model.zoom(Math.exp(event.deltaY * 0.002), this.time(event.offsetX));
    }, { passive: false });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }

  async load(): Promise<void> {
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

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { kind: this.part(event.offsetX), at: this.time(event.offsetX), view: { ...this.model.view } };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      const cursors = { from: 'ew-resize', to: 'ew-resize', window: 'grab', new: 'crosshair' };
      this.canvas.style.cursor = cursors[this.part(event.offsetX)];
      return;
    }
    const time = this.time(event.offsetX);
    const { from, to } = drag.view;
    if (drag.kind === 'from') this.model.show(Math.min(time, to), to);
    else if (drag.kind === 'to') this.model.show(from, Math.max(time, from));
    else if (drag.kind === 'window') this.model.show(from + time - drag.at, to + time - drag.at);
    else if (Math.abs(this.x(time) - this.x(drag.at)) > 3) this.model.show(Math.min(time, drag.at), Math.max(time, drag.at));
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
      if (own && overview) drawBands(own, overview, { first: first * overview.px, each: each * (overview.px / width) }, { width, height }, colors.bars);
      if (own) this.ticks(own, { from, to }, { width, height });
    }
    if (this.still.width && this.still.height) pen.drawImage(this.still, 0, 0, width, height);
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
    const bar = element('crumbs');
    const all: (Span | null)[] = [null, ...this.model.crumbs];
    bar.replaceChildren(...all.flatMap((crumb, at) => {
      const button = document.createElement('button');
      button.textContent = crumb ? `${short(crumb.from)} + ${short(crumb.to - crumb.from)}` : `Whole trace (${short(this.model.duration)})`;
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
