// Tools for assemblies in the page: gap map, section box, joints, keep-out zones, files that change. Against a real controller:
// node test/assembly.mjs --feeler PROGRAM [--shots FOLDER]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drag_by, launch, let_go, new_page, open_page, part_of, shows, take, until } from './browser.mjs';
import { check, feeler, finish, shots, step, trouble } from './checks.mjs';
import { cube_stl, stl } from './scene.mjs';
import { serve_scene } from './serve.mjs';

/** a box in metres as an STL */
function box(low, high) {
  const vertices = [], indices = [];
  for (let i = 0; i < 8; i++) for (let k = 0; k < 3; k++) vertices.push((i >> k) & 1 ? high[k] : low[k]);
  for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) indices.push(a, b, c, a, c, d);
  return stl({ vertices, indices });
}

/** a cylinder about x, metres, as an STL */
function pin(radius, length, sides) {
  const vertices = [], indices = [];
  for (const x of [-length / 2, length / 2])
    for (let i = 0; i < sides; i++) vertices.push(x, radius * Math.cos((2 * Math.PI * i) / sides), radius * Math.sin((2 * Math.PI * i) / sides));
  for (let i = 0; i < sides; i++) {
    const j = (i + 1) % sides;
    indices.push(i, sides + j, sides + i, i, j, sides + j);
    if (i > 0 && i + 1 < sides) indices.push(0, i + 1, i, sides, sides + i, sides + i + 1);
  }
  return stl({ vertices, indices });
}

/** a plate of 120 × 120 × 10 mm; a cube of 20 mm 0.5 mm above it, and a pin of 12 mm far above */
let folder;
function write(into) {
  folder = into;
  writeFileSync(join(into, 'plate.stl'), box([-0.06, -0.06, -0.01], [0.06, 0.06, 0]));
  writeFileSync(join(into, 'cube.stl'), cube_stl([0, 0, 0], 20));
  writeFileSync(join(into, 'pin.stl'), pin(0.006, 0.06, 48));
  const parts = [{ name: 'plate', file: 'plate.stl', colour: '#9aa7b5' }, { name: 'floating', file: 'cube.stl', moving: true, colour: '#8fbf7f', pose: { position: [40, 0, 10.5], orientation: [1, 0, 0, 0] } },
    { name: 'pin', file: 'pin.stl', moving: true, colour: '#c08fd0', pose: { position: [0, 0, 60], orientation: [1, 0, 0, 0] } }];
  writeFileSync(join(into, 'scene.json'), JSON.stringify({ feeler: 1, name: 'tools', unit: 'mm', voxel: 1, parts }));
}

const shown = await serve_scene(feeler, write, '--watch');
const browser = await launch();
const page = await open_page(browser, `${shown.url}?quality=low`, trouble, { viewport: { width: 1180, height: 760 }, acceptDownloads: true });
const shot = async (name) => {
  if (!shots) return;
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(shots, `${name}.png`) });
};
const select = (name) => page.locator('#tree .part-name', { hasText: name }).click();
const click_at = async (place) => {
  const { x, y } = await page.evaluate((at) => window.feeler.project(at), place);
  await page.mouse.click(x, y);
};
await until(page, () => window.feeler.parts.every((part) => part.ready), 'parts can be picked up');

await step('a gap map colours parts by their distance', async () => {
  await page.locator('#gaps-card > summary').click();
  await select('plate');
  await page.locator('#gap-show').click();
  await until(page, () => window.feeler.gap_maps.length === 1, 'the map of the plate');
  const [map] = await page.evaluate(() => window.feeler.gap_maps);
  check(Math.abs(map.least - 0.0005) < 1e-7, `0.5 mm to the cube: ${map.least}`);
  check(map.corners > 3000, `in small triangles: ${map.corners} corners`);
  await shows(page, '#gap-legend', /nearest: 0\.5/, 'with a scale');
  await shot('gap-map');
  // it follows the cube
  await drag_by(page, await take(page, 'floating'), [0, 0, 0.002]);
  await let_go(page);
  await until(page, () => window.feeler.gap_maps[0]?.least > 0.0015, 'the map is made again');
  await page.locator('#gap-reach').fill('much');
  await page.locator('#gap-reach').press('Enter');
  await until(page, () => window.toasts.some((toast) => /“much” is no length/.test(toast)), 'what is no length is reported');
  await page.locator('#gap-clear').click();
  await until(page, () => window.feeler.gap_maps.length === 0 && !document.getElementById('gap-legend').checkVisibility(), 'until it is cleared');
});

await step('a section box cuts from all sides', async () => {
  await page.locator('#view').focus();
  await page.keyboard.press('x');
  await page.locator('#section-box').check();
  check((await page.evaluate(() => window.feeler.clipped)) === 1, 'a whole box cuts nothing beside the plane');
  await page.locator('#box-low-x').fill('0.3');
  await page.locator('#box-high-y').fill('0.6');
  check((await page.evaluate(() => window.feeler.clipped)) === 3, 'each side that is moved cuts');
  await page.locator('#box-low-x').fill('1');
  check(Number(await page.locator('#box-low-x').inputValue()) <= 0.99, 'sides do not pass each other');
  await page.locator('#box-low-x').fill('0.3');
  await shot('section-box');
  await page.locator('#view').focus();
  await page.keyboard.press('x');
  check((await page.evaluate(() => window.feeler.clipped)) === 0, 'and ends with the section');
});

