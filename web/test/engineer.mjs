// What an engineer sees who neither tunes the simulation nor has a force device, and placing parts by numbers: node test/engineer.mjs
// --feeler PROGRAM [--shots FOLDER]. A cube stands 6 mm above another one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drag_by, find_part, launch, let_go, open_page, part_of, settled, shows, take, until } from './browser.mjs';
import { check, feeler, finish, shot, step, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { serve_scene } from './serve.mjs';

const near = (a, b, within = 1e-6) => a.every((value, k) => Math.abs(value - b[k]) < within);

function write(folder) {
  const part = (name, size, position, moving, voxel) => {
    writeFileSync(join(folder, `${name}.stl`), cube_stl([0, 0, 0], size));
    return { name, file: `${name}.stl`, pose: { position }, moving, voxel };
  };
  // the part with the finest voxels is not the last one: once the last fixed one counted for all
  const parts = [part('post', 10, [60, 0, 0], false, 0.4), part('base', 40, [0, 0, 0], false), part('top', 20, [-5, -5, 36], true)];
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'engineer', unit: 'mm', voxel: 1, parts }));
}

const server = await serve_scene(feeler, write);
const browser = await launch();
const page = await open_page(browser, `${server.url}?quality=low`, trouble, { viewport: { width: 1180, height: 900 } });
const readout = () => page.locator('#clearance-value').textContent();

await step('plots, the rate and numbers of the simulation are for experts', async () => {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  for (const id of ['plots', 'rate', 'status', 'status-compute', 'status-fps', 'advanced-parameters', 'detail'])
    check(await page.locator(`#${id}`).isHidden(), `#${id} is hidden`);
  const seen = await page.evaluate(() => document.body.innerText);
  check(!/\b(vox|pts|p99|layers?)\b/i.test(seen), `no word of the simulation: ${/.*\b(vox|pts|p99|layers?)\b.*/i.exec(seen)}`);
  check(/^\d.* mm$/.test(await page.locator('#onset-slider-value').textContent()), 'where force begins is a length');
  await page.keyboard.press('l');
  check(await page.locator('#plots').isVisible(), 'L shows the plots');
  await page.keyboard.press('l');
  check(await page.locator('#plots').isHidden(), 'and hides them');
  await page.locator('#show-expert').check();
  await until(page, () => document.body.classList.contains('technical'), 'expert');
  check((await page.locator('#plots').isHidden()) && (await page.locator('#rate').isVisible()) && (await page.locator('#status-compute').isVisible()), 'experts see the rate; the plots stay as they were chosen');
  await page.locator('#show-expert').uncheck();
  await until(page, () => !document.body.classList.contains('technical'), 'no expert');
  // what stops work is told to everybody
  await page.locator('#view').focus();
  await page.keyboard.press(' ');
  await page.locator('#rate', { hasText: 'paused' }).waitFor({ state: 'visible' });
  await page.keyboard.press(' ');
  await page.locator('#rate').waitFor({ state: 'hidden' });
});

await step('a force says nothing that its distance contradicts, and only the touched area is red', async () => {
  await page.keyboard.press('1'); // from the front: dragging moves in x and z
  const place = await take(page, 'top');
  await drag_by(page, place, [0, 0, -0.02]);
  await until(page, () => window.feeler.contacts > 0, 'it is stopped');
  await until(page, () => window.feeler.gap !== null && / mm ± /.test(document.getElementById('clearance-value').textContent), 'an exact figure');
  check(!/touching/.test(await readout()), `no "touching" beside a distance: ${await readout()}`);
  await until(page, () => /force acts/.test(document.getElementById('exact-value').textContent), 'it is said that force acts');
  check(!/begins/.test(await page.locator('#exact-value').textContent()), 'and not that it begins at 0.8 mm, which the voxels of the post make: these have larger ones');
  await until(page, () => window.feeler.seen.patches.length > 0, 'places are red');
  const { patches, patched } = await page.evaluate(() => window.feeler.seen);
  check(patches.every(([x, y, z]) => x > -0.021 && x < 0.021 && y > -0.021 && y < 0.021 && Math.abs(z - 0.02) < 0.004), `on the base, under the cube: ${patches}`);
  const base = (await part_of(page, 'base')).part;
  check(patched.length === 1 && patched[0] === base, `only the touched part: ${patched}`);
  await shot(page, 'touch');
  await let_go(page);
});

