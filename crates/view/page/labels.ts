// Names of lanes, as elements beside the drawing: for the mouse, the keyboard and screen readers.

import { grouped, short, visible } from './format';
import type { Item, Model } from './model';

// Rows of a lane that are drawn.
export const ROWS = 64;

export class Labels {
  private readonly names = document.getElementById('names') as HTMLElement;
  private readonly rendered = new Map<string, HTMLElement>();

  constructor(private readonly model: Model) {}

  // Those of lanes that are seen.
  show(seen: Item[], topOf: (item: Item) => number): void {
    const keep = new Set(seen.map((item) => item.key));
    for (const [key, own] of this.rendered) {
      if (keep.has(key)) continue;
      own.remove();
      this.rendered.delete(key);
    }
    for (const item of seen) {
      const own = this.rendered.get(item.key) ?? this.make(item);
      own.style.top = `${topOf(item)}px`;
      own.style.height = `${item.height}px`;
      const { search } = this.model;
      own.classList.toggle('match', search !== '' && item.lane?.name.toLowerCase().includes(search.toLowerCase()) === true);
      const open = !this.model.isClosed(item.key);
      own.setAttribute('aria-expanded', String(open));
      own.querySelector('.twist')!.textContent = open ? '▾' : '▸';
    }
  }

  private make(item: Item): HTMLElement {
    const own = document.createElement('div');
    own.className = ['lane', ...(item.lane || item.strip ? [] : ['process']), ...(item.pinned ? ['pinned'] : [])].join(' ');
    own.setAttribute('role', 'treeitem');
    own.setAttribute('aria-level', item.lane ? '2' : '1');
    own.tabIndex = 0;
    own.dataset.top = String(item.top);
    const { process, lane } = item;
    const beside = [process.labels, this.model.sourceOf(process)].filter((text) => text);
    const named = visible([`${process.name} ${process.pid}`, ...beside].join(' · '));
    const kind = lane && lane.kind !== 'thread' ? ` (${lane.kind})` : '';
    const title = item.strip?.title ?? (lane ? `${visible(lane.name)}${kind}` : named);
    const isPinned = this.model.pinned.has(item.key);
    for (const [name, text] of [['twist', ''], ['', isPinned ? `${title} · ${visible(process.name)}` : title], ['count', lane || item.strip ? '' : grouped(process.lanes.length)]] as const) {
      const part = document.createElement('span');
      part.className = name;
      part.textContent = text;
      own.append(part);
    }
    const act = (name: string, text: string, what: () => void): void => {
      const button = document.createElement('button');
      [button.className, button.textContent, button.title, button.tabIndex] = ['act', text, name, -1];
      button.setAttribute('aria-label', `${name} ${title}`);
      button.addEventListener('click', (event) => {
        event.stopPropagation();
        what();
      });
      own.append(button);
    };
    if (lane) act(isPinned ? 'Unpin' : 'Pin to the top', isPinned ? '⊖' : '⊤', () => this.change(this.model.pinned, item.key));
    act('Hide', '×', () => this.change(this.model.hidden, item.key));
    const more = lane && lane.rows > ROWS ? `, ${lane.rows - ROWS} rows more than are drawn` : '';
    const { strip } = item;
    own.title = strip ? `${title}, as in Chrome DevTools${strip.more ? `: the first ${grouped(strip.rows.length)} of ${grouped(strip.rows.length + strip.more)}` : ''}` : lane ? `${title}\n${named}\n${grouped(lane.events)} events, ${short(lane.busy)} busy, ${lane.rows} rows${more}` : `${title}\n${process.lanes.length} tracks`;
    own.addEventListener('click', () => this.toggle(item.key));
    own.addEventListener('keydown', (event) => {
      const keys: Record<string, () => void> = {
        h: () => this.change(this.model.hidden, item.key), p: () => lane && this.change(this.model.pinned, item.key),
        Enter: () => this.toggle(item.key), ' ': () => this.toggle(item.key),
      };
      const what = keys[event.key === 'Delete' ? 'h' : event.key];
      if (!what || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'h' || event.key === 'Delete') ((own.nextElementSibling ?? own.previousElementSibling) as HTMLElement | null)?.focus();
      event.preventDefault();
      event.stopPropagation();
      what();
    });
    this.rendered.set(item.key, own);
    // in the order in which they are seen, so that Tab goes down
    const next = [...this.names.children].find((other) => Number((other as HTMLElement).dataset.top) > item.top);
    this.names.insertBefore(own, next ?? null);
    return own;
  }

  private toggle(key: string): void { this.model.fold([key], !this.model.isClosed(key)); }

  private change(set: Set<string>, key: string): void {
    if (!set.delete(key)) set.add(key);
    this.model.tell('layout');
  }

  forget(): void {
    for (const own of this.rendered.values()) own.remove();
    this.rendered.clear();
  }
}
