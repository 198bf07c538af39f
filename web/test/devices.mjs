// Devices at the controller's machine, as the page shows and steers them: node test/devices.mjs --feeler PROGRAM [--arm STUB] [--shots FOLDER].
// A SpaceMouse is simulated by its server spacenavd; an arm with force feedback by a stub of its vendor's library.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { frames, launch, new_page, open_page, until } from './browser.mjs';
import { check, feeler, finish, option, shots, step, trouble } from './checks.mjs';
import { cube_stl } from './scene.mjs';
import { demo, serve_scene } from './serve.mjs';

const arm = option('--arm');

/** spacenavd: a push of the cap to everybody who listens, in counts */
function spacenavd(path) {
  const clients = new Set();
  let now = [0, 0, 0, 0, 0, 0];
  const send = () => {
    const bytes = Buffer.alloc(32);
    [0, ...now, 10].forEach((value, k) => bytes.writeInt32LE(value, 4 * k));
    for (const client of clients) client.write(bytes);
  };
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined);
    client.on('close', () => clients.delete(client));
  });
  server.listen(path);
  const timer = setInterval(send, 20);
  return {
    /** right, up and away from the person */
    push: (x, y, z) => {
      now = [x, y, z, 0, 0, 0];
      send();
    },
    close: () => {
      clearInterval(timer);
      for (const client of clients) client.destroy();
      server.close();
    },
  };
}

function write(folder) {
  const part = (name, size, position, moving) => {
    writeFileSync(join(folder, `${name}.stl`), cube_stl([0, 0, 0], size));
    return { name, file: `${name}.stl`, pose: { position }, moving };
  };
  writeFileSync(join(folder, 'scene.json'), JSON.stringify({ feeler: 1, name: 'devices', unit: 'mm', voxel: 10, parts: [part('base', 400, [0, 0, 0], false), part('top', 200, [0, 0, 500], true)] }));
}

const folder = mkdtempSync(join(tmpdir(), 'feeler-spnav-'));
const browser = await launch();
const hand_at = (page) => page.evaluate(() => window.feeler.state.hands[0].T_world_hand.p);

const mouse = spacenavd(join(folder, 'spnav.sock'));
const server = await serve_scene(feeler, write, '--device', `spacemouse:socket=${join(folder, 'spnav.sock')}`);
let page = await open_page(browser, `${server.url}?quality=low`, trouble);

/** where a push to the right leads, in the world: unit */
async function right() {
  const from = await hand_at(page);
  mouse.push(350, 0, 0);
  await until(page, (p) => Math.hypot(...window.feeler.state.hands[0].T_world_hand.p.map((value, k) => value - p[k])) > 0.03, 'the hand moves', from);
  mouse.push(0, 0, 0);
  await frames(page, 100);
  const to = await hand_at(page);
  const way = to.map((value, k) => value - from[k]), n = Math.hypot(...way);
  return way.map((value) => value / n);
}

await step('a push goes along the axes of the view, however that is turned', async () => {
  await until(page, () => (window.feeler.state.hands[0].bits & 1) === 1, 'the SpaceMouse moves the first hand');
  await page.locator('#view').focus();
  const view_right = () => page.evaluate(() => {
    const { p, target } = window.feeler.eye;
    const [x, y] = [target[0] - p[0], target[1] - p[1]], n = Math.hypot(x, y);
    return [y / n, -x / n, 0];
  });
  for (const key of ['1', '2', '0']) {
    await page.keyboard.press(key);
    await frames(page, 300); // the page has told how it is turned
    const want = await view_right(), is = await right();
    check(want.reduce((sum, value, k) => sum + value * is[k], 0) > 0.99, `view ${key}: right is ${want}, the hand went ${is}`);
  }
});

