// Where the trace is damaged or cut off: marks in the overview with words, and what the banner says, with a button for each place.

import { bytes, grouped, rem, short, visible } from './format';
import type { Model } from './model';
import type { Damage, Trace } from './trace';
import type { Paint } from './raster';

export const wordOf = ({ kind }: { kind: string }): string => (kind === 'truncated' ? 'cut off' : 'damaged');

// Places that stand so close that one word is for all of them.
export interface Flag { x: number; text: string; marks: number[]; }

// The flags of marks in a picture of a width: each with a word, the room of which is `wide`, and how many it is for.
export function flags(marks: { x: number; word: string }[], width: number, wide: (text: string) => number): Flag[] {
  const all: Flag[] = [];
  let end = -Infinity;
  for (const { x, word } of marks.filter((mark) => mark.x >= 0 && mark.x <= width).sort((a, b) => a.x - b.x)) {
    const last = all.at(-1);
    if (last && x < end) {
      last.marks.push(x);
      last.text = `${last.marks.length} × damaged`;
    } else all.push({ x, text: word, marks: [x] });
    const own = all.at(-1)!;
    end = Math.max(own.x + wide(own.text) + 4, x + 4);
  }
  return all;
}

export function drawMarks(pen: CanvasRenderingContext2D, damage: Damage[], x: (time: number) => number, { bad, badBack }: Paint, { width, height }: { width: number; height: number }): void {
  const size = Math.round(rem(0.6875));
  pen.font = `600 ${size}px system-ui, sans-serif`;
  pen.textBaseline = 'bottom';
  const marks = damage.flatMap((own) => (own.at === null ? [] : [{ x: Math.round(x(own.at)), word: wordOf(own) }]));
  for (const flag of flags(marks, width, (text) => pen.measureText(text).width + 6)) {
    pen.fillStyle = bad;
    for (const mark of flag.marks) pen.fillRect(Math.min(Math.max(mark - 1, 0), width - 2), 0, 2, height);
    // the word stays in the picture
    const room = pen.measureText(flag.text).width + 6;
    const left = Math.max(0, Math.min(flag.x + 1, width - room));
    pen.fillRect(left, height - size - 5, room, size + 4);
    pen.fillStyle = badBack;
    pen.fillText(flag.text, left + 3, height - 2);
  }
}

// What one place is, in a sentence.
export function told(own: Damage, { inputs }: Trace): string {
  const where = inputs.length > 1 ? ` of ${visible(own.input)}` : '';
  const lost = own.bytes ? `, ${bytes(own.bytes)} lost` : '';
  return `byte ${grouped(own.offset)}${where}${lost}: ${own.sentence}${own.excerpt ? `: ${visible(own.excerpt)}` : ''}`;
}

// The message about damage, with buttons that show its places; nothing if there is none.
export function message(model: Model): Node[] {
  const { lost, damage } = model.trace;
  if (!lost) return [];
  const text = document.createElement('span');
  text.textContent = `The trace is damaged: ${grouped(lost)} ${lost === 1 ? 'piece is' : 'pieces are'} lost${lost > damage.length && damage.length ? `, the first of them` : ''}${damage.length ? ':' : '.'}`;
  const places = damage.map((own) => {
    const button = document.createElement('button');
    const { at } = own;
    button.textContent = at === null ? `${wordOf(own)} at byte ${grouped(own.offset)}` : `${wordOf(own)} at ${short(at)}`;
    button.title = told(own, model.trace);
    button.setAttribute('aria-label', `${button.textContent}: ${button.title}`);
    button.disabled = at === null;
    button.addEventListener('click', () => {
      if (at === null) return;
      const half = (model.view.to - model.view.from) / 4;
      model.show(at - half, at + half);
    });
    return button;
  });
  return [text, ...places];
}
