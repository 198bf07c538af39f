// A review of an assembly in the page: the list of clashes, fits of the design, a report, measuring. Against a real controller:
// node test/review.mjs --feeler PROGRAM [--shots FOLDER]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drag_by, launch, let_go, open_page, shows, take, until } from './browser.mjs';
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

/** a plate of 120 × 120 × 10 mm; on it cubes of 20 mm: one sunk in by 1 mm, one that stands on it, one 0.5 mm above it; and a pin of 12 mm, far above */
let folder;
function write(into) {
  folder = into;
  writeFileSync(join(into, 'plate.stl'), box([-0.06, -0.06, -0.01], [0.06, 0.06, 0]));
  writeFileSync(join(into, 'cube.stl'), cube_stl([0, 0, 0], 20));
  writeFileSync(join(into, 'pin.stl'), pin(0.006, 0.06, 48));
  const cube = (name, x, z, colour) => ({ name, file: 'cube.stl', moving: true, colour, pose: { position: [x, 0, z], orientation: [1, 0, 0, 0] } });
  const parts = [{ name: 'plate', file: 'plate.stl', colour: '#9aa7b5' }, cube('sunk', -40, 9, '#e0a458'), cube('standing', 0, 10, '#6fa8dc'), cube('floating', 40, 10.5, '#8fbf7f'),
    { name: 'pin', file: 'pin.stl', moving: true, colour: '#c08fd0', pose: { position: [0, 0, 60], orientation: [1, 0, 0, 0] } }];
  writeFileSync(join(into, 'scene.json'), JSON.stringify({ feeler: 1, name: 'review', unit: 'mm', voxel: 1, parts }));
}

const shown = await serve_scene(feeler, write);
const browser = await launch();
const page = await open_page(browser, `${shown.url}?quality=low`, trouble, { viewport: { width: 1180, height: 760 }, acceptDownloads: true });
const shot = async (name) => {
  if (!shots) return;
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(shots, `${name}.png`) });
  await page.keyboard.press('t');
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(shots, `${name}-light.png`) });
  await page.keyboard.press('t');
};
const names = () => page.locator('#clashes-list .part-name').allTextContents();

await step('the list of clashes is made when it is opened', async () => {
  check((await page.evaluate(() => window.feeler.clashes)) === null, 'nothing is checked before');
  await page.locator('#clashes-card > summary').click();
  await until(page, () => window.feeler.clashes?.overlaps === 1, 'the overlap is found');
  check(JSON.stringify(await names()) === JSON.stringify(['plate and sunk', 'plate and standing']), `worst first: ${await names()}`);
  await shows(page, '#clashes-list', /1\.00 mm deep/, 'with its depth');
  await shows(page, '#clash-summary', /^1 overlap, 1 contact\.$/, 'and counted');
});

await step('what is closer than a clearance is listed, too', async () => {
  await page.locator('#clash-clearance').fill('1');
  await page.locator('#clash-clearance').press('Enter');
  await until(page, () => window.feeler.clashes?.near === 1, 'the cube above the plate');
  await shows(page, '#clashes-list', /0\.500 mm apart/, 'with its distance');
  await page.locator('#clash-clearance').fill('much');
  await page.locator('#clash-clearance').press('Enter');
  await until(page, () => window.toasts.some((toast) => /“much” is no length/.test(toast)), 'what is no length is told');
  await page.locator('#clash-clearance').fill('1 mm');
  await page.locator('#clash-clearance').press('Enter');
  await page.locator('#clash-contacts').uncheck();
  check((await names()).length === 2, 'contacts can be left out');
  await page.locator('#clash-contacts').check();
});

await step('a click shows where', async () => {
  await page.locator('#clashes-list .clash-pick').first().click();
  await until(page, () => 'clash' in window.feeler.callouts, 'it is marked');
  const { clash } = await page.evaluate(() => window.feeler.callouts);
  check(Math.abs(clash.from[0] + 0.04) < 0.011 && Math.hypot(...clash.from.map((value, k) => value - clash.to[k])) < 0.0015, `at the sunk cube: ${JSON.stringify(clash)}`);
  await until(page, () => document.querySelectorAll('#tree .part[aria-selected=true]').length === 2, 'both parts are selected');
  const { eye } = await page.evaluate(() => window.feeler);
  check(Math.abs(eye.target[0] + 0.04) < 0.02, `the place is in the middle of the view: ${eye.target}`);
  await shot('clashes');
});

