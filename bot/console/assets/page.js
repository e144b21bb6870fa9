// The table page. htmx brings the pieces of page that the server made; this file
// puts them where they belong and looks after the connection, the keyboard, the
// microphone and the sound. What tests look at is in data attributes of <body>.

import { Sound } from './sound.js';
import { Microphone } from './microphone.js';
import { toast } from './toast.js';
import './switch.js';

const body = document.body;
const $ = (id) => document.getElementById(id);
const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* storage is off */ } };

// ---- Pieces of page: each has an id and replaces the piece it had before.

function upsert(target, fragment, first) {
  const pieces = [...fragment.children];
  for (const piece of pieces) {
    const old = piece.id && $(piece.id);
    if (old) {
      for (const open of old.querySelectorAll('details[open][id]')) piece.querySelector('#' + CSS.escape(open.id))?.setAttribute('open', '');
      old.replaceWith(piece);
    } else if (first) {
      target.prepend(piece);
    } else {
      target.append(piece);
    }
  }
  const cap = Number(target.dataset.cap || 0);
  while (cap && target.children.length > cap) (first ? target.lastElementChild : target.firstElementChild).remove();
  return pieces;
}

htmx.defineExtension('upsert', {
  handleSwap(style, target, fragment) {
    if (style !== 'upsert' && style !== 'upsert-first') return false;
    return upsert(target, fragment, style === 'upsert-first');
  },
});

// ---- The stream, and what to say when it is gone.

let seen = Number(new URL(body.getAttribute('sse-connect'), location.href).searchParams.get('after'));
let lastNews = Date.now();
let lost = 0;

htmx.createEventSource = (path) => {
  const url = new URL(path, location.href);
  url.searchParams.set('after', seen);
  const source = new EventSource(url);
  const news = () => { lastNews = Date.now(); };
  source.addEventListener('seen', (e) => { seen = Number(e.lastEventId); body.dataset.seen = seen; news(); });
  source.addEventListener('ping', news);
  source.addEventListener('open', () => {
    news();
    clearTimeout(lost);
    lost = 0;
    body.dataset.stream = 'open';
    banner('');
  });
  source.addEventListener('error', () => {
    body.dataset.stream = 'lost';
    lost ||= setTimeout(() => explainLoss(), 1200);
  });
  source.addEventListener('reload', reload);
  source.addEventListener('closed', () => banner('The table was closed. Start it again with “glyphoxa play”.'));
  return source;
};

// A second load in a row would not help either: then say so instead.
function reload() {
  const last = Number(sessionStorage.getItem('reloaded') || 0);
  if (Date.now() - last < 5000) {
    banner('This page cannot catch up with the table. Load it again in a moment.');
    return;
  }
  sessionStorage.setItem('reloaded', Date.now());
  sessionStorage.setItem('draft', $('text')?.value || '');
  location.reload();
}

async function explainLoss() {
  lost = 0;
  if (body.dataset.stream === 'open') return;
  const why = await reasonFor('/events?after=' + seen);
  if (body.dataset.stream !== 'open') banner(why || 'The connection to the table is lost. Trying again …');
}

// reasonFor asks why a path refuses: sockets and streams cannot tell.
async function reasonFor(path) {
  const stop = new AbortController();
  try {
    const answer = await fetch(path, { signal: stop.signal, headers: { Accept: 'text/plain' } });
    const text = answer.ok || answer.status === 426 ? '' : (await answer.text()).trim();
    stop.abort();
    return text;
  } catch {
    return '';
  }
}

function banner(text) {
  $('banner').textContent = text;
  $('banner').hidden = !text;
}

setInterval(() => {
  if (body.dataset.stream === 'open' && Date.now() - lastNews > 30000) {
    body.dataset.stream = 'lost';
    explainLoss();
  }
}, 5000);

// ---- The talk: stay at its end unless somebody reads further up.

