// The table page over a table on which the Go test decides what happens.

import { accessible, assert, counted, data, enter, given, launch, lines, shot, tell } from './browse.mjs';

const browser = await launch(given.microphone);
const desk = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const dm = await enter(desk, given.dm);
const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
const player = await enter(phone, given.player);
const everybody = [dm, player];

async function story(name, tell) {
  const start = performance.now();
  await tell();
  for (const page of everybody) assert.deepEqual(page.faults, [], name);
  console.log(`${name}: ${Math.round(performance.now() - start)} ms`);
}

await story('a login link works once', async () => {
  const thief = await browser.newPage();
  await thief.goto(given.dm);
  assert.match(await thief.textContent('main'), /used already/);
  await shot(thief, 'used-link');
  await thief.close();
});

await story('two browsers see the same table', async () => {
  await tell('/lines?from=0&to=20');
  for (const page of everybody) await page.waitForSelector('#line-19');
  const [a, b] = [await lines(dm), await lines(player)];
  assert.deepEqual(a, b);
  assert.deepEqual(a.map((l) => l.id), Array.from({ length: 20 }, (_, i) => 'line-' + i));
});

await story('a stream that is lost and resumed loses nothing', async () => {
  for (let i = 20; i < 60; i += 10) {
    await tell('/cut');
    await tell(`/lines?from=${i}&to=${i + 10}`);
  }
  for (const page of everybody) await page.waitForSelector('#line-59');
  for (const page of everybody) {
    assert.deepEqual((await lines(page)).map((l) => l.id), Array.from({ length: 60 }, (_, i) => 'line-' + i));
    await page.waitForSelector('body[data-stream="open"]');
  }
});

await story('a line is typed, recalled and refused visibly', async () => {
  await dm.keyboard.press('Alt+KeyL');
  await dm.keyboard.type('Bartok, a stew!');
  await dm.keyboard.press('Enter');
  await dm.waitForFunction(() => document.getElementById('text').value === '');
  assert.match(await tell('/deeds'), /DM \(dm\) says Bartok, a stew!/);
  await dm.keyboard.press('ArrowUp');
  assert.equal(await dm.inputValue('#text'), 'Bartok, a stew!');
  await tell('/fail?with=Bartok is muted: unmute him on his card');
  await dm.keyboard.press('Enter');
  await dm.waitForSelector('.toast');
  assert.match(await dm.textContent('.toast'), /unmute him on his card/);
  assert.equal(await dm.inputValue('#text'), 'Bartok, a stew!', 'what was refused is back in the box');
  await tell('/fail?with=');
  await dm.fill('#text', '');
});

await story('the keyboard stops everybody', async () => {
  await tell('/deeds');
  await dm.keyboard.press('Escape');
  await dm.waitForTimeout(50);
  assert.match(await tell('/deeds'), /DM stops all/);
});

await story('the X-card is two presses for everybody', async () => {
  await player.click('.xcard');
  await player.click('#play-xcard');
  for (const page of everybody) await page.waitForSelector('.stopped-note');
  await shot(dm, 'x-card');
  assert.equal(await player.locator('.stopped-note button').count(), 0);
  await dm.click('.stopped-note button');
  for (const page of everybody) await page.waitForSelector('.stopped-note', { state: 'detached' });
});

await story('cards follow the cast, and stay open', async () => {
  await dm.click('#belt-bartok summary');
  await tell('/speaking?npc=bartok');
  for (const page of everybody) await page.waitForSelector('#npc-bartok[data-state="speaking"]');
  assert.ok(await dm.locator('#belt-bartok').evaluate((d) => d.open), 'the list of tools has closed');
  assert.equal(await player.locator('#belt-bartok').count(), 0);
});

await story('sound arrives, plays, and stops at once', async () => {
  const before = Number((await data(dm)).framesReceived);
  await tell('/sound?frames=50');
  await counted(dm, 'framesReceived', before + 50);
  await counted(dm, 'framesPlayed', 40);
  await tell('/flush');
  await counted(dm, 'flushes', 1);
});

await story('the microphone is heard as it sounds', async () => {
  await player.click('#mic');
  await player.waitForSelector('#mic[data-state="open"]');
  await counted(player, 'framesSent', 100);
  await shot(player, 'phone-microphone');
  await player.click('#mic');
  await player.waitForSelector('#mic[data-state="closed"]');
  const tone = Number(await tell('/tone?name=Mira'));
  assert.ok(Math.abs(tone - given.tone) < 10, `a tone of ${given.tone} Hz was heard as ${tone} Hz`);
});

await story('names and lines are never code', async () => {
  await tell('/payloads');
  await dm.waitForSelector('#line-payload-end');
  for (const page of everybody) assert.equal(await page.evaluate(() => window.pwned), undefined);
});

await story('four hours of talk stay quick', async () => {
  await tell('/lines?from=1000&to=2500');
  await dm.waitForSelector('#line-2499');
  assert.ok((await dm.locator('#transcript > li').count()) <= 300);
  const start = performance.now();
  await dm.fill('#text', 'Bartok, are you still there?');
  await dm.keyboard.press('Enter');
  await dm.waitForFunction(() => document.getElementById('text').value === '');
  console.log(`  after 1,500 lines a typed line leaves in ${Math.round(performance.now() - start)} ms`);
});

await story('nothing serious for axe-core, in any size and light', async () => {
  for (const page of everybody) {
    await page.reload(); // axe-core looks at every line, and 300 take it seconds
    await page.waitForSelector('body[data-stream="open"]');
  }
  await tell('/evening');
  await player.waitForSelector('#line-e4');
  await dm.waitForSelector('#turn-7');
  await accessible(dm, 'the dark desk');
  await shot(dm, 'desk-dark');
  await dm.click('#theme');
  await dm.waitForTimeout(300); // colours change over a quarter of a second
  await accessible(dm, 'the light desk');
  await shot(dm, 'desk-light');
  await dm.setViewportSize({ width: 900, height: 800 });
  await accessible(dm, 'half a screen');
  await shot(dm, 'half');
  for (const view of ['talk', 'cast']) {
    await player.click(`.views [data-view="${view}"]`);
    await accessible(player, 'the phone, ' + view);
    await shot(player, 'phone-' + view);
  }
  await dm.click('[data-opens="invite"]');
  await accessible(dm, 'a dialog');
  await dm.keyboard.press('Escape');
});

await story('a table that closes says so', async () => {
  await tell('/close');
  await dm.waitForSelector('#banner:not([hidden])');
  assert.match(await dm.textContent('#banner'), /closed/);
  await shot(dm, 'closed');
});

await browser.close();
