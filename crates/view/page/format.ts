// Times and texts as people read them.

const UNITS: [string, number][] = [['s', 9], ['ms', 6], ['µs', 3], ['ns', 0]];

// A whole number with a narrow space between thousands.
export function grouped(value: number | bigint): string {
  return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

// Nanoseconds to the last digit, in the largest unit of which there is one: 1500 is 1.5 µs.
export function exact(nanos: number | bigint): string {
  const whole = BigInt(typeof nanos === 'number' ? Math.round(nanos) : nanos);
  const sign = whole < 0n ? '-' : '';
  const digits = (whole < 0n ? -whole : whole).toString();
  const [unit, power] = UNITS.find(([, power]) => digits.length > power) ?? ['ns', 0];
  const padded = digits.padStart(power + 1, '0');
  const head = grouped(BigInt(padded.slice(0, padded.length - power)));
  const tail = padded.slice(padded.length - power).replace(/0+$/, '');
  return `${sign}${head}${tail && power ? `.${tail}` : ''} ${unit}`;
}

// Nanoseconds to four digits or so.
export function short(nanos: number): string {
  const size = Math.abs(nanos);
  // what is rounded to a thousand is one of the next unit
  const [unit, power] = UNITS.find(([, power]) => size >= 0.9995 * 10 ** power) ?? ['ns', 0];
  const value = nanos / 10 ** power;
  const places = Math.abs(value) >= 100 || power === 0 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const text = value.toFixed(places);
  return `${places ? text.replace(/\.?0+$/, '') : text} ${unit}`;
}

// A time stamp as traces write it: microseconds, to the last digit.
export function stamp(start: bigint, since: number): string {
  const all = start + BigInt(Math.round(since));
  const sign = all < 0n ? '-' : '';
  const digits = (all < 0n ? -all : all).toString().padStart(4, '0');
  const tail = digits.slice(-3).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -3)}${tail ? `.${tail}` : ''} µs`;
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  let value = count;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 || at === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[at]}`;
}

// A name in which nothing is hidden: marks that turn the direction of text, and control characters, are seen.
export function visible(text: string): string {
  return text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(/[\u0000-\u001f]/g, (control) => String.fromCharCode(0x2400 + control.charCodeAt(0)))
    .replace(/\u007f/g, '␡');
}

// Pixels of so many of the root's letters, for what is drawn: it grows with the text of the page.
export const rem = (letters: number): number => letters * parseFloat(getComputedStyle(document.documentElement).fontSize);

// Why there is no answer, and what to do, as the server says it.
export async function refused(answer: Response): Promise<string> {
  const { error, hint } = (await answer.json().catch(() => ({}))) as { error?: string; hint?: string };
  return `${error?.replace(/[.]?$/, '.') ?? `Status ${answer.status}.`} ${hint ?? ''}`.trim();
}

// Ticks of a ruler: a step of 1, 2 or 5 times a power of ten that is at least so many nanoseconds.
export function step(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= least) return power * factor;
  return power * 10;
}
