import assert from 'node:assert/strict';
import { load } from '../load.mjs';
import { test } from 'node:test';
const { box_of, from_degrees, snap, to_degrees } = await load('euler.ts');
const { rotate, turn } = await load('pose.ts');

test('degrees come back as they were typed', () => {
  for (const typed of [[0, 0, 0], [90, 0, 0], [0, 0, -90], [10, 20, 30], [-170, 45, 120], [180, 0, 0], [33, 90, 0], [33, -90, 0]])
    to_degrees(from_degrees(typed)).forEach((value, k) => assert.ok(Math.abs(value - typed[k]) < 1e-5, `${typed}: ${to_degrees(from_degrees(typed))}`));
  // about x first, then z: the y axis of the part ends up along -x turned up
  const up = rotate(from_degrees([90, 0, 90]), [0, 1, 0]);
  assert.ok(Math.abs(up[2] - 1) < 1e-12);
});

test('a part snaps to the nearest direction along the axes', () => {
  const along = (q) => [[1, 0, 0], [0, 1, 0], [0, 0, 1]].every((axis) => rotate(q, axis).filter((value) => Math.abs(Math.abs(value) - 1) < 1e-9).length === 1);
  let seed = 7;
  const random = () => ((seed = (seed * 16807) % 2147483647) / 2147483647) * 2 - 1;
  for (let i = 0; i < 200; i++) {
    const q = turn([random(), random(), random()], Math.PI * random());
    const to = snap(q);
    assert.ok(along(to), `${to}`);
    // no axis is farther off than the middle of a cube's symmetry allows: 62.8 degrees
    assert.ok(Math.abs(to.reduce((sum, value, k) => sum + value * q[k], 0)) > Math.cos((62.8 / 2) * (Math.PI / 180)) - 1e-3);
  }
  const little = snap(turn([0, 0, 1], 0.2));
  assert.ok(Math.abs(little[0]) > 1 - 1e-12);
});

test('the box of a turned box', () => {
  const { low, high } = box_of({ p: [1, 0, 0], q: turn([0, 0, 1], Math.PI / 2) }, [0, 0, 0], [2, 1, 3]);
  [[0, 0, 0], [1, 2, 3]].forEach((want, side) => (side ? high : low).forEach((value, k) => assert.ok(Math.abs(value - want[k]) < 1e-12)));
});
