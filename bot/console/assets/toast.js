// Errors are shown, never swallowed.

const shelf = document.getElementById('toasts');

export function toast(text, fine) {
  const box = document.createElement('div');
  box.className = fine ? 'toast fine' : 'toast';
  const said = document.createElement('span');
  said.textContent = text;
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'small';
  close.textContent = '✕';
  close.setAttribute('aria-label', 'Dismiss');
  close.addEventListener('click', () => box.remove());
  box.append(said, close);
  shelf.append(box);
  while (shelf.children.length > 4) shelf.firstElementChild.remove();
  setTimeout(() => box.remove(), fine ? 4000 : 12000);
}

document.addEventListener('htmx:responseError', (e) => {
  toast(e.detail.xhr.responseText.trim().slice(0, 500) || 'That did not work: the table answered ' + e.detail.xhr.status);
});
document.addEventListener('htmx:sendError', () => toast('The table cannot be reached. Is glyphoxa still running?'));
document.addEventListener('htmx:swapError', () => toast('A piece of the page could not be shown: load it again.'));
