// Puts the page together: waits until the trace is read, then draws whatever changes once a frame.

import { Around } from './around';
import { Causes } from './causes';
import { message } from './damage';
import { exact, grouped, bytes, refused, visible } from './format';
import { Handover } from './handover';
import { Input, KEYS } from './input';
import { Lanes } from './lanes';
import { ready } from './loading';
import { Minimap } from './minimap';
import { Model, type Change, type Picked } from './model';
import type { Trace } from './trace';
import { Names } from './names';
import { drawOver } from './over';
import { ORDERS, type Order } from './order';
import { Panel } from './panel';
import { resizable } from './resize';
import { drawRuler } from './ruler';
import { Search } from './search';
import { Strips } from './strips';
import { contrasts, paint } from './raster';
import { Tiles, type Tile } from './tiles';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const scheme = matchMedia('(prefers-color-scheme: dark)');

function banner(...parts: (Node | string)[]): void {
  element('banner').replaceChildren(...parts);
  element('banner').hidden = parts.every((part) => part === '');
}

async function read(): Promise<Trace> {
  const answer = await fetch('api/trace');
  if (!answer.ok) throw new Error(await refused(answer));
  return (await answer.json()) as Trace;
}

async function start(): Promise<void> {
  let page: Page | null = null;
  await ready(() => void read().then((trace) => page?.update(trace)));
  page = new Page(await read());
  page.begin();
}

class Page {
  private readonly model: Model;
  private readonly lanes: Lanes;
  private readonly minimap: Minimap;
  private readonly panel: Panel;
  private readonly input: Input;
  private readonly handover: Handover;
  private readonly names: Names;
  private readonly around: Around;
  private readonly causes: Causes;
  private readonly search: Search;
  private readonly dirty = new Set<Change>();
  private framed = false;
  private seen = false;
  private saved = 0;
  private failure = '';

  constructor(trace: Trace) {
    const colors = paint(scheme.matches, trace.colors, trace);
    this.model = new Model(trace);
    this.names = new Names(() => this.ask('view'));
    const tiles = new Tiles(this.model.duration, (arrived) => this.arrived(arrived), (why) => this.fail(why));
    const strips = new Strips(this.model);
    this.lanes = new Lanes(this.model, tiles, this.names, strips, colors);
    this.minimap = new Minimap(this.model, colors);
    this.around = new Around(this.model, this.names);
    this.causes = new Causes(this.model, this.names, this.around);
    this.panel = new Panel(this.model, this.names, this.around, this.causes, () => this.lanes.colors);
    this.handover = new Handover(this.model);
    const escape = (): void => {
      this.model.select(null);
      this.model.pick(null);
      this.model.sought = null;
      this.panel.close();
    };
    this.input = new Input(this.model, this.lanes, this.names, { help: () => this.help(), open: () => void this.handover.show(), find: (on) => void this.search.find(on), focus: () => this.reveal(this.model.picked), escape });
    this.search = new Search(this.model, this.lanes, this.names, this.minimap, (why) => this.fail(why));
  }

  begin(): void {
    const { model } = this;
    this.facts();
    this.notices();
    model.listen((change) => this.ask(change));
    this.lanes.layout();
    model.restore(location.hash);
    this.restored();
    element('loading').hidden = true;
    element('scroll').addEventListener('scroll', () => this.ask('view'));
    new ResizeObserver(() => this.ask('layout')).observe(element('scroll'));
    addEventListener('resize', () => this.ask('layout'));
    addEventListener('hashchange', () => { if (location.hash !== model.hash()) model.restore(location.hash); });
    scheme.addEventListener('change', () => {
      this.lanes.colors = this.minimap.colors = paint(scheme.matches, this.model.trace.colors, this.model.trace);
      void this.minimap.read();
      this.ask('layout');
    });
    element('open').addEventListener('click', () => void this.handover.show());
    element('help').addEventListener('click', () => this.help());
    element('notice').querySelector('button')?.addEventListener('click', () => {
      element('notice').hidden = true;
      element('base').focus();
      this.ask('layout');
    });
    this.tools();
    void this.minimap.read();
    void this.lanes.strips.read();
    // what tests ask, in place of pixels
    Object.assign(globalThis, { tracemill: { model, lanes: this.lanes, tiles: this.lanes.tiles, minimap: this.minimap, contrasts: () => contrasts(this.lanes.colors) } });
  }

