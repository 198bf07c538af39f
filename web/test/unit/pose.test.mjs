import assert from 'node:assert/strict';
import test from 'node:test';
import { load, random } from '../load.mjs';

const pose = await load('pose.ts');
const near = (a, b, by = 1e-9) => a.forEach((value, k) => assert.ok(Math.abs(value - b[k]) <= by, `${a} is not ${b}`));
const view = { right: [1, 0, 0], up: [0, 0, 1], forward: [0, 1, 0] }; // an eye that looks along y
const ray = (x, z) => {
  const direction = [x, 5, z];
  const n = Math.hypot(...direction);
  return { origin: [0, -5, 0], direction: direction.map((value) => value / n) };
};

test('turning by a quaternion and back gives the same point', () => {
  const next = random(1);
  for (let i = 0; i < 200; i++) {
    const q = pose.turn([next() - 0.5, next() - 0.5, next() - 0.5], 6 * next() - 3);
    const p = [next(), next(), next()];
    const point = [next(), next(), next()];
    near(pose.unapply({ p, q }, pose.apply({ p, q }, point)), point, 1e-12);
    assert.ok(Math.abs(Math.hypot(...pose.multiply(q, q)) - 1) < 1e-12);
  }
});

test('a quarter turn about z takes x to y', () => near(pose.rotate(pose.turn([0, 0, 2], Math.PI / 2), [1, 0, 0]), [0, 1, 0]));
test('what is up in a file is up in the scene', () => {
  near(pose.rotate(pose.upright('y'), [0, 1, 0]), [0, 0, 1]);
  near(pose.rotate(pose.upright('x'), [1, 0, 0]), [0, 0, 1]);
  near(pose.upright('z'), [1, 0, 0, 0]);
});
test('no axis is no turn', () => near(pose.turn([0, 0, 0], 1), [1, 0, 0, 0]));

test('a ray beside a plane, or away from it, does not meet it', () => {
  assert.equal(pose.meet({ origin: [0, 0, 0], direction: [1, 0, 0] }, [0, 5, 0], [0, 1, 0]), null);
  assert.equal(pose.meet({ origin: [0, 0, 0], direction: [0, -1, 0] }, [0, 5, 0], [0, 1, 0]), null);
  near(pose.meet({ origin: [0, 0, 0], direction: [0, 1, 0] }, [3, 5, 2], [0, 1, 0]), [0, 5, 0]);
});

test('a dragged hand stays in the view plane and under the pointer', () => {
  const drag = new pose.Drag([0.1, 0, 0.2]);
  drag.hold(ray(0.1, 0.2), view);
  drag.move(ray(0.6, -0.3), view);
  near(drag.pose.p, [0.6, 0, -0.3]);
  drag.move(ray(0.1, 0.2), view);
  near(drag.pose.p, [0.1, 0, 0.2]);
});

test('a hand that was not gripped exactly keeps its offset', () => {
  const drag = new pose.Drag([0, 0, 0]);
  drag.hold(ray(0.05, 0), view);
  drag.move(ray(0.25, 0), view);
  near(drag.pose.p, [0.2, 0, 0]);
});

test('slowly: a fifth of the way, and no jump afterwards', () => {
  const drag = new pose.Drag([0, 0, 0]);
  drag.hold(ray(0, 0), view);
  drag.move(ray(1, 0), view, 0.2);
  near(drag.pose.p, [0.2, 0, 0]);
  drag.move(ray(1.1, 0), view);
  near(drag.pose.p, [0.3, 0, 0]);
});

test('turning does not move the hand, nor does the next move jump', () => {
  const drag = new pose.Drag([0, 0, 0]);
  drag.hold(ray(0, 0), view);
  drag.turn(ray(0.5, 0), view, 0.4, 0);
  near(drag.pose.p, [0, 0, 0]);
  near(pose.rotate(drag.pose.q, [1, 0, 0]), [Math.cos(0.4), Math.sin(0.4), 0]);
  drag.move(ray(0.6, 0), view);
  near(drag.pose.p, [0.1, 0, 0]);
});

test('pushing goes along the view and keeps what the pointer holds', () => {
  const drag = new pose.Drag([0, 0, 0]);
  drag.hold(ray(0, 0), view);
  drag.push(ray(0, 0), view, 0.5);
  near(drag.pose.p, [0, 0.5, 0]);
  drag.move(ray(0, 0), view);
  near(drag.pose.p, [0, 0.5, 0]);
});