const scroll = $('scroll');
let atEnd = true;
let moving = 0;
// One move a frame is enough: measuring the page after each line would be slow.
const toEnd = () => { moving ||= requestAnimationFrame(() => { moving = 0; scroll.scrollTop = scroll.scrollHeight; }); };
scroll.addEventListener('scroll', () => {
  atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  if (atEnd) $('newest').hidden = true;
});
$('newest').addEventListener('click', () => { atEnd = true; toEnd(); $('newest').hidden = true; });
new ResizeObserver(() => { if (atEnd) toEnd(); }).observe($('transcript'));
new MutationObserver((changes) => {
  if (atEnd) toEnd(); else $('newest').hidden = false;
  for (const change of changes) {
    for (const line of change.addedNodes) {
      if (line.nodeType === 1 && line.matches('[data-final="true"]:not(.nothing-said)')) announce(line);
    }
  }
}).observe($('transcript'), { childList: true });

function announce(line) {
  if ($('announcing').getAttribute('aria-pressed') !== 'true') return;
  $('announce').textContent = line.dataset.speaker + ': ' + line.querySelector('.heard').textContent;
}

// ---- Scene buttons follow the scene.

new MutationObserver(() => {
  const scene = $('scene-head').dataset.scene;
  for (const b of document.querySelectorAll('.scene-button[data-scene]')) b.setAttribute('aria-pressed', b.dataset.scene === scene);
}).observe(document.querySelector('.scene'), { childList: true });

// ---- Typing.

const composer = $('composer');
const text = $('text');
const said = [];
let back = 0;

function grow() {
  text.style.height = 'auto';
  text.style.height = Math.min(text.scrollHeight, 150) + 'px';
}

if (composer) {
  text.value = sessionStorage.getItem('draft') || '';
  sessionStorage.removeItem('draft');
  const as = $('as');
  if (!as.readOnly) {
    as.value = stored('as') || as.value;
    as.addEventListener('change', () => store('as', as.value));
  }
  text.addEventListener('input', grow);
  text.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      if (text.value.trim()) composer.requestSubmit();
    } else if (e.key === 'ArrowUp' && !text.value.includes('\n') && (text.value === '' || back > 0) && back < said.length) {
      e.preventDefault();
      text.value = said[said.length - ++back];
      grow();
    }
  });
  // The line leaves the box as it leaves the page; what was refused comes back.
  composer.addEventListener('htmx:beforeSend', () => {
    said.push(text.value);
    back = 0;
    text.value = '';
    grow();
    sound.wake();
  });
  composer.addEventListener('htmx:afterRequest', (e) => {
    if (!e.detail.successful && text.value === '') { text.value = said.pop() || ''; grow(); }
  });
  grow();
}

// ---- Sound and microphone.

const count = (name, n = 1) => { body.dataset[name] = Number(body.dataset[name] || 0) + n; };
for (const name of ['framesReceived', 'framesPlayed', 'framesSent', 'framesDropped', 'flushes']) body.dataset[name] = 0;

const levels = new Map();
const sound = new Sound({
  count,
  level(npc, level) {
    const card = $('npc-' + npc);
    card?.style.setProperty('--level', level.toFixed(2));
    levels.set(npc, level);
  },
  state(state) {
    body.dataset.sound = state;
    $('sound').dataset.state = state;
    $('sound').title = state === 'waiting' ? 'Click anywhere to hear the table' : 'Sound on or off (Alt+O)';
  },
  error: toast,
  reasonFor,
});

function switchSound(on) {
  $('sound').setAttribute('aria-pressed', on);
  store('sound', on ? 'on' : 'off');
  if (on) sound.open(); else sound.close();
}
$('sound').addEventListener('click', () => switchSound($('sound').getAttribute('aria-pressed') !== 'true'));
if (stored('sound') === 'off') $('sound').setAttribute('aria-pressed', 'false'); else sound.open();
for (const gesture of ['pointerdown', 'keydown']) addEventListener(gesture, () => sound.wake(), { capture: true });