await step('scale and axes can be changed, and nothing jumps', async () => {
  await page.locator('details:has(#devices) > summary').click();
  const scale = page.locator('.mapping input');
  check(/automatic/.test(await scale.getAttribute('placeholder')), 'the scale is derived');
  const derived = await page.evaluate(() => window.feeler.state.workspaces[0].scale);
  check(Math.abs(derived - 3.2) < 1e-6, `800 mm by 250 mm: ${derived}`);
  const before = await hand_at(page);
  await scale.fill('0.5');
  await scale.press('Enter');
  await until(page, () => window.feeler.state.workspaces[0].scale === 0.5, 'the scale is 0.5');
  await page.locator('.mapping select').first().selectOption('0');
  await frames(page, 200);
  check((await hand_at(page)).every((value, k) => Math.abs(value - before[k]) < 1e-9), 'the hand stays where it is');
  const way = await right();
  check(way[0] > 0.999, `right is the world's x: ${way}`);
  // an impossible one is told
  await scale.fill('-3');
  await scale.press('Enter');
  await page.locator('.toast', { hasText: 'from 0.001 to 1000' }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, 'mapping.png') });
});

await step('while C is down the hand stays', async () => {
  await page.locator('#view').focus();
  await page.keyboard.down('c');
  await until(page, () => (window.feeler.state.workspaces[0].bits & 1) === 1, 'the clutch is held');
  const before = await hand_at(page);
  mouse.push(350, 0, 0);
  await frames(page, 300);
  mouse.push(0, 0, 0);
  await frames(page, 100);
  check((await hand_at(page)).every((value, k) => Math.abs(value - before[k]) < 1e-9), 'it stays');
  await page.keyboard.up('c');
  await until(page, () => (window.feeler.state.workspaces[0].bits & 1) === 0, 'let go');
  check((await hand_at(page)).every((value, k) => Math.abs(value - before[k]) < 1e-9), 'and does not jump');
});

await page.close();
await server.close();
mouse.close();
rmSync(folder, { recursive: true, force: true });

if (arm) await step('an arm: its workspace is drawn, and the rate of the loop is told', async () => {
  const shown = await serve_scene(feeler, write, '--device', `openhaptics:library=${resolve(arm)}`, '--mapping', 'boundary=bubble,clutch=1');
  page = await open_page(browser, `${shown.url}?quality=low`, trouble);
  try {
    await until(page, () => document.body.classList.contains('technical'), 'a force device moves a hand');
    check((await page.locator('#plots').isVisible()) && (await page.locator('#rate').isVisible()), 'plots and rate show');
    await until(page, () => window.feeler.seen.workspaces.length === 1, 'the workspace is drawn');
    const { half, scale } = await page.evaluate(() => window.feeler.state.workspaces[0]);
    check(half.every((value) => value > 0) && scale > 1, `${half}, scale ${scale}`);
    await page.locator('details:has(#devices) > summary').click();
    check((await page.locator('.mapping select').nth(1).inputValue()) === '2' && (await page.locator('.mapping select').nth(2).inputValue()) === '2', 'bubble and clutch as the option says');
    if (shots) await page.screenshot({ path: join(shots, 'arm.png') });
  } finally {
    await page.close();
    await shown.close();
  }
});

/** a SpaceMouse and a gamepad, as the browser would show them */
function cap() {
  const device = Object.assign(new EventTarget(), { opened: false, productName: 'SpaceMouse Compact', open: async () => (device.opened = true) });
  Object.defineProperty(navigator, 'hid', { value: Object.assign(new EventTarget(), { getDevices: async () => [device], requestDevice: async () => [device] }) });
  // a cap that is pushed reports again and again, until it is unplugged
  let reports = 0;
  window.report = (reportId, data) => device.dispatchEvent(Object.assign(new Event('inputreport'), { reportId, data }));
  window.push = (...counts) => {
    const data = new DataView(new ArrayBuffer(2 * counts.length));
    counts.forEach((value, k) => data.setInt16(2 * k, value, true));
    clearInterval(reports);
    reports = setInterval(() => device.dispatchEvent(Object.assign(new Event('inputreport'), { reportId: 1, data })), 20);
  };
  window.lost = () => {
    clearInterval(reports);
    navigator.hid.dispatchEvent(new Event('disconnect'));
  };
  window.rumbles = [];
  const pad = { connected: true, buttons: [], axes: [], vibrationActuator: { playEffect: async (kind, effect) => window.rumbles.push({ kind, ...effect }) } };
  navigator.getGamepads = () => [pad];
}

