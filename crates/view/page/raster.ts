// Scan lines: each row of a lane is one line of pixels, stretched when it is drawn. 100,000 intervals cost some 8 ms so, where a
// rectangle each costs 400.

import { COLUMNS, type Tile } from './tiles';
import type { Kind, Trace } from './trace';

// A palette that people who see no red or no green tell apart too: hues that differ in lightness.
const LIGHT = ['#9cc9ec', '#f4c57f', '#93d5c0', '#efe08a', '#a9b8e6', '#eeae90', '#dfb5d2', '#c6ccd4', '#bcdc9c', '#8cc4d0', '#e3c9a0', '#c7c0ee'];
const DARK = ['#3a6f97', '#8f632b', '#2d7763', '#7b6d22', '#4a5a9c', '#954f34', '#81527a', '#59626e', '#587537', '#2a6a78', '#76603c', '#635593'];

// DevTools' categories of events, in the order of the overview, with their colours in both schemes.
export const CATEGORIES: [string, string, string, string[]][] = [
  ['Loading', '#9fc3f2', '#3b6aa0', ['loading']],
  ['Scripting', '#f2d06b', '#836415', ['scripting']],
  ['Rendering', '#c9b3ef', '#67509e', ['rendering', 'layout']],
  ['Painting', '#a5d6a0', '#3c7245', ['painting', 'drawing', 'rasterizing']],
  ['GPU', '#8cc9b8', '#2c6f62', ['gpu']],
  ['Messaging', '#f0b6a4', '#8d4b36', ['messaging', 'experience', 'async']],
  ['System', '#d3d8de', '#4d555e', ['other', 'idle']],
];
const CALLS = { light: ['#f2d06b', '#f5dd94', '#f0c77a', '#e6d27e'], dark: ['#836415', '#766027', '#8a5d1c', '#6f6420'] };

// The colours of names: those of a table by the number of the name, else one of several for each name.
export interface Palette { table: Uint32Array | null; others: Uint32Array; }

// Whether the trace is one of Chrome or Node, which DevTools knows how to colour.
export function isOfDevtools({ processes }: Pick<Trace, 'processes'>): boolean {
  return processes.some(({ lanes }) => lanes.some(({ name }) => /^(CrRendererMain|CrBrowserMain|JavaScriptMainThread)\b/.test(name)));
}

// `named` are the colours that events name, by their number; `inks` are texts on them.
export interface Paint { colors: Uint32Array; named: Uint32Array; inks: string[]; text: string; soft: string; back: string; line: string; accent: string; shade: string; bad: string; badBack: string; styles: string[]; bars: string[]; palettes: { calls: Palette; events: Palette }; categories: string[]; categoryOf: (name: number) => number; }

function number(style: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16));
  return ((255 << 24) | (b! << 16) | (g! << 8) | r!) >>> 0;
}

export function paint(dark: boolean, named: string[] = [], trace: Pick<Trace, 'processes' | 'categories'> | null = null): Paint {
  const styles = dark ? DARK : LIGHT;
  const rest = dark
    ? { text: '#eef2f6', soft: '#9aa5b1', back: '#16191d', line: '#32383f', accent: '#6cb2ff', shade: '#6cb2ff26', bad: '#ffb68a', badBack: '#3a2415' }
    : { text: '#1b1f24', soft: '#57606a', back: '#ffffff', line: '#dfe3e8', accent: '#0b62c4', shade: '#0b62c41f', bad: '#8a3b12', badBack: '#fff1e5' };
  const inks = named.map((style) => (light(style) > 0.179 ? '#000000' : '#ffffff'));
  const colors = Uint32Array.from(styles, number);
  const others: Palette = { table: null, others: colors };
  const base = { colors, named: Uint32Array.from(named, number), inks, styles: [...styles], bars: dark ? LIGHT : DARK, ...rest };
  const categories = CATEGORIES.map((own) => own[dark ? 2 : 1]);
  const system = categories.length - 1;
  if (!trace || !isOfDevtools(trace)) return { ...base, categories, categoryOf: () => system, palettes: { calls: others, events: others } };
  const numbers = new Map<number, number>();
  CATEGORIES.forEach(([, , , keys], at) => keys.forEach((key) => trace.categories[key]?.forEach((name) => numbers.set(name, at))));
  const table = new Uint32Array(Math.max(0, ...numbers.keys()) + 1);
  for (const [name, at] of numbers) table[name] = number(categories[at]!);
  // names that DevTools does not know are grey in Chrome, where there are many of them
  const isPage = trace.processes.some(({ lanes }) => lanes.some(({ name }) => name.startsWith('Cr')));
  const greys = dark ? ['#4d555e', '#565e68', '#474f5a'] : ['#d3d8de', '#dde1e6', '#cbd2da'];
  const calls = isPage ? { table: null, others: Uint32Array.from(CALLS[dark ? 'dark' : 'light'], number) } : others;
  return { ...base, categories, categoryOf: (name) => numbers.get(name) ?? system, palettes: { calls, events: { table, others: isPage ? Uint32Array.from(greys, number) : colors } } };
}

export const paletteOf = (kind: Kind, { palettes }: Paint): Palette => (kind === 'calls' ? palettes.calls : palettes.events);

