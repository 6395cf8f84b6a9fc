// Until the trace is read: how far that is, and an overview of what was read, which is not complete.

import { drawBands } from './bands';
import { bytes, grouped, rem, short } from './format';
import { paint } from './raster';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const PX = 512;

interface SoFar { events: number; duration: string; processes: number[][]; }

let asked = false;

// Shows when events of each process begin, of those that were read.
async function soFar(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    const answer = await fetch(`api/seen?px=${PX}`);
    const found = answer.ok ? ((await answer.json()) as SoFar | null) : null;
    if (found) draw(found);
  } catch {
    // the progress says that the server has ended
  } finally {
    asked = false;
  }
}

function draw({ events, duration, processes }: SoFar): void {
  element('so-far').hidden = false;
  const time = short(Number(duration));
  element('so-far-text').textContent = `Not complete: the starts of the ${grouped(events)} events read so far, by process.`;
  const canvas = element<HTMLCanvasElement>('so-far-drawing');
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const colors = paint(matchMedia('(prefers-color-scheme: dark)').matches);
  pen.scale(ratio, ratio);
  drawBands(pen, { px: PX, values: processes }, { first: 0, each: PX / width }, { width, height }, colors.bars);
  pen.fillStyle = colors.soft;
  pen.font = `${Math.round(rem(0.6875))}px system-ui, sans-serif`;
  pen.textBaseline = 'top';
  pen.fillText(short(0), 3, 2);
  pen.textAlign = 'right';
  pen.fillText(time, width - 3, 2);
}

// Until the trace is read, how far that is; `complete` is called when calls of CPU profiles came to what is shown, if they come later.
export function ready(complete: () => void): Promise<void> {
  let waits = false;
  return new Promise((resolve, reject) => {
    const source = new EventSource('api/progress');
    source.onmessage = (event: MessageEvent<string>) => {
      const { state, error, calls, bytes: done, expected } = JSON.parse(event.data) as { state: string; error: string | null; calls: boolean; bytes: number; expected: number };
      const bar = element<HTMLProgressElement>('loading-bar');
      if (expected > 0) [bar.max, bar.value] = [expected, Math.min(done, expected)];
      element('loading-text').textContent = done && done >= expected ? 'Sorting…' : `Reading the trace… ${bytes(done)} of ${bytes(expected)}`;
      if (state === 'reading') return void soFar();
      if (state === 'ready') {
        resolve();
        waits ||= calls;
        if (calls) return;
      }
      source.close();
      if (state === 'ready') {
        if (waits) complete();
      }
      else reject(new Error(error ?? 'the trace cannot be read'));
    };
    source.onerror = () => {
      source.close();
      reject(new Error('The server has ended.'));
    };
  });
}
