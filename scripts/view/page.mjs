// Opens the page of `tracemill view` in a browser without a screen: starts the command, waits until the page is drawn.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const patience = 60_000;
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

// Starts the command in a folder; resolves to { address, pid, end }.
export function serve(tracemill, cwd, ...words) {
  return new Promise((resolve, reject) => {
    const child = spawn(tracemill, ['view', '--no-open', ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => { said += text; });
    child.once('exit', (status) => reject(new Error(`tracemill view has ended: ${status}\n${said}`)));
    child.stdout.once('data', (text) => resolve({
      address: text.toString().trim(),
      pid: child.pid,
      said: () => said,
      end: () => new Promise((go) => { child.once('exit', go); child.kill('SIGINT'); }),
    }));
  });
}

// A tab of a browser: { go, run, picture, key, errors }.
export async function openTab(browser, { width = 1500, height = 900, dark = false, scale = 1 } = {}) {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const errors = [];
  browser.listen((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === 'Runtime.exceptionThrown') errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') errors.push(`${params.entry.text} ${params.entry.url ?? ''}`);
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Accessibility']) await send(`${domain}.enable`);
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false });
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });

  // The value of an expression in the page, which may be a promise.
  async function run(expression) {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async function until(expression) {
    for (const end = Date.now() + patience; Date.now() < end; await pause(20)) if (await run(expression).catch(() => false)) return;
    throw new Error(`timed out: ${expression}`);
  }

  return {
    send, run, until, errors, targetId,
    // Goes to an address and waits until all that is seen is drawn.
    async go(address, { fontSize } = {}) {
      await send('Page.navigate', { url: address });
      await until('globalThis.tracemill !== undefined');
      if (fontSize) await run(`document.documentElement.style.fontSize = '${fontSize}'; dispatchEvent(new Event('resize'))`);
      await this.still();
    },
    still: async () => { await pause(60); await until('tracemill.tiles.pending === 0'); await pause(150); },
    async picture(file) {
      const { data } = await send('Page.captureScreenshot');
      writeFileSync(file, Buffer.from(data, 'base64'));
    },
    async key(key, { shift = false } = {}) {
      const event = { key, text: key.length === 1 ? key : undefined, modifiers: shift ? 8 : 0 };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    async mouse(type, x, y, more = {}) {
      await send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1, ...more });
    },
    close: () => browser.send('Target.closeTarget', { targetId }),
  };
}
