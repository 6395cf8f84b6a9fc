// Hand-over to viewers on the web, which are played here: pages of their addresses that do as their documentation says.

const viewers = {
  Perfetto: {
    address: 'https://ui.perfetto.dev',
    page: `onmessage = ({ data, origin, source }) => {
      if (data === 'PING') source.postMessage('PONG', origin);
      else if (data.perfetto?.buffer) globalThis.got = { origin, bytes: data.perfetto.buffer.byteLength, text: new TextDecoder().decode(data.perfetto.buffer).slice(0, 60), title: data.perfetto.title };
    }`,
  },
  'Firefox Profiler': {
    address: 'https://profiler.firefox.com',
    page: `onmessage = ({ data, origin, source }) => {
      if (data.name === 'ready:request') source.postMessage({ name: 'ready:response' }, origin);
      else if (data.name === 'inject-profile') globalThis.got = { origin, bytes: data.profile.byteLength, text: new TextDecoder().decode(data.profile).slice(0, 60), title: 'trace.json.gz' };
    }`,
  },
};

// Clicks each in the page, and looks at what arrives.
export async function handsOn({ browser, served, check }) {
  const { targetId } = await browser.send('Target.createTarget', { url: served.address });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const opened = new Map();
  browser.listen(async ({ method, params, sessionId: from }) => {
    if (method === 'Target.attachedToTarget' && params.targetInfo.openerId === targetId) {
      const session = params.sessionId;
      await browser.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] }, session);
      await browser.send('Runtime.enable', {}, session);
      await browser.send('Runtime.runIfWaitingForDebugger', {}, session);
      opened.set(session, params.targetInfo.targetId);
    } else if (method === 'Fetch.requestPaused') {
      const viewer = Object.values(viewers).find(({ address }) => params.request.url.startsWith(address));
      const body = Buffer.from(`<!doctype html><script>${viewer?.page ?? ''}</script>`).toString('base64');
      const responseHeaders = [{ name: 'content-type', value: 'text/html' }];
      await browser.send('Fetch.fulfillRequest', { requestId: params.requestId, responseCode: 200, responseHeaders, body }, from);
    }
  });
  const run = async (expression, session = sessionId) => {
    const { result } = await browser.send('Runtime.evaluate', { expression, returnByValue: true, userGesture: true }, session);
    return result.value;
  };
  const until = async (look) => {
    for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
      const found = await look().catch(() => null);
      if (found) return found;
    }
    return null;
  };
  // tabs that the page opens wait until what they ask for is answered here
  await browser.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  await until(() => run('globalThis.tracemill !== undefined'));
  for (const [name, { address }] of Object.entries(viewers)) {
    opened.clear();
    await run("document.getElementById('open').click()");
    await until(() => run("document.getElementById('handover').open"));
    await run(`[...document.querySelectorAll('#handover button')].find((button) => button.textContent === '${name}').click()`);
    const got = await until(async () => {
      for (const session of opened.keys()) {
        const got = await run('globalThis.got', session);
        if (got) return got;
      }
      return null;
    });
    const is = got && served.address.startsWith(got.origin) && got.bytes > 1e6 && /^\{\s*"/.test(got.text) && got.title.endsWith('trace.json.gz');
    const said = await run("document.querySelector('#handover [role=status]').textContent");
    check(`${name} (${address}, played) gets the slice`, Boolean(is), got ? `${got.bytes} bytes; ${said}` : `nothing; ${said}`);
    for (const target of opened.values()) await browser.send('Target.closeTarget', { targetId: target });
  }
  await browser.send('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true });
  await browser.send('Target.closeTarget', { targetId });
}
