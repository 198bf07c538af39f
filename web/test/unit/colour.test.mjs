import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { near_colour, near_table, rgb, gradient } = await load('colour.ts');
const { bounds, digits, length, metres, clock, count } = await load('units.ts');
const own = [0.2, 0.4, 0.6];
const at = (share) => {
  const out = [0, 0, 0];
  near_colour(share, own, out);
  return out;
};

test('touching is red, far is the part’s own colour, warmer is closer', () => {
  assert.ok(at(0)[0] > 0.8 && at(0)[1] < 0.2);
  assert.deepEqual(at(1), own);
  assert.deepEqual(at(7), own);
  assert.deepEqual(at(NaN), own);
  assert.deepEqual(at(-1), at(0));
  const warmth = (share) => at(share)[0] - at(share)[2];
  for (let s = 0; s < 0.85; s += 0.05) assert.ok(warmth(s) >= warmth(s + 0.05) - 0.25, `at ${s}`);
  assert.ok(warmth(0) > warmth(0.5) && warmth(0.5) > warmth(0.88));
});

test('the map has no jumps', () => {
  for (let s = 0; s < 1; s += 0.002) at(s).forEach((value, k) => assert.ok(Math.abs(value - at(s + 0.002)[k]) < 0.02));
});

test('the table is linear light of the same map', () => {
  const table = near_table(own);
  assert.equal(table.length, 768);
  assert.ok(Math.abs(table[255 * 3 + 1] - ((0.4 + 0.055) / 1.055) ** 2.4) < 1e-6);
  assert.deepEqual(rgb(0xff8000), [1, 128 / 255, 0]);
  assert.match(gradient(), /^linear-gradient\(to right, rgb\(/);
});

test('lengths are said in the scene’s unit', () => {
  assert.equal(bounds(0.0012, 0.0025, 'mm'), '1.20 – 2.50 mm');
  assert.equal(bounds(Infinity, Infinity, 'mm'), 'nothing near');
  assert.equal(bounds(0.0254, Infinity, 'in'), 'more than 1.00 in');
  assert.equal(bounds(0.002, 0.002, 'mm'), '2.00 mm');
  assert.equal(length(0.5, 'm'), '0.500 m');
  assert.equal(metres('parsec'), 0.001);
  assert.equal(digits(0), '0');
  assert.equal(digits(1234.5), '1235');
  assert.equal(clock(75.25), '1:15.3');
  assert.equal(count(2760000), '2.8 M');
});
