// A window on to other viewers. Each gets what `tracemill slice` writes of it, from this page: no viewer asks this server for anything.

import { bytes, exact, grouped, refused } from './format';
import type { Model } from './model';

const PERFETTO = 'https://ui.perfetto.dev';
const FIREFOX = 'https://profiler.firefox.com';
const LARGEST = { perfetto: 1 << 30, firefox: 512 << 20, devtools: 512 << 20, speedscope: 500 << 20 };
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

function make(tag: string, text = ''): HTMLElement {
  const own = document.createElement(tag);
  own.textContent = text;
  return own;
}

export class Handover {
  private readonly dialog = element<HTMLDialogElement>('handover');

  constructor(private readonly model: Model) {}

  // How large it will be is said before anything is made.
  async show(): Promise<void> {
    const { from, to } = this.model.chosen;
    const window = { from: Math.floor(from), to: Math.max(Math.ceil(to), Math.floor(from) + 1) };
    const answer = await fetch(`api/size?from=${window.from}&to=${window.to}`);
    const size = answer.ok ? ((await answer.json()) as { events: number; bytes: number }) : { events: 0, bytes: 0 };
    const what = this.model.selection ? 'The selection' : 'The visible window';
    const title = make('h2', `${what}: ${exact(window.to - window.from)}, ≈ ${grouped(size.events)} events, ≈ ${bytes(size.bytes)}`);
    title.id = 'handover-title';
    const query = `from=${window.from}&to=${window.to}`;
    const status = make('p');
    status.setAttribute('role', 'status');
    const list = make('ul');
    const row = (label: string, note: string, act: () => void, most = Infinity): void => {
      const [item, button, text] = [make('li'), make('button', label) as HTMLButtonElement, make('p', note)];
      if (size.bytes > most) text.textContent = `${note} Too large for it: choose less than ${bytes(most)}.`;
      button.disabled = size.bytes > most;
      button.addEventListener('click', act);
      item.append(button, text);
      list.append(item);
    };
    const failed = (why: unknown): void => { status.textContent = String(why instanceof Error ? why.message : why); };
    const { perfetto, devtools, speedscope } = this.model.trace.viewers;
    row('Perfetto', `In a new tab of ${new URL(perfetto ?? PERFETTO).host}, which receives it from this page${perfetto ? '' : ' and sends it nowhere'}.`, () => void this.perfetto(query, window, status).catch(failed), LARGEST.perfetto);
    row('Firefox Profiler', 'In a new tab of profiler.firefox.com. It shows markers unless the trace is a CPU profile.', () => void this.firefox(query, status).catch(failed), LARGEST.firefox);
    if (devtools) row('DevTools', 'In a separate browser.', () => void this.devtools(query, status).catch(failed), LARGEST.devtools);
    if (speedscope) row('speedscope', 'In a new tab, from this server. It shows B, E and X events.', () => this.speedscope(query), LARGEST.speedscope);
    row(devtools ? 'Save for DevTools' : 'DevTools', 'A file for the Performance panel: drop it there.', () => this.save(`slice.json.gz?${query}&for=devtools`), LARGEST.devtools);
    if (!speedscope) row('speedscope', 'A file to drop on speedscope. It shows B, E and X events.', () => this.save(`slice.json?${query}`), LARGEST.speedscope);
    row('Save .json', 'Unchanged, byte for byte.', () => this.save(`slice.json?${query}`));
    row('Save .json.gz', 'Compressed.', () => this.save(`slice.json.gz?${query}`));
    row('Save .json.zst', 'Compressed, smaller and faster; not for browsers.', () => this.save(`slice.json.zst?${query}`));
    row('Save .ndjson', 'One event per line.', () => this.save(`slice.ndjson?${query}`));
    const command = make('code', this.command(window));
    row('Copy command', 'The same on the command line:', () => void navigator.clipboard.writeText(command.textContent ?? '').then(() => { status.textContent = 'Copied.'; }, failed));
    const close = make('button', 'Close');
    close.addEventListener('click', () => this.dialog.close());
    this.dialog.replaceChildren(title, list, command, status, close);
    if (!this.dialog.open) this.dialog.showModal();
  }