await step('a joint is made from a cylinder, obeyed, saved and removed', async () => {
  await page.keyboard.press('0');
  await page.locator('#joints-card > summary').click();
  await page.locator('#joint-add').click();
  check(await page.locator('#joint-make').isDisabled(), 'an axis is needed first');
  await page.waitForTimeout(300);
  await click_at([0.003, -0.006 * Math.cos(0.6), 0.06 + 0.006 * Math.sin(0.6)]);
  await until(page, () => !document.getElementById('joint-make').disabled, 'the cylinder is found');
  await shows(page, '#joints', /axis of the cylinder/, 'what was picked is named');
  await page.locator('#joint-kind').selectOption('2');
  await page.locator('#joint-from').fill('5');
  await page.locator('#joint-to').fill('-5');
  await page.locator('#joint-make').click();
  await until(page, () => window.toasts.some((toast) => /limits/.test(toast)), 'reversed limits are refused');
  await page.locator('#joint-from').fill('-5');
  await page.locator('#joint-to').fill('15');
  await page.locator('#joint-make').click();
  await until(page, () => window.feeler.joints.length === 1, 'it is there');
  const [joint] = await page.evaluate(() => window.feeler.joints);
  check(joint.name === 'pin slide' && joint.kind === 2 && Math.abs(Math.abs(joint.axis[0]) - 1) < 1e-6 && Math.abs(joint.slide.high - 0.015) < 1e-9, JSON.stringify(joint));
  await shot('joint');
  await page.waitForTimeout(500);
  await drag_by(page, await take(page, 'pin'), [0.03, 0, 0.03]);
  await until(page, () => Math.abs(window.feeler.parts.find((part) => part.name === 'pin').pose.p[0]) > 0.004, 'the pin slides');
  const { pose } = await part_of(page, 'pin');
  await let_go(page);
  check(Math.abs(pose.p[1]) < 1e-6 && Math.abs(pose.p[2] - 0.06) < 1e-6 && Math.abs(pose.p[0]) < 0.0151, `along its axis alone: ${pose.p}`);
  await page.locator('#save-path').fill('jointed.json');
  await page.locator('#save-path').press('Enter');
  await until(page, () => window.toasts.some((toast) => /Saved as .*jointed\.json/.test(toast)), 'the scene is saved');
  const saved = JSON.parse(readFileSync(join(folder, 'jointed.json'), 'utf8'));
  check(saved.joints?.length === 1 && saved.joints[0].kind === 'prismatic' && saved.joints[0].b === 'pin', JSON.stringify(saved.joints));
  await page.locator('#joint-list .tool').click();
  await until(page, () => window.feeler.joints.length === 0, 'and removed');
});

await step('a part becomes a keep-out zone, and what is in it a clash', async () => {
  await select('floating');
  await page.locator('#part-use').selectOption('2');
  await until(page, () => window.feeler.parts.find((part) => part.name === 'floating').use === 2, 'it is a zone');
  await shows(page, '#tree', /keep-out zone/, 'as the list says');
  await shot('keep-out');
  await page.locator('#part-use').selectOption('0');
  await until(page, () => window.feeler.parts.find((part) => part.name === 'floating').use === 0, 'and solid again');
});

await step('a file that changes is read again when somebody wants it', async () => {
  const before = await part_of(page, 'floating');
  writeFileSync(join(folder, 'cube.stl'), cube_stl([0, 0, 0], 26));
  await page.locator('#changed-files').waitFor();
  await shows(page, '#changed-files', /cube\.stl has changed/, 'which file it is');
  check((await part_of(page, 'floating')).mesh === before.mesh, 'nothing changes by itself');
  await page.locator('#files-reload').click();
  await until(page, (old) => {
    const part = window.feeler.parts.find((one) => one.name === 'floating');
    return part.mesh !== old && part.ready;
  }, 'the part has another mesh', before.mesh);
  await until(page, () => document.getElementById('changed-files').hidden, 'and the card is gone');
  const after = await part_of(page, 'floating');
  check(Math.hypot(...after.pose.p.map((value, k) => value - before.pose.p[k])) < 1e-9, 'it stands where it stood');
});

