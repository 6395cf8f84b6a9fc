// The tracks that DevTools draws above the threads of a page: screenshots, frames, interactions, timings, layout shifts; and the
// markers of its visits. They are known once the trace was read again.

import { exact, short, visible } from './format';
import type { Model } from './model';
import type { Paint } from './raster';
import type { Strip, StripRow } from './trace';

export interface Marker { name: string; at: number; url: string; }
interface Shot { at: number; place: number; }
interface Answer { state: 'reading' | 'failed' | 'ready'; tracks: Omit<Strip, 'title' | 'depth'>[]; markers: Marker[]; shots: Shot[]; }

// What strips are drawn on.
export interface Sheet { model: Model; colors: Paint; width: number; rowHeight: number; x(time: number): number; }

const AGAIN = 400;
const MOST_ROWS = 12;
const LONG = 200e6;
const TITLES: [string, string][] = [['screenshots', 'Screenshots'], ['frames', 'Frames'], ['interactions', 'Interactions'], ['timings', 'Timings'], ['animations', 'Animations'], ['layout-shifts', 'Layout shifts']];
export const MARKERS: Record<string, string> = { Nav: '#1a73e8', FCP: '#1e7d34', LCP: '#0d5c2b' };

// Puts rows that overlap below each other; returns how many are needed.
export function place(rows: StripRow[]): number {
  const ends: number[] = [];
  for (const own of rows) {
    let row = ends.findIndex((end) => end <= own.start);
    if (row < 0) row = Math.min(ends.length, MOST_ROWS - 1);
    ends[row] = Math.max(ends[row] ?? 0, own.start + own.dur);
    own.row = row;
  }
  return Math.max(ends.length, 1);
}

export class Strips {
  all: Strip[] = [];
  markers: Marker[] = [];
  private shots: Shot[] = [];
  private readonly images = new Map<number, HTMLImageElement | null>();

  constructor(private readonly model: Model) {}

  async read(): Promise<void> {
    if (!this.model.trace.processes.some(({ lanes }) => lanes.some(({ name }) => name.startsWith('CrRendererMain')))) return;
    for (;;) {
      const answer = await fetch('api/pages').catch(() => null);
      const found = answer?.ok ? ((await answer.json()) as Answer) : null;
      if (!found || found.state === 'failed') return;
      if (found.state === 'ready') return this.take(found);
      await new Promise((go) => setTimeout(go, AGAIN));
    }
  }

  private take({ tracks, markers, shots }: Answer): void {
    const titled = tracks.filter(({ name }) => name !== 'gpu' && name !== 'screenshots').map((track) => ({ ...track, title: TITLES.find(([key]) => key === track.name)?.[1] ?? visible(track.name), depth: place(track.rows) }));
    const order = (name: string): number => TITLES.findIndex(([key]) => key === name) >>> 0;
    const film: Strip[] = shots.length ? [{ name: 'screenshots', title: 'Screenshots', rows: [], depth: 4, more: 0 }] : [];
    this.all = [...film, ...titled].sort((a, b) => order(a.name) - order(b.name));
    [this.markers, this.shots] = [markers, [...shots].sort((a, b) => a.at - b.at)];
    this.model.tell('layout');
  }

  // The row at a point of a strip.
  hit(strip: Strip, time: number, row: number, slack: number): StripRow | null {
    return strip.rows.find((own) => own.row === row && own.start - slack <= time && time <= own.start + own.dur + slack) ?? null;
  }

  // What a row is, in words.
  told({ name, kind, start, dur, parts, score }: StripRow): [string, string, string[]] {
    const lines = kind.toLowerCase() === name.toLowerCase() ? [] : [kind];
    if (parts) ['input delay', 'processing', 'presentation delay'].forEach((what, at) => lines.push(`${what}: ${exact(parts[at]! * 1000)}`));
    if (score !== null) lines.push(`score: ${Number(score.toPrecision(4))}`);
    return [visible(name), `  ${dur ? exact(dur) : 'instant'} at ${short(start)}`, lines];
  }

  draw(pen: CanvasRenderingContext2D, strip: Strip, top: number, height: number, sheet: Sheet): void {
    if (strip.name === 'screenshots') return this.film(pen, top, height, sheet);
    const { from, to } = sheet.model.view;
    pen.font = `${sheet.rowHeight * 0.62}px system-ui, sans-serif`;
    pen.textBaseline = 'middle';
    let last = -1;
    for (const own of strip.rows) {
      if (own.start > to) break;
      if (own.start + own.dur < from || (own.row + 1) * sheet.rowHeight > height) continue;
      const [x0, x1] = [Math.max(sheet.x(own.start), -2), Math.min(sheet.x(own.start + own.dur), sheet.width + 2)];
      // those that begin in the same pixel look the same
      if (x1 - x0 < 1 && own.row === 0 && Math.floor(x0) === last) continue;
      last = own.row === 0 ? Math.floor(x0) : last;
      this.row(pen, own, { x0, x1, y: top + 2 + own.row * sheet.rowHeight }, sheet);
    }
  }