await step('a fit of the design is allowed, and saved with the scene', async () => {
  await page.locator('#clashes-list .chip').first().click();
  await until(page, () => window.feeler.clashes?.overlaps === 0 && window.feeler.clashes.allowed === 1, 'it is not reported any more');
  check(!(await names()).includes('plate and sunk'), 'nor listed');
  await page.locator('#clash-allowed').check();
  check((await names()).at(-1) === 'plate and sunk', 'but for those who want to see what is allowed');
  await page.locator('#save-path').fill('reviewed.json');
  await page.locator('#save-path').press('Enter');
  await until(page, () => window.toasts.some((toast) => /Saved as .*reviewed\.json/.test(toast)), 'the scene is saved');
  const saved = JSON.parse(readFileSync(join(folder, 'reviewed.json'), 'utf8'));
  check(JSON.stringify(saved.allow) === '[["plate","sunk"]]', `with the pair: ${JSON.stringify(saved.allow)}`);
  await page.locator('#clashes-list .chip[aria-pressed=true]').click();
  await until(page, () => window.feeler.clashes?.overlaps === 1, 'and reported again when it is no longer allowed');
  await page.locator('#clash-allowed').uncheck();
});

await step('a report is saved', async () => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#clash-report').click()]);
  const text = readFileSync(await download.path(), 'utf8');
  check(download.suggestedFilename() === 'review-clashes.html', download.suggestedFilename());
  check(/<b>3 findings<\/b>/.test(text) && (text.match(/<img /g) ?? []).length === 3 && text.includes('sunk'), 'with a picture of each finding');
});

await step('the list follows parts that come to rest elsewhere', async () => {
  await page.keyboard.press('0');
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'parts can be picked up');
  await drag_by(page, await take(page, 'sunk'), [0, 0, 0.015]);
  await let_go(page);
  await until(page, () => window.feeler.parts.find((part) => part.name === 'sunk').pose.p[2] > 0.012, 'it is lifted');
  await until(page, () => window.feeler.clashes?.overlaps === 0, 'and overlaps no more');
});

/** clicks a place of the world, where nothing stands in front of it */
const click_at = async (place) => {
  const { x, y } = await page.evaluate((at) => window.feeler.project(at), place);
  await page.mouse.click(x, y);
};
const measured = (count) => until(page, (wanted) => window.feeler.measurements.length === wanted && window.feeler.measurements.every(Boolean), `${count} measurements`, count);

await step('two faces are measured', async () => {
  await page.locator('#clashes-card > summary').click();
  await page.keyboard.press('0');
  await page.locator('#tool-ruler').click();
  await page.waitForTimeout(300);
  await click_at([0.02, -0.05, 0]);
  await measured(1);
  check((await page.locator('.measurement-title').textContent()) === 'flat face', await page.locator('.measurement').textContent());
  await click_at([0.002, 0.003, 0.02]);
  await until(page, () => window.feeler.measurements[0]?.distance > 0, 'their distance');
  const [found] = await page.evaluate(() => window.feeler.measurements);
  check(Math.abs(found.distance - 0.02) < 1e-9 && found.has_angle && found.angle < 1e-9, JSON.stringify(found));
  const said = await page.locator('.measurement').first().textContent();
  check(/^20\.000 mm/.test(said) && /X 0\.000 · Y 0\.000 · Z 20\.000 mm/.test(said) && /angle 0\.00°/.test(said), said);
  check((await page.evaluate(() => Object.values(window.feeler.callouts).map(({ label }) => label))).includes('20.000 mm'), 'and in the picture');
});

await step('a cylinder has a diameter and an axis', async () => {
  await click_at([0.003, -0.006 * Math.cos(0.6), 0.06 + 0.006 * Math.sin(0.6)]);
  await measured(2);
  const said = await page.locator('.measurement').first().textContent();
  check(/^cylinder ⌀ 12\.000 mm/.test(said) && /axis 1\.000, 0, 0 through X .* · Y 0\.000 · Z 60\.000 mm/.test(said), said);
  await shot('measure');
});

