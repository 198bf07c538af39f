// Two controllers in a shared session, a page on each: node test/share.mjs --feeler PROGRAM [--shots FOLDER]
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { drag_by, find_part, frames, holds, launch, let_go, open_page, part_of, Patience, settled, take, until } from './browser.mjs';
import { check, feeler, finish, shots, step } from './checks.mjs';
import { share } from './serve.mjs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const trouble = [];
const distance = (a, b) => Math.hypot(...a.map((value, k) => value - b[k]));
/** waits until the part is at the same place on both pages, within so many metres; gives up early where `lost` says so */
const together = async (name, within, lost = async () => false) => {
  for (const patience = new Patience(a); ;) {
    const [here, there] = await Promise.all([part_of(a, name), part_of(b, name)]);
    const far = distance(here.pose.p, there.pose.p);
    if (far <= within) return true;
    if (await lost()) return false;
    if (await patience.spent()) throw new Error(`${name}: ${far} m apart`);
    await a.waitForTimeout(100);
  }
};
/** all have let go: the same to the last bit */
const same = async (name) => {
  for (const patience = new Patience(a); ;) {
    const [here, there] = await Promise.all([part_of(a, name), part_of(b, name)]);
    if (JSON.stringify(here.pose) === JSON.stringify(there.pose)) return;
    if (await patience.spent()) throw new Error(`${name} is at ${here.pose.p} and at ${there.pose.p}: not the same to the last bit`);
    await a.waitForTimeout(100);
  }
};

/** a client without a page does something at a controller: see member.mjs */
const client = (member, ...words) =>
  promisify(execFile)(process.execPath, [fileURLToPath(new URL('member.mjs', import.meta.url)), new URL(member.url).port, ...words.map(String)]);
/** how often a controller said that another is not heard: on a machine that stalls for 2.5 s that is so, and hands are empty after it */
const losses = () => session.members.reduce((sum, member) => sum + (member.said().match(/not heard/g)?.length ?? 0), 0);
/** tries again where the machine has stalled meanwhile; what was said in between goes into the log */
const patiently = async (action) => {
  for (let left = 5; ; left--) {
    const before = losses(), pages = [['Ada', a], ['Bob', b]];
    const heard = await Promise.all(pages.map(([, page]) => page.evaluate(() => window.toasts.length)));
    if (await action(() => losses() > before)) return;
    let excuses = losses() - before;
    const says = [`not heard ${excuses} times`];
    for (const [k, [name, page]] of pages.entries()) {
      const { said, held } = await page.evaluate((from) => ({ said: window.toasts.slice(from), held: window.feeler.state?.hands.map((hand) => hand.held) }), heard[k]);
      excuses += said.length;
      says.push(`${name} holds ${held}, was told ${JSON.stringify(said)}`);
    }
    if (!excuses || !left) throw new Error(`not so: ${says.join('; ')}`);
    console.log(`    once more: ${says.join('; ')}`);
    for (const page of [a, b])
      await until(page, () => window.feeler.connected && window.feeler.people.every((person) => person.bits & 4 && !(person.bits & 8)), 'all are heard again');
  }
};
/** where the page's hand holds the part; takes it where it does not */
const in_hand = async (page, name, place) => {
  if (place && (await holds(page))) return place;
  await page.mouse.up();
  await until(page, () => window.feeler.holding === 4294967295, 'the hand is empty');
  return take(page, name);
};
/** the hand and the pointer where they are now: what others do moves a part in one's hand */
const now_at = async (page) => page.evaluate(() => {
  const hand = window.feeler.state.hands[window.feeler.hand];
  return { at: hand.T_world_hand.p, ...window.feeler.project(hand.T_world_hand.p) };
});

const session = await share(feeler);
const browser = await launch();
let a = null, b = null;
await step('one shares, one joins, each has a page', async () => {
  const second = await session.join('Bob');
  [a, b] = await Promise.all([...[session.members[0], second].map(({ url }) => open_page(browser, `${url}?quality=low`, trouble, { viewport: { width: 900, height: 560 } }))]);
  for (const page of [a, b]) {
    await until(page, () => window.feeler.people.length === 2 && window.feeler.people.every((person) => person.bits & 4), 'both are in and ready');
    await page.keyboard.press('3');
  }
  const people = await b.evaluate(() => window.feeler.people);
  check(people.map((person) => person.name).join() === 'Ada,Bob', 'their names');
  check((people[0].bits & 2) !== 0 && (people[1].bits & 1) !== 0 && people[0].colour !== people[1].colour, 'who leads, who one is, two colours');
  await until(b, () => /ms · in .*kB\/s/.test(document.getElementById('people').textContent), 'delay and bandwidth are shown');
  await until(a, () => window.feeler.people.length === 2 && !document.getElementById('people-card').hidden, 'the panel shows');
});

