// Mouse and keyboard over the drawing.

import type { Lanes } from './lanes';
import type { Model, Span } from './model';
import type { Names } from './names';
import { Tip } from './tip';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export interface Actions { help(): void; open(): void; find(forwards: boolean): void; focus(): void; escape(): void; }

export const KEYS: [string, string][] = [
  ['W S · + − · wheel with Ctrl', 'zoom in, out'], ['A D · ← →', 'left, right'], ['↑ ↓ · wheel', 'up, down'],
  ['drag', 'move'], ['Shift + drag', 'select a time of some tracks'], ['drag on the ruler', 'select a time of all tracks'], ['click · double click', 'details · zoom to it'],
  ['[ ] · , .', 'previous, next event of the row'], ['m', 'mark: select the time of the event'], ['f', 'zoom to the event or the selection'], ['0', 'whole trace'],
  ['b · Backspace', 'zoom in here · back out'], ['Enter · h · p on a name', 'fold it · hide it · pin it to the top'], ['/ · n N', 'search · next, previous match'], ['o', 'open in another viewer, save'], ['Esc', 'clear'], ['?', 'these keys'],
];

export class Input {
  private readonly base = element<HTMLCanvasElement>('base');
  private readonly ruler = element<HTMLCanvasElement>('ruler');
  private readonly scroll = element('scroll');
  private readonly tip: Tip;
  private drag: { kind: 'move' | 'select'; x: number; y: number; view: Span; scroll: number; moved: boolean } | null = null;
  cursor: number | null = null;
  private readonly held = new Set<string>();
  private ticking = false;

  constructor(private readonly model: Model, private readonly lanes: Lanes, names: Names, private readonly actions: Actions) {
    this.tip = new Tip(lanes, names);
    for (const canvas of [this.base, this.ruler]) {
      canvas.addEventListener('pointerdown', (event) => this.down(event, canvas === this.ruler));
      canvas.addEventListener('pointermove', (event) => this.move(event, canvas === this.ruler));
      canvas.addEventListener('pointerup', (event) => this.up(event, canvas === this.ruler));
      canvas.addEventListener('pointerleave', () => this.leave());
    }
    this.base.addEventListener('dblclick', (event) => this.double(event));
    this.scroll.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.ruler.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    document.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('keyup', (event) => this.held.delete(event.key.toLowerCase()));
    addEventListener('blur', () => this.held.clear());
  }

  private wheel(event: WheelEvent): void {
    const { model } = this;
    const x = event.clientX - this.base.getBoundingClientRect().left;
    const unit = event.deltaMode === 1 ? 30 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      model.zoom(Math.exp(event.deltaY * unit * 0.002), this.lanes.time(Math.max(0, x)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = (event.deltaX || event.deltaY) * unit;
      model.pan((by / this.lanes.width) * (model.view.to - model.view.from));
    }
  }

  private down(event: PointerEvent, onRuler: boolean): void {
    if (event.button !== 0) return;
    const canvas = onRuler ? this.ruler : this.base;
    canvas.setPointerCapture(event.pointerId);
    const kind = onRuler || event.shiftKey ? 'select' : 'move';
    this.drag = { kind, x: event.offsetX, y: event.offsetY, view: { ...this.model.view }, scroll: this.scroll.scrollTop, moved: false };
  }

  private move(event: PointerEvent, onRuler: boolean): void {
    this.cursor = this.lanes.time(event.offsetX);
    const { drag } = this;
    if (!drag) {
      this.hover(event, onRuler);
      this.model.tell('hover');
      return;
    }
    drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 3;
    if (!drag.moved) return;
    this.tip.hide();
    const { from, to } = drag.view;
    if (drag.kind === 'move') {
      const by = ((drag.x - event.offsetX) / this.lanes.width) * (to - from);
      const kept = Math.min(Math.max(by, -from), this.model.duration - to);
      this.scroll.scrollTop = drag.scroll + drag.y - event.offsetY;
      this.model.show(from + kept, to + kept);
      return;
    }
    const [a, b] = [this.lanes.time(drag.x), this.lanes.time(event.offsetX)];
    const lanes = onRuler ? null : this.lanes.between(drag.y + drag.scroll - this.scroll.scrollTop, event.offsetY);
    this.model.select({ from: Math.min(a, b), to: Math.max(a, b) }, lanes);
  }

  private up(event: PointerEvent, onRuler: boolean): void {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    if (onRuler) return this.model.select(null);
    const row = this.lanes.stripRow(event.offsetX, event.offsetY);
    if (row) return this.model.select({ from: row.start, to: row.start + Math.max(row.dur, 1) });
    this.model.pick(this.lanes.under(event.offsetX, event.offsetY)?.picked ?? null);
  }

  private double(event: MouseEvent): void {
    const picked = this.lanes.under(event.offsetX, event.offsetY)?.picked;
    if (picked) this.zoomTo(picked.start, picked.start + picked.dur);
    else this.model.zoom(0.5, this.lanes.time(event.offsetX));
  }

  zoomTo(from: number, to: number): void {
    const room = Math.max((to - from) * 0.15, to === from ? (this.model.view.to - this.model.view.from) / 8 : 1);
    this.model.show(from - room, to + room);
  }

  private leave(): void {
    this.cursor = null;
    this.tip.hide();
    this.model.tell('hover');
  }

  private hover(event: PointerEvent, onRuler: boolean): void {
    const under = onRuler ? null : this.lanes.under(event.offsetX, event.offsetY);
    this.base.style.cursor = under?.picked ? 'pointer' : 'default';
    const row = onRuler || under ? null : this.lanes.stripRow(event.offsetX, event.offsetY);
    if (row) return this.tip.say(this.lanes.strips.told(row), event);
    this.tip.show(under, event);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const writes = target.tagName === 'INPUT' || document.querySelector('dialog[open]') !== null;
    if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && target !== this.base) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ('wasd'.includes(key) && key.length === 1) {
      this.held.add(key);
      this.tick();
      event.preventDefault();
      return;
    }
    if (this.act(event.key)) event.preventDefault();
  }

