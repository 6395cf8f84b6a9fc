// What is around the event that is picked: those that hold it, and those that arrows join it with.

import { exact, grouped, visible } from './format';
import type { Model, Picked } from './model';
import type { Names } from './names';

export interface End extends Picked { text: string; }
export interface Arrow { from: End; to: End; from_time: number; to_time: number; }
interface Answer { event: End; above: End[]; arrows: Arrow[]; self: number | null; named: { count: number; total: number }; }

const SHOWN = 12;

export class Around {
  arrows: Arrow[] = [];
  private asked: AbortController | null = null;

  constructor(private readonly model: Model, private readonly names: Names) {}

  private async ask({ lane, row, start }: Pick<Picked, 'lane' | 'row' | 'start'>, signal: AbortSignal | null): Promise<Answer | null> {
    try {
      const answer = await fetch(`api/around?lane=${lane}&row=${row}&start=${Math.round(start)}`, { signal });
      return answer.ok ? ((await answer.json()) as Answer | null) : null;
    } catch {
      // another event is picked, or the server is gone: the text of the event says so
      return null;
    }
  }

  // The event at a place; nothing if there is none.
  async event(at: Pick<Picked, 'lane' | 'row' | 'start'>): Promise<Picked | null> {
    const found = await this.ask(at, null);
    if (found) this.names.set(found.event.name, found.event.text === '' ? '(no name)' : found.event.text);
    return found && found.event;
  }

  // Asks what is around an event, and adds it to the facts of the event.
  async show(picked: Picked | null, list: HTMLElement | null): Promise<void> {
    this.asked?.abort();
    this.arrows = [];
    if (!picked || !list) return;
    this.asked = new AbortController();
    const { signal } = this.asked;
    const found = await this.ask(picked, signal);
    if (!found || signal.aborted) return;
    this.arrows = found.arrows;
    const is = (end: End): boolean => end.lane === picked.lane && end.row === picked.row && end.start === picked.start;
    const say = (label: string, text: string): void => {
      const line = document.createElement('span');
      line.textContent = text;
      term(list, label, [line], 1, 0);
    };
    if (found.self !== null && picked.dur) say('Self time', `${exact(found.self)}, ${Math.round((found.self / picked.dur) * 100)} %`);
    if (found.named.count > 1) say('Of this name', `${grouped(found.named.count)} in the trace, ${exact(found.named.total)} in total with nested ones`);
    this.row(list, 'Within', [...found.above].reverse().map((end) => [end, '']));
    this.row(list, 'Flow from', found.arrows.filter(({ to, from }) => is(to) && !is(from)).map((arrow) => [arrow.from, this.after(arrow)]));
    this.row(list, 'Flow to', found.arrows.filter(({ from, to }) => is(from) && !is(to)).map((arrow) => [arrow.to, this.after(arrow)]));
    this.model.tell('hover');
  }

  private after({ from_time, to_time }: Arrow): string { return ` after ${exact(to_time - from_time)}`; }

  private row(list: HTMLElement, label: string, ends: [End, string][]): void {
    const lines = ends.map(([end, note]) => {
      const line = document.createElement('span');
      line.append(jump(this.model, this.names, end), note, ' ');
      return line;
    });
    term(list, label, lines, SHOWN, 0);
  }
}

// A link that picks an event.
export function jump(model: Model, names: Names, end: End): HTMLElement {
  names.set(end.name, end.text === '' ? '(no name)' : end.text);
  const button = document.createElement('button');
  button.className = 'jump';
  button.textContent = names.get(end.name);
  button.title = `${visible(model.lanes.get(end.lane)?.name ?? '')}, ${exact(end.dur)}`;
  button.addEventListener('click', () => model.pick(end));
  return button;
}

// Adds a list to the facts of an event, if it has lines: the first ones, and a link that shows the others. `more` lines are not there.
export function term(list: HTMLElement, label: string, lines: HTMLElement[], shown: number, more: number): void {
  if (!lines.length) return;
  const [term, meaning] = [document.createElement('dt'), document.createElement('dd')];
  term.textContent = label;
  meaning.append(...lines.slice(0, shown));
  const [rest, missing] = [lines.slice(shown), more ? `${more} more` : ''];
  if (rest.length) {
    const button = document.createElement('button');
    button.className = 'jump';
    button.textContent = `${rest.length + more} more`;
    button.addEventListener('click', () => button.replaceWith(...rest, missing));
    meaning.append(button);
  } else meaning.append(missing);
  list.append(term, meaning);
}
