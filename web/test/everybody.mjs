// The page for everybody: its first minute, fingers, keyboards and screen readers: node test/everybody.mjs --feeler PROGRAM [--shots FOLDER].
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Patience, find_part, frames, launch, new_page, open_page, part_of, pictures, until } from './browser.mjs';
import { check, feeler, finish, shot, step, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { serve_empty, serve_scene } from './serve.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** what axe-core finds wrong in the page as it is */
async function audit(where) {
  await page.evaluate(`window.axe || (() => { ${axe} })()`);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] });
    return violations.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.slice(0, 4).map((node) => `${node.target} ${node.any[0]?.message ?? ''}`).join('; ')}`);
  });
  check(found.length === 0, `${where}: ${found.join('\n    ')}`);
}

const server = await serve_empty(feeler);
const browser = await launch();
/** a page without parts is never loaded */
async function open_empty(url, before = async () => undefined) {
  const opened = await new_page(browser, { viewport: { width: 1180, height: 760 }, colorScheme: 'dark' });
  await before(opened);
  opened.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
  await opened.goto(`${url}?quality=low`);
  await until(opened, () => window.feeler?.connected && window.feeler.scene !== null, 'connected');
  return opened;
}
let page = await open_empty(server.url);

await step('an empty page offers an example and a tour', async () => {
  await page.locator('#empty-tour').waitFor();
  check(/STEP/.test(await page.locator('#empty').innerText()), 'it says what can be dropped');
  check(await page.locator('#recent').isHidden(), 'nothing was open before');
  await audit('empty');
  await shot(page, 'empty');
  await page.locator('#empty-tour').click();
  await page.locator('#tour').waitFor();
  check((await page.evaluate(() => window.feeler.parts.length)) > 1 && (await page.locator('#empty').isHidden()), 'the example is open');
  const titles = [];
  for (let i = 0; i < 20 && (await page.locator('#tour').isVisible()); i++) {
    titles.push(await page.locator('#tour-title').textContent());
    const [card, marked] = await page.evaluate(() => [document.getElementById('tour'), document.querySelector('.tour-here')].map((one) => one.getBoundingClientRect().toJSON()));
    check(card.left >= 0 && card.top >= 0 && card.right <= 1180 && card.bottom <= 760 && marked.width > 0, `on the page: ${titles.at(-1)}`);
    if (i < 2) await shot(page, `tour-${i}`);
    if (i === 0) await audit('tour');
    await page.keyboard.press('Enter'); // its button has the focus
  }
  check(titles.length === 6 && new Set(titles).size === 6, `six places: ${titles}`);
});

const recent = await page.evaluate(() => localStorage.getItem('feeler.recent'));

await step('axe-core finds nothing, with all cards open, in both themes, with dialogs', async () => {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  await page.locator('#show-expert').check();
  await page.evaluate(() => document.querySelectorAll('#panel details').forEach((card) => (card.open = true)));
  await page.locator('#parts .part-pick', { hasText: 'pump' }).click();
  await page.locator('#tool-section').click();
  await page.locator('#tool-ruler').click();
  await frames(page, 200);
  await audit('all cards, dark');
  await page.keyboard.press('t');
  await audit('all cards, light');
  await shot(page, 'light');
  await page.keyboard.press('t');
  await page.locator('#tool-help').click();
  await audit('help');
  check(await page.locator('#help-touch').isVisible(), 'it tells what fingers do');
  await shot(page, 'help');
  await page.keyboard.press('Escape');
  await page.locator('#show-expert').uncheck();
  await page.locator('#tool-section').click();
  await page.locator('#view').focus();
  await page.keyboard.press('Escape');
});

await step('everything is reached with the Tab key, and the focus is seen', async () => {
  const wanted = await page.evaluate(() => [...document.querySelectorAll('#bar button, #view, #panel summary, #panel button, #panel input, #panel select')]
    .filter((one) => one.offsetParent !== null && !one.disabled && one.tabIndex >= 0 && !(one.type === 'radio')).map((one) => {
      one.dataset.wanted = '1';
      return one.id || one.textContent;
    }).length);
  await page.evaluate(() => document.activeElement?.blur());
  let outlines = 0;
  for (let i = 0; i < wanted + 40; i++) {
    await page.keyboard.press('Tab');
    outlines += await page.evaluate(() => {
      const one = document.activeElement;
      if (!one?.dataset.wanted) return 0;
      delete one.dataset.wanted;
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1.5 ? 1 : 0;
    });
  }
  const left = await page.evaluate(() => [...document.querySelectorAll('[data-wanted]')].map((one) => one.id || one.ariaLabel || one.textContent));
  check(left.length === 0 && outlines === wanted, `${wanted} elements, ${outlines} seen with the focus, not reached: ${left.slice(0, 8)}`);
});

await step('a part is moved with the keyboard alone', async () => {
  await page.locator('#parts .part-pick', { hasText: 'pump' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#view').focus();
  const before = (await part_of(page, 'pump')).pose.p;
  await page.keyboard.down('ArrowUp');
  await until(page, (z) => window.feeler.parts.find((part) => part.name === 'pump').pose.p[2] > z + 0.002, 'it goes up', before[2]);
  await page.keyboard.up('ArrowUp');
  await until(page, () => window.feeler.holding === 4294967295, 'let go by itself');
  await page.keyboard.press('u');
  await until(page, (z) => Math.abs(window.feeler.parts.find((part) => part.name === 'pump').pose.p[2] - z) < 1e-6, 'undone', before[2]);
});

await step('everything in the view is picked with the keyboard: a part, a face, a grab', async () => {
  const key = (name) => page.keyboard.press(name);
  /** leads the keyboard's pointer to a place of the page, by as few keys as a person would */
  const lead = async (x, y) => {
    const box = await page.evaluate(() => document.getElementById('key-pointer').getBoundingClientRect().toJSON());
    for (const [ways, by] of [[['ArrowLeft', 'ArrowRight'], x - box.x], [['ArrowUp', 'ArrowDown'], y - box.y]]) {
      const way = ways[by > 0 ? 1 : 0];
      let left = Math.abs(Math.round(by));
      for (const [step, name] of [[60, `Shift+${way}`], [12, way], [1, `Control+${way}`]]) for (; left >= step; left -= step) await key(name);
    }
  };
  await page.locator('#view').focus();
  await key('Escape');
  await key('k');
  const shown = () => page.evaluate(() => !document.getElementById('key-pointer').hidden);
  check(await shown(), 'K shows the pointer');
  // a part is named, and chosen
  const bay = (await part_of(page, 'bay')).part;
  const place = await find_part(page, 'bay').catch(() => page.evaluate((part) => {
    for (let y = 100; y < innerHeight - 100; y += 20) for (let x = 20; x < 800; x += 20) if (document.elementFromPoint(x, y)?.id === 'view' && window.feeler.pick(x, y)?.part === part) return { x, y };
    return null;
  }, bay));
  await lead(place.x, place.y);
  await until(page, () => document.getElementById('key-pointer-says').textContent === 'bay', 'it says what is there');
  await key('Enter');
  await until(page, (part) => window.feeler.selected === part, 'Enter selects it', bay);
  // a face is measured
  await key('d');
  await key('Enter');
  await until(page, () => window.feeler.measurements.length === 1 && window.feeler.measurements[0], 'Enter picks a place to measure');
  await key('Escape');
  check(!(await shown()), 'Esc hides the pointer');
  await page.locator('#measure-clear').click();
  // a part is grabbed, moved, let go
  await page.locator('#view').focus();
  await key('k');
  const pump = await find_part(page, 'pump'), before = (await part_of(page, 'pump')).pose.p;
  await lead(Math.round(pump.x), Math.round(pump.y));
  await key('e');
  await until(page, () => window.feeler.holding !== 4294967295 && window.feeler.state.hands[window.feeler.hand].held === window.feeler.holding, 'E grabs');
  for (let i = 0; i < 4; i++) await key('ArrowUp');
  await until(page, (p) => Math.hypot(...window.feeler.parts.find((part) => part.name === 'pump').pose.p.map((value, k) => value - p[k])) > 0.003, 'arrows move it', before);
  await shot(page, 'key-pointer');
  await key('e');
  await until(page, () => window.feeler.holding === 4294967295, 'E lets go');
  await audit('keyboard pointer');
  await key('k');
  await key('u');
  await until(page, (z) => Math.abs(window.feeler.parts.find((part) => part.name === 'pump').pose.p[2] - z) < 1e-6, 'undone', before[2]);
});

await step('who wants less motion sees none', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const moving = await page.evaluate(() => {
    const toast = document.createElement('div');
    toast.className = 'toast';
    document.getElementById('toasts').append(toast);
    const { animationName } = getComputedStyle(toast);
    toast.remove();
    return animationName;
  });
  check(moving === 'none', `a toast rises: ${moving}`);
});
await page.close();

// ---- fingers ----
page = await open_page(browser, `${server.url}?quality=low`, trouble, { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
const session = await page.context().newCDPSession(page);
const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });

await step('on a phone nothing is too small to press, or missing', async () => {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  const small = () => page.evaluate(() => [...document.querySelectorAll('button, select, summary, input, [role=button]')]
    .filter((one) => one.offsetParent !== null && getComputedStyle(one).visibility !== 'hidden')
    .map((one) => (one.type === 'checkbox' ? one.closest('label') : one))
    .filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return width > 0 && (width < 43.5 || height < 43.5);
    }).map((one) => `${one.id || one.ariaLabel || one.textContent} ${Math.round(one.getBoundingClientRect().width)}×${Math.round(one.getBoundingClientRect().height)}`));
  check((await small()).length === 0, `too small: ${(await small()).join(', ')}`);
  const away = await page.evaluate(() => [...document.querySelectorAll('#bar button')].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    return !one.hidden && one.id !== 'rate' && (width === 0 || left < 0 || right > innerWidth);
  }).map((one) => one.id));
  check(away.length === 0, `not on the page: ${away}`);
  await shot(page, 'phone');
  await page.locator('#tool-panel').tap();
  await page.evaluate(() => document.querySelectorAll('#panel details').forEach((card) => (card.open = true)));
  check((await small()).length === 0, `too small in the panel: ${(await small()).join(', ')}`);
  check((await page.locator('#views button').count()) === 4 && (await page.locator('#gizmo-turns').isVisible()), 'views and the gizmo without keys');
  await shot(page, 'phone-panel');
  await audit('phone');
  await page.locator('#tool-panel').tap();
});

await step('one finger moves a part, a second one rolls it, brings it nearer, turns it', async () => {
  await until(page, () => document.body.classList.contains('no-panel'), 'the view is seen');
  const place = await find_part(page, 'pump');
  const first = [place.x, place.y], second = [place.x + 90, place.y];
  const pose = async () => (await page.evaluate(() => window.feeler.hand_pose));
  const gesture = async (what, moves, done) => {
    await touch('touchStart', first);
    await until(page, () => window.feeler.holding !== 4294967295 && window.feeler.state.hands[window.feeler.hand].held === window.feeler.holding, `${what}: held`);
    await touch('touchStart', first, second);
    const before = await pose();
    for (const [a, b] of moves) await touch('touchMove', a, b);
    await pictures(page); // browsers deliver moves with the next one
    const after = await pose();
    check(done(before, after), `${what}: from ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
    // the second finger is lifted, and the first one goes on: nothing jumps
    const [a, b] = moves.at(-1);
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [{ x: b[0], y: b[1], id: 1 }] });
    await touch('touchMove', [a[0] + 1, a[1]]);
    await pictures(page);
    const on = await pose();
    check(Math.hypot(...on.p.map((value, k) => value - after.p[k])) < 0.01, `${what}: the first finger goes on from there`);
    await touch('touchEnd');
    await until(page, () => window.feeler.holding === 4294967295, `${what}: let go`);
    await page.locator('#tool-reset').tap();
    await frames(page, 100);
  };
  const turned = (a, b) => 2 * Math.acos(Math.min(1, Math.abs(a.q.reduce((sum, value, k) => sum + value * b.q[k], 0))));
  const moved = (a, b) => Math.hypot(...a.p.map((value, k) => value - b.p[k]));
  const around = (degrees) => [first, [first[0] + 90 * Math.cos((degrees * Math.PI) / 180), first[1] + 90 * Math.sin((degrees * Math.PI) / 180)]];
  await gesture('twist', [10, 20, 30, 40, 50, 60].map(around), (a, b) => turned(a, b) > 0.4 && turned(a, b) < 1.1 && moved(a, b) < 1e-6);
  await gesture('pinch', [100, 110, 120, 130, 140].map((x) => [first, [first[0] + x, first[1]]]), (a, b) => moved(a, b) > 0.005 && turned(a, b) < 1e-6);
  await gesture('both', [10, 20, 30, 40, 50].map((x) => [[first[0] + x, first[1]], [second[0] + x, second[1]]]), (a, b) => turned(a, b) > 0.1 && moved(a, b) < 1e-6);
  // a tap selects, though a finger trembles. A page that is drawn slowly may have shown something else there: then it is made again
  const tap = async () => {
    const fixed = await page.evaluate(() => {
      const part = window.feeler.parts.find((one) => one.kind === 0);
      for (let y = 120; y < innerHeight; y += 24) for (let x = 20; x < innerWidth; x += 24) if (document.elementFromPoint(x, y)?.id === 'view' && window.feeler.pick(x, y)?.part === part.part) return { x, y, part: part.part };
      return null;
    });
    if (fixed === null) return false;
    await touch('touchStart', [fixed.x, fixed.y]);
    await touch('touchMove', [fixed.x + 6, fixed.y + 3]);
    await touch('touchEnd');
    await pictures(page);
    return (await page.evaluate(() => window.feeler.selected)) === fixed.part;
  };
  let selected = false;
  for (const patience = new Patience(page); !selected && !(await patience.spent()); ) selected = await tap();
  check(selected, 'a tap selects');
});
await page.close();
await server.close();