function shadeOf({ table, others }: Palette, name: number): number {
  return table?.[name] || others[colorOf(name) % others.length]!;
}

// The relative luminance of a colour.
function light(style: string): number {
  const parts = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16) / 255).map((own) => (own <= 0.03928 ? own / 12.92 : ((own + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0]! + 0.7152 * parts[1]! + 0.0722 * parts[2]!;
}

// How well text is read on each colour: 4.5 and more is well.
export function contrasts({ styles, text, named, inks, bad, badBack, palettes, categories }: Paint): number[] {
  const between = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const style = (color: number): string => `#${[color, color >> 8, color >> 16].map((own) => (own & 255).toString(16).padStart(2, '0')).join('')}`;
  const onNamed = inks.map((ink, at) => between(light(ink), light(style(named[at]!))));
  const shades = [...styles, ...categories, ...[palettes.calls, palettes.events].flatMap(({ others }) => Array.from(others, style))];
  return [...shades.map((style) => between(light(style), light(text))), ...onNamed, between(light(bad), light(badBack))];
}

// Which colour a name has: the same wherever it stands.
export function colorOf(name: number): number {
  return Math.imul(name + 1, 2654435761) >>> 8;
}

// Which of the named colours flags have; -1 is none.
export function namedOf(flags: number): number {
  return (flags >> 3) - 1;
}

// What of a row is seen: pixels of one line each, 0 where there is nothing.
export interface Lines { pixels: Uint32Array; width: number; rows: number; }

export interface Mapping { from: number; perPixel: number; }

// A colour with so much of it seen, in 255ths.
function faded(color: number, alpha: number): number {
  return ((color & 0xffffff) | (alpha << 24)) >>> 0;
}

function alphaOf(pixel: number): number {
  return pixel >>> 24;
}

// Draws a tile between two times. What is narrower than a pixel adds to it; of what is wide the last pixel stays free, so that
// neighbours are told apart.
export function draw(tile: Tile, lines: Lines, map: Mapping, [least, most]: [number, number], { named }: Pick<Paint, 'named'>, palette: Palette): void {
  const { pixels, width, rows } = lines;
  const { from, perPixel } = map;
  const [left, right] = [Math.max(0, Math.floor((least - from) / perPixel)), Math.min(width, Math.ceil((most - from) / perPixel))];
  const add = (at: number, color: number, alpha: number): void => {
    const before = alphaOf(pixels[at]!);
    pixels[at] = alpha >= before ? faded(color, Math.min(255, alpha + (before >> 2))) : faded(pixels[at]!, Math.min(255, before + (alpha >> 2)));
  };
  for (let at = 0; at < tile.column.length; at += 1) {
    const row = tile.columnRow[at]!;
    if (row >= rows) continue;
    const start = tile.from + tile.column[at]! * tile.width;
    const begin = Math.max(left, Math.floor((start - from) / perPixel));
    const end = Math.min(right, Math.max(begin + 1, Math.floor((start + tile.width - from) / perPixel)));
    const color = shadeOf(palette, tile.columnName[at]!);
    const alpha = 70 + ((tile.busy[at]! * 150) >> 8);
    for (let x = begin; x < end; x += 1) add(row * width + x, color, alpha);
  }
  for (let at = 0; at < tile.start.length; at += 1) {
    const row = tile.row[at]!;
    if (row >= rows) continue;
    const start = tile.start[at]!;
    const x0 = (start - from) / perPixel;
    const x1 = x0 + tile.dur[at]! / perPixel;
    if (x1 < left || x0 >= right) continue;
    const color = named[namedOf(tile.flags[at]!)] ?? shadeOf(palette, tile.name[at]!);
    const begin = Math.max(left, Math.floor(x0));
    let end = Math.min(right, Math.ceil(x1));
    if (x1 - x0 < 1.5) {
      if (begin < right) add(row * width + begin, color, 110 + Math.round(Math.min(x1 - x0, 1) * 110));
      continue;
    }
    // a free pixel between neighbours
    if (x1 - x0 >= 3 && end === Math.ceil(x1)) end -= 1;
    pixels.fill(color, row * width + begin, row * width + Math.max(end, begin + 1));
  }
}

// The interval of a row at a time: in tiles where it is drawn as it is.
export function hit(tile: Tile, row: number, time: number, slack: number): number {
  let best = -1;
  let distance = slack;
  for (let at = 0; at < tile.start.length; at += 1) {
    if (tile.row[at] !== row) continue;
    const [start, end] = [tile.start[at]!, tile.start[at]! + tile.dur[at]!];
    const off = time < start ? start - time : time > end ? time - end : 0;
    if (off === 0 && tile.dur[at]! > 0) return at;
    if (off <= distance) [best, distance] = [at, off];
  }
  return best;
}

// The column of a row at a time: its place in the arrays, or -1.
export function columnAt(tile: Tile, row: number, time: number): number {
  const column = Math.floor((time - tile.from) / tile.width);
  if (column < 0 || column >= COLUMNS) return -1;
  for (let at = 0; at < tile.column.length; at += 1) if (tile.column[at] === column && tile.columnRow[at] === row) return at;
  return -1;
}
