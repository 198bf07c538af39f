// A new user and an assembly of 200 parts, against a real controller without a scene: opens the STEP file in the page, hides the cover,
// removes the pump together with its four screws, reads the list of clashes and saves a report, without meeting a word about voxels.
// node test/story.mjs --feeler PROGRAM --step FILE [--shots FOLDER]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drag_by, launch, let_go, new_page, part_of, shows, take, until } from './browser.mjs';
import { check, feeler, finish, option, shots, step as tried, trouble } from './checks.mjs';
import { serve_empty } from './serve.mjs';

const file = option('--step');
const words = new Set();

const shown = await serve_empty(feeler);
const browser = await launch();
const page = await new_page(browser, { viewport: { width: 1280, height: 800 }, colorScheme: 'dark', acceptDownloads: true });
page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
const began = performance.now();
await page.goto(`${shown.url}?quality=low`);

/** everything that can be read in the page now: texts, and what the pointer would explain */
const read = async (what) => {
  const text = await page.evaluate(() => {
    const seen = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
    const titles = [...document.querySelectorAll('[title], [placeholder]')].filter(seen).map((element) => `${element.title} ${element.placeholder ?? ''}`);
    return [document.body.innerText, ...titles, ...window.toasts].join('\n');
  });
  for (const line of text.split('\n').filter((one) => /voxel/i.test(one))) words.add(`${what}: ${line}`);
};
const step = (what, action) => tried(what, async () => {
  await action();
  await read(what);
}, async () => shots && page.screenshot({ path: join(shots, `${what.replace(/\W+/g, '-')}.png`) }));
const search = async (text) => {
  await page.locator('#part-search').fill(text);
  // the list is written with the next picture
  await page.evaluate(() => new Promise((done) => window.requestAnimationFrame(() => window.requestAnimationFrame(done))));
};

await step('the page opens', async () => {
  await until(page, () => window.feeler?.connected && !document.getElementById('empty').hidden, 'the empty scene');
});

await step('the assembly is opened', async () => {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('#empty-open').click()]);
  await chooser.setFiles(file);
  await page.locator('#file-dialog[open]').waitFor();
  await read('the form');
  await page.locator('#file-dialog button[value=add]').click();
  await until(page, () => window.feeler.parts.length === 200 && window.feeler.loaded, '200 parts');
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'all can be touched');
  await shows(page, '#part-count', /200 parts/, 'as the list says');
});

await step('the cover is hidden', async () => {
  await search('cover');
  await page.locator('#tree .part-name', { hasText: 'cover' }).click();
  await page.locator('#parts-hide').click();
  await until(page, () => !window.feeler.visible.includes(window.feeler.parts.find((part) => part.name === 'cover').part), 'it is gone');
  await page.locator('#parts-all').click();
  await until(page, () => window.feeler.visible.length === 200 && document.getElementById('parts-all').hidden, 'all are shown again');
  await page.locator('#parts-hide').click();
  await until(page, () => window.feeler.visible.length === 199 && !document.getElementById('parts-all').hidden, 'and it is gone again');
});

await step('the pump and its screws become one', async () => {
  await search('pump');
  await page.locator('#tree .part-name', { hasText: /^pump$/ }).click();
  await page.locator('#tree .part-name', { hasText: 'screw' }).last().click({ modifiers: ['Shift'] });
  await shows(page, '#part-count', /5 selected|5 of 200/, 'five are selected');
  page.once('dialog', (dialog) => void dialog.accept('pump with screws'));
  await page.locator('#parts-group').click();
  await page.locator('#parts-move').click();
  await page.locator('#parts-rigid').click();
  await until(page, () => window.feeler.parts.filter((part) => /pump/.test(part.name) && part.kind === 1).length === 5, 'they can be moved');
  await search('');
});

await step('they are removed together', async () => {
  await page.locator('#view').focus();
  await page.keyboard.press('0');
  const before = (await part_of(page, 'pump')).pose.p;
  const place = await take(page, 'pump');
  await drag_by(page, place, [0, 0, 0.12], 20);
  // hiding is for the eye: the pump meets the cover, the page says so and offers the way out
  await page.locator('#in-the-way').waitFor();
  await shows(page, '#in-the-way', /“cover” is hidden, but still in the way/, 'what is in the way is named');
  await read('in the way');
  await let_go(page);
  await page.locator('#in-the-way-pass').click();
  await until(page, () => window.feeler.parts.find((part) => part.name === 'cover').use === 1, 'others pass through it');
  await drag_by(page, await take(page, 'pump'), [0, 0, 0.12], 20);
  await until(page, (z) => window.feeler.parts.find((part) => part.name === 'pump').pose.p[2] > z + 0.1, 'the pump is out', before[2]);
  await let_go(page);
  const screws = await page.evaluate(() => window.feeler.parts.filter((part) => /screw/.test(part.name)).map((part) => part.pose.p[2]));
  check(screws.length === 4 && screws.every((z) => z > 0.1), `with its screws: ${screws}`);
});

await step('the clashes are listed', async () => {
  await page.locator('#clashes-card > summary').click();
  await until(page, () => {
    const said = document.getElementById('clashes-list').textContent;
    return window.feeler.clashes !== null && /bracket and pipe|pipe and bracket/.test(said) && /mm deep/.test(said);
  }, 'the pipe is in the bracket');
});

await step('a report is saved', async () => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#clash-report').click()]);
  const text = readFileSync(await download.path(), 'utf8');
  check(/bracket/.test(text) && /<img /.test(text), 'with the finding and a picture');
  check(!/voxel/i.test(text), 'and no word about voxels');
});

check(words.size === 0, `no word about voxels:\n    ${[...words].join('\n    ')}`);
console.log(`${((performance.now() - began) / 1000).toFixed(0)} s in the page`);
await browser.close();
await shown.close();
finish();