await step('scenes that were open before are offered again', async () => {
  check(JSON.parse(recent)?.[0]?.name === 'bay' && JSON.parse(recent)[0].path.length > 0, `kept: ${recent}`);
  const again = await serve_empty(feeler, '--no-cache');
  page = await open_empty(again.url, (opened) => opened.addInitScript((list) => localStorage.setItem('feeler.recent', list), JSON.stringify([{ name: 'gone', path: '/nowhere/gone.json' }, ...JSON.parse(recent)])));
  try {
    await page.locator('#recent-list button', { hasText: 'gone' }).click();
    await page.locator('.toast', { hasText: 'gone.json' }).waitFor();
    await page.locator('#empty-example').waitFor();
  } finally {
    await page.close();
    await again.close();
  }
});

// ---- German, and many parts of one shape ----
const screws = await serve_scene(feeler, (folder) => {
  writeFileSync(join(folder, 'screw.stl'), cube_stl([0, 0, 0], 10));
  const parts = Array.from({ length: 60 }, (_, k) => ({ name: `screw ${k}`, file: 'screw.stl', colour: k % 2 ? '#d99a4e' : '#6fa8dc', pose: { position: [16 * (k % 10), 16 * Math.floor(k / 10), 0] }, moving: k === 0 }));
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'screws', unit: 'mm', voxel: 2, parts }));
});
page = await open_page(browser, `${screws.url}?quality=low&lang=de`, trouble, { viewport: { width: 1180, height: 760 } });

