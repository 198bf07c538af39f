import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { Touch } = await load('touch.ts');
const near = (a, b) => a.forEach((value, k) => assert.ok(Math.abs(value - b[k]) < 1e-12, `${a} is not ${b}`));
// an eye at z = 1 that looks down; a ray that leans to x
const view = { right: [1, 0, 0], up: [0, 1, 0], forward: [0, 0, -1] };
const ray = (x) => {
  const n = Math.hypot(x, 1);
  return { origin: [0, 0, 1], direction: [x / n, 0, -1 / n] };
};

test('not pressed it hovers in front of everything, under the pointer', () => {
  const touch = new Touch();
  near(touch.hover(ray(0.5), view, 0.8, null), [0.4, 0, 0.2]);
  // what is seen may be nearer than the box says only when the eye is among the parts
  near(touch.hover(ray(0), view, 0.8, [0, 0, 0.5]), [0, 0, 0.7]);
  near(touch.hover(ray(0), view, -0.1, [0, 0, 0.5]), [0, 0, 0.7]);
  assert.equal(touch.hover(ray(0), view, -0.1, null), null);
});

test('pressed it is behind the surface along the ray', () => {
  const touch = new Touch();
  assert.equal(touch.push(ray(0), view, null), null);
  touch.press([0, 0, 0], 0.1);
  assert.ok(touch.pressed && touch.depth > 0.001 && touch.depth < 0.01);
  near(touch.push(ray(0), view, [0, 0, 0]), [0, 0, -touch.depth]);
  const { direction } = ray(0.3);
  near(touch.push(ray(0.3), view, [0.3, 0, 0]), direction.map((value, k) => [0.3, 0, 0][k] + touch.depth * value));
});

test('beside the part it keeps its distance from the eye', () => {
  const touch = new Touch();
  touch.press([0, 0, 0.2], 0.1);
  touch.push(ray(0), view, [0, 0, 0.2]);
  const at = touch.push(ray(0.5), view, null);
  near(at, ray(0.5).direction.map((value, k) => [0.4, 0, 0.2][k] + touch.depth * value));
});

test('the wheel pushes deeper, within bounds, until it is let go', () => {
  const touch = new Touch();
  touch.press([0, 0, 0], 0.1);
  const before = touch.depth;
  touch.deeper(1);
  assert.ok(touch.depth > before);
  touch.deeper(1000);
  assert.ok(touch.depth <= 0.03);
  touch.deeper(-1000);
  assert.ok(touch.depth > 0);
  touch.release();
  assert.ok(!touch.pressed);
  touch.press([0, 0, 0], 0.1);
  assert.equal(touch.depth, before);
});