await step('each sees the other’s hand', async () => {
  for (const [page, other, name] of [[a, b, 'Ada'], [b, a, 'Bob']]) {
    const place = await find_part(page, 'bracket');
    await page.mouse.move(place.x + 3, place.y);
    await page.mouse.move(place.x, place.y);
    await until(other, () => window.feeler.guests.hands.length > 0, 'a hand is seen');
    await until(other, (wanted) => [...document.querySelectorAll('.guest-label')].some((label) => label.textContent === wanted), 'with its name', name);
  }
});

let place_a = null, place_b = null;
await step('Ada drags a part: Bob sees it there, in her hand', async () => {
  await patiently(async () => {
    place_a = await in_hand(a, 'bracket', place_a);
    place_a = await drag_by(a, place_a, [-0.04, 0.05, 0]);
    if (!(await holds(a)) || !(await together('bracket', 0.001, async () => !(await holds(a))))) return false;
    // her hand is seen where it is, and holds the part
    const there = await a.evaluate(() => window.feeler.state.hands.find((one) => one.held !== 4294967295));
    await until(b, ({ held, at }) => {
      const ada = window.feeler.people.find((person) => person.name === 'Ada');
      const hand = window.feeler.guests.hands.find((one) => one.held === held);
      return window.feeler.guests.parts.some((part) => part.part === held && part.member === ada.member) &&
        hand && Math.hypot(...hand.T_world_hand.p.map((value, k) => value - at[k])) < 0.005;
    }, 'Ada holds it, and her hand is seen there', { held: there.held, at: there.T_world_hand.p });
    return true;
  });
  if (shots) await b.screenshot({ path: join(shots, 'guest.png') });
});

await step('both hold it and carry it together', async () => {
  let way = -0.05;
  await patiently(async () => {
    const both = async () => (await holds(a)) && (await holds(b));
    place_a = await in_hand(a, 'bracket', place_a);
    place_b = await in_hand(b, 'bracket', place_b);
    for (const page of [a, b]) await until(page, () => window.feeler.guests.parts.some((part) => part.member !== 0) || window.feeler.holding === 4294967295, 'each knows that the other holds it');
    await settled(a, 'bracket');
    const before = (await part_of(a, 'bracket')).pose.p;
    [place_a, place_b] = await Promise.all([[a, place_a], [b, place_b]].map(([page, place]) => drag_by(page, place, [0, way, 0], 16)));
    // as long as both hold it and the hands have arrived, it comes to one place, however slowly
    for (const page of [a, b]) await settled(page, 'bracket');
    if (!(await both()) || !(await together('bracket', 0.002, async () => !(await both())))) return false;
    const carried = (await part_of(b, 'bracket')).pose.p[1] - before[1], wanted = way;
    way = -way; // once more is back again
    if (!(await both())) return false;
    check(carried / wanted > 0.6, `carried by ${1000 * carried} of ${1000 * wanted} mm`);
    return true;
  });
  if (shots)
    for (const [page, name] of [[a, 'ada'], [b, 'bob']]) {
      // a picture of a controller that keeps up, without haste: toasts go, edges become smooth
      await until(page, () => /^\s*\d+ Hz held/.test(document.getElementById('rate').textContent), 'the rate is held').catch((error) => console.log(error.message));
      await page.waitForTimeout(3000);
      await page.screenshot({ path: join(shots, `${name}.png`) });
    }
});

await step('Ada lets go, Bob carries it on; then it lies at one place', async () => {
  await a.mouse.up();
  await until(b, () => window.feeler.guests.parts.every((part) => part.member === 0), 'Bob has it alone');
  const still_has = await holds(b);
  await patiently(async () => {
    if (!still_has && !losses()) return false;
    place_b = await in_hand(b, 'bracket', place_b);
    await drag_by(b, { ...place_b, ...(await now_at(b)) }, [0.03, 0.04, 0]);
    await settled(b, 'bracket');
    return (await holds(b)) && (await together('bracket', 0.001, async () => !(await holds(b))));
  });
  await b.mouse.up();
  await until(b, () => window.feeler.state.hands.every((hand) => hand.held === 4294967295), 'let go');
  await same('bracket');
});

