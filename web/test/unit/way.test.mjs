import assert from 'node:assert/strict';
import { load } from '../load.mjs';
import { test } from 'node:test';
const { pose_file, rows_of, Trace, Way } = await load('way.ts');
const { turn } = await load('pose.ts');

// 1 m along x, then a quarter turn about z, then 1 m along y; a metre for a radian
const quarter = turn([0, 0, 1], Math.PI / 2);
const poses = [{ p: [0, 0, 0], q: [1, 0, 0, 0] }, { p: [1, 0, 0], q: [1, 0, 0, 0] }, { p: [1, 0, 0], q: quarter }, { p: [1, 1, 0], q: quarter }];
const way = new Way(rows_of(poses), 1);

test('places along a way', () => {
  assert.ok(Math.abs(way.length - (2 + Math.PI / 2)) < 1e-12);
  assert.ok(Math.abs(way.pose_at(0.25).p[0] - 0.25) < 1e-12);
  const turned = way.pose_at(1 + Math.PI / 4);
  assert.ok(Math.abs(turned.q[3] - Math.sin(Math.PI / 8)) < 1e-9 && Math.abs(turned.p[0] - 1) < 1e-12);
  assert.deepEqual(way.pose_at(99).p, [1, 1, 0]);
});

test('the nearest place', () => {
  const near = way.nearest({ p: [0.4, 0.1, 0], q: [1, 0, 0, 0] });
  assert.ok(near.segment === 0 && Math.abs(near.at - 0.4) < 1e-9 && Math.abs(near.away - 0.1) < 1e-9);
  const turned = way.nearest({ p: [1, 0, 0], q: turn([0, 0, 1], 0.5) });
  assert.ok(turned.segment === 1 && Math.abs(turned.at - 1.5) < 1e-6 && turned.away < 1e-6);
  // what is near in space may be far along the way
  assert.ok(way.nearest({ p: [1, 0.9, 0], q: quarter }, 0.2, 0.5).segment === 0);
});

test('a way up to a place', () => {
  const cut = way.until(0.5);
  assert.ok(cut.length === 2 && Math.abs(cut[1].p[0] - 0.5) < 1e-12);
  assert.equal(way.until(way.length).length, 4);
});

test('a trace forgets what is near, and every other pose when it is long', () => {
  const trace = new Trace(1, 0.01, 8);
  for (let i = 0; i <= 40; i++) trace.add({ p: [i * 0.005, 0, 0], q: [1, 0, 0, 0] });
  assert.ok(trace.poses.length <= 8 && trace.poses.length >= 4, `${trace.poses.length}`);
  assert.deepEqual(trace.poses[0].p, [0, 0, 0]);
  assert.equal(trace.add({ ...trace.poses[trace.poses.length - 1] }), false);
});

test('a pose file in the unit of the scene', () => {
  const lines = pose_file(way.poses, way.marks, 0.001, 0.5).trim().split('\n');
  assert.equal(lines.length, 5);
  assert.equal(lines[2], '2 1000 0 0 1 0 0 0');
});