await step('after undo no distance of before is shown', async () => {
  // whenever the part stands still, the figure is that of its place
  await page.evaluate(() => {
    const wrong = (window.wrong = []);
    let stood = null, since = 0;
    window.watching = setInterval(() => {
      const { p, q: [w, x, y, z] } = window.feeler.parts.find((part) => part.name === 'top').pose;
      // mm from its lowest corner to the base: pressed it is a little tilted
      const true_mm = 1000 * p[2] - 20 - 10 * (Math.abs(2 * (x * z - w * y)) + Math.abs(2 * (y * z + w * x)) + Math.abs(1 - 2 * (x * x + y * y)));
      const shown = /^(\d+\.\d+) mm ± (\d+\.\d+)$/.exec(document.getElementById('clearance-value').textContent);
      if (!stood || p.some((value, k) => value !== stood[k])) since = window.feeler.looks;
      stood = p;
      // the page has looked at that state and written what it knows
      if (shown && window.feeler.looks > since + 1 && Math.abs(Number(shown[1]) - true_mm) > Number(shown[2]) + 0.01) wrong.push(`${shown[0]} at ${true_mm}`);
    }, 40);
  });
  await page.keyboard.press('u');
  await until(page, () => Math.abs(window.feeler.parts.find((part) => part.name === 'top').pose.p[2] - 0.036) < 1e-9, 'undone');
  await page.locator('#exact-button').click();
  await until(page, () => /^6\.000 mm ± 0\.001$/.test(document.getElementById('clearance-value').textContent), 'the true distance');
  const wrong = await page.evaluate(() => (clearInterval(window.watching), window.wrong));
  check(wrong.length === 0, `figures of a place that was left: ${wrong.slice(0, 3)}`);
});

await step('where force begins is one length, though the post has finer voxels', async () => {
  await page.locator('#onset-slider').evaluate((slider) => {
    slider.value = '5'; // of 0.4 mm
    slider.dispatchEvent(new Event('input'));
    slider.dispatchEvent(new Event('change'));
  });
  await shows(page, '#onset-slider-value', /^2\.0+ mm$/, 'it is shown as it was chosen');
  await drag_by(page, await take(page, 'top'), [0, 0, -0.02]);
  await until(page, () => window.feeler.contacts > 0, 'it is stopped');
  const [, , z] = await settled(page, 'top');
  check(z - 0.03 < 0.0035, `with voxels of 1 mm, 2 to 3 mm above the base: ${1e3 * z - 30}`);
  await let_go(page);
  await page.keyboard.press('u');
  await until(page, () => Math.abs(window.feeler.parts.find((part) => part.name === 'top').pose.p[2] - 0.036) < 1e-9, 'undone');
});

