// The gear of 2.76 million triangles is seen with little work: node test/opening.mjs --feeler PROGRAM [--shots FOLDER]. Work is counted in triangles,
// meshes and pictures, which no busy machine changes; npm run detail measures the seconds.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, new_page, until } from './browser.mjs';
import { check, feeler, finish, shot, step, trouble } from './checks.mjs';
import { serve_file } from './serve.mjs';

const folder = mkdtempSync(join(tmpdir(), 'feeler-opening-'));
execFileSync(feeler, ['make', 'gear', '--out', folder, '--quiet']);
const browser = await launch();
const page = await new_page(browser, { viewport: { width: 1366, height: 768 } });
page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
// how many pictures were drawn while parts were there without a mesh, and the most triangles of one
await page.addInitScript(() => {
  window.seen = { first: null, before: 0, most: 0 };
  const look = () => {
    const { feeler, seen } = window;
    if (feeler?.triangles === 0 && feeler.parts.length) {
      seen.first ??= feeler.pictures;
      seen.before = feeler.pictures - seen.first;
    }
    if (feeler) seen.most = Math.max(seen.most, feeler.drawn.triangles);
    requestAnimationFrame(look);
  };
  look();
});
const shown = await serve_file(feeler, join(folder, 'scene.json'), '--no-cache');

await step('the gear is drawn at a level that suits the machine, once for each picture', async () => {
  await page.goto(`${shown.url}?quality=low`);
  await until(page, () => window.feeler?.loaded && window.feeler.drawn.triangles > 100000, 'the gear is drawn');
  const { triangles, drawn, parts } = await page.evaluate(() => window.feeler), { before, most } = await page.evaluate(() => window.seen);
  console.log(`    ${triangles} triangles shown, at most ${most} drawn in ${drawn.calls} calls; ${before} pictures of parts without a mesh`);
  check(parts.length === 2, 'both parts are there');
  check(triangles < 250000, `without a graphics card few are shown: ${triangles}`);
  // parts without voxels look like glass, of which back faces are drawn first where there is a graphics card
  check(most <= 1.05 * triangles, `none is drawn twice: ${most}`);
  check(before < 4, `nothing is drawn again and again while there is nothing to see: ${before} pictures`);
  await shot(page, 'gear');
});

await browser.close();
await shown.close();
rmSync(folder, { recursive: true, force: true });
finish();
