// What the tests of the page share: a Chromium, a page whose console is listened to, and hands that drag in it.
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

export const NONE = 4294967295;
/** turns of a page's timer after which a condition is given up, see Patience; mutants.mjs, which awaits failures, wants fewer */
const TURNS = Number(process.env.FEELER_TURNS ?? 3000);
/** ms after which starting a browser, opening a page or clicking in one counts as hung */
const PATIENCE = 300 * TURNS;
/** another build of the page than the program's: what `vite build` left in this folder. See mutants.mjs */
const INSTEAD = process.env.FEELER_PAGE;

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
    timeout: PATIENCE,
    // WebGL is drawn by SwiftShader, and only WebGL: the rest of the page that way would cost ten times as much
    // another build of the page comes from no address, and may reach this machine all the same
    args: ['--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader', '--num-raster-threads=1', ...(INSTEAD ? ['--disable-features=LocalNetworkAccessChecks'] : [])],
  });
}

/** Whatever a test waits for is a condition: how long it takes is the machine's affair. Patience is counted in work, not in seconds:
 * it ends when the page has had 3000 turns of a timer of 100 ms and its controller has done 50 times as many frames, and the condition still does not
 * hold. A busy machine does less in a second, so a test waits longer there. A controller that has stopped is waited for 15 minutes. */
export class Patience {
  constructor(page) {
    this.page = page;
    this.began = performance.now();
    this.start = null;
    this.looked = this.began;
  }

  async work() {
    return this.page.evaluate(() => ({ turns: window.turns ?? 0, frame: window.feeler?.state?.frame ?? 0 }));
  }

  /** whether it has ended; the work is looked at every five seconds */
  async spent() {
    const now = performance.now();
    if (this.start && now - this.looked < 5000) return false;
    this.looked = now;
    const work = await this.work();
    // a page that was opened anew, or a controller that was started again, counts from the beginning
    if (!this.start || work.turns < this.start.turns || work.frame < this.start.frame) this.start = work;
    return now - this.began > PATIENCE || (work.turns - this.start.turns >= TURNS && work.frame - this.start.frame >= 50 * TURNS);
  }
}

async function replace_page(page) {
  for (const name of ['index.html', 'viewer.js', 'viewer.css'])
    await page.route((url) => url.pathname === `/${name}` || (name === 'index.html' && url.pathname === '/'), async (route) => {
      const response = await route.fetch();
      const { 'content-encoding': packed, 'content-length': length, ...headers } = response.headers();
      await route.fulfill({ response, headers, body: readFileSync(join(INSTEAD, name)) });
    });
}

/** an empty page that waits as long as the tests do. It counts the turns of a timer, and notes what toasts say. */
export async function new_page(browser, options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE);
  if (INSTEAD) await replace_page(page);
  await page.addInitScript(() => {
    window.turns = 0;
    window.toasts = [];
    setInterval(() => window.turns++, 100);
    new MutationObserver((changes) => {
      for (const change of changes)
        for (const node of change.addedNodes) if (node.classList?.contains('toast')) window.toasts.push(node.textContent);
    }).observe(document, { childList: true, subtree: true });
  });
  return page;
}

/** a page that shows the scene; `trouble` collects what its console says about errors */
export async function open_page(browser, url, trouble, options = {}) {
  const page = await new_page(browser, { viewport: { width: 1120, height: 640 }, colorScheme: 'dark', ...options });
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
  await until(page, () => window.feeler?.connected && window.feeler.loaded && window.feeler.state !== null, 'the scene is shown');
  return page;
}

export async function until(page, predicate, what, argument = undefined) {
  const patience = new Patience(page);
  for (;;) {
    try {
      await page.waitForFunction(predicate, argument, { timeout: Math.min(30000, PATIENCE / 30), polling: 50 });
      return;
    } catch (error) {
      const reason = String(error.message).split('\n')[0];
      if (!/Timeout/.test(reason) || (await patience.spent())) throw new Error(`did not happen: ${what} (${reason})`);
    }
  }
}

/** waits until the texts of these elements match: some are written with the next picture, behind what they say */
export const shows = (page, selector, pattern, what) =>
  until(page, ([elements, source]) => new RegExp(source).test([...document.querySelectorAll(elements)].map((one) => one.textContent).join('\n')), what, [selector, pattern.source]);

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

