// Recordings in the page, against feeler serve: node test/recordings.mjs --feeler PROGRAM [--shots FOLDER]. They are small, belong to a scene, can
// be renamed, deleted, ended with Escape, and saved as video and picture.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { drag_by, frames, launch, let_go, open_page, take, until } from './browser.mjs';
import { check, feeler, finish, shots, step, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { serve_scene } from './serve.mjs';

const write = (name) => (folder) => {
  const part = (part_name, size, position, moving) => {
    writeFileSync(join(folder, `${part_name}.stl`), cube_stl([0, 0, 0], size));
    return { name: part_name, file: `${part_name}.stl`, pose: { position }, moving };
  };
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name, unit: 'mm', voxel: 2, parts: [part('base', 40, [0, 0, 0], false), part('top', 20, [0, 0, 60], true)] }));
};

const tapes = mkdtempSync(join(tmpdir(), 'feeler-tapes-'));
const files = () => readdirSync(tapes).filter((name) => name.endsWith('.mcap'));
const browser = await launch();
const first = await serve_scene(feeler, write('the first scene'), '--recordings', tapes);
let page = await open_page(browser, `${first.url}?quality=low`, trouble, { acceptDownloads: true });
let answer = null; // of the next question
page.on('dialog', (dialog) => (answer === null ? dialog.dismiss() : dialog.accept(answer)));

await step('ten megabytes a minute while a part moves, and nothing while none does', async () => {
  await until(page, () => window.feeler.parts.every((part) => part.ready), 'ready');
  await page.keyboard.press('1');
  await page.keyboard.press('r');
  await until(page, () => window.feeler.state.recording, 'it records');
  await frames(page, 2000);
  const place = await take(page, 'top');
  const began = await page.evaluate(() => window.feeler.state.time_us);
  let at = place;
  for (const dz of [-0.02, 0.02, -0.02]) at = await drag_by(page, at, [0, 0, dz], 20);
  const seconds = ((await page.evaluate(() => window.feeler.state.time_us)) - began) / 1e6;
  await let_go(page);
  await page.locator('#view').focus();
  await page.keyboard.press('r');
  await until(page, () => window.feeler.recordings.some((one) => one.finished), 'it is finished');
  const bytes = statSync(join(tapes, files()[0])).size;
  console.log(`    ${(bytes / 1e3).toFixed(0)} kB for ${seconds.toFixed(1)} s of motion`);
  check(bytes < 30e3 + (10e6 / 60) * (seconds + 1), `${bytes} bytes for ${seconds} s`);
  const [, count] = /"frames":\s*(\d+)/.exec(execFileSync(feeler, ['info', join(tapes, files()[0]), '--json'], { encoding: 'utf8' }));
  check(count > 10 && count < 100 * (seconds + 1.5), `${count} frames`);
});

await step('a replay ends with Escape', async () => {
  await page.locator('#recordings-card > summary').click();
  await page.locator('#recordings [aria-label^="Replay"]').click();
  await until(page, () => window.feeler.replaying !== null, 'it is shown');
  await page.locator('#view').focus();
  await page.keyboard.press('Escape');
  await until(page, () => window.feeler.replaying === null, 'live again');
});

await step('as a picture and as a video', async () => {
  await page.locator('#recordings [aria-label^="Replay"]').click();
  await until(page, () => window.feeler.replaying !== null, 'it is shown');
  if (shots) await page.screenshot({ path: join(shots, 'replay-bar.png') });
  const [picture] = await Promise.all([page.waitForEvent('download'), page.locator('#replay-image').click()]);
  const png = readFileSync(await picture.path());
  check(/\.png$/.test(picture.suggestedFilename()) && png.subarray(1, 4).toString() === 'PNG' && png.length > 2000, `a picture: ${picture.suggestedFilename()}, ${png.length} bytes`);
  const [video] = await Promise.all([page.waitForEvent('download'), page.locator('#replay-video').click()]);
  const bytes = readFileSync(await video.path());
  const webm = bytes.readUInt32BE(0) === 0x1a45dfa3, mp4 = bytes.subarray(4, 8).toString() === 'ftyp';
  check((webm || mp4) && bytes.length > 1000, `a video: ${video.suggestedFilename()}, ${bytes.length} bytes`);
  await page.keyboard.press('Escape');
  await until(page, () => window.feeler.replaying === null, 'live again');
});