await step('a SpaceMouse at the page, by WebHID: pushed down, the selected part touches, and a gamepad rumbles', async () => {
  const shown = await serve_scene(feeler, write);
  page = await new_page(browser, { viewport: { width: 1120, height: 640 } });
  await page.addInitScript(cap);
  try {
    await page.goto(`${shown.url}?quality=low`);
    await until(page, () => window.feeler?.connected && window.feeler.loaded && window.feeler.parts.every((part) => part.ready), 'the scene is shown');
    await until(page, () => /SpaceMouse Compact/.test(document.getElementById('spacemouse-hint').textContent), 'it is found by itself');
    await page.keyboard.press('1'); // from the front: down is down
    const top = () => page.evaluate(() => window.feeler.parts.find((part) => part.name === 'top').pose.p);
    const before = await top();
    await page.evaluate(() => window.push(0, 0, 350, 0, 0, 0));
    await until(page, () => window.feeler.contacts > 0, 'it touches');
    await until(page, () => window.rumbles.length > 0 && window.feeler.feedback > 0, 'and that is felt');
    const touching = await top();
    check(touching[2] < before[2] - 0.05 && touching[2] > 0.29 && Math.abs(touching[0] - before[0]) < 0.03, `straight down to the base: ${touching}`);
    check((await page.evaluate(() => window.rumbles[0])).strongMagnitude >= 0.5, 'the first touch is strong');
    // reports that are too short, unknown, beyond all counts or far too many: the part goes no faster than a full push drags it, and into nothing
    const trail = await page.evaluate(async () => {
      const seen = [];
      for (let i = 0; i < 40; i++) {
        for (let k = 0; k < 100; k++) {
          const data = new DataView(new ArrayBuffer((i * k) % 14));
          for (let at = 0; at < data.byteLength; at++) data.setUint8(at, (i * 131 + k * 71 + at * 37) & 255);
          window.report((i + k) % 5, data);
        }
        await new Promise((done) => setTimeout(done, 20));
        seen.push({ p: window.feeler.parts.find((part) => part.name === 'top').pose.p, frame: window.feeler.state.frame });
      }
      return seen;
    });
    for (let i = 1; i < trail.length; i++) {
      const way = Math.hypot(...trail[i].p.map((value, k) => value - trail[i - 1].p[k]));
      check(way <= 0.1 + 0.003 * (trail[i].frame - trail[i - 1].frame) && trail[i].p[2] > 0.29, `the part jumped by ${way} m to ${trail[i].p}`);
    }
    // unplugged while it was pushed: nothing goes on by itself
    await page.evaluate(() => window.lost());
    await until(page, () => window.feeler.holding === 4294967295, 'it is let go');
  } finally {
    await page.close();
    await shown.close();
  }
});

await step('from feeler demo to the first felt contact', async () => {
  const began = performance.now();
  const shown = await demo(feeler, 'bay');
  page = await new_page(browser, { viewport: { width: 1120, height: 640 } });
  await page.addInitScript(cap);
  try {
    await page.goto(`${shown.url}?quality=low`);
    await until(page, () => window.feeler?.connected && window.feeler.loaded && window.feeler.parts.every((part) => part.ready), 'the demo is shown');
    await page.locator('#connect-spacemouse').evaluate((button) => button.click());
    await until(page, () => /SpaceMouse/.test(document.getElementById('spacemouse-hint').textContent), 'it is connected');
    await page.locator('#parts .part-pick', { hasText: 'pump' }).click();
    await page.evaluate(() => window.push(0, 0, 350, 0, 0, 0));
    await until(page, () => window.feeler.contacts > 0 && window.rumbles.length > 0, 'the pump touches, and that is felt');
    const seconds = (performance.now() - began) / 1000, busy = loadavg()[0] > availableParallelism();
    console.log(`    ${seconds.toFixed(1)} s from the command to the first felt contact, load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} processors`);
    check(busy || seconds <= 30, `it took ${seconds} s on a machine with nothing else to do`);
  } finally {
    await page.close();
    await shown.close();
  }
});

