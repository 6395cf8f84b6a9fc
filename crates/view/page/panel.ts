// Details below the lanes: an event with its exact times and its text, or what is in a selection.

import { exact, grouped, refused, short, stamp, visible } from './format';
import type { Around } from './around';
import type { Causes } from './causes';
import type { Model, Picked } from './model';
import type { Names } from './names';
import type { Paint } from './raster';
import { make, Selected, tail, type Shape } from './selection';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

const TABS = ['event', 'stats', 'bottom', 'tree', 'flame'] as const;
type Tab = (typeof TABS)[number];

export class Panel {
  private asked: AbortController | null = null;
  private timer = 0;
  private copied = '';
  private shape: Shape = 'stats';
  private readonly selection: Selected;

  constructor(private readonly model: Model, private readonly names: Names, private readonly around: Around, private readonly causes: Causes, colors: () => Paint) {
    this.selection = new Selected(model, names, element('stats'), colors);
    for (const tab of TABS) {
      element(`tab-${tab}`).addEventListener('click', () => {
        this.tab(tab);
        if (tab !== 'event') void this.selection.show(tab);
      });
    }
    element('close').addEventListener('click', () => this.close());
    element('copy').addEventListener('click', () => void navigator.clipboard.writeText(element('event').hidden ? this.selection.csv : this.copied));
  }

  close(): void {
    element('panel').hidden = true;
    this.model.tell('layout');
  }

  private tab(which: Tab): void {
    const was = element('panel').hidden;
    element('panel').hidden = false;
    element('event').hidden = which !== 'event';
    element('stats').hidden = which === 'event';
    for (const own of TABS) element(`tab-${own}`).setAttribute('aria-selected', String(own === which));
    if (which !== 'event') this.shape = which;
    element('copy').hidden = which === 'flame';
    element('copy').textContent = which === 'event' ? 'Copy' : 'Copy as CSV';
    if (was) this.model.tell('layout');
  }

  async picked(picked: Picked | null): Promise<void> {
    if (!picked) {
      void this.causes.show(null, null);
      return void this.around.show(null, null);
    }
    this.tab('event');
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    const lane = this.model.lanes.get(picked.lane);
    const process = this.model.processOf.get(picked.lane);
    const list = document.createElement('dl');
    const say = (key: string, value: string): HTMLElement => {
      const meaning = make('dd', value);
      list.append(make('dt', key), meaning);
      return meaning;
    };
    const isCall = lane?.kind === 'calls';
    const name = this.names.get(picked.name) ?? '…';
    const heading = say(isCall ? 'Function' : 'Name', name);
    if (name === '…') void this.names.text(picked.name).then((text) => { heading.textContent = text; });
    const text = make('pre', picked.place < 0 ? 'A call, derived from the samples of a CPU profile: it has no text of its own.' : '…');
    this.copied = name;
    if (picked.place <= -2) {
      const location = say('Location', '…');
      void this.names.text(-2 - picked.place).then((place) => {
        location.textContent = tail(place);
        location.title = place;
        this.copied = `${this.names.get(picked.name) ?? ''} ${place}`;
        if (tail(place) !== place) text.textContent = `${place}\n\n${text.textContent}`;
      });
    }
    say(isCall ? 'Total time' : 'Duration', picked.flags & 1 ? `${exact(picked.dur)}, to the end of the trace (no end event)` : picked.dur ? exact(picked.dur) : 'instant');
    say('Start', `${exact(picked.start)} after the start of the trace`);
    say('Time stamp', stamp(this.model.start, picked.start));
    const input = this.model.inputOf(picked.place);
    if (input) say('Input', visible(input));
    if (picked.flags & 4) say('Row', 'below others that it overlaps without nesting');
    if (process) say('Process', visible(`${process.name} ${process.pid}`));
    if (lane) say(lane.kind === 'thread' || isCall ? 'Thread' : 'Category', visible(lane.name));
    element('event').replaceChildren(list, text);
    // flows come before causes
    void this.around.show(picked, list).then(() => { if (list.isConnected) void this.causes.show(picked, list); });
    element('live').textContent = `${this.names.get(picked.name) ?? ''}, ${picked.dur ? exact(picked.dur) : 'instant'}, at ${short(picked.start)}`;
    if (picked.place < 0) return;
    try {
      const answer = await fetch(`api/event?place=${picked.place}`, { signal });
      if (!answer.ok) {
        text.textContent = await refused(answer);
        return;
      }
      const own = await answer.text();
      this.copied = own;
      const size = Number(answer.headers.get('x-event-bytes'));
      const cut = size > own.length + 3 ? `\n… cut: it has ${grouped(size)} bytes` : '';
      text.textContent = visible(own.length < 100_000 ? pretty(own) : own).replaceAll('␊', '\n') + cut;
    } catch {
      if (!signal.aborted) text.textContent = 'The server does not answer.';
    }
  }

  // Asks for what is in the selection, when it has been still for a moment.
  selected(): void {
    clearTimeout(this.timer);
    if (!this.model.selection) return;
    this.timer = window.setTimeout(() => {
      this.tab(this.shape);
      void this.selection.show(this.shape);
    }, 120);
  }
}

// JSON with a member a line; digits stay as they are, which JSON.parse would change.
export function pretty(text: string): string {
  let [out, depth, inside] = ['', 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (inside) {
      out += letter;
      if (letter === '\\') out += text[(at += 1)] ?? '';
      else if (letter === '"') inside = false;
    } else if (letter === '"') {
      inside = true;
      out += letter;
    } else if (letter === '{' || letter === '[') {
      const next = text.slice(at + 1).trimStart()[0];
      depth += 1;
      out += next === '}' || next === ']' ? letter : `${letter}\n${'  '.repeat(Math.min(depth, 40))}`;
    } else if (letter === '}' || letter === ']') {
      depth = Math.max(0, depth - 1);
      out += /[{[]$/.test(out) ? letter : `\n${'  '.repeat(Math.min(depth, 40))}${letter}`;
    } else if (letter === ',') out += `,\n${'  '.repeat(Math.min(depth, 40))}`;
    else if (letter === ':') out += ': ';
    else if (!/\s/.test(letter)) out += letter;
  }
  return out;
}