await step('parts do not come or go', async () => {
  a.once('dialog', (dialog) => dialog.accept()); // yes, remove it
  const said = await a.evaluate(async () => {
    const remove = [...document.querySelectorAll('#parts button')].find((button) => /remove/i.test(button.title + button.ariaLabel));
    remove?.click();
    return { clicked: Boolean(remove), parts: window.feeler.parts.length };
  });
  if (said.clicked) await until(a, () => /shared/.test(document.getElementById('toasts').textContent), 'refused with a sentence');
  check((await a.evaluate(() => window.feeler.parts.length)) === said.parts, 'all parts are still there');
});

await step('a wall is caught between two instances: who follows is told, and it heals', async () => {
  const [ada, bob] = session.members;
  let holds = null;
  await patiently(async (lost) => {
    await client(ada, 'path', 'bracket', 0, ...await a.evaluate(() => {
      const { p } = window.feeler.parts.find((part) => part.name === 'bracket').pose;
      return [0, 0, 150, ...[-0.13 - p[0], 0.09 - p[1], 0].map((value) => 1000 * value), 0, 0, 1000 * (0.05 - p[2]) - 150];
    }));
    await same('bracket');
    // what Bob has stands still while Ada goes over the wall; then his goes straight to hers
    await client(bob, 'pause', 1);
    holds = client(ada, 'path', 'bracket', 600, 0, 0, 150, 180, 0, 0, 0, 0, -150);
    holds.catch(() => undefined);
    await until(a, () => window.feeler.parts.find((part) => part.name === 'bracket').pose.p[0] > 0.04, 'Ada is at the other side');
    await until(a, () => window.feeler.parts.find((part) => part.name === 'bracket').pose.p[2] < 0.06, 'and down there');
    await client(bob, 'pause', 0);
    const caught = () => b.evaluate(() => /caught between bracket here and at Ada/.test(document.getElementById('status-shared').textContent));
    for (const patience = new Patience(b); !(await patience.spent()) && !lost(); await b.waitForTimeout(100)) if (await caught()) return true;
    await client(ada, 'release');
    await holds;
    return false;
  });
  if (shots) await b.screenshot({ path: join(shots, 'caught.png') });
  // what is said in between goes by in seconds: a listener in the page hears it, however slowly the test looks
  await b.evaluate(() => {
    const status = document.getElementById('status-shared');
    window.heard = '';
    new MutationObserver(() => (window.heard += `${status.textContent}\n`)).observe(status, { childList: true, characterData: true, subtree: true, attributes: true });
  });
  await client(ada, 'release');
  await holds;
  await until(b, () => /bracket (goes to where it was let go|passes through everything)/.test(window.heard), 'it is brought home');
  await until(b, () => document.getElementById('status-shared').hidden, 'nothing is wrong any more');
  await same('bracket');
});

await step('Bob’s controller dies while he holds a part: Ada is told and goes on', async () => {
  await take(b, 'bracket');
  await until(a, () => window.feeler.guests.parts.some((part) => part.member !== 0), 'Bob holds it');
  session.members[1].child.kill('SIGKILL');
  await until(a, () => window.feeler.people.every((person) => person.name !== 'Bob' || person.bits & 8), 'Bob is not heard');
  await until(a, () => /frozen/.test(document.getElementById('status-shared').textContent) && window.feeler.guests.hands.length === 0, 'what he held is frozen, his hand is gone');
  await frames(a, 500); // the loop goes on
  if (shots) await a.screenshot({ path: join(shots, 'away.png') });
  await until(a, () => !window.feeler.guests.parts.some((part) => part.bits & 2), 'after a while it may be taken');
  const place = await take(a, 'bracket');
  await drag_by(a, place, [0, 0.02, 0]);
  await let_go(a);
});

const real = trouble.filter((line) => !/WebSocket|ERR_CONNECTION/.test(line)); // Bob's page has lost its controller
check(real.length === 0, `the console: ${real.join(' | ')}`);
await browser.close();
await session.close();
finish();