  // Shows what came to the trace.
  update(trace: Trace): void {
    this.model.update(trace);
    this.lanes.tiles.forget(this.model.duration);
    this.lanes.colors = this.minimap.colors = paint(scheme.matches, trace.colors, trace);
    void this.lanes.strips.read();
    if (!this.model.picked) this.restored();
    this.facts();
    this.ask('layout');
    void this.minimap.read();
    element('live').textContent = typeof trace.calls === 'string' ? trace.calls : 'Calls of CPU profiles are shown.';
  }

  // Controls of how tracks are arranged.
  private tools(): void {
    const { model } = this;
    const [order, filter] = [element<HTMLSelectElement>('order'), element<HTMLInputElement>('filter')];
    for (const [value, text] of ORDERS) order.append(new Option(text, value, false, value === model.order));
    order.addEventListener('change', () => {
      model.order = order.value as Order;
      model.tell('layout');
    });
    filter.addEventListener('input', () => {
      model.filter = filter.value;
      model.tell('layout');
    });
    filter.addEventListener('keydown', (event) => { if (event.key === 'Escape') element('base').focus(); });
    element('shown').addEventListener('click', () => {
      model.hidden.clear();
      model.tell('layout');
      element('base').focus();
    });
    element('fold').addEventListener('click', () => this.lanes.foldAll());
    resizable(element('grip'), () => this.ask('layout'));
  }

  // Shows what the address says.
  private restored(): void {
    const { model } = this;
    element<HTMLSelectElement>('order').value = model.order;
    element<HTMLInputElement>('filter').value = model.filter;
    this.search.restore();
    const { sought } = model;
    if (sought) void this.around.event(sought).then((found) => { if (found && model.sought === sought) model.pick(found); });
  }

  private facts(): void {
    const { trace } = this.model;
    element('file').textContent = visible(trace.file);
    element('file').title = visible(trace.file);
    document.title = `${visible(trace.file.split('/').at(-1) ?? '')} – tracemill`;
    const parts = [`${grouped(trace.events)} events`, exact(this.model.duration), bytes(trace.bytes)];
    if (trace.calls === true) parts.push('calls of CPU profiles are being worked out…');
    element('facts').textContent = parts.join(' · ');
    const said = [
      this.failure,
      trace.changed,
      typeof trace.calls === 'string' ? `No calls of CPU profiles are shown: ${visible(trace.calls)}` : null,
      trace.processes.length ? null : 'There is nothing to draw: no event has a time and a phase that is drawn.',
      trace.folded ? `${grouped(trace.folded)} events have no row, because too many overlap.` : null,
    ];
    banner(...message(this.model), said.filter((text) => text).join(' '));
    const more = [...(trace.joined ? [`${visible(trace.joined)} (as merge does)`] : []), `${grouped(trace.unended)} begin events without an end`];
    if (trace.undrawn !== null) more.push(`${grouped(trace.undrawn)} are not drawn (objects, or without a time)`);
    if (trace.lone_ends !== null) more.push(`${grouped(trace.lone_ends)} end events without a begin`);
    if (trace.by_index) more.push('Shown by its index: ≈ where a window has too many events to be read');
    element('facts').title = more.join('\n');
  }

