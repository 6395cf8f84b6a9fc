async (address, name) => {
  const base = 'devtools://devtools/bundled';
  const until = async (what, look) => {
    for (const end = Date.now() + 25_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
      try {
        const found = look();
        if (found) return found;
      } catch {
        // not there yet
      }
    }
    throw new Error(`DevTools has no ${what}`);
  };
  await until('window', () => document.querySelector('.root-view'));
  const { ViewManager } = await import(`${base}/ui/legacy/legacy.js`);
  await ViewManager.ViewManager.instance().showView('timeline');
  const { TimelinePanel } = await import(`${base}/panels/timeline/timeline.js`);
  const panel = await until('Performance panel', () => TimelinePanel.TimelinePanel.instance());
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.json()).error);
  await panel.loadFromFile(new File([await answer.blob()], name, { type: 'application/gzip' }));
}