  command({ from, to }: { from: number; to: number }): string {
    const at = (time: number): string => `@${this.model.start + BigInt(time)}ns`;
    const { command, merged } = this.model.trace;
    const [before, input] = merged ? [`tracemill merge ${command} -o all.json && `, 'all.json'] : ['', command];
    return `${before}tracemill slice ${input} --from ${at(from)} --to ${at(to)} -o slice.json`;
  }

  private save(route: string): void {
    const link = document.createElement('a');
    link.href = route;
    link.download = '';
    link.click();
  }

  private async fetched(route: string, status: HTMLElement): Promise<ArrayBuffer> {
    status.textContent = 'Slicing…';
    const answer = await fetch(route);
    if (!answer.ok) throw new Error(await refused(answer));
    const buffer = await answer.arrayBuffer();
    status.textContent = `${bytes(buffer.byteLength)}: waiting for the viewer…`;
    return buffer;
  }

  // The window is opened at once, since only a click may; it is asked until it answers.
  private async perfetto(query: string, window: { from: number; to: number }, status: HTMLElement): Promise<void> {
    const address = this.model.trace.viewers.perfetto ?? PERFETTO;
    const { origin } = new URL(address);
    const viewer = globalThis.window.open(address);
    if (!viewer) throw new Error('The browser blocked the new tab: allow it, and click again.');
    const buffer = await this.fetched(`slice.json?${query}&for=perfetto`, status);
    await answers(viewer, origin, 'PING', (data) => data === 'PONG');
    const { file } = this.model.trace;
    viewer.postMessage({ perfetto: { buffer, title: file, fileName: `${file.split('/').at(-1) ?? 'trace'}.slice.json`, keepApiOpen: true } }, origin, [buffer]);
    const seconds = (time: number): number => Number(this.model.start + BigInt(time)) / 1e9;
    viewer.postMessage({ perfetto: { timeStart: seconds(window.from), timeEnd: seconds(window.to) } }, origin);
    status.textContent = 'Handed to Perfetto.';
  }

  // The server starts the browser, which asks the server for the slice.
  private async devtools(query: string, status: HTMLElement): Promise<void> {
    status.textContent = 'Opening DevTools…';
    const answer = await fetch(`open?${query}`, { method: 'POST', headers: { 'x-tracemill': '1' } });
    if (!answer.ok) throw new Error(await refused(answer));
    status.textContent = 'Opened in DevTools.';
  }

  private speedscope(query: string): void {
    const { file } = this.model.trace;
    const address = new URL(`slice.json?${query}`, location.href);
    const title = file.split('/').at(-1) ?? 'trace';
    globalThis.window.open(`speedscope/#profileURL=${encodeURIComponent(address.href)}&title=${encodeURIComponent(title)}`, '_blank', 'noopener');
  }

  private async firefox(query: string, status: HTMLElement): Promise<void> {
    const viewer = globalThis.window.open(`${FIREFOX}/from-post-message/`);
    if (!viewer) throw new Error('The browser blocked the new tab: allow it, and click again.');
    const profile = await this.fetched(`slice.json?${query}`, status);
    await answers(viewer, FIREFOX, { name: 'ready:request' }, (data) => (data as { name?: string } | null)?.name === 'ready:response');
    viewer.postMessage({ name: 'inject-profile', profile }, FIREFOX, [profile]);
    status.textContent = 'Handed to the Firefox Profiler.';
  }
}

// Asks a window every 50 ms until it answers as `is` has it; a minute at most.
function answers(viewer: Window, origin: string, question: unknown, is: (data: unknown) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + 60_000;
    const done = (): void => {
      clearInterval(timer);
      removeEventListener('message', heard);
    };
    const heard = (event: MessageEvent<unknown>): void => {
      if (event.source !== viewer || event.origin !== origin || !is(event.data)) return;
      done();
      resolve();
    };
    const timer = setInterval(() => {
      if (viewer.closed || performance.now() > end) {
        done();
        reject(new Error('The viewer did not answer: is it reachable? Save the slice, and drop it there.'));
        return;
      }
      viewer.postMessage(question, origin);
    }, 50);
    addEventListener('message', heard);
  });
}