await step('a report as a page and as PDF: the nearest parts, where, and a picture of the place', async () => {
  const report = async (button) => {
    await page.locator('#recordings [aria-label^="Report"]').click();
    await page.locator('#report-clearance').fill('5');
    if (shots) await page.screenshot({ path: join(shots, 'report-dialog.png') });
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator(`#report-dialog button[value=${button}]`).click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const html = await report('html');
  const text = html.bytes.toString();
  check(/-report\.html$/.test(html.name), html.name);
  check(/verdict (pass|fail)/.test(text) && /required clearance 5 mm/.test(text), 'it says pass or fail');
  check(/Nearest place<\/h2>\s*<p><b>top<\/b> and <b>base<\/b>: [\d.]+ mm ± [\d.]+ at [\d.]+ s, at x /.test(text), 'which parts, how near, when and where');
  check(/class="near">\s*<figure><img alt="[^"]*nearby[^"]*" src="data:image\/png;base64,/.test(text), 'the place from nearby');
  check(/<details><summary><h2>Timing/.test(text), 'the timing is closed');
  if (shots) {
    writeFileSync(join(shots, 'report.html'), html.bytes);
    const other = await browser.newPage({ viewport: { width: 960, height: 1400 } });
    await other.goto(`file://${resolve(shots, 'report.html')}`);
    await other.screenshot({ path: join(shots, 'report.png') });
    await other.close();
  }
  const pdf = await report('pdf');
  check(/-report\.pdf$/.test(pdf.name) && pdf.bytes.subarray(0, 5).toString() === '%PDF-' && pdf.bytes.includes('(1. top and base)') && pdf.bytes.includes('/Subtype /Image'), `a PDF: ${pdf.name}, ${pdf.bytes.length} bytes`);
  if (shots) writeFileSync(join(shots, 'report.pdf'), pdf.bytes);
});

await step('it gets another name', async () => {
  answer = 'the way out';
  await page.locator('#recordings [aria-label^="Rename"]').click();
  await page.locator('#recordings .part-name', { hasText: 'the way out' }).waitFor();
  check(files().length === 1 && files()[0] === 'the way out.mcap', `the file, too: ${files()}`);
  answer = '../elsewhere';
  await page.locator('#recordings [aria-label^="Rename"]').click();
  await page.locator('.toast', { hasText: 'without slashes' }).waitFor();
});

await page.close();

await step('in another scene it says where it belongs, and loads that', async () => {
  const second = await serve_scene(feeler, write('the second scene'), '--recordings', tapes);
  page = await open_page(browser, `${second.url}?quality=low`, trouble);
  page.on('dialog', (dialog) => (answer === null ? dialog.dismiss() : dialog.accept(answer)));
  try {
    await page.locator('#recordings-card > summary').click();
    await page.locator('#recordings .part-facts', { hasText: 'of the first scene' }).waitFor();
    answer = null; // no
    await page.locator('#recordings [aria-label^="Replay"]').click();
    await frames(page, 300);
    check((await page.evaluate(() => window.feeler.scene.name)) === 'the second scene' && (await page.evaluate(() => window.feeler.replaying)) === null, 'nothing happens unless it is wanted');
    answer = '';
    await page.locator('#recordings [aria-label^="Replay"]').click();
    await until(page, () => window.feeler.scene.name === 'the first scene', 'its scene is loaded');
    await until(page, () => window.feeler.replaying !== null, 'and it is replayed');
    await page.locator('#replay-end').click();
    await until(page, () => window.feeler.replaying === null, 'live again');
    // away with it
    await page.locator('#recordings [aria-label^="Delete"]').click();
    await until(page, () => window.feeler.recordings.length === 0, 'it is gone');
    check(files().length === 0, 'and its file');
  } finally {
    await page.close();
    await second.close();
  }
});

await browser.close();
await first.close();
rmSync(tapes, { recursive: true, force: true });
finish();
