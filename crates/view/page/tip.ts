// What is under the mouse, in some words next to it.

import { valueAt } from './counter';
import { exact, grouped, short, visible } from './format';
import type { Lanes, Under } from './lanes';
import type { Picked } from './model';
import type { Names } from './names';
import { tail } from './selection';

const REST = 120;
const ARGS = 4;
const LONGEST = 90;

function part(tag: string, text: string): HTMLElement {
  const own = document.createElement(tag);
  own.textContent = text;
  return own;
}

export class Tip {
  private readonly box = document.getElementById('tip') as HTMLElement;
  private timer = 0;
  private args: { place: number; lines: string[] } | null = null;

  constructor(private readonly lanes: Lanes, private readonly names: Names) {}

  hide(): void {
    clearTimeout(this.timer);
    this.box.hidden = true;
  }

  show(under: Under | null, event: PointerEvent): void {
    clearTimeout(this.timer);
    const told = under ? this.told(under) : [];
    if (!told.length) return this.hide();
    this.box.replaceChildren(...told);
    this.box.hidden = false;
    this.put(event);
    const picked = under?.picked;
    if (picked && picked.place >= 0 && this.args?.place !== picked.place) this.timer = window.setTimeout(() => void this.read(picked, event), REST);
  }

  // Shows some words: a name, what follows it, and lines below.
  say([name, rest, lines]: [string, string, string[]], event: PointerEvent): void {
    clearTimeout(this.timer);
    this.box.replaceChildren(part('b', name), part('span', rest), ...lines.map((line) => part('div', line)));
    this.box.hidden = false;
    this.put(event);
  }

  private put(event: PointerEvent): void {
    const { width, height } = this.box.getBoundingClientRect();
    this.box.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 8))}px`;
    this.box.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }

  private told({ item, time, picked, count, about }: Under): Node[] {
    const lane = item.lane!;
    if (!picked && lane.kind === 'counter') {
      const value = valueAt(this.lanes.tilesAt(lane.id), time);
      return value === null ? [] : [part('b', grouped(Number(value.toPrecision(9)))), part('span', `  ${visible(lane.name)} at ${short(time)}`)];
    }
    if (!picked && !count) return [];
    if (!picked) {
      const words = about ? ' that begin here are short: zoom in to see each' : ' shorter than two pixels: zoom in to see each';
      return [part('b', `≈ ${grouped(count)} ${count === 1 ? 'event' : 'events'}`), part('span', words)];
    }
    const open = picked.flags & 1 ? ', has no end' : '';
    const place = picked.place <= -2 ? this.names.get(-2 - picked.place) : null;
    const lines = [`${visible(lane.name)}`, ...(place ? [tail(place)] : []), ...(this.args?.place === picked.place ? this.args.lines : [])];
    return [
      part('b', this.names.get(picked.name) ?? '…'),
      part('span', `  ${picked.dur ? exact(picked.dur) : 'instant'} at ${short(picked.start)}${open}${picked.flags & 4 ? ', overlaps others' : ''}`),
      ...lines.map((line) => part('div', line)),
    ];
  }

  // Adds the first arguments of an event, once the mouse rests on it.
  private async read(picked: Picked, event: PointerEvent): Promise<void> {
    const answer = await fetch(`api/event?place=${picked.place}&most=20000`).catch(() => null);
    if (!answer?.ok) return;
    const lines = argsOf(await answer.text());
    this.args = { place: picked.place, lines };
    if (this.box.hidden || !lines.length) return;
    this.box.append(...lines.map((line) => part('div', line)));
    this.put(event);
  }
}

// The first arguments of an event's text; objects in them are opened.
export function argsOf(text: string): string[] {
  let args: unknown;
  try {
    args = (JSON.parse(text) as { args?: unknown }).args;
  } catch {
    return [];
  }
  const lines: string[] = [];
  const walk = (value: unknown, name: string, depth: number): void => {
    if (lines.length >= ARGS) return;
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 3) {
      for (const [key, own] of Object.entries(value)) walk(own, depth ? `${name}.${key}` : key, depth + 1);
      return;
    }
    const shown = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
    lines.push(visible(`${name}: ${shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown}`));
  };
  walk(args ?? {}, '', 0);
  return lines;
}
