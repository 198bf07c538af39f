import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { take_report } = await load('spacemouse.ts');
const report = (...counts) => {
  const data = new DataView(new ArrayBuffer(2 * counts.length));
  counts.forEach((value, k) => data.setInt16(2 * k, value, true));
  return data;
};
const fresh = () => ({ move: [0, 0, 0], turn: [0, 0, 0], buttons: 0 });
const near = (a, b) => a.forEach((value, k) => assert.ok(Math.abs(value - b[k]) < 1e-9, `${a} is not ${b}`));

test('the cap’s axes become right, up and away', () => {
  const cap = fresh();
  take_report(cap, 1, report(350, 0, 0)); // pushed to the right
  near(cap.move, [1, 0, 0]);
  take_report(cap, 1, report(0, -350, -350)); // away and up
  near(cap.move, [0, 1, 1]);
  take_report(cap, 2, report(0, 0, -350)); // turned to the left, seen from above
  near(cap.turn, [1, 0, 0]);
  // newer ones have both in one report
  take_report(cap, 1, report(0, 0, 0, 350, 0, 0));
  near(cap.move, [0, 0, 0]);
  near(cap.turn, [0, -1, 0]);
  take_report(cap, 3, new DataView(Uint8Array.of(2).buffer));
  assert.equal(cap.buttons, 2);
});

test('little is nothing, much is all, and what is no report changes nothing', () => {
  const cap = fresh();
  take_report(cap, 1, report(17, -17, 32767));
  near(cap.move, [0, -1, 0]);
  const before = structuredClone(cap);
  for (const [id, data] of [[1, report(350)], [2, report()], [3, report()], [9, report(350, 350, 350, 350, 350, 350)]]) take_report(cap, id, data);
  assert.deepEqual(cap, before);
});