await step('another axis points up: the whole scene is turned, and back', async () => {
  const poses = async () => Object.fromEntries((await page.evaluate(() => window.feeler.parts.map(({ name, pose }) => [name, pose.p]))));
  const before = await poses();
  check((await page.locator('#scene-up').inputValue()) === '3', 'z is up in a scene file');
  await page.locator('#scene-up').selectOption('2');
  // y becomes z, and z becomes -y
  await until(page, (was) => window.feeler.parts.every(({ name, pose: { p } }) => Math.abs(p[0] - was[name][0]) < 1e-9 && Math.abs(p[1] + was[name][2]) < 1e-9 && Math.abs(p[2] - was[name][1]) < 1e-9), 'all parts are turned', before);
  await shot('up-axis');
  await page.locator('#save-path').fill('upright.json');
  await page.locator('#save-path').press('Enter');
  await until(page, () => window.toasts.some((toast) => /Saved as .*upright\.json/.test(toast)), 'the scene is saved');
  const saved = JSON.parse(readFileSync(join(folder, 'upright.json'), 'utf8')).parts.find((part) => part.name === 'floating').pose.position;
  check(Math.abs(saved[1] + 1000 * before.floating[2]) < 1e-6, `as it stands: ${saved}`);
  await page.locator('#scene-up').selectOption('3');
  await until(page, (was) => window.feeler.parts.every(({ name, pose: { p } }) => p.every((value, k) => Math.abs(value - was[name][k]) < 1e-9)), 'and back', before);
  await page.locator('#view').focus();
  await page.keyboard.press('r');
  await until(page, () => window.feeler.state.recording, 'while it records');
  await page.locator('#scene-up').selectOption('1');
  await until(page, () => window.toasts.some((toast) => /a recording is being made/.test(toast)), 'it is refused');
  check((await page.locator('#scene-up').inputValue()) === '3', 'and stays');
  await page.locator('#view').focus();
  await page.keyboard.press('r');
  await until(page, () => !window.feeler.state.recording, 'until the recording ends');
});

await step('German numbers have a comma, and both are read', async () => {
  const german = await open_page(browser, `${shown.url}?lang=de&quality=low`, trouble, { viewport: { width: 1180, height: 760 } });
  await until(german, () => window.feeler?.parts?.every((part) => part.ready) && window.feeler.parts.length === 3, 'the page is there');
  await german.locator('#tree .part-name', { hasText: 'pin' }).click();
  await german.locator('#placement-card > summary').click();
  const place = async (typed, metres) => {
    await german.locator('#place-x').fill(typed);
    await german.locator('#place-x').press('Enter');
    await until(german, (x) => Math.abs(window.feeler.parts.find((part) => part.name === 'pin').pose.p[0] - x) < 1e-9, `${typed} is read`, metres);
  };
  await place('41,5', 0.0415);
  await place('40.25', 0.04025);
  await german.locator('#place-x').blur();
  await until(german, () => document.getElementById('place-x').value === '40,25', 'and shown with a comma');
  await german.locator('#clashes-card > summary').click();
  await german.locator('#clash-clearance').fill('2,5');
  await german.locator('#clash-clearance').press('Enter');
  await until(german, () => Math.abs(window.feeler.clashes?.clearance - 0.0025) < 1e-12 && window.feeler.clashes.pairs.length > 0, 'a clearance with a comma');
  await shows(german, '#clashes-list', /\d,\d+ mm (entfernt|tief)/, 'distances have a comma');
  await shows(german, '#clash-touch', /Berührung: bis 0,0100 mm\./, 'as has what counts as contact');
  const words = await german.evaluate(() => document.body.innerText.match(/[^\n]*\d\.\d[^\n]*/g) ?? []);
  check(words.length === 0, `no number has a point: ${words.join(' | ')}`);
  if (shots) await german.screenshot({ path: join(shots, 'german.png') });
  await german.close();
});

await step('thousands of parts come without elements for each in every list', async () => {
  const COUNT = 2000;
  const many = await serve_scene(feeler, (into) => {
    writeFileSync(join(into, 'cube.stl'), cube_stl([0, 0, 0], 4));
    const parts = Array.from({ length: COUNT }, (_, i) => ({ name: `part ${i}`, in: `unit ${Math.floor(i / 20)}`, file: 'cube.stl', moving: i < 10, pose: { position: [(i % 20) * 10, (Math.floor(i / 20) % 20) * 10, Math.floor(i / 400) * 10], orientation: [1, 0, 0, 0] } }));
    const groups = Array.from({ length: COUNT / 20 }, (_, i) => ({ name: `unit ${i}` }));
    writeFileSync(join(into, 'scene.json'), JSON.stringify({ feeler: 1, name: 'many', unit: 'mm', voxel: 1, groups, parts }));
  });
  const crowd = await new_page(browser, { viewport: { width: 1180, height: 760 } });
  await crowd.addInitScript(() => {
    window.added = 0;
    new MutationObserver((changes) => {
      for (const change of changes) window.added += change.addedNodes.length;
    }).observe(document, { childList: true, subtree: true });
  });
  await crowd.goto(`${many.url}?quality=low`);
  await until(crowd, (count) => window.feeler?.parts?.length === count && window.feeler.loaded && window.feeler.parts.every((part) => part.ready), 'all are there', COUNT);
  const added = await crowd.evaluate(() => window.added);
  check(added < 4 * COUNT, `no list is made again for every part that comes: ${added} elements`);
  // and those that it needs are there when they are looked at
  await crowd.locator('#placement-card > summary').click();
  await until(crowd, (count) => document.querySelectorAll('#align-with option').length === count, 'a part can be aligned with every other', COUNT);
  await crowd.close();
  await many.close();
});

await page.close();
await browser.close();
await shown.close();
finish();
