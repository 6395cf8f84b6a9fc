// Puts the page together: waits until the trace is read, then draws whatever changes once a frame.

import { Around } from './around';
import { Causes } from './causes';
import { message } from './damage';
import { exact, grouped, bytes, refused, short, step, visible } from './format';
import { Handover } from './handover';
import { Input, KEYS } from './input';
import { Lanes } from './lanes';
import { ready } from './loading';
import { Minimap } from './minimap';
import { Model, type Change, type Picked, type Trace } from './model';
import { Names } from './names';
import { drawOver } from './over';
import { ORDERS, type Order } from './order';
import { Panel } from './panel';
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
  private readonly dirty = new Set<Change>();
  private framed = false;
  private seen = false;
  private saved = 0;
  private failure = '';

  constructor(trace: Trace) {
    const colors = paint(scheme.matches, trace.colors);
    this.model = new Model(trace);
    this.names = new Names(() => this.ask('view'));
    const tiles = new Tiles(this.model.duration, (arrived) => this.arrived(arrived), (why) => this.fail(why));
    this.lanes = new Lanes(this.model, tiles, this.names, colors);
    this.minimap = new Minimap(this.model, colors);
    this.around = new Around(this.model, this.names);
    this.causes = new Causes(this.model, this.names, this.around);
    this.panel = new Panel(this.model, this.names, this.around, this.causes);
    this.handover = new Handover(this.model);
    const escape = (): void => {
      this.model.select(null);
      this.model.pick(null);
      this.panel.close();
    };
    this.input = new Input(this.model, this.lanes, this.names, { help: () => this.help(), open: () => void this.handover.show(), find: (on) => void this.find(on), escape });
  }

  begin(): void {
    const { model } = this;
    this.facts();
    this.notices();
    model.listen((change) => this.ask(change));
    this.lanes.layout();
    model.restore(location.hash);
    element('loading').hidden = true;
    element('scroll').addEventListener('scroll', () => this.ask('view'));
    new ResizeObserver(() => this.ask('layout')).observe(element('scroll'));
    addEventListener('resize', () => this.ask('layout'));
    addEventListener('hashchange', () => { if (location.hash !== model.hash()) model.restore(location.hash); });
    scheme.addEventListener('change', () => {
      this.lanes.colors = this.minimap.colors = paint(scheme.matches, this.model.trace.colors);
      this.ask('layout');
    });
    element('open').addEventListener('click', () => void this.handover.show());
    element('help').addEventListener('click', () => this.help());
    element('next').addEventListener('click', () => void this.find(true));
    element('previous').addEventListener('click', () => void this.find(false));
    const search = element<HTMLInputElement>('search');
    search.addEventListener('input', () => void this.count());
    search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') void this.find(!event.shiftKey);
      if (event.key === 'Escape') element('base').focus();
    });
    element('notice').querySelector('button')?.addEventListener('click', () => {
      element('notice').hidden = true;
      element('base').focus();
      this.ask('layout');
    });
    this.orders();
    void this.minimap.load();
    // what tests ask, in place of pixels
    Object.assign(globalThis, { tracemill: { model, lanes: this.lanes, tiles: this.lanes.tiles, contrasts: () => contrasts(this.lanes.colors) } });
  }

  // Shows what came to the trace.
  update(trace: Trace): void {
    this.model.update(trace);
    this.lanes.tiles.forget(this.model.duration);
    this.facts();
    this.ask('layout');
    void this.minimap.load();
    element('live').textContent = typeof trace.calls === 'string' ? trace.calls : 'Calls of CPU profiles are shown.';
  }

  // In which order lanes stand, and those that are hidden.
  private orders(): void {
    const [order, shown] = [element<HTMLSelectElement>('order'), element('shown')];
    for (const [value, text] of ORDERS) order.append(new Option(text, value));
    order.addEventListener('change', () => this.lanes.arrange(order.value as Order));
    shown.addEventListener('click', () => {
      this.lanes.unhide();
      element('base').focus();
    });
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
      trace.folded ? `${grouped(trace.folded)} events have no row, there are so many at a time.` : null,
    ];
    banner(...message(this.model), said.filter((text) => text).join(' '));
    const more = [...(trace.joined ? [`${visible(trace.joined)} (as merge does)`] : []), `${grouped(trace.unended)} begins without an end`];
    if (trace.undrawn !== null) more.push(`${grouped(trace.undrawn)} are drawn nowhere (objects, without a time)`);
    if (trace.lone_ends !== null) more.push(`${grouped(trace.lone_ends)} ends without a begin`);
    if (trace.by_index) more.push('Shown by its index: ≈ where a window has too many events to be read');
    element('facts').title = more.join('\n');
  }

  // What went otherwise than one may expect, and was not wrong; in the order of how much it tells.
  private notices(): void {
    const { whole, warnings, inputs, command } = this.model.trace;
    const said = warnings.map((text) => `${visible(text).replace(/^the /, 'The ')}.`);
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
      this.ruler();
      this.save();
    }
    drawOver(this.lanes, [...this.around.arrows, ...this.causes.arrows], this.input.cursor);
  }

  private save(): void {
    clearTimeout(this.saved);
    this.saved = window.setTimeout(() => history.replaceState(null, '', this.model.hash()), 150);
  }

  private ruler(): void {
    const canvas = element<HTMLCanvasElement>('ruler');
    const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
    const size = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    // to size it anew costs more than to draw it
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const pen = canvas.getContext('2d');
    if (!pen) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const { colors } = this.lanes;
    const { from, to } = this.model.view;
    pen.scale(ratio, ratio);
    pen.font = `${Math.round(height * 0.45)}px system-ui, sans-serif`;
    pen.textBaseline = 'middle';
    const by = step(((to - from) / width) * height * 4.5);
    for (let time = Math.floor(from / by) * by; time < to; time += by) {
      const x = Math.round(this.lanes.x(time));
      pen.fillStyle = colors.line;
      pen.fillRect(x, 0, 1, height);
      pen.fillStyle = colors.soft;
      const text = by < 1000 ? exact(time) : short2(time, by);
      // none is cut
      if (x + 4 + pen.measureText(text).width <= width) pen.fillText(text, x + 4, height / 2);
    }
    const { approximate: crowded, about } = this.lanes.drawn;
    const approximate = about || crowded ? '≈ where crowded' : '';
    element('corner').textContent = `${short(to - from)} ${approximate}`;
    const summed = 'What is short is drawn from sums over stretches of time, in one row below what is long; zoom in for each event.';
    const dense = 'Events shorter than two pixels are drawn as density; zoom in for each.';
    element('corner').title = about ? summed : crowded ? dense : 'Every event is drawn as it is.';
  }

  // Scrolls to what is picked.
  private reveal(picked: Picked | null): void {
    const item = picked && this.lanes.find(picked.lane);
    if (!picked || !item) return;
    const scroll = element('scroll');
    const y = item.top + picked.row * this.lanes.rowHeight;
    if (y < scroll.scrollTop || y > scroll.scrollTop + scroll.clientHeight - 2 * this.lanes.rowHeight) scroll.scrollTop = y - scroll.clientHeight / 3;
    const { from, to } = this.model.view;
    if (picked.start + picked.dur < from || picked.start > to) this.model.show(picked.start - (to - from) / 2, picked.start + (to - from) / 2);
  }

  private async count(): Promise<void> {
    const text = element<HTMLInputElement>('search').value;
    const place = element('found');
    if (!text) {
      place.textContent = '';
      return;
    }
    const answer = await fetch(`api/names?q=${encodeURIComponent(text)}&limit=2000`);
    if (!answer.ok || element<HTMLInputElement>('search').value !== text) return;
    const { count, names } = (await answer.json()) as { count: number; names: { count: number }[] };
    const events = names.reduce((sum, name) => sum + name.count, 0);
    place.textContent = `${grouped(events)}${count > names.length ? '+' : ''} ${events === 1 && count === 1 ? 'match' : 'matches'}${count > 1 ? `, ${grouped(count)} names` : ''}`;
  }

  private async find(forwards: boolean): Promise<void> {
    const text = element<HTMLInputElement>('search').value;
    if (!text) return element('search').focus();
    const { picked, view } = this.model;
    // what no event stands for is known by its time alone
    const beyond = picked && picked.place < 0 ? (forwards ? 1 : -1) : 0;
    const at = Math.round(picked ? picked.start + beyond : forwards ? view.from : view.to);
    const after = picked && picked.place >= 0 ? `&after=${picked.place}` : '';
    const answer = await fetch(`api/find?name=${encodeURIComponent(text)}&at=${at}${after}&dir=${forwards ? 'on' : 'back'}`);
    if (!answer.ok) {
      element('found').textContent = 'not searched';
      return this.fail(`Search: ${await refused(answer)}`);
    }
    this.fail('');
    const found = (await answer.json()) as (Picked & { id: number; name: string }) | null;
    if (!found) {
      element('live').textContent = 'No more matches.';
      element('found').textContent = forwards ? 'no more matches' : 'no earlier matches';
      return;
    }
    const named = found as unknown as { id: number; name: string };
    this.names.set(named.id, named.name);
    this.model.pick({ ...found, name: named.id });
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

// A tick's time with as many digits as its step needs.
function short2(time: number, by: number): string {
  const [unit, power] = time >= 1e9 || by >= 1e9 ? ['s', 9] : time >= 1e6 || by >= 1e6 ? ['ms', 6] : ['µs', 3];
  const places = Math.max(0, (power as number) - Math.floor(Math.log10(by)));
  return `${(time / 10 ** (power as number)).toFixed(places)} ${unit}`;
}

start().catch((error: unknown) => {
  element('loading').hidden = false;
  element('loading-bar').hidden = element('so-far').hidden = true;
  element('loading-text').textContent = error instanceof Error ? error.message : String(error);
});
