// Find a way out in the page, against a real controller: node test/way.mjs --feeler PROGRAM [--shots FOLDER]. A block lies in a channel
// that is closed above; another in a box without a way out.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frames, launch, let_go, open_page, take, until } from './browser.mjs';
import { check, feeler, finish, shots, trouble } from './checks.mjs';
import { stl } from './scene.mjs';
import { serve_scene } from './serve.mjs';

/** a box in metres as an STL */
function box(low, high) {
  const vertices = [], indices = [];
  for (let i = 0; i < 8; i++) for (let k = 0; k < 3; k++) vertices.push((i >> k) & 1 ? high[k] : low[k]);
  for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) indices.push(a, b, c, a, c, d);
  return stl({ vertices, indices });
}

/** metres; the channel is open towards +x only */
const solids = {
  floor: [[-0.05, -0.03, -0.005], [0.05, 0.03, 0]], lid: [[-0.05, -0.03, 0.022], [0.05, 0.03, 0.027]], left: [[-0.05, -0.035, -0.005], [0.05, -0.011, 0.027]],
  right: [[-0.05, 0.011, -0.005], [0.05, 0.035, 0.027]], back: [[-0.055, -0.035, -0.005], [-0.05, 0.035, 0.027]], block: [[-0.02, -0.01, 0.001], [0.02, 0.01, 0.021]],
  pea: [[-0.005, 0.145, -0.005], [0.005, 0.155, 0.005]], shell_top: [[-0.02, 0.13, 0.01], [0.02, 0.17, 0.02]], shell_bottom: [[-0.02, 0.13, -0.02], [0.02, 0.17, -0.01]],
  shell_a: [[-0.02, 0.13, -0.01], [-0.01, 0.17, 0.01]], shell_b: [[0.01, 0.13, -0.01], [0.02, 0.17, 0.01]], shell_c: [[-0.01, 0.13, -0.01], [0.01, 0.14, 0.01]], shell_d: [[-0.01, 0.16, -0.01], [0.01, 0.17, 0.01]],
};
const write = (folder) => {
  const parts = Object.entries(solids).map(([name, [low, high]]) => {
    writeFileSync(join(folder, `${name}.stl`), box(low, high));
    return { name, file: `${name}.stl`, moving: name === 'block' || name === 'pea' };
  });
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'way', unit: 'mm', voxel: 1, parts, camera: { eye: [300, -60, 60], target: [0, 20, 10], up: [0, 0, 1] } }));
};

const shown = await serve_scene(feeler, write);
const browser = await launch();
let page = null;
const way = () => page.evaluate(() => window.feeler.way);
const chosen = (name) => page.locator('#parts .part-pick', { hasText: name }).click();
try {
  page = await open_page(browser, `${shown.url}?quality=low`, trouble, { viewport: { width: 1180, height: 760 }, acceptDownloads: true });
  await until(page, () => window.feeler.parts.length === 13 && window.feeler.parts.every((part) => part.ready), 'all parts are ready');
  await page.locator('#way-card summary').click();

  // a way that keeps half a millimetre
  await chosen('block');
  await page.fill('#way-clearance', '0.5');
  await page.click('#way-find');
  await until(page, () => window.feeler.way.found !== null, 'the way is found');
  const found = (await way()).found;
  check(found.found && found.lower >= 0.000499 && found.poses.length >= 14, `${JSON.stringify({ ...found, poses: found.poses.length })}`);
  check(found.poses[found.poses.length - 7] > 0.06, 'it goes out along x');
  check(/comes out by one straight move: .*stays .* or more from/.test(await page.locator('#way-note').textContent()), await page.locator('#way-note').textContent());
  await until(page, () => window.feeler.way.at > 0, 'it plays');
  if (shots) await page.screenshot({ path: join(shots, 'way.png') });
  await until(page, () => window.feeler.way.at === window.feeler.way.length, 'it plays to its end');
  await page.locator('#way-slider').fill('250');
  const quarter = await way();
  check(Math.abs(quarter.at / quarter.length - 0.25) < 1e-6 && quarter.ghost, `scrubbed to ${quarter.at} of ${quarter.length}`);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#way-save')]);
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\n');
  check(lines.length === found.poses.length / 7 + 1 && lines[1].split(' ').length === 8, `a pose file of ${lines.length} lines`);

  // followed by hand: the controller guides it
  await page.locator('#way-follow').check();
  await take(page, 'block');
  await until(page, () => window.feeler.way.guided >= 0, 'the hand is guided');
  await let_go(page);
  await until(page, () => window.feeler.way.guided === -1, 'a hand that is empty is not');
  await page.locator('#way-follow').uncheck();

  // cut: the part is there, and the rest is searched anew
  await page.locator('#way-slider').fill('500');
  const half = (await way()).pose.p[0];
  check(half > 0.02, `half way is at ${half}`);
  await page.click('#way-cut');
  await until(page, (x) => Math.abs((window.feeler.parts.find((one) => one.part === window.feeler.selected)?.pose.p[0] ?? 0) - x) < 0.002, 'the part is where the way was cut', half);
  check((await way()).kept >= 2 && (await way()).found === null, `${(await way()).kept} poses are kept`);
  await page.click('#way-hint');
  check((await way()).hints === 1, 'a waypoint');
  await page.click('#way-find');
  await until(page, () => window.feeler.way.found?.found, 'the way from there is found');
  check((await way()).found.length < found.length - 0.01, 'it is shorter');
  await page.click('#way-drop');

  // no way: stopped by the person, and what blocks it is shown
  await chosen('pea');
  await page.fill('#way-clearance', '0');
  await page.click('#way-find');
  await until(page, () => window.feeler.way.poses > 0, 'progress is shown');
  check(await page.locator('#way-bar').isVisible(), 'a bar');
  await page.click('#way-stop');
  await until(page, () => window.feeler.way.found !== null, 'it ends');
  const none = await way();
  check(!none.found.found && none.found.stopped && none.found.blockers.length > 0 && none.blockers > 0, `${JSON.stringify({ ...none.found, poses: 0 }, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}`);
  const names = await page.locator('#way-blockers .part-name').allTextContents();
  check(names.length > 0 && names.every((name) => /^\d+\. shell_/.test(name)), `in the way: ${names}`);
  check((await page.evaluate(() => Object.entries(window.feeler.callouts).filter(([key]) => key.startsWith('way ')).map(([, one]) => one.label))).some((label) => /shell_/.test(label)), 'they are named in place');
  await page.locator('#way-blockers button').first().click();
  await frames(page, 2);
  if (shots) await page.screenshot({ path: join(shots, 'blockers.png') });
} catch (error) {
  check(false, `${error.message} ${page ? JSON.stringify(await page.evaluate(() => ({ way: { ...window.feeler.way, found: 0 }, selected: window.feeler.selected, poses: window.feeler.parts.map((one) => one.pose.p), holding: window.feeler.holding })).catch(() => '')) : ''}`);
  if (page && shots) await page.screenshot({ path: join(shots, 'way-failure.png') }).catch(() => undefined);
}
await browser.close();
await shown.close();
finish();
