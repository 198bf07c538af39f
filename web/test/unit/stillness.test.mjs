import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { fingerprint } = await load('stillness.ts');
const { nice } = await load('plots.ts').catch(() => ({}));

const pose = (x) => ({ p: [x, 0.2, 0.3], q: [1, 0, 0, 0] });
const state = (x, force = 0, look = 0) => ({
  contacts: [], proxies: [], parts: [{ part: 1, look, T_world_part: pose(x) }],
  hands: [{ held: 4294967295, touched: 4294967295, bits: 1, T_world_hand: pose(0), T_world_ghost: pose(0), wrench: { force: [force, 0, 0], torque: [0, 0, 0] } }],
});

test('what is seen changes the fingerprint, the clock does not', () => {
  assert.equal(fingerprint(state(0.1)), fingerprint({ ...state(0.1), time_us: 99 }));
  assert.notEqual(fingerprint(state(0.1)), fingerprint(state(0.1000001)));
  assert.notEqual(fingerprint(state(0.1)), fingerprint(state(0.1, 0.5)));
  assert.notEqual(fingerprint(state(0.1)), fingerprint(state(0.1, 0, 3)));
  const touching = (x) => ({ ...state(0.1), proxies: [{ hand: 0, part: 1, point: [x, 0, 0], normal: [0, 0, 1], force: [0, 0, 1], depth: 0.001, sticking: false }] });
  assert.notEqual(fingerprint(touching(0)), fingerprint(touching(1e-6)));
});

test('axes end at round numbers', { skip: !nice }, () => {
  assert.deepEqual([0, 0.7, 1, 3, 17, 201].map(nice), [1, 1, 1, 5, 20, 500]);
});