  private row(pen: CanvasRenderingContext2D, own: StripRow, { x0, x1, y }: { x0: number; x1: number; y: number }, sheet: Sheet): void {
    const { colors, rowHeight } = sheet;
    const [loading, scripting, , painting, , messaging, system] = colors.categories as [string, string, string, string, string, string, string];
    const fills: Record<string, string> = { frame: painting, 'dropped frame': messaging, 'partially presented frame': scripting, 'idle frame': colors.back, 'layout shift': messaging, cluster: colors.line };
    const height = rowHeight - 1;
    pen.fillStyle = fills[own.kind] ?? (own.parts ? scripting : own.kind.includes('mark') || own.kind.includes('stamp') ? loading : system);
    if (own.dur === 0) {
      pen.beginPath();
      pen.moveTo(x0, y);
      pen.lineTo(x0 + 4, y + height / 2);
      pen.lineTo(x0, y + height);
      pen.lineTo(x0 - 4, y + height / 2);
      pen.fill();
      return;
    }
    if (own.parts) {
      // the time before and after the handling of an interaction is a line
      const [begin, end] = [Math.max(x0, sheet.x(own.start + own.parts[0] * 1000)), Math.min(x1, sheet.x(own.start + (own.parts[0] + own.parts[1]) * 1000))];
      pen.fillRect(begin, y, Math.max(end - begin, 1), height);
      pen.fillStyle = colors.soft;
      pen.fillRect(x0, y + height / 2, Math.max(begin - x0, 1), 1);
      pen.fillRect(end, y + height / 2, Math.max(x1 - end, 1), 1);
      for (const edge of [x0, x1 - 1]) pen.fillRect(edge, y + 3, 1, height - 6);
      if (own.dur > LONG) corner(pen, x1, y, colors.bad);
    } else pen.fillRect(x0, y, Math.max(x1 - x0 - 0.5, 0.5), height);
    const text = own.kind.includes('frame') ? short(own.dur) : visible(own.name);
    if (x1 - x0 < 34 || own.kind === 'idle frame') return;
    pen.fillStyle = colors.text;
    const letters = Math.floor((x1 - Math.max(x0, 0) - 6) / (rowHeight * 0.34));
    pen.fillText(text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text, Math.max(x0, 0) + 3, y + height / 2);
  }

  // Pictures of the page in a row, each at its time as far as there is room.
  private film(pen: CanvasRenderingContext2D, top: number, height: number, sheet: Sheet): void {
    const { width, colors } = sheet;
    const { from, to } = sheet.model.view;
    let free = -Infinity;
    // the last one before the window is what the page looked like at its start
    const before = this.shots.filter(({ at }) => at <= from).at(-1);
    for (const shot of [...(before ? [before] : []), ...this.shots.filter(({ at }) => at > from && at <= to)]) {
      const left = Math.max(sheet.x(shot.at), 0);
      if (left < free || left > width) continue;
      const image = this.image(shot.place);
      if (!image) {
        free = left + height * 1.3;
        continue;
      }
      const size = (height - 4) / image.naturalHeight;
      pen.drawImage(image, left, top + 2, image.naturalWidth * size, height - 4);
      pen.strokeStyle = colors.line;
      pen.strokeRect(left, top + 2, image.naturalWidth * size, height - 4);
      free = left + image.naturalWidth * size + 2;
    }
  }

  private image(place: number): HTMLImageElement | null {
    const known = this.images.get(place);
    if (known !== undefined) return known?.naturalHeight ? known : null;
    this.images.set(place, null);
    void this.fetch(place);
    return null;
  }

  private async fetch(place: number): Promise<void> {
    const answer = await fetch(`api/event?place=${place}`).catch(() => null);
    if (!answer?.ok) return;
    const found = /"snapshot"\s*:\s*"([A-Za-z0-9+/=\\]+)"/.exec(await answer.text());
    if (!found) return;
    const data = found[1]!.replaceAll('\\/', '/');
    const image = new Image();
    image.src = `data:image/${data.startsWith('/9j/') ? 'jpeg' : data.startsWith('UklG') ? 'webp' : 'png'};base64,${data}`;
    await image.decode().catch(() => undefined);
    this.images.set(place, image);
    this.model.tell('view');
  }
}

// A red corner, as on what takes too long.
export function corner(pen: CanvasRenderingContext2D, right: number, top: number, color: string): void {
  pen.fillStyle = color;
  pen.beginPath();
  pen.moveTo(right - 8, top);
  pen.lineTo(right, top);
  pen.lineTo(right, top + 8);
  pen.fill();
}
