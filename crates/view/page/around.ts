// What stands around the event that is picked: those that hold it, and those that arrows join it with.

import { exact, visible } from './format';
import type { Model, Picked } from './model';
import type { Names } from './names';

export interface End extends Picked { text: string; }
export interface Arrow { from: End; to: End; from_time: number; to_time: number; }
interface Answer { above: End[]; arrows: Arrow[]; }

const SHOWN = 12;

export class Around {
  arrows: Arrow[] = [];
  private asked: AbortController | null = null;

  constructor(private readonly model: Model, private readonly names: Names) {}

  // Asks what is around an event, and puts it behind the facts of the event.
  async show(picked: Picked | null, list: HTMLElement | null): Promise<void> {
    this.asked?.abort();
    this.arrows = [];
    if (!picked || !list) return;
    this.asked = new AbortController();
    const { signal } = this.asked;
    const found = await fetch(`api/around?lane=${picked.lane}&row=${picked.row}&start=${Math.round(picked.start)}`, { signal }).then(
      async (answer) => (answer.ok ? ((await answer.json()) as Answer | null) : null),
      () => null,
    );
    if (!found || signal.aborted) return;
    this.arrows = found.arrows;
    const is = (end: End): boolean => end.lane === picked.lane && end.row === picked.row && end.start === picked.start;
    this.row(list, 'Within', [...found.above].reverse().map((end) => [end, '']));
    this.row(list, 'Flow from', found.arrows.filter(({ to, from }) => is(to) && !is(from)).map((arrow) => [arrow.from, this.after(arrow)]));
    this.row(list, 'Flow to', found.arrows.filter(({ from, to }) => is(from) && !is(to)).map((arrow) => [arrow.to, this.after(arrow)]));
    this.model.tell('hover');
  }

  private after({ from_time, to_time }: Arrow): string { return ` after ${exact(to_time - from_time)}`; }

  private row(list: HTMLElement, label: string, ends: [End, string][]): void {
    if (!ends.length) return;
    const [term, meaning] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = label;
    for (const [end, note] of ends.slice(0, SHOWN)) {
      this.names.set(end.name, end.text === '' ? '(no name)' : end.text);
      const button = document.createElement('button');
      button.className = 'jump';
      button.textContent = this.names.get(end.name);
      button.title = `${visible(this.model.lanes.get(end.lane)?.name ?? '')}, ${exact(end.dur)}`;
      button.addEventListener('click', () => this.model.pick(end));
      meaning.append(button, note, ' ');
    }
    if (ends.length > SHOWN) meaning.append(`and ${ends.length - SHOWN} more`);
    list.append(term, meaning);
  }
}
