// What lies over the drawing: the selection, what is picked and its arrows, where the mouse is.

import type { Arrow } from './around';
import type { Lanes } from './lanes';
import type { Picked } from './model';
import { MARKERS } from './strips';

export function drawOver(lanes: Lanes, arrows: Arrow[], cursor: number | null): void {
  const pen = (document.getElementById('over') as HTMLCanvasElement).getContext('2d');
  if (!pen) return;
  const { selection, picked } = lanes.model;
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  pen.clearRect(0, 0, lanes.width, lanes.height);
  if (selection) {
    const [x0, x1] = [lanes.x(selection.from), lanes.x(selection.to)];
    const own = new Set(selection.lanes);
    const areas = selection.lanes
      ? lanes.visible().filter(({ lane }) => lane && own.has(lane.id)).map((item) => ({ top: lanes.topOf(item), height: item.height }))
      : [{ top: 0, height: lanes.height }];
    for (const { top, height } of areas) {
      pen.fillStyle = lanes.colors.shade;
      pen.fillRect(x0, top, Math.max(x1 - x0, 1), height);
      pen.fillStyle = lanes.colors.accent;
      for (const x of [x0, x1]) pen.fillRect(x - 0.5, top, 1, height);
    }
  }
  const y = picked ? lanes.y(picked) : null;
  if (picked && y !== null) {
    const [x0, x1] = [Math.max(lanes.x(picked.start), -4), Math.min(lanes.x(picked.start + picked.dur), lanes.width + 4)];
    pen.strokeStyle = lanes.colors.text;
    pen.lineWidth = 2;
    pen.strokeRect(x0, y, Math.max(x1 - x0, 2), lanes.rowHeight - 1);
  }
  for (const own of picked ? arrows : []) arrow(pen, lanes, own);
  for (const { name, at } of lanes.strips.markers) {
    const x = Math.round(lanes.x(at));
    if (x < 0 || x > lanes.width) continue;
    pen.fillStyle = MARKERS[name]!;
    pen.fillRect(x, 0, 1, lanes.height);
  }
  if (cursor !== null) {
    pen.fillStyle = lanes.colors.soft;
    pen.fillRect(Math.round(lanes.x(cursor)), 0, 1, lanes.height);
  }
}

// From where one event lets go to where the other takes over.
function arrow(pen: CanvasRenderingContext2D, lanes: Lanes, { from, to, from_time, to_time }: Arrow): void {
  const within = (time: number, { start, dur }: Picked): number => Math.min(Math.max(time, start), start + dur);
  const [top, bottom] = [lanes.y(from), lanes.y(to)];
  if (top === null || bottom === null) return;
  const half = lanes.rowHeight / 2;
  const [x0, x1] = [lanes.x(within(from_time, from)), lanes.x(within(to_time, to))];
  const [y0, y1] = [top + half, bottom + half];
  if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > lanes.width) return;
  const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 12), 80);
  pen.strokeStyle = pen.fillStyle = lanes.colors.accent;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 - 7, y1 - 4);
  pen.lineTo(x1 - 7, y1 + 4);
  pen.fill();
}