await step('a part is placed by numbers, along the axes, in line with another, and where one clicks', async () => {
  await page.locator('#parts .part-pick', { hasText: 'top' }).click();
  await page.locator('#placement-card summary').click();
  await until(page, () => document.getElementById('place-z').value === '36', 'the fields show where it is');
  const moved = async (what, run, p, q) => {
    await run();
    await until(page, ([to, turned]) => {
      const { pose } = window.feeler.parts.find((part) => part.name === 'top');
      return to.every((value, k) => Math.abs(value - pose.p[k]) < 1e-6) && (!turned || Math.abs(turned.reduce((sum, value, k) => sum + value * pose.q[k], 0)) > 1 - 1e-9);
    }, what, [p, q]);
  };
  const type = (id, value) => async () => {
    await page.locator(id).fill(value);
    await page.locator(id).press('Enter');
  };
  await moved('a position', type('#place-x', '12.5'), [0.0125, -0.005, 0.036]);
  await moved('a rotation', type('#turn-z', '30'), [0.0125, -0.005, 0.036], [Math.cos(Math.PI / 12), 0, 0, Math.sin(Math.PI / 12)]);
  await until(page, () => document.getElementById('turn-z').value === '30' && document.getElementById('turn-x').value === '0', 'the fields follow');
  await shot(page, 'placement');
  await moved('along the axes', () => page.locator('#snap-axes').click(), [0.0125, -0.005, 0.036], [1, 0, 0, 0]);
  check(await page.locator('#align-x').isDisabled(), 'nothing to align with yet');
  await page.locator('#align-with').selectOption({ label: 'base' });
  await moved('in line along x', () => page.locator('#align-x').click(), [0, -0.005, 0.036]);
  await moved('and along y', () => page.locator('#align-y').click(), [0, 0, 0.036]);
  // on the post: its top is at z = 5 mm
  await page.keyboard.press('0');
  await page.locator('#place-at').click();
  const place = await find_part(page, 'post');
  await page.mouse.click(place.x, place.y);
  await until(page, () => window.feeler.parts.find((part) => part.name === 'top').pose.p[0] > 0.05, 'it is put on the post');
  const [x, y, z] = (await part_of(page, 'top')).pose.p;
  check(near([x, y, z - 0.01], place.at, 1e-4), `stands on the place: ${[x, y, z]} over ${place.at}`);
  check((await page.locator('#place-at').getAttribute('aria-pressed')) === 'false', 'once');
  // what cannot be is told and changes nothing; undo takes placements back
  await page.locator('#place-x').fill('');
  await page.locator('#place-x').press('Enter');
  await until(page, () => Number(document.getElementById('place-x').value) > 50, 'an empty field is filled in again');
  await page.locator('#view').focus();
  await page.keyboard.press('u');
  await until(page, () => Math.abs(window.feeler.parts.find((part) => part.name === 'top').pose.p[0]) < 1e-6, 'undone');
  // a fixed part is not placed, and says why
  await page.locator('#parts .part-pick', { hasText: 'base' }).click();
  await until(page, () => document.getElementById('place-x').disabled && /movable/.test(document.getElementById('placement-hint').textContent), 'a fixed part says why not');
});

await step('a fit without play is told, and the exact engine moves it', async () => {
  // as the nuts of an assembly with voxels of 0.4 mm among others of 0.5 mm: voxels of no size resolve it
  const fit = await serve_scene(feeler, (folder) => {
    writeFileSync(join(folder, 'cube.stl'), cube_stl([0, 0, 0], 20));
    const parts = [{ name: 'plug', file: 'cube.stl', moving: true, voxel: 0.4 }];
    for (let x = -20; x <= 20; x += 20) for (let y = -20; y <= 20; y += 20) if (x || y) parts.push({ name: `wall ${parts.length}`, file: 'cube.stl', pose: { position: [x, y, 0] } });
    writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'fit', unit: 'mm', voxel: 0.5, parts }));
  });
  const tight = await open_page(browser, `${fit.url}?quality=low`, trouble);
  try {
    await until(tight, () => window.feeler.parts.every((part) => part.ready) && window.feeler.overlaps.length > 0, 'it is known that they touch');
    await tight.locator('#overlaps-exact').waitFor({ state: 'visible' });
    check(await tight.evaluate(() => window.feeler.messages.some((sentence) => /exact engine/.test(sentence))), 'the message names the exact engine');
    await tight.locator('#overlaps-exact').click();
    await until(tight, () => window.feeler.parameters.engine === 2 && window.feeler.parts.every((part) => part.ready), 'it is the exact engine now');
    await tight.locator('#overlaps-exact').waitFor({ state: 'hidden' });
    await tight.locator('#parts .part-pick', { hasText: 'plug' }).click();
    await tight.locator('#view').focus();
    await tight.keyboard.press('1');
    await tight.keyboard.down('ArrowUp');
    await until(tight, () => window.feeler.parts.find((part) => part.name === 'plug').pose.p[2] > 0.022, 'the plug comes out');
    await tight.keyboard.up('ArrowUp');
  } finally {
    await tight.close();
    await fit.close();
  }
});

await page.close();
await browser.close();
await server.close();
finish();