await step('whole parts are measured, and Esc ends', async () => {
  await page.locator('#measure-mean').selectOption({ label: 'whole part' });
  await page.locator('.measurement button').first().click();
  await measured(1);
  await click_at([0.002, 0.003, 0.02]);
  await measured(2);
  await click_at([0.003, -0.006 * Math.cos(0.6), 0.06 + 0.006 * Math.sin(0.6)]);
  await until(page, () => window.feeler.measurements.length === 2 && window.feeler.measurements[1]?.distance > 0, 'their distance');
  const found = await page.evaluate(() => window.feeler.measurements[1]);
  check(Math.abs(found.distance - 0.034) < 2e-5, `${found.distance} from the cube’s top to the pin`);
  await page.locator('#view').focus();
  await page.keyboard.press('Escape');
  check((await page.locator('#tool-ruler').getAttribute('aria-pressed')) === 'false' || (await page.evaluate(() => !document.getElementById('view').classList.contains('measuring'))), 'Esc ends it');
  check(await page.locator('#measure-card').isVisible(), 'what was measured stays');
  // a part that comes to rest elsewhere is measured anew
  await drag_by(page, await take(page, 'pin'), [0, 0, 0.02]);
  await let_go(page);
  await until(page, () => window.feeler.measurements[1]?.distance > 0.0385, 'and measured anew');
  await page.locator('#measure-clear').click();
  check(await page.locator('#measure-card').isHidden() && !(await page.evaluate(() => Object.keys(window.feeler.callouts).some((key) => key.startsWith('measure')))), 'until it is cleared');
});

await step('a note stays at its part, and is saved with the scene', async () => {
  page.once('dialog', (dialog) => void dialog.accept('Check this gap'));
  await page.locator('#tool-note').click();
  await click_at([0.002, 0.003, 0.02]);
  await until(page, () => window.feeler.notes.length === 1 && Object.values(window.feeler.callouts).some(({ label }) => label === 'Check this gap'), 'it is there');
  await page.locator('#save-path').fill('noted.json');
  await page.locator('#save-path').press('Enter');
  await until(page, () => window.toasts.some((toast) => /Saved as .*noted\.json/.test(toast)), 'the scene is saved');
  const [note] = JSON.parse(readFileSync(join(folder, 'noted.json'), 'utf8')).notes;
  check(note.text === 'Check this gap' && note.part === 'standing' && Math.abs(note.position[2] - 10) < 0.05, JSON.stringify(note));
  await shot('note');
  await page.locator('#notes .tool').click();
  await until(page, () => window.feeler.notes.length === 0 && document.getElementById('notes-card').hidden, 'and is gone when it is removed');
});

await step('exploded, parts are drawn apart and picked where they are', async () => {
  const before = await page.evaluate(() => window.feeler.parts.map((part) => part.pose.p));
  await page.locator('#explode').fill('1');
  const { part, place } = await page.evaluate(() => {
    const { scene, parts } = window.feeler;
    const { part, pose } = parts.find((one) => one.name === 'floating');
    return { part, place: pose.p.map((value, k) => 2 * value - (scene.low[k] + scene.high[k]) / 2) };
  });
  check(place[0] > 0.07, `its place is another one: ${place}`);
  await until(page, ([wanted, at]) => window.feeler.pick(window.feeler.project(at).x, window.feeler.project(at).y)?.part === wanted, 'the cube is drawn away from the middle', [part, place]);
  const at = await page.evaluate((where) => window.feeler.pick(window.feeler.project(where).x, window.feeler.project(where).y).at, place);
  check(Math.abs(at[0] - 0.04) < 0.011, `and picked at ${at}`);
  check(JSON.stringify(await page.evaluate(() => window.feeler.parts.map((part) => part.pose.p))) === JSON.stringify(before), 'but stands where it stood');
  await shot('explode');
  await page.locator('#explode').fill('0');
});

await step('another revision takes the place of a part’s file', async () => {
  const mesh = () => page.evaluate(() => window.feeler.parts.find((part) => part.name === 'pin')?.mesh);
  const before = await mesh();
  await page.locator('#tree .part-name', { hasText: 'pin' }).click();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('#parts-replace').click()]);
  await chooser.setFiles({ name: 'pin_rev_b.stl', mimeType: 'model/stl', buffer: pin(0.008, 0.06, 48) });
  await until(page, (old) => {
    const part = window.feeler.parts.find((one) => one.name === 'pin');
    return part && part.mesh !== old && part.ready;
  }, 'it has another mesh', before);
  check((await page.evaluate(() => window.feeler.parts.length)) === 5, 'and no part is new');
});

await page.close();
await browser.close();
await shown.close();
finish();
