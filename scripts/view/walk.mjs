// How long frames take while the window moves and zooms, beside those of a page that does nothing.

export const quantile = (numbers, share) => [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) * share)];

// Resolves to { idle, own }: milliseconds of 300 frames each.
export async function walk(tab) {
  const frames = (body) => tab.run(`new Promise((done) => {
    const times = [];
    let [before, at] = [performance.now(), 0];
    const frame = (now) => {
      times.push(now - before);
      before = now;
      ${body}
      if ((at += 1) < 300) requestAnimationFrame(frame); else done(times.slice(2));
    };
    requestAnimationFrame(frame);
  })`);
  const idle = await frames('');
  const own = await frames(`
    const { model } = tracemill;
    const length = model.view.to - model.view.from;
    if (at % 100 < 40) model.zoom(0.93, model.view.from + length * 0.4);
    else if (at % 100 < 70) model.pan(length * 0.06);
    else model.zoom(1.1, model.view.from + length * 0.6);`);
  return { idle, own };
}