  private act(key: string): boolean {
    const { model } = this;
    const { from, to } = model.view;
    switch (key) {
      case 'ArrowLeft': model.pan((from - to) * 0.1); return true;
      case 'ArrowRight': model.pan((to - from) * 0.1); return true;
      case 'ArrowUp': this.scroll.scrollTop -= this.lanes.rowHeight * 3; return true;
      case 'ArrowDown': this.scroll.scrollTop += this.lanes.rowHeight * 3; return true;
      case 'PageUp': this.scroll.scrollTop -= this.lanes.height; return true;
      case 'PageDown': this.scroll.scrollTop += this.lanes.height; return true;
      case '0': model.show(0, model.duration); return true;
      case '+': case '=': model.zoom(0.6, this.cursor ?? (from + to) / 2); return true;
      case '-': model.zoom(1 / 0.6, this.cursor ?? (from + to) / 2); return true;
      case 'f': this.focus(); return true;
      case 'm': if (model.picked) model.select({ from: model.picked.start, to: model.picked.start + model.picked.dur }); return true;
      case 'b': model.push(model.view); return true;
      case 'Backspace': if (model.crumbs.length) model.pop(model.crumbs.length - 2); return true;
      case '/': element('search').focus(); return true;
      case 'n': this.actions.find(true); return true;
      case 'N': this.actions.find(false); return true;
      case 'o': this.actions.open(); return true;
      case '?': this.actions.help(); return true;
      case 'Escape': this.actions.escape(); return true;
      case ',': case '[': this.neighbour(false); return true;
      case '.': case ']': case 'Enter': this.neighbour(true); return true;
      default: return false;
    }
  }

  private focus(): void {
    const { selection, picked } = this.model;
    if (picked) {
      this.zoomTo(picked.start, picked.start + picked.dur);
      this.actions.focus();
    } else if (selection) this.model.show(selection.from, selection.to);
  }

  // The event before or after the picked one, in its row; without one the first that is seen.
  private neighbour(forwards: boolean): void {
    const { picked } = this.model;
    const lane = picked?.lane ?? this.lanes.visible().find((item) => item.lane && item.lane.kind !== 'counter')?.lane?.id;
    if (lane === undefined) return;
    const next = this.lanes.beside(lane, picked?.row ?? 0, picked?.start ?? this.model.view.from, forwards, picked !== null);
    if (next) this.model.pick(next);
  }

  // Moves as long as keys are held, at one speed whatever the frames.
  private tick(): void {
    if (this.ticking) return;
    this.ticking = true;
    let before = performance.now();
    const frame = (now: number): void => {
      const share = Math.min(now - before, 50) / 1000;
      before = now;
      const { model, held } = this;
      const { from, to } = model.view;
      const at = this.cursor ?? (from + to) / 2;
      if (held.has('w')) model.zoom(Math.exp(-2.2 * share), at);
      if (held.has('s')) model.zoom(Math.exp(2.2 * share), at);
      if (held.has('a')) model.pan((from - to) * share);
      if (held.has('d')) model.pan((to - from) * share);
      this.ticking = held.size > 0;
      if (this.ticking) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
