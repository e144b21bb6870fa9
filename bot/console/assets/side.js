// The pages beside the table: forms that send themselves, and the picture of what
// is known, which is drawn by the server and only moved here.

import './toast.js';
import './switch.js';

for (const field of document.querySelectorAll('[data-submits]')) field.addEventListener('change', () => field.form.submit());

const picture = document.getElementById('graph');
if (picture) {
  const whole = { x: 0, y: 0, w: Number(picture.dataset.width), h: Number(picture.dataset.height) };
  let view = { ...whole };
  try { view = JSON.parse(sessionStorage.getItem('graph')) || view; } catch { /* begin with all of it */ }
  const show = () => {
    picture.setAttribute('viewBox', `${view.x} ${view.y} ${view.w} ${view.h}`);
    picture.classList.toggle('close', view.w < whole.w * 0.7);
    try { sessionStorage.setItem('graph', JSON.stringify(view)); } catch { /* forgotten with the page */ }
  };
  const zoom = (factor, cx = 0.5, cy = 0.5) => {
    const w = Math.min(whole.w * 1.5, Math.max(whole.w / 8, view.w / factor));
    const h = w * whole.h / whole.w;
    view = { x: view.x + (view.w - w) * cx, y: view.y + (view.h - h) * cy, w, h };
    show();
  };
  const move = (dx, dy) => { view.x += dx * view.w; view.y += dy * view.h; show(); };
  const frame = picture.parentElement;
  picture.addEventListener('wheel', (e) => {
    e.preventDefault();
    const box = picture.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY / 400), (e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height);
  }, { passive: false });
  let from;
  let dragged = false;
  picture.addEventListener('pointerdown', (e) => { from = e; dragged = false; });
  addEventListener('pointermove', (e) => {
    if (!from || !(e.buttons & 1)) return;
    const box = picture.getBoundingClientRect();
    if (Math.hypot(e.clientX - from.clientX, e.clientY - from.clientY) < 4 && !dragged) return;
    dragged = true;
    move((from.clientX - e.clientX) / box.width, (from.clientY - e.clientY) / box.height);
    from = e;
  });
  addEventListener('pointerup', () => { from = undefined; });
  picture.addEventListener('click', (e) => { if (dragged) e.preventDefault(); }, true);
  picture.addEventListener('dragstart', (e) => e.preventDefault());
  frame.addEventListener('keydown', (e) => {
    const does = {
      ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
      '+': () => zoom(1.3), '-': () => zoom(0.77),
    }[e.key];
    if (does && e.target === frame) { e.preventDefault(); does(); }
  });
  for (const b of document.querySelectorAll('[data-zoom]')) {
    b.addEventListener('click', () => { if (Number(b.dataset.zoom)) zoom(Number(b.dataset.zoom)); else { view = { ...whole }; show(); } });
  }
  show();
}
