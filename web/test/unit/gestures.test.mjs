import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { TwoFingers } = await load('gestures.ts');
const a = { x: 100, y: 100 }, b = { x: 200, y: 100 };

test('a pinch is depth, and stays it', () => {
  const two = new TwoFingers(a, b);
  assert.deepEqual(two.move({ x: 98, y: 100 }, { x: 203, y: 100 }), { roll: 0, spread: 1, right: 0, down: 0 });
  assert.equal(two.kind, 'none');
  two.move({ x: 90, y: 100 }, { x: 210, y: 100 });
  assert.equal(two.kind, 'depth');
  assert.equal(two.move({ x: 60, y: 100 }, { x: 240, y: 160 }).spread > 1.4, true);
  assert.equal(two.move({ x: 160, y: 300 }, { x: 340, y: 360 }).right, 0);
});

test('a twist rolls by the angle of the fingers', () => {
  const two = new TwoFingers(a, b);
  const at = (degrees) => {
    const c = 50 * Math.cos((degrees * Math.PI) / 180), s = 50 * Math.sin((degrees * Math.PI) / 180);
    return [{ x: 150 - c, y: 100 - s }, { x: 150 + c, y: 100 + s }];
  };
  two.move(...at(20));
  assert.equal(two.kind, 'roll');
  let sum = 0;
  for (let degrees = 40; degrees <= 380; degrees += 20) sum += two.move(...at(degrees)).roll;
  assert.ok(Math.abs(sum - 2 * Math.PI) < 1e-9); // also across half a turn
});

test('both fingers together turn', () => {
  const two = new TwoFingers(a, b);
  two.move({ x: 120, y: 100 }, { x: 220, y: 100 });
  assert.equal(two.kind, 'turn');
  const { right, down, spread, roll } = two.move({ x: 130, y: 90 }, { x: 230, y: 90 });
  assert.deepEqual([right, down, spread, roll], [10, -10, 1, 0]);
});
