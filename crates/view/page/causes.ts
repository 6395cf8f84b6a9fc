// Why the picked event ran: its stack, the events that initiated it, and those that it initiated.

import { jump, term, type Arrow, type Around, type End } from './around';
import { exact, refused, visible } from './format';
import type { Model, Picked } from './model';
import type { Names } from './names';
import { tail } from './selection';

interface Frame { function: string | null; place: string; event?: End; }
interface Level { task: string | null; frames: Frame[]; more: number; }
// An event of a list; its lane is null if it is drawn nowhere.
interface Listed extends Omit<End, 'lane'> { lane: number | null; key: string | null; }
interface Answer { state: 'reading' | 'failed' | 'ready'; why: string; stack: Level[]; causes: Listed[]; started: Listed[]; more: number; }

const SHOWN = 6;
const AGAIN = 400;

const isDrawn = (event: Listed): event is Listed & End => event.lane !== null;

export class Causes {
  private chain: Arrow[] = [];
  private asked: AbortController | null = null;

  constructor(private readonly model: Model, private readonly names: Names, private readonly around: Around) {}

  // Arrows of the chain that are not drawn as flows.
  get arrows(): Arrow[] {
    const same = (a: Picked, b: Picked): boolean => a.lane === b.lane && a.row === b.row && a.start === b.start;
    return this.chain.filter(({ from, to }) => !this.around.arrows.some((other) => same(from, other.from) && same(to, other.to)));
  }

  // Asks why an event ran, until the trace is read again, and adds the lists to the facts of the event.
  async show(picked: Picked | null, list: HTMLElement | null): Promise<void> {
    this.asked?.abort();
    this.chain = [];
    if (!picked || !list) return;
    this.asked = new AbortController();
    const { signal } = this.asked;
    const note = document.createElement('dd');
    note.className = 'note causes';
    const wait = (): Promise<void> => new Promise((resolve) => { setTimeout(resolve, AGAIN); });
    for (; !signal.aborted; await wait()) {
      const found = await this.ask(picked, signal);
      if (signal.aborted) return;
      note.textContent = typeof found === 'string' ? found : found.state === 'failed' ? `Causes are not shown: ${visible(found.why)}` : 'The trace is read again to find causes…';
      if (typeof found !== 'string' && found.state === 'ready') {
        note.remove();
        return this.lists(list, picked, found);
      }
      if (!note.isConnected) list.append(note);
      if (typeof found === 'string' || found.state === 'failed') return;
    }
  }

  private async ask({ lane, row, start }: Picked, signal: AbortSignal): Promise<Answer | string> {
    try {
      const answer = await fetch(`api/causes?lane=${lane}&row=${row}&start=${Math.round(start)}`, { signal });
      return answer.ok ? ((await answer.json()) as Answer) : await refused(answer);
    } catch {
      return 'The server does not answer.';
    }
  }

  private lists(list: HTMLElement, picked: Picked, { stack, causes, started, more }: Answer): void {
    const lines = stack.flatMap((level) => this.level(level));
    term(list, 'Stack', lines, SHOWN, 0);
    term(list, 'Initiated by', causes.map((event) => this.event(event, picked)), SHOWN, 0);
    term(list, 'Initiates', started.map((event) => this.event(event, picked)), SHOWN, more);
    const [drawn, first] = [causes.filter(isDrawn), { ...picked, text: '' }];
    const up = drawn.map((event, at) => this.arrow(event, drawn[at - 1] ?? first));
    this.chain = [...up, ...started.filter(isDrawn).map((event) => this.arrow(first, event))];
    this.model.tell('hover');
  }

  private arrow(from: End, to: End): Arrow {
    return { from, to, from_time: Math.min(from.start + from.dur, to.start), to_time: to.start };
  }

  private event(event: Listed, picked: Picked): HTMLElement {
    const line = document.createElement('div');
    const distance = isDrawn(event) ? ` ${exact(Math.abs(event.start - picked.start))} ${event.start < picked.start ? 'before' : 'after'}` : '';
    const name = isDrawn(event) ? jump(this.model, this.names, event) : visible(event.text);
    line.append(name, distance);
    if (event.key) line.title = `tracemill show … ${event.key}`;
    return line;
  }

  // Lines for the calls of one task.
  private level({ task, frames, more }: Level): HTMLElement[] {
    const head = task === null ? [] : [`scheduled as ${visible(task)} by`];
    const tail = more ? [`${more} more`] : [];
    const plain = (text: string): HTMLElement => {
      const line = document.createElement('div');
      line.className = 'task';
      line.textContent = text;
      return line;
    };
    return [...head.map(plain), ...frames.map((frame) => this.frame(frame)), ...tail.map(plain)];
  }

  private frame({ function: name, place, event }: Frame): HTMLElement {
    const [line, source] = [document.createElement('div'), document.createElement('span')];
    source.className = 'source';
    source.textContent = visible(tail(place));
    source.title = visible(place);
    line.append(event ? jump(this.model, this.names, event) : visible(name || '(anonymous)'), ' ', source);
    return line;
  }
}