const mic = $('mic');
const microphone = mic && new Microphone({
  count,
  level: (level) => mic.style.setProperty('--level', level.toFixed(2)),
  state(state) {
    mic.dataset.state = state;
    body.dataset.microphone = state;
    mic.setAttribute('aria-pressed', state === 'open');
    mic.title = state === 'open' ? 'Close the microphone (Alt+M)' : 'Microphone (Alt+M)';
  },
  error: toast,
  reasonFor,
  path: () => '/microphone' + ($('as').readOnly ? '' : '?as=' + encodeURIComponent($('as').value)),
});
mic?.addEventListener('click', () => microphone.toggle());

// ---- Dialogs.

function ask(title, label, path, fields) {
  $('words-head').textContent = title;
  $('words-label').textContent = label;
  $('words-form').dataset.path = path;
  $('words-npc').value = fields.npc || '';
  $('words-line').value = fields.line || '';
  $('words-text').value = fields.text || '';
  $('words').showModal();
  $('words-text').focus();
}

document.addEventListener('click', (e) => {
  const at = (selector) => e.target.closest?.(selector);
  let b;
  if ((b = at('[data-opens]'))) $(b.dataset.opens).showModal();
  else if ((b = at('[data-dismiss]'))) b.closest('li').remove();
  else if ((b = at('[data-copies]'))) navigator.clipboard.writeText(b.dataset.copies).then(() => toast('Copied.', true), () => toast('Copying is not allowed here: mark the link and copy it.'));
  else if ((b = at('[data-answers]'))) {
    $('answer-id').value = b.dataset.answers;
    $('answer-line').textContent = b.dataset.text;
    $('answer').showModal();
  } else if ((b = at('[data-words="speak"]'))) ask('Speak as ' + b.dataset.name, 'Word for word', '/do/speak', b.dataset);
  else if ((b = at('[data-words="whisper"]'))) ask('Whisper to ' + b.dataset.name, 'What no player hears', '/do/whisper', b.dataset);
  else if ((b = at('[data-words="correct"]'))) ask('What did ' + b.dataset.name + ' say?', 'Names that you mend are recognised from now on', '/do/correct', b.dataset);
});
$('words-form')?.addEventListener('submit', (e) => {
  e.preventDefault();
  const form = e.target;
  htmx.ajax('POST', form.dataset.path, { source: form, swap: 'none', values: Object.fromEntries(new FormData(form)) });
});
document.addEventListener('htmx:afterRequest', (e) => {
  const dialog = e.detail.elt.closest('dialog');
  if (dialog && dialog.id !== 'invite' && e.detail.successful) dialog.close();
});
for (const dialog of document.querySelectorAll('dialog')) {
  dialog.addEventListener('click', (e) => { if (e.target === dialog) dialog.close(); });
}

// ---- Switches and keys.

$('announcing').addEventListener('click', (e) => {
  const b = e.currentTarget;
  b.setAttribute('aria-pressed', b.getAttribute('aria-pressed') !== 'true');
});
for (const b of document.querySelectorAll('.views button')) {
  b.addEventListener('click', () => {
    body.dataset.view = b.dataset.view;
    for (const other of document.querySelectorAll('.views button')) other.setAttribute('aria-pressed', other === b);
    if (b.dataset.view === 'talk' && atEnd) toEnd();
  });
}

addEventListener('keydown', (e) => {
  if (document.querySelector('dialog[open]')) return;
  if (e.key === 'Escape') { $('stop')?.click(); sound.flush(); return; }
  if (e.key === '?' && !e.target.closest('input, textarea, select')) { $('keys').showModal(); return; }
  if (!e.altKey || e.ctrlKey || e.metaKey) return;
  const does = { KeyM: () => mic?.click(), KeyL: () => text?.focus(), KeyO: () => $('sound').click() }[e.code];
  if (does) { e.preventDefault(); does(); }
});

toEnd();

// ---- What the session says of itself: how long it has been, and the tier for all.

setInterval(() => {
  for (const t of document.querySelectorAll('time.clock')) {
    const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(t.dateTime)) / 60000));
    t.textContent = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  }
}, 15000);

document.addEventListener('htmx:afterRequest', (e) => {
  const chosen = e.target.closest('[data-tier]');
  if (!chosen || !e.detail.successful) return;
  for (const b of document.querySelectorAll('[data-tier]')) b.setAttribute('aria-pressed', b === chosen);
});
