// Search: events by name, and threads. Says which match is picked of how many, and marks all of them in the overview.

import { grouped, refused } from './format';
import type { Lanes } from './lanes';
import type { Minimap } from './minimap';
import type { Model, Picked } from './model';
import type { Names } from './names';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const COLUMNS = 2048;

interface Found extends Picked { text: string; }
interface Matches { count: number; columns: number[] | null; rank: number | null; }

export class Search {
  private readonly box = element<HTMLInputElement>('search');
  private readonly place = element('found');
  private matches: Matches | null = null;
  private thread = -1;
  private timer = 0;

  constructor(private readonly model: Model, private readonly lanes: Lanes, private readonly names: Names, private readonly minimap: Minimap, private readonly fail: (why: string) => void) {
    this.box.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.count(), 120);
    });
    this.box.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') void this.find(!event.shiftKey);
      if (event.key === 'Escape') element('base').focus();
    });
    element('next').addEventListener('click', () => void this.find(true));
    element('previous').addEventListener('click', () => void this.find(false));
  }

  // Shows the text of the address.
  restore(): void {
    if (this.box.value === this.model.search) return;
    this.box.value = this.model.search;
    void this.count();
  }

  // Lanes whose names have the text, in the order in which they are shown.
  private threads(): number[] {
    const text = this.model.search.toLowerCase();
    return this.lanes.all.filter(({ name }) => name.toLowerCase().includes(text)).map(({ id }) => id);
  }

  private say(): void {
    const { matches } = this;
    if (!this.model.search || !matches) return void (this.place.textContent = '');
    const [threads, rank] = [this.threads().length, matches.rank ? `${grouped(matches.rank)} / ` : ''];
    const tracks = threads ? ` · ${grouped(threads)} ${threads === 1 ? 'track' : 'tracks'}` : '';
    this.place.textContent = `${rank}${grouped(matches.count)}${tracks}`;
    this.place.title = `${grouped(matches.count)} events and ${grouped(threads)} tracks have "${this.model.search}" in their name`;
  }

  private async ask(more: string): Promise<Matches | null> {
    const text = this.model.search;
    const answer = await fetch(`api/matches?q=${encodeURIComponent(text)}&px=${COLUMNS}${more}`).catch(() => null);
    return answer?.ok && this.model.search === text ? ((await answer.json()) as Matches) : null;
  }

  private async count(): Promise<void> {
    this.model.search = this.box.value;
    this.thread = -1;
    this.matches = null;
    this.minimap.marks = null;
    if (this.model.search) {
      const found = await this.ask('');
      if (!found) return;
      this.matches = found;
      this.minimap.marks = found.columns && { px: COLUMNS, columns: found.columns };
    }
    this.say();
    this.model.tell('view');
  }

  async find(forwards: boolean): Promise<void> {
    if (!this.box.value) return this.box.focus();
    if (this.model.search !== this.box.value) await this.count();
    const { picked, view } = this.model;
    const text = this.model.search;
    const at = Math.round(picked ? picked.start : forwards ? view.from : view.to);
    const after = picked ? `&after=${picked.place}&lane=${picked.lane}&row=${picked.row}` : '';
    const answer = await fetch(`api/find?name=${encodeURIComponent(text)}&at=${at}${after}&dir=${forwards ? 'on' : 'back'}`);
    if (!answer.ok) {
      this.place.textContent = 'not searched';
      return this.fail(`Search: ${await refused(answer)}`);
    }
    this.fail('');
    const found = (await answer.json()) as Found | null;
    if (!found) return this.track(forwards);
    this.names.set(found.name, found.text === '' ? '(no name)' : found.text);
    this.model.pick(found);
    const ranked = await this.ask(`&at=${Math.round(found.start)}&after=${found.place}&lane=${found.lane}&row=${found.row}`);
    if (ranked) this.matches = ranked;
    this.say();
  }

  // Goes to the next track with the text in its name, where no event has it.
  private track(forwards: boolean): void {
    const threads = this.threads();
    if (!threads.length || this.matches?.count) {
      element('live').textContent = 'No more matches.';
      this.place.textContent = forwards ? 'no more matches' : 'no earlier matches';
      return;
    }
    this.thread = (this.thread + (forwards ? 1 : threads.length - 1) + threads.length) % threads.length;
    const lane = threads[this.thread]!;
    if (this.lanes.open({ lane, row: 0 })) this.lanes.layout();
    const item = this.lanes.find(lane);
    if (item && !item.pinned) element('scroll').scrollTop = item.top - this.lanes.pinnedHeight;
    this.place.textContent = `${this.thread + 1} / ${grouped(threads.length)} ${threads.length === 1 ? 'track' : 'tracks'}`;
  }
}
