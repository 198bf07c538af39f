// What a page costs: node test/cost.mjs --feeler PROGRAM [--seconds N]. Processor time of Chromium (with software rendering) and pictures
// drawn, for a page that nobody touches, for one whose part is dragged, and for the opening of a second one. Ratios count, not seconds:
// the machine may do other things.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { find_chromium, launch, open_page, settled, take } from './browser.mjs';
import { serve } from './serve.mjs';

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at >= 0 ? process.argv[at + 1] : null;
};
const feeler = resolve(option('--feeler') ?? 'feeler');
const seconds = Number(option('--seconds') ?? 10);
if (!find_chromium()) {
  console.log('there is no Chromium: nothing is measured');
  process.exit(77);
}

/** seconds of processor time of all that this process has started */
function spent() {
  const processes = new Map();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one)))
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      processes.set(Number(name), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), browser: /chrom/.test(command[0]) });
    } catch {
      // it has ended
    }
  const ours = (pid) => pid === process.pid || (processes.has(pid) && ours(processes.get(pid).parent));
  let ticks = 0;
  for (const [pid, one] of processes) if (one.browser && ours(pid)) ticks += one.ticks;
  return ticks / 100;
}

async function measure(page, what, action) {
  const drawn = () => page.evaluate(() => window.feeler.pictures);
  const before = { at: performance.now(), spent: spent(), drawn: await drawn() };
  await action();
  const wall = (performance.now() - before.at) / 1000;
  const cost = spent() - before.spent;
  const pictures = (await drawn()) - before.drawn;
  console.log(`${what}: ${((100 * cost) / wall).toFixed(0)} % of a processor, ${(pictures / wall).toFixed(1)} pictures a second, ${wall.toFixed(1)} s`);
}

const server = await serve(feeler);
const browser = await launch();
const page = await open_page(browser, server.url, []);
await page.keyboard.press('3');
await page.waitForTimeout(3000);
const wait = () => page.waitForTimeout(1000 * seconds);
await measure(page, 'untouched', wait);
const place = await take(page, 'bracket');
await measure(page, 'dragged', async () => {
  for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
    const phase = performance.now() / 500;
    await page.mouse.move(place.x + 40 * Math.cos(phase), place.y - 40 + 40 * Math.sin(phase));
    await page.waitForTimeout(10);
  }
});
await page.mouse.up();
await settled(page, 'bracket');
await page.waitForTimeout(3000);
await measure(page, 'untouched again', wait);
const began = performance.now(), before = spent();
const other = await open_page(browser, server.url, [], { viewport: { width: 560, height: 360 } });
console.log(`a second page opens in ${((performance.now() - began) / 1000).toFixed(1)} s, with ${(spent() - before).toFixed(1)} s of processor time`);
await other.close();
await browser.close();
await server.close();
