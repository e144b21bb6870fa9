// The real program: glyphoxa play, with its own voices, ears and improviser.

import { accessible, assert, counted, data, enter, given, launch, lines, shot } from './browse.mjs';

const browser = await launch(given.microphone);
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const page = await enter(context, given.dm);
const byBartok = (all) => all.filter((l) => l.speaker.startsWith('Bartok'));

async function say(text) {
  await page.fill('#text', text);
  await page.keyboard.press('Enter');
}

// quiet waits until nobody speaks or thinks.
async function quiet() {
  await page.waitForFunction(() => !document.querySelector('[data-state="speaking"], [data-state="thinking"]'));
}

// A typed line is answered by Bartok and nobody else, in text and in sound.
await say("Bartok, what's in the pot tonight?");
await page.waitForSelector('.line.by-npc');
await counted(page, 'framesReceived', 20);
await counted(page, 'framesPlayed', 10);
await page.waitForSelector('.line.by-npc[data-final="true"]');
let all = await lines(page);
assert.equal(all.length, 2, JSON.stringify(all));
assert.equal(byBartok(all).length, 1);
console.log('typed and answered:', all[1].text);
await shot(page, 'answered');

// A roll is real, and the page shows the tool that made it.
await say('Bartok, roll two d six plus three');
const call = await page.waitForSelector('.call[data-tool="roll"][data-done="true"]');
assert.match(await call.innerText(), /2d6/i);
await page.waitForSelector('.line:nth-child(4)[data-final="true"]');

// Typing over him cuts him off, and what was not heard is not kept.
const before = await data(page);
await say('Bartok, what is in the pot?');
await page.waitForSelector('#npc-bartok[data-state="speaking"]');
await counted(page, 'framesReceived', Number(before.framesReceived) + 15);
await say('Bartok, who is Gundren?');
await page.waitForSelector('.line.by-npc[data-cut="true"]');
await counted(page, 'flushes', Number(before.flushes) + 1);
const cut = byBartok(await lines(page)).find((l) => l.cut);
console.log('cut off after:', cut.text);

// A voice at the microphone is heard and answered.
const spoken = () => page.$$eval('.line:not(.by-npc)', (all) => all
  .filter((l) => l.dataset.final === 'true' && !l.querySelector('.typed') && l.querySelector('.heard').textContent)
  .map((l) => ({ id: l.id, text: l.querySelector('.heard').textContent })));
async function talk() {
  const already = (await spoken()).length;
  await page.click('#mic');
  await page.waitForSelector('#mic[data-state="open"]');
  while ((await spoken()).length === already) await page.waitForTimeout(50);
  await page.click('#mic');
  return (await spoken())[already];
}
// The basic recogniser may mishear a name: whoever is not answered asks again.
let answered = false;
for (let tries = 0; tries < 4 && !answered; tries++) {
  await quiet();
  const question = await talk();
  answered = await page.waitForFunction((id) => document.getElementById(id).matches(':has(~ .line.by-npc)'), question.id, { timeout: 4000 })
    .then(() => true, () => false);
  console.log('heard:', question.text, answered ? '- answered' : '- not answered');
}
assert.ok(answered, 'no spoken question was answered');
await shot(page, 'spoken');

// Talking over him cuts him off as well.
await quiet();
await say('Bartok, what is in the pot?');
await page.waitForSelector('#npc-bartok[data-state="speaking"]');
const flushes = Number((await data(page)).flushes);
const over = await talk();
console.log('talked over him with:', over.text);
await counted(page, 'flushes', flushes + 1);
await accessible(page, 'the table in play');

// What came of it is on the other pages.
for (const [path, text] of [['/turns', 'Bartok'], ['/knowledge?topic=bartok', 'Gilded Flagon'], ['/tools', 'roll'], ['/recap?length=long', 'Bartok'], ['/campaign', 'The Gilded Flagon'], ['/privacy', 'Lines']]) {
  await page.goto(new URL(path, given.dm).href);
  assert.match(await page.textContent('main'), new RegExp(text), path);
  await accessible(page, path);
  await shot(page, path.split(/[/?]/)[1]);
}
assert.deepEqual(page.faults, []);
await browser.close();