await step('sixty screws are drawn at once, and each can be picked', async () => {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  await page.mouse.move(400, 700);
  // the counts are of the newest picture, which may be older than what is together
  await until(page, () => window.feeler.drawn.together >= 59 && window.feeler.drawn.triangles >= 60 * 12, 'together, with all triangles');
  const all = await page.evaluate(() => window.feeler.drawn);
  check(all.calls < 24, `calls for 60 parts and their edges: ${all.calls}`);
  const place = await find_part(page, 'screw 37');
  check(place !== null, 'each is picked');
  await page.mouse.click(place.x, place.y);
  await until(page, () => window.feeler.parts.find((part) => part.name === 'screw 37').part === window.feeler.selected, 'and selected');
  await shot(page, 'screws');
});

await step('the page speaks German', async () => {
  check((await page.evaluate(() => document.documentElement.lang)) === 'de', 'and says so');
  await page.locator('#show-expert').check();
  await page.evaluate(() => document.querySelectorAll('#panel details').forEach((card) => (card.open = true)));
  await page.locator('#tool-help').click();
  const table = readFileSync(new URL('../src/german.ts', import.meta.url), 'utf8');
  const pairs = Object.fromEntries([...table.matchAll(/'((?:[^'\\]|\\.)*)': '((?:[^'\\]|\\.)*)'/g)].map(([, english, german]) => [english, german]));
  check(Object.keys(pairs).length > 330, `texts in the table: ${Object.keys(pairs).length}`);
  for (const [english, german] of Object.entries(pairs)) {
    const values = (text) => [...text.matchAll(/\{\d\}/g)].map(([value]) => value).sort().join();
    check(values(english).split(',').every((value) => values(german).includes(value)), `the same values: ${english}`);
  }
  const shown = await page.evaluate(() => {
    const texts = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) if (!node.parentElement.closest('.part-name, #parameters, #advanced, script')) texts.add(node.nodeValue.trim());
    for (const element of document.querySelectorAll('*')) for (const name of ['title', 'aria-label', 'placeholder', 'alt']) if (element.hasAttribute(name)) texts.add(element.getAttribute(name));
    return [...texts];
  });
  const english = shown.filter((text) => pairs[text] && pairs[text] !== text);
  check(english.length === 0, `still English: ${english.join(' | ')}`);
  for (const text of ['Maus und Tasten', 'Seitenleiste (P)', 'Teile', 'Kraft beginnt bei', 'Nähe', 'Szene speichern', 'Vorn']) check(shown.includes(text), `shown: ${text}`);
  console.log(`    not in the table: ${shown.filter((text) => /[a-z]{4}/i.test(text) && !Object.values(pairs).includes(text) && !/screw|^\W|\d/.test(text)).slice(0, 60).join(' | ')}`);
  await shot(page, 'german');
  await audit('German');
});
await page.close();
await screws.close();

await browser.close();
finish();
