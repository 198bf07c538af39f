// The pictures of docs/tutorial.md: node test/tutorial.mjs PROGRAM FOLDER does what the tutorial says, in headless Chromium, and leaves
// pictures, the recording and its report in the folder.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { find_part, launch, open_page, settled, until } from './browser.mjs';

const feeler = resolve(process.argv[2] ?? '../build/feeler');
const folder = resolve(process.argv[3] ?? 'tutorial');
mkdirSync(folder, { recursive: true });
process.chdir(folder);
execFileSync(feeler, ['make', 'bay', '--out', 'bay', '--force', '--quiet']);
writeFileSync('bay/removal.json', JSON.stringify({
  feeler: 1, name: 'removal', unit: 'mm', voxel: 1.5,
  parts: [
    { name: 'bay', file: 'bay.stl' },
    { name: 'pump', file: 'pump.stl', colour: '#3d85c6', moving: true, pose: { position: [0, 70, 90] } },
  ],
}));

/** starts a controller; resolves with its address once it is ready */
async function serve(...scene) {
  const child = spawn(feeler, ['serve', ...scene, '--port', '0', '--recordings', 'recordings', '--no-devices'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let said = '';
  const url = await new Promise((found) => child.stdout.on('data', (data) => {
    said += data;
    const ready = !scene.length || /is loaded/.test(said);
    const address = /https?:\/\/[^\s/]+:\d+\//.exec(said);
    if (address && ready) found(address[0]);
  }));
  return { url, child };
}

const browser = await launch();
const trouble = [];
const children = [];
process.on('exit', () => children.forEach((one) => one.kill()));
const size = { viewport: { width: 1280, height: 720 }, colorScheme: 'light' };
const shot = async (page, name) => {
  // toasts go, and the picture becomes sharp: after some thirty frames without motion
  await page.waitForTimeout(2500 + 30000 / Math.max(1, await page.evaluate(() => window.feeler?.fps || 60)));
  await page.screenshot({ path: `tutorial-${name}.png` });
};
const slide = async (page, from, by, steps = 8) => {
  const to = { x: from.x + by[0], y: from.y + by[1] };
  for (let i = 1; i <= steps; i++) {
    await page.mouse.move(from.x + (by[0] * i) / steps, from.y + (by[1] * i) / steps);
    await page.waitForTimeout(120);
  }
  return to;
};

// own files on an empty page
let { url, child } = await serve();
let page = await browser.newPage(size);
await page.goto(url);
await until(page, () => window.feeler?.connected, 'connected');
await page.setInputFiles('#file-input', ['bay/bay.stl', 'bay/pump.stl']);
await page.click('#file-dialog button.primary');
await until(page, () => document.getElementById('file-name').textContent.startsWith('pump') && window.feeler.parts.length === 1 && window.feeler.loaded, 'the second file');
await page.selectOption('#file-place', 'at');
await page.fill('[name=y]', '70');
await page.fill('[name=z]', '90');
await shot(page, 'files');
await page.close();
child.kill();

// the scene
({ url, child } = await serve('bay/removal.json'));
page = await open_page(browser, url, trouble, size);
await until(page, () => /mm/.test(document.getElementById('clearance-value').textContent), 'the clearance where it stands');
await shot(page, 'open');
await page.click('#tool-record');
await until(page, () => window.feeler.state.recording, 'it records');
const start = await find_part(page, 'pump');
await page.mouse.move(start.x, start.y);
await page.mouse.down();
await until(page, () => window.feeler.holding !== 4294967295, 'it is held');
await page.waitForTimeout(500);
// up, over the tank, until the pipe in front stops it
let at = await slide(page, start, [0, -60]);
at = await slide(page, at, [-150, 25]);
await until(page, () => window.feeler.seen.colliding.length > 0, 'it touches');
await settled(page, 'pump');
await shot(page, 'touch');
// back, and out: nearer with the wheel
at = await slide(page, at, [150, -25]);
for (let i = 0; i < 14; i++) {
  await page.mouse.wheel(0, 100);
  await page.waitForTimeout(150);
}
await settled(page, 'pump');
await shot(page, 'out');
await page.mouse.up();
await page.click('#tool-record');
await until(page, () => !window.feeler.state.recording, 'it stopped');
await page.click('#recordings-card summary');
await page.waitForTimeout(1000);
await shot(page, 'recorded');
await page.close();
child.kill();
await new Promise((ended) => child.once('exit', ended));

// the report
const recording = join('recordings', readdirSync('recordings').filter((name) => name.endsWith('.mcap')).sort().at(-1));
try {
  console.log(execFileSync(feeler, ['report', recording, '--clearance', '1mm', '--out', 'removal.html'], { encoding: 'utf8' }));
} catch (error) {
  console.log(error.stdout, error.stderr);
}
page = await browser.newPage(size);
await page.goto(`file://${resolve('removal.html')}`).catch(() => undefined);
await shot(page, 'report');
await browser.close();
if (trouble.length) console.log(trouble.join('\n'));
process.exitCode = trouble.length ? 1 : 0;
