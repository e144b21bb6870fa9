// What all browser stories share: Chromium as Debian ships it, and a way to the
// Go test that started them. Arguments come as JSON in the first argument.

import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export { assert };
export const given = JSON.parse(process.argv[2]);

const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

// launch starts Chromium; microphone is the WAV file that it hears.
export function launch(microphone) {
  return chromium.launch({
    executablePath: given.chromium,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--autoplay-policy=user-gesture-required',
      '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream',
      ...(microphone ? ['--use-file-for-fake-audio-capture=' + microphone] : []),
    ],
  });
}

// enter opens a login link and waits for the table. Whatever goes wrong on the
// page is collected in page.faults.
export async function enter(context, link) {
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (e) => page.faults.push('script: ' + e.message));
  page.on('dialog', (d) => { page.faults.push('dialog: ' + d.message()); d.dismiss(); });
  page.on('console', (m) => {
    if (/content security policy/i.test(m.text())) page.faults.push('policy: ' + m.text());
  });
  await page.goto(link);
  await page.waitForSelector('body[data-stream="open"]');
  return page;
}

// data is what the page counts.
export const data = (page) => page.evaluate(() => ({ ...document.body.dataset }));

// counted waits until a counter of the page has reached n.
export const counted = (page, name, n) => page.waitForFunction(([name, n]) => Number(document.body.dataset[name]) >= n, [name, n]);

// lines are the transcript as it stands.
export const lines = (page) => page.$$eval('#transcript > li', (all) => all.map((l) => ({
  id: l.id, speaker: l.dataset.speaker, text: l.querySelector('.heard').textContent, final: l.dataset.final === 'true', cut: l.dataset.cut === 'true',
})));

// accessible fails on what axe-core finds serious.
export async function accessible(page, what) {
  await page.evaluate(axe + ';0');
  const { violations } = await page.evaluate(() => axe.run());
  const serious = violations.filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ') + ' ' + (n.any[0]?.message || '')).join('; ')}`);
  assert.deepEqual(serious, [], 'axe on ' + what);
}

// shot keeps a picture of the page.
export const shot = (page, name) => page.screenshot({ path: `${given.pictures}/${name}.png` });

// tell asks the Go test to do something.
export async function tell(path) {
  const answer = await fetch(given.control + path, { method: 'POST' });
  assert.equal(answer.status, 200, path);
  return answer.text();
}
