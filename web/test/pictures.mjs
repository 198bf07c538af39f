// The pictures of docs/viewer.md and the README: node test/pictures.mjs PROGRAM FOLDER [bay|gear]. Headless Chromium takes the pump of the
// demo and presses it against a riser, then frees it; opens the gear's scene and takes its actuator. The pictures are to be looked at.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { find_part, launch, open_page, settled, until } from './browser.mjs';
import { demo } from './serve.mjs';

const feeler = resolve(process.argv[2] ?? '../build/feeler');
const folder = resolve(process.argv[3] ?? 'pictures');
const wanted = process.argv[4];
mkdirSync(folder, { recursive: true });
const browser = await launch();
const trouble = [];
const shot = async (page, name) => {
  // toasts go, and the picture becomes sharp: after some thirty frames without motion
  await page.waitForTimeout(2500 + 30000 / Math.max(1, await page.evaluate(() => window.feeler?.fps || 60)));
  await page.evaluate(() => document.activeElement?.blur()); // the frame of the keyboard's focus
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(name, await page.evaluate(() => [document.getElementById('rate').textContent, `${window.feeler.contacts} contacts`, `${window.feeler.force.toFixed(2)} N`, `${window.feeler.fps.toFixed(0)} pictures a second`].join(', ')));
};

/** takes a part and leads the hand there, by vectors of the world in the plane that faces the viewer */
async function lead(page, place, ways, steps = 10) {
  let from = { x: place.x, y: place.y };
  let at = place.at;
  for (const by of ways) {
    at = at.map((value, k) => value + by[k]);
    const [here, there] = await page.evaluate(([a, b]) => [window.feeler.project(a), window.feeler.project(b)], [place.at, at]);
    const to = { x: place.x + there.x - here.x, y: place.y + there.y - here.y };
    for (let i = 1; i <= steps; i++) {
      await page.mouse.move(from.x + ((to.x - from.x) * i) / steps, from.y + ((to.y - from.y) * i) / steps);
      await page.waitForTimeout(40);
    }
    from = to;
  }
}

async function take(page, name) {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'all parts are ready');
  const place = await find_part(page, name);
  await page.mouse.move(place.x, place.y);
  await until(page, () => window.feeler.hover !== 4294967295, 'it is green');
  await page.mouse.down();
  await until(page, () => window.feeler.state.hands.some((hand) => hand.held !== 4294967295), 'held');
  return place;
}

const size = { viewport: { width: 1366, height: 768 } };
const rate_held = () => /held/.test(document.getElementById('rate').textContent) && !/not/.test(document.getElementById('rate').textContent);
if (wanted !== 'gear') {
  const shown = await demo(feeler, 'bay');
  const page = await open_page(browser, `${shown.url}?quality=high`, trouble, { ...size, colorScheme: 'dark' });
  const place = await take(page, 'pump');
  // out of its rails, then against the bottle on the left
  await lead(page, place, [[0, 0, 0.08], [-0.12, -0.1, 0.02]]);
  await until(page, () => window.feeler.contacts > 0 && window.feeler.seen.coloured.length > 0, 'it presses');
  await settled(page, 'pump');
  await until(page, rate_held, 'the rate is held').catch((error) => console.log(error.message));
  await shot(page, 'viewer');
  await page.keyboard.press('t');
  await shot(page, 'viewer-light');
  await page.mouse.up();
  await page.close();
  await shown.close();
}
if (wanted !== 'bay') {
  const began = performance.now();
  const shown = await demo(feeler, 'gear');
  const page = await open_page(browser, shown.url, trouble, { ...size, colorScheme: 'dark' });
  console.log(`gear: shown after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'all parts are ready');
  console.log(`gear: ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await shot(page, 'viewer-gear');
  await page.close();
  await shown.close();
}
if (trouble.length) console.log(trouble.join('\n'));
await browser.close();
process.exit(trouble.length ? 1 : 0);
