// Names of lanes, as elements beside the drawing: for the mouse, the keyboard and screen readers.

import { grouped, short, visible } from './format';
import type { Item, Model } from './model';

// Rows of a lane that are drawn.
export const ROWS = 64;

export class Labels {
  private readonly names = document.getElementById('names') as HTMLElement;
  private readonly rendered = new Map<string, HTMLElement>();

  constructor(private readonly model: Model, private readonly closed: ReadonlySet<string>, private readonly toggle: (key: string) => void, private readonly hide: (key: string) => void) {}

  // Those of lanes that are seen.
  show(seen: Item[], scrolled: number): void {
    const keep = new Set(seen.map((item) => item.key));
    for (const [key, own] of this.rendered) {
      if (keep.has(key)) continue;
      own.remove();
      this.rendered.delete(key);
    }
    for (const item of seen) {
      const own = this.rendered.get(item.key) ?? this.make(item, scrolled);
      own.style.top = `${item.top - scrolled}px`;
      own.style.height = `${item.height}px`;
      const open = !this.closed.has(item.key);
      own.setAttribute('aria-expanded', String(open));
      own.querySelector('.twist')!.textContent = open ? '▾' : '▸';
    }
  }

  private make(item: Item, scrolled: number): HTMLElement {
    const own = document.createElement('div');
    own.className = item.lane ? 'lane' : 'lane process';
    own.setAttribute('role', 'treeitem');
    own.setAttribute('aria-level', item.lane ? '2' : '1');
    own.tabIndex = 0;
    const { process, lane } = item;
    const beside = [process.labels, this.model.sourceOf(process)].filter((text) => text);
    const title = lane ? visible(lane.name) : visible([`${process.name} ${process.pid}`, ...beside].join(' · '));
    const kind = lane && lane.kind !== 'thread' ? ` (${lane.kind})` : '';
    for (const [name, text] of [['twist', ''], ['', title + kind], ['count', lane ? '' : grouped(process.lanes.length)]] as const) {
      const part = document.createElement('span');
      part.className = name;
      part.textContent = text;
      own.append(part);
    }
    const hide = document.createElement('button');
    hide.className = 'hide';
    hide.textContent = '×';
    hide.title = 'Hide';
    hide.setAttribute('aria-label', `Hide ${title}`);
    hide.tabIndex = -1;
    hide.addEventListener('click', (event) => {
      event.stopPropagation();
      this.hide(item.key);
    });
    own.append(hide);
    const more = lane && lane.rows > ROWS ? `, ${lane.rows - ROWS} rows more than are drawn` : '';
    own.title = lane ? `${title}${kind}\n${grouped(lane.events)} events, ${short(lane.busy)} busy, ${lane.rows} rows${more}` : `${title}\n${process.lanes.length} lanes`;
    own.addEventListener('click', () => this.toggle(item.key));
    own.addEventListener('keydown', (event) => {
      const hides = event.key === 'h' || event.key === 'Delete';
      if (event.key !== 'Enter' && event.key !== ' ' && !hides) return;
      if (hides) {
        ((own.nextElementSibling ?? own.previousElementSibling) as HTMLElement | null)?.focus();
        this.hide(item.key);
        event.preventDefault();
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      this.toggle(item.key);
    });
    this.rendered.set(item.key, own);
    // in the order in which they are seen, so that Tab goes down
    const next = [...this.names.children].find((other) => parseFloat((other as HTMLElement).style.top) + scrolled > item.top);
    this.names.insertBefore(own, next ?? null);
    return own;
  }

  forget(): void {
    for (const own of this.rendered.values()) own.remove();
    this.rendered.clear();
  }
}
