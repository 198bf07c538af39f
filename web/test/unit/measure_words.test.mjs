import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { between, details, exact_length, what } = await load('measure_words.ts');
const one = (kind, more = {}) => ({ part: 1, kind, hollow: false, size: 0, radius: 0, point: [0, 0, 0], direction: [0, 0, 0], ...more });

test('lengths have micrometres, and no negative zero', () => {
  assert.equal(exact_length(0.02, 'mm'), '20.000 mm');
  assert.equal(exact_length(-1e-9, 'mm'), '0.000 mm');
  assert.equal(exact_length(0.0254, 'in'), '1.00000 in');
});

test('what was picked is named', () => {
  assert.equal(what(one(4, { radius: 0.005, hollow: true }), 'plate', 'mm'), 'hole ⌀ 10.000 mm');
  assert.equal(what(one(4, { radius: 0.005 }), 'plate', 'mm'), 'cylinder ⌀ 10.000 mm');
  assert.equal(what(one(2, { size: 0.04 }), 'plate', 'mm'), 'edge, 40.000 mm');
  assert.equal(what(one(2, { size: 0.04, radius: 0.01 }), 'plate', 'mm'), 'round edge ⌀ 20.000 mm');
  assert.deepEqual([1, 3, 5, 6].map((kind) => what(one(kind), 'plate', 'mm')), ['point', 'flat face', 'curved face', 'plate']);
});

test('details say where and how large', () => {
  assert.deepEqual(details(one(3, { size: 4e-4, direction: [0, 0, 1] }), 'mm'), ['area 400 mm²', 'normal 0, 0, 1.000']);
  assert.deepEqual(details(one(4, { radius: 1, direction: [-1, 0, 1e-5], point: [0, 0, 0.001] }), 'mm'), ['axis 1.000, 0, 0 through X 0.000 · Y 0.000 · Z 1.000 mm']);
});

test('between two: along the axes, the angle, and the axes where they differ', () => {
  const found = { first: one(4), second: one(4), distance: 0.03, from: [0, 0, 0], to: [0.03, 0, 0], has_angle: true, angle: 0, has_between: true, between: 0.04 };
  assert.deepEqual(between(found, 'mm'), ['X 30.000 · Y 0.000 · Z 0.000 mm', 'angle 0.00°', 'axes: 40.000 mm apart']);
  assert.deepEqual(between({ ...found, between: 0.03, has_angle: false }, 'mm'), ['X 30.000 · Y 0.000 · Z 0.000 mm']);
});
