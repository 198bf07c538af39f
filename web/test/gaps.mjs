// What the page says about gaps and overlaps, against feeler serve: node test/gaps.mjs --feeler PROGRAM [--shots FOLDER]. A cube stands
// 0.1 mm above another, a third one 0.2 mm deep in it; nobody says how large voxels are. With each engine the distance of what is held
// is told live, as a number with its error.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrived, launch, let_go, open_page, take, until } from './browser.mjs';
import { check, feeler, finish, shots, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { serve_scene } from './serve.mjs';

const write = (folder) => {
  const part = (name, size, position, moving) => {
    writeFileSync(join(folder, `${name}.stl`), cube_stl([0, 0, 0], size));
    return { name, file: `${name}.stl`, pose: { position }, moving };
  };
  const parts = [part('base', 40, [0, 0, 0], false), part('top', 20, [-5, -5, 30.1], true), part('pressed', 20, [29.8, 0, 0], true)];
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'gaps', unit: 'mm', parts }));
};

const browser = await launch();
const readout = (page) => page.evaluate(() => document.getElementById('clearance-value').textContent);

for (const engine of ['exact', 'shell']) {
  const server = await serve_scene(feeler, write, '--engine', engine);
  let page = null;
  try {
    page = await open_page(browser, server.url, trouble);
    await until(page, () => window.feeler.parts.length === 3 && window.feeler.parts.every((part) => part.ready), 'all parts are ready');
    check(/^feeler chose voxels of /m.test(server.said()), `${engine}: the size of voxels is told: ${server.said()}`);

    // what stands in each other is listed, and a click shows where
    await until(page, () => window.feeler.overlaps.length === 1, `${engine}: the overlap is listed`);
    const [overlap] = await page.evaluate(() => window.feeler.overlaps);
    check(Math.abs(overlap.depth - 2e-4) < (engine === 'exact' ? 2e-6 : 1e-3), `${engine}: ${overlap.depth} deep`);
    check(overlap.point[0] > 0.0185 && overlap.point[0] < 0.0215, `${engine}: at ${overlap.point}`);
    await page.locator('#overlaps .overlap', { hasText: /pressed .* base/ }).click();
    await until(page, () => window.feeler.seen.mark !== null, 'its place is marked');
    const eye = await page.evaluate(() => window.feeler.eye.target);
    check(Math.hypot(...eye.map((value, k) => value - overlap.point[k])) < 1e-3, `${engine}: the view looks at it`);
    if (shots) await page.screenshot({ path: join(shots, `overlap-${engine}.png`) });
    await page.keyboard.press('f');

    // the part in the hand: a number with its error, and the nearest points
    await take(page, 'top');
    await arrived(page);
    // the readout follows at intervals, the line with each picture: they are looked at where both are there
    await until(page, () => {
      const { gap, seen } = window.feeler;
      window.live = { gap, drawn: seen.gap };
      return gap !== null && seen.gap !== null && /^(touching · )?\d+\.\d{3} mm ± 0\.00\d$/.test(document.getElementById('clearance-value').textContent);
    }, `${engine}: a live number`);
    const { gap, drawn } = await page.evaluate(() => window.live);
    check(gap.distance > 0 && gap.distance < 4e-4 && gap.error <= 2e-6, `${engine}: ${JSON.stringify(gap)}`);
    check(drawn && !drawn.interference && Math.abs(drawn.from[2] - drawn.to[2]) < 5e-4, `${engine}: it is drawn: ${JSON.stringify(drawn)}`);
    if (engine === 'exact') check(Math.abs(gap.distance - 1e-4) < 5e-5, `${gap.distance} m, not 0.1 mm`);
    if (shots) await page.screenshot({ path: join(shots, `gap-${engine}.png`) });
    await let_go(page);

    // what is in another: negative, in red
    await page.locator('#parts .part-pick', { hasText: 'pressed' }).click();
    await page.locator('#exact-button').click(); // on a slow machine nothing is asked by itself
    await until(page, () => /^interference (at least )?0\.[12]\d\d mm/.test(document.getElementById('clearance-value').textContent), `${engine}: interference is told`);
    await until(page, () => document.getElementById('clearance-value').classList.contains('touching') && window.feeler.seen.gap?.interference, `${engine}: in red, ${await readout(page)}`);
    check(/^with base/.test(await page.locator('#exact-value').textContent()), 'with whom');

    // lengths, not layers
    check(/ mm$/.test(await page.locator('#onset-slider-value').textContent()), 'the onset is a length');
    check((await page.locator('#parameters #parameter-force_layer').count()) === 0 && (await page.locator('#advanced #parameter-force_layer').count()) === 1, 'voxels are for experts');
  } catch (error) {
    check(false, `${engine}: ${error.message}`);
  } finally {
    await page?.close();
    await server.close();
  }
}
await browser.close();
finish();
