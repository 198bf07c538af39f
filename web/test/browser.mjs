// What the tests of the page share: a Chromium, a page whose console is listened to, and hands that drag in it.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

/** the first Chromium on the path; null: none */
export function find_chromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  for (const name of names)
    for (const folder of (process.env.PATH ?? '').split(delimiter))
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not there
      }
  return null;
}

export async function launch() {
  return chromium.launch({
    executablePath: find_chromium(),
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
}

/** a page that shows the scene; `trouble` collects what its console says about errors */
export async function open_page(browser, url, trouble, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1120, height: 640 }, colorScheme: 'dark', ...options });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      // about the test machine's graphics, not about the page
      if (!/GPU stall due to ReadPixels|GroupMarkerNotSet|swiftshader/i.test(message.text())) trouble.push(`${message.type()}: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => trouble.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host) trouble.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  await until(page, () => window.feeler?.connected && window.feeler.loaded && window.feeler.state !== null, 'the scene is shown', 45000);
  return page;
}

export async function until(page, predicate, what, timeout = 15000, argument = undefined) {
  try {
    await page.waitForFunction(predicate, argument, { timeout, polling: 50 });
  } catch {
    throw new Error(`did not happen: ${what}`);
  }
}

export const part_of = (page, name) => page.evaluate((wanted) => window.feeler.parts.find((part) => part.name === wanted), name);

/** a place of the page where the part can be taken: near its middle, where nothing stands in front of it */
export async function find_part(page, name) {
  const place = await page.evaluate((wanted) => {
    const part = window.feeler.parts.find((one) => one.name === wanted);
    const middle = window.feeler.project(part.pose.p);
    for (let radius = 0; radius <= 60; radius += 6)
      for (let k = 0; k < (radius ? 8 : 1); k++) {
        const x = middle.x + radius * Math.cos((k * Math.PI) / 4), y = middle.y + radius * Math.sin((k * Math.PI) / 4);
        const pick = window.feeler.pick(x, y);
        if (pick?.part === part.part) return { x, y, at: pick.at };
      }
    return null;
  }, name);
  if (!place) throw new Error(`'${name}' is not to be seen`);
  return place;
}

/** presses on a part; a page that is drawn slowly may show it where it was, so it is tried again */
export async function take(page, name) {
  for (let left = 2; ; left--) {
    const place = await find_part(page, name);
    await page.mouse.move(place.x, place.y);
    await page.mouse.down();
    try {
      await until(page, () => window.feeler.state.hands.some((hand) => hand.held !== 4294967295), `'${name}' is held`, left ? 5000 : undefined);
      return place;
    } catch (error) {
      await page.mouse.up();
      if (!left) throw error;
      await settled(page, name);
    }
  }
}

/** moves the hand by a vector of the world, as far as the view plane allows; the button stays down */
export async function drag_by(page, place, by, steps = 8) {
  const from = await page.evaluate((at) => window.feeler.project(at), place.at);
  const target = place.at.map((value, k) => value + by[k]);
  const to = await page.evaluate((at) => window.feeler.project(at), target);
  for (let i = 1; i <= steps; i++) {
    await page.mouse.move(place.x + ((to.x - from.x) * i) / steps, place.y + ((to.y - from.y) * i) / steps);
    await page.waitForTimeout(25);
  }
  return { x: place.x + to.x - from.x, y: place.y + to.y - from.y, at: target };
}

/** waits until a part stands still, and says where */
export async function settled(page, name) {
  let before = (await part_of(page, name)).pose.p;
  for (let i = 0; i < 60; i++) {
    await page.waitForTimeout(120);
    const now = (await part_of(page, name)).pose.p;
    if (Math.hypot(...now.map((value, k) => value - before[k])) < 2e-5) return now;
    before = now;
  }
  return before;
}
