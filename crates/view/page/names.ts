// Texts of names, asked for by number when they are to be seen.

import { ranges } from './tiles';
import { visible } from './format';

const AT_ONCE = 500;

export class Names {
  private readonly texts = new Map<number, string>();
  private readonly wanted = new Set<number>();
  private asked = false;

  constructor(private readonly arrived: () => void) {}

  // The text, if it is known; else it is asked for.
  get(id: number): string | null {
    const text = this.texts.get(id);
    if (text !== undefined) return text;
    this.wanted.add(id);
    if (!this.asked) {
      this.asked = true;
      setTimeout(() => void this.fetch(), 10);
    }
    return null;
  }

  // The text, once it is known.
  async text(id: number): Promise<string> {
    for (let tries = 0; tries < 100; tries += 1) {
      const text = this.get(id);
      if (text !== null) return text;
      await new Promise((go) => setTimeout(go, 30));
    }
    return '…';
  }

  set(id: number, text: string): void { this.texts.set(id, visible(text)); }

  private async fetch(): Promise<void> {
    const ids = [...this.wanted].slice(0, AT_ONCE);
    try {
      const answer = await fetch(`api/names?ids=${ranges(ids)}`);
      if (answer.ok) {
        const { names } = (await answer.json()) as { names: { id: number; name: string }[] };
        for (const { id, name } of names) this.set(id, name === '' ? '(no name)' : name);
        for (const id of ids) this.wanted.delete(id);
      } else if (answer.status !== 429) {
        for (const id of ids) this.wanted.delete(id);
      }
    } catch {
      // what shows tiles says that the server is gone
      this.wanted.clear();
    }
    this.asked = false;
    if (this.wanted.size) {
      this.asked = true;
      setTimeout(() => void this.fetch(), 60);
    }
    this.arrived();
  }
}
