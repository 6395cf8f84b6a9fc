// Bands of an overview, one a process: how much there is in each column, in 255ths, below room for times.

import { rem } from './format';

export interface Bands { px: number; values: ArrayLike<number>[]; }

// Draws the columns from `first` on, `each` of them a pixel.
export function drawBands(pen: CanvasRenderingContext2D, { px, values }: Bands, { first, each }: { first: number; each: number }, { width, height }: { width: number; height: number }, bars: readonly string[]): void {
  const head = Math.round(rem(1));
  const band = (height - head - 3) / Math.max(values.length, 1);
  values.forEach((own, group) => {
    const foot = head + (group + 1) * band;
    pen.fillStyle = bars[(group * 5) % bars.length]!;
    pen.beginPath();
    for (let x = 0; x < width; x += 1) {
      const begin = Math.floor(first + x * each);
      let value = 0;
      for (let at = begin; at < Math.max(first + (x + 1) * each, begin + 1) && at < px; at += 1) value = Math.max(value, own[at]!);
      // a little is to be seen beside much
      const part = Math.max(1.5, Math.sqrt(value / 255) * (band - 1));
      if (value) pen.rect(x, foot - part, 1, part);
    }
    pen.fill();
  });
}