await step('a headset: a controller takes a part, feels what it touches, moves and scales the world', async () => {
  const shown = await serve_scene(feeler, write);
  page = await new_page(browser, { viewport: { width: 640, height: 400 } });
  page.on('pageerror', (error) => trouble.push(`headset: ${error.message}`));
  await page.addInitScript(readFileSync(new URL('../node_modules/iwer/build/iwer.min.js', import.meta.url), 'utf8'));
  await page.addInitScript(() => {
    window.headset = new window.IWER.XRDevice(window.IWER.metaQuest3);
    window.headset.installRuntime({ forceInstall: true });
    window.headset.stereoEnabled = true;
    window.headset.position.set(0, 1.6, 0);
  });
  try {
    await page.goto(`${shown.url}?quality=low`);
    await until(page, () => window.feeler?.connected && window.feeler.loaded && window.feeler.parts.every((part) => part.ready), 'the scene is shown');
    await page.locator('#tool-headset').click();
    await until(page, () => window.feeler.headset.active, 'in the headset');
    const scale = (await page.evaluate(() => window.feeler.headset.scale));
    check(Math.abs(scale - 0.6 / 0.8) < 0.01, `800 mm are shown as 600: ${scale}`);
    // the scene's middle (z 200 mm) is 1.1 m high and 0.7 m in front; the cube's, at z 500 mm, is 300 mm of the scene higher
    const hand = (x, y, z) => page.evaluate((at) => window.headset.controllers.right.position.set(...at), [x, y, z]);
    const press = (button, value) => page.evaluate(([id, to]) => window.headset.controllers.right.updateButtonValue(id, to), [button, value]);
    const top = () => page.evaluate(() => window.feeler.parts.find((part) => part.name === 'top').pose.p);
    await hand(0, 1.1 + 0.3 * scale, -0.7);
    await frames(page, 200);
    await press('trigger', 1);
    await until(page, () => window.feeler.state.hands.some((one) => one.held === window.feeler.parts.find((part) => part.name === 'top').part), 'it is taken');
    await hand(0.1, 1.1 + 0.3 * scale + 0.05, -0.7);
    await until(page, () => Math.abs(window.feeler.parts.find((part) => part.name === 'top').pose.p[0] - 0.1 / 0.75) < 0.01, 'it follows to the right');
    const [x, y, z] = await top();
    check(Math.abs(y) < 0.01 && Math.abs(z - 0.5 - 0.05 / scale) < 0.01, `and up: ${[x, y, z]}`);
    await hand(0, 0.9, -0.7);
    await until(page, () => window.feeler.contacts > 0 && window.feeler.headset.pulses > 0, 'it touches the base, and the controller pulses');
    check((await top())[2] > 0.28, `and stays out of it: ${await top()}`);
    await press('trigger', 0);
    await until(page, () => window.feeler.state.hands.every((one) => one.held === 4294967295), 'let go');
    // both grips: twice as far apart, twice as large
    await page.evaluate(() => {
      const { left, right } = window.headset.controllers;
      left.position.set(-0.1, 1.2, -0.4);
      right.position.set(0.1, 1.2, -0.4);
    });
    await frames(page, 100);
    for (const side of ['left', 'right']) await page.evaluate((one) => window.headset.controllers[one].updateButtonValue('squeeze', 1), side);
    await frames(page, 200);
    await page.evaluate(() => {
      window.headset.controllers.left.position.set(-0.2, 1.2, -0.4);
      window.headset.controllers.right.position.set(0.2, 1.2, -0.4);
    });
    await until(page, (was) => Math.abs(window.feeler.headset.scale / was - 2) < 0.1, 'twice as large', scale);
    await page.evaluate(() => window.headset.activeSession.end());
    await until(page, () => !window.feeler.headset.active, 'back');
    await frames(page, 100);
    check(await page.evaluate(() => Object.values(window.feeler.eye.p).every(Number.isFinite)), 'the view is there again');
  } finally {
    await page.close();
    await shown.close();
  }
});

await browser.close();
finish();
