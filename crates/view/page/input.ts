// Mouse and keyboard over the drawing.

import type { Lanes, Under } from './lanes';
import type { Model, Span } from './model';
import { exact, short, grouped } from './format';
import type { Names } from './names';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export interface Actions { help(): void; open(): void; find(forwards: boolean): void; escape(): void; }

export const KEYS: [string, string][] = [
  ['W S · wheel with Ctrl', 'zoom in, out'], ['A D · ← →', 'left, right'], ['↑ ↓ · wheel', 'up, down'],
  ['drag', 'move'], ['Shift + drag · ruler', 'select a time'], ['click · double click', 'details · zoom to it'],
  [', .', 'previous, next event of the row'], ['m', 'select the time of the event'], ['f', 'zoom to selection or event'], ['0', 'whole trace'],
  ['b · Backspace', 'zoom in here · back out'], ['Enter · h on a name', 'collapse it · hide it'], ['/ · n N', 'search · next, previous match'], ['o', 'open in another viewer, save'], ['Esc', 'clear'], ['?', 'these keys'],
];

export class Input {
  private readonly base = element<HTMLCanvasElement>('base');
  private readonly ruler = element<HTMLCanvasElement>('ruler');
  private readonly scroll = element('scroll');
  private readonly tip = element('tip');
  private drag: { kind: 'move' | 'select'; x: number; y: number; view: Span; scroll: number; moved: boolean } | null = null;
  cursor: number | null = null;
  private readonly held = new Set<string>();
  private ticking = false;

  constructor(private readonly model: Model, private readonly lanes: Lanes, private readonly names: Names, private readonly actions: Actions) {
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
    this.tip.hidden = true;
    const { from, to } = drag.view;
    if (drag.kind === 'move') {
      const by = ((drag.x - event.offsetX) / this.lanes.width) * (to - from);
      const kept = Math.min(Math.max(by, -from), this.model.duration - to);
      this.scroll.scrollTop = drag.scroll + drag.y - event.offsetY;
      this.model.show(from + kept, to + kept);
      return;
    }
    const [a, b] = [this.lanes.time(drag.x), this.lanes.time(event.offsetX)];
    this.model.select({ from: Math.min(a, b), to: Math.max(a, b) });
  }

  private up(event: PointerEvent, onRuler: boolean): void {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    if (onRuler) return this.model.select(null);
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
    this.tip.hidden = true;
    this.model.tell('hover');
  }

  private hover(event: PointerEvent, onRuler: boolean): void {
    const under = onRuler ? null : this.lanes.under(event.offsetX, event.offsetY);
    this.base.style.cursor = under?.picked ? 'pointer' : 'default';
    if (!under || (!under.picked && !under.count)) {
      this.tip.hidden = true;
      return;
    }
    this.tip.replaceChildren(...this.told(under));
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - box.width - 8)}px`;
    this.tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  }

  private told({ picked, count, about }: Under): Node[] {
    const [strong, rest] = [document.createElement('b'), document.createElement('span')];
    if (!picked) {
      strong.textContent = `≈ ${grouped(count)} ${count === 1 ? 'event' : 'events'}`;
      rest.textContent = about ? ' begin here that are short: zoom in to see each' : ' shorter than two pixels: zoom in to see each';
      return [strong, rest];
    }
    strong.textContent = this.names.get(picked.name) ?? '…';
    const open = picked.flags & 1 ? ', has no end' : '';
    rest.textContent = `  ${picked.dur ? exact(picked.dur) : 'instant'} at ${short(picked.start)}${open}${picked.flags & 4 ? ', overlaps others' : ''}`;
    return [strong, rest];
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
      case ',': case '.': case 'Enter': this.neighbour(key !== ','); return true;
      default: return false;
    }
  }

  private focus(): void {
    const { selection, picked } = this.model;
    if (picked) this.zoomTo(picked.start, picked.start + picked.dur);
    else if (selection) this.model.show(selection.from, selection.to);
  }

  // The event before or behind that which is picked, in its row; without one the first that is seen.
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
