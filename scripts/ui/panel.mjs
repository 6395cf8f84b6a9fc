// Loads a trace into the Performance panel of the DevTools that are bundled with Chromium, as its "Load profile" does.

const frontend = 'devtools://devtools/bundled';
const patience = 30_000;

// Runs in the DevTools page. Resolves to the tracks drawn, in order and indented by nesting, and the number of entries.
async function load(frontend, base64, name, patience) {
  const until = async (what, look) => {
    for (const end = Date.now() + patience; Date.now() < end; await new Promise((go) => setTimeout(go, 100))) {
      try {
        const found = look();
        if (found) return found;
      } catch {
        // not there yet
      }
    }
    throw new Error(`timed out: ${what}`);
  };
  await until('the window', () => document.querySelector('.root-view'));
  const { ViewManager } = await import(`${frontend}/ui/legacy/legacy.js`);
  await ViewManager.ViewManager.instance().showView('timeline');
  const { TimelinePanel } = await import(`${frontend}/panels/timeline/timeline.js`);
  const panel = await until('the panel', () => TimelinePanel.TimelinePanel.instance());
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const type = name.endsWith('.gz') ? 'application/gzip' : 'application/json';
  await panel.loadFromFile(new File([bytes], name, { type }));
  const data = await until('tracks', () => {
    const drawn = panel.getFlameChart().getMainDataProvider().timelineData();
    return drawn?.groups.length > 0 && drawn;
  });
  const tracks = data.groups.map((group) => '  '.repeat(group.style.nestingLevel ?? 0) + group.name);
  return { tracks, entries: data.entryLevels.length };
}

// Takes the browser's empty tab; resolves to a function that shows a file in it, afresh each time: { tracks, entries,
// errors, picture }.
export async function openPanel(browser) {
  const { targetInfos } = await browser.send('Target.getTargets');
  const { targetId } = targetInfos.find(({ type, url }) => type === 'page' && url === 'about:blank');
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  let errors = [];
  browser.listen((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === 'Runtime.exceptionThrown') {
      errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    } else if (method === 'Runtime.consoleAPICalled' && params.type === 'error') {
      errors.push(params.args.map((arg) => arg.value ?? arg.description).join(' '));
    }
  });
  await send('Page.enable');
  await send('Runtime.enable');

  return async (bytes, name) => {
    errors = [];
    const { errorText } = await send('Page.navigate', { url: `${frontend}/devtools_app.html?${name}` });
    if (errorText) throw new Error(`DevTools cannot be opened: ${errorText}`);
    const isThere = `location.href.endsWith('${name}') && document.readyState === 'complete'`;
    for (const end = Date.now() + patience; Date.now() < end;) {
      const { result } = await send('Runtime.evaluate', { expression: isThere });
      if (result.value) break;
      await new Promise((go) => setTimeout(go, 50));
    }
    const given = [frontend, bytes.toString('base64'), name, patience].map((arg) => JSON.stringify(arg));
    const answer = await send('Runtime.evaluate', {
      expression: `(${load})(${given.join(',')})`, awaitPromise: true, returnByValue: true,
    });
    if (answer.exceptionDetails) {
      errors.push(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    }
    const { data } = await send('Page.captureScreenshot');
    const { tracks = [], entries = 0 } = answer.result?.value ?? {};
    return { tracks, entries, errors: [...new Set(errors)], picture: Buffer.from(data, 'base64') };
  };
}
