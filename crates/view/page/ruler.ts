// The ruler above the lanes: times at round steps.

import { exact, short, step } from './format';
import type { Lanes } from './lanes';
import type { Model } from './model';
import { MARKERS } from './strips';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

export function drawRuler(model: Model, lanes: Lanes): void {
  const canvas = element<HTMLCanvasElement>('ruler');
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
  const size = [Math.round(width * ratio), Math.round(height * ratio)] as const;
  // a new size costs more than the drawing
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const { colors } = lanes;
  const { from, to } = model.view;
  pen.scale(ratio, ratio);
  pen.font = `${Math.round(height * 0.45)}px system-ui, sans-serif`;
  pen.textBaseline = 'middle';
  const by = step(((to - from) / width) * height * 4.5);
  for (let time = Math.floor(from / by) * by; time < to; time += by) {
    const x = Math.round(lanes.x(time));
    pen.fillStyle = colors.line;
    pen.fillRect(x, 0, 1, height);
    pen.fillStyle = colors.soft;
    const text = by < 1000 ? exact(time) : tick(time, by);
    // none is cut
    if (x + 4 + pen.measureText(text).width <= width) pen.fillText(text, x + 4, height / 2);
  }
  let free = -Infinity;
  for (const { name, at } of lanes.strips.markers) {
    // markers of the same time are next to each other
    const [x, room] = [Math.max(Math.round(lanes.x(at)), free), pen.measureText(name).width + 6];
    free = x + room + 1;
    if (x < -room || x > width) continue;
    pen.fillStyle = MARKERS[name]!;
    pen.fillRect(x, height - height * 0.6, room, height * 0.6);
    pen.fillStyle = '#ffffff';
    pen.fillText(name, x + 3, height * 0.7);
  }
  const { approximate: crowded, about } = lanes.drawn;
  const place = element('window');
  place.textContent = `${short(to - from)}${about || crowded ? ' ≈' : ''}`;
  const summed = 'Short events are drawn from sums over ranges of time, in one row below the long ones; zoom in for each event.';
  const dense = 'Events shorter than two pixels are drawn as density; zoom in for each.';
  place.title = `The visible window. ${about ? summed : crowded ? dense : 'Every event is drawn as it is.'}`;
}

// A tick's time with as many digits as its step needs.
function tick(time: number, by: number): string {
  const [unit, power] = time >= 1e9 || by >= 1e9 ? (['s', 9] as const) : time >= 1e6 || by >= 1e6 ? (['ms', 6] as const) : (['µs', 3] as const);
  const places = Math.max(0, power - Math.floor(Math.log10(by)));
  return `${(time / 10 ** power).toFixed(places)} ${unit}`;
}