  // Warnings, and why all of a large trace was read.
  private notices(): void {
    const { whole, warnings, inputs, command } = this.model.trace;
    const said = warnings.map((text) => `${visible(text).replace(/^(the|cannot) /, (word) => word[0]!.toUpperCase() + word.slice(1))}.`);
    if (whole !== null) {
      const several = ` Slices read all of it again. As one file it has an index, and is there at once: tracemill merge ${visible(command)} -o all.json && tracemill view all.json`;
      said.push(`All of it was read, ${bytes(this.model.trace.bytes)}: ${visible(whole)}.${inputs.length > 1 ? several : ''}`);
    }
    element('notice').hidden = said.length === 0;
    element('notice').querySelector('span')!.textContent = said.join('\n');
  }

  private arrived(tiles: Tile[]): void {
    if (tiles.length) this.fail('');
    this.lanes.grow(tiles);
  }

  // Why something that was asked for is not shown; nothing when it is.
  private fail(why: string): void {
    if (why === this.failure) return;
    this.failure = why;
    this.facts();
    this.ask('layout');
  }

  private ask(change: Change): void {
    this.dirty.add(change);
    if (this.framed) return;
    this.framed = true;
    requestAnimationFrame(() => {
      this.framed = false;
      this.frame();
    });
  }

  private frame(): void {
    const changed = new Set(this.dirty);
    this.dirty.clear();
    if (changed.has('layout')) {
      this.lanes.forget();
      this.lanes.layout();
    }
    if (changed.has('address')) this.restored();
    if (changed.has('crumbs')) this.minimap.crumbs();
    if (changed.has('picked')) {
      this.reveal(this.model.picked);
      void this.panel.picked(this.model.picked);
    }
    if (changed.has('selection')) this.panel.selected();
    if (changed.has('view') || changed.has('layout')) this.lanes.render();
    if (!this.seen && this.lanes.drawn.spans > 0) {
      this.seen = true;
      performance.mark('drawn');
    }
    if (['view', 'layout', 'crumbs', 'selection'].some((change) => changed.has(change as Change))) {
      this.minimap.render();
      drawRuler(this.model, this.lanes);
      this.save();
    } else if (changed.has('picked')) this.save();
    drawOver(this.lanes, [...this.around.arrows, ...this.causes.arrows], this.input.cursor);
  }

  private save(): void {
    clearTimeout(this.saved);
    this.saved = window.setTimeout(() => history.replaceState(null, '', this.model.hash()), 150);
  }

  // Opens the lane of what is picked, and scrolls to it.
  private reveal(picked: Picked | null): void {
    if (picked && this.lanes.open(picked)) this.lanes.layout();
    const item = picked && this.lanes.find(picked.lane);
    if (!picked || !item) return;
    const scroll = element('scroll');
    const y = item.top + picked.row * this.lanes.rowHeight;
    const top = scroll.scrollTop + this.lanes.pinnedHeight;
    if (!item.pinned && (y < top || y > scroll.scrollTop + scroll.clientHeight - 2 * this.lanes.rowHeight)) scroll.scrollTop = y - Math.max(scroll.clientHeight / 3, this.lanes.pinnedHeight);
    const { from, to } = this.model.view;
    if (picked.start + picked.dur < from || picked.start > to) this.model.show(picked.start - (to - from) / 2, picked.start + (to - from) / 2);
  }

  private help(): void {
    const dialog = element<HTMLDialogElement>('keys');
    const title = document.createElement('h2');
    title.id = 'keys-title';
    title.textContent = 'Keys and mouse';
    const list = document.createElement('dl');
    for (const [keys, what] of KEYS) {
      const [term, meaning] = [document.createElement('dt'), document.createElement('dd')];
      term.textContent = keys;
      meaning.textContent = what;
      list.append(term, meaning);
    }
    const close = document.createElement('button');
    close.textContent = 'Close';
    close.addEventListener('click', () => dialog.close());
    dialog.replaceChildren(title, list, close);
    if (!dialog.open) dialog.showModal();
  }
}

start().catch((error: unknown) => {
  element('loading').hidden = false;
  element('loading-bar').hidden = element('so-far').hidden = true;
  element('loading-text').textContent = error instanceof Error ? error.message : String(error);
});
