// The width of the column of names: dragged, or changed by arrow keys.


function set(width: number): void {
  const limited = Math.min(Math.max(width, 80), innerWidth * 0.7);
  document.documentElement.style.setProperty('--names', `${Math.round(limited)}px`);
}

export function resizable(grip: HTMLElement, changed: () => void): void {
  const names = document.getElementById('names') as HTMLElement;
  const put = (width: number): void => {
    set(width);
    grip.setAttribute('aria-valuenow', String(Math.round(names.clientWidth)));
    changed();
  };
  grip.addEventListener('pointerdown', (event) => {
    grip.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grip.addEventListener('pointermove', (event) => {
    if (grip.hasPointerCapture(event.pointerId)) put(event.clientX - names.getBoundingClientRect().left);
  });
  grip.addEventListener('dblclick', () => {
    document.documentElement.style.removeProperty('--names');
    changed();
  });
  grip.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (by === undefined) return;
    put(names.clientWidth + by);
    event.preventDefault();
    event.stopPropagation();
  });
}
