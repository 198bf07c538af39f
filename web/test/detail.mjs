// What large scenes cost to draw: node test/detail.mjs --feeler PROGRAM. The gear of 2.8 million triangles: how long until it is seen; two of them, with
// 5.6 million triangles: draw calls and triangles of a picture, from far and near, for budgets of triangles. Times are the machine's affair.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, new_page, open_page, until } from './browser.mjs';
import { feeler } from './checks.mjs';
import { serve_file } from './serve.mjs';

const folder = mkdtempSync(join(tmpdir(), 'feeler-detail-'));
execFileSync(feeler, ['make', 'gear', '--out', join(folder, 'gear'), '--quiet']);
const scene = JSON.parse(readFileSync(join(folder, 'gear/scene.json'), 'utf8'));
const again = scene.parts.map((part) => {
  const [x, y, z] = part.pose?.position ?? [0, 0, 0];
  return { ...part, name: `${part.name} again`, moving: false, pose: { ...part.pose, position: [x + 3000, y, z] } };
});
writeFileSync(join(folder, 'gear/two.json'), JSON.stringify({ feeler: 1, name: 'two gears', unit: scene.unit, voxel: 20, parts: [...scene.parts, ...again] }));

const serve = (file) => serve_file(feeler, join(folder, 'gear', file));

/** seconds of processor time of a process and all that it has started */
function spent(pid) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
      return [{ pid: Number(name), parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / 100 }];
    } catch {
      return []; // it has ended
    }
  });
  const sum = (wanted) => processes.filter(({ pid: one, parent }) => one === wanted || parent === wanted).reduce((total, one) => total + (one.pid === wanted ? one.seconds : sum(one.pid)), 0);
  return sum(pid);
}

const browser = await launch();
const size = { viewport: { width: 1366, height: 768 } };
// a browser with an empty page is there before: what that costs is not the scene's affair
for (const cache of ['empty', 'filled', 'filled', 'filled']) {
  const page = await new_page(browser, size);
  await page.waitForTimeout(2000);
  const began = performance.now(), before = spent(process.pid), shown = await serve('scene.json');
  await page.goto(`${shown.url}?quality=low`);
  await until(page, () => window.feeler?.loaded && window.feeler.drawn.triangles > 100000, 'the gear is drawn');
  console.log(`gear, cache ${cache}: drawn after ${((performance.now() - began) / 1000).toFixed(1)} s, ${(spent(process.pid) - before).toFixed(1)} s of processors, at a load of ${loadavg()[0].toFixed(1)}`);
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  await page.close();
  await shown.close();
}
const shown = await serve('two.json');
const page = await open_page(browser, `${shown.url}?quality=low`, [], size);
await until(page, () => window.feeler.parts.length === 4, 'all parts are there');
await page.locator('#show-expert').check();
const still = () => until(page, () => {
  const now = `${window.feeler.loaded} ${window.feeler.drawn.triangles} ${JSON.stringify(window.feeler.eye)}`;
  if (now !== window.before) [window.before, window.since] = [now, window.turns];
  return window.feeler.loaded && window.turns > window.since + 20;
}, 'nothing changes');
for (const budget of await page.locator('#detail option').evaluateAll((all) => all.map(({ value }) => value))) {
  await page.locator('#detail').selectOption(budget);
  for (const [where, key] of [['all in view', 'f'], ['near', '']]) {
    await page.locator('#view').focus();
    if (key) await page.keyboard.press(key);
    else {
      await page.mouse.move(300, 400);
      for (let i = 0; i < 12; i++) await page.mouse.wheel(0, -200);
    }
    await still();
    const { calls, triangles } = await page.evaluate(() => window.feeler.drawn);
    console.log(`budget ${budget}, ${where}: ${calls} draw calls, ${triangles} triangles a picture`);
  }
}
await browser.close();
await shown.close();
rmSync(folder, { recursive: true, force: true });