/** presses on a part. A page that is drawn slowly may have shown it where it was: then the press found nothing, and is made again */
export async function take(page, name) {
  for (const patience = new Patience(page); !(await patience.spent());) {
    const place = await find_part(page, name);
    await page.mouse.move(place.x, place.y);
    await page.mouse.down();
    // the page knows at once whether it has found something to take; the controller says whether it is held
    await until(page, () => window.feeler.holding === 4294967295 || window.feeler.state.hands[window.feeler.hand].held === window.feeler.holding, `'${name}' is held or was not found`);
    if ((await page.evaluate(() => window.feeler.holding)) === (await part_of(page, name)).part) return place;
    await page.mouse.up();
    await settled(page, name);
  }
  throw new Error(`'${name}' cannot be taken`);
}

/** clicks a part until it is selected: as with take(), a page that is drawn slowly may have shown something else there */
export async function click_part(page, name) {
  for (const patience = new Patience(page); !(await patience.spent());) {
    const place = await find_part(page, name);
    await page.mouse.click(place.x, place.y);
    // what the click changed is there after the next look, which was asked for before this one
    await pictures(page);
    if ((await page.evaluate(() => window.feeler.selected)) === (await part_of(page, name)).part) return place;
  }
  throw new Error(`'${name}' cannot be selected`);
}

/** waits until the page has drawn twice: what came before the call is then handled */
export async function pictures(page) {
  await page.evaluate(() => new Promise((done) => window.requestAnimationFrame(() => window.requestAnimationFrame(done))));
}

/** waits until the controller has the hand where this page has put it */
export async function arrived(page) {
  await until(page, () => {
    const { state, hand, hand_pose } = window.feeler;
    return Math.hypot(...state.hands[hand].T_world_hand.p.map((value, k) => value - hand_pose.p[k])) < 1e-5;
  }, 'the hand is where the pointer is');
}

/** waits for so many frames of the controller's loop */
export async function frames(page, count) {
  const from = await page.evaluate(() => window.feeler.state.frame);
  await until(page, ([since, wanted]) => window.feeler.state.frame >= since + wanted, `${count} frames`, [from, count]);
}

/** lifts the button: the hand is empty, here and at the controller */
export async function let_go(page) {
  await page.mouse.up();
  await until(page, () => window.feeler.holding === 4294967295 && window.feeler.state.hands[window.feeler.hand].held === 4294967295, 'let go');
}

/** whether the part in this page's hand is held at its controller, too */
export const holds = (page) =>
  page.evaluate(() => window.feeler.holding !== 4294967295 && window.feeler.state?.hands[window.feeler.hand]?.held === window.feeler.holding);

/** moves the hand by a vector of the world, as far as the view plane allows; the button stays down */
export async function drag_by(page, place, by, steps = 8) {
  const from = await page.evaluate((at) => window.feeler.project(at), place.at);
  const target = place.at.map((value, k) => value + by[k]);
  const to = await page.evaluate((at) => window.feeler.project(at), target);
  for (let i = 1; i <= steps; i++) {
    await page.mouse.move(place.x + ((to.x - from.x) * i) / steps, place.y + ((to.y - from.y) * i) / steps);
    await page.waitForTimeout(25);
  }
  await arrived(page);
  return { x: place.x + to.x - from.x, y: place.y + to.y - from.y, at: target };
}

/** waits until a part has stood still for 150 frames, and says where; a page that gets no states sees no frames */
export async function settled(page, name) {
  const look = () => page.evaluate((wanted) => ({ p: window.feeler.parts.find((part) => part.name === wanted).pose.p, frame: window.feeler.state.frame }), name);
  let since = await look();
  for (const patience = new Patience(page); !(await patience.spent());) {
    await page.waitForTimeout(50);
    const now = await look();
    if (Math.hypot(...now.p.map((value, k) => value - since.p[k])) >= 2e-5 || now.frame < since.frame) since = now;
    else if (now.frame >= since.frame + 150) return now.p;
  }
  throw new Error(`'${name}' does not come to rest`);
}
