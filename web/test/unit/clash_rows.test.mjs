import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { amount, listed, read_length, summary } = await load('clash_rows.ts');
const { Rest } = await load('rest.ts');

const pairs = [
  { part: 0, other: 1, state: 3, allowed: false, depth: 0.001, distance: 0 },
  { part: 0, other: 2, state: 2, allowed: false, depth: 0, distance: 0 },
  { part: 1, other: 2, state: 1, allowed: false, depth: 0, distance: 0.0005 },
  { part: 3, other: 4, state: 3, allowed: true, depth: 0.002, distance: 0 },
];

test('contacts and allowed pairs are listed when they are wanted', () => {
  assert.deepEqual(listed(pairs, { contacts: true, allowed: false }), pairs.slice(0, 3));
  assert.deepEqual(listed(pairs, { contacts: false, allowed: true }), [pairs[0], pairs[2], pairs[3]]);
});

test('a pair says how much', () => {
  assert.deepEqual(pairs.slice(0, 3).map((pair) => amount(pair, 'mm')), ['1.00 mm deep', 'in contact', '0.500 mm apart']);
});

test('the summary counts what there is', () => {
  assert.equal(summary({ overlaps: 2, contacts: 1, near: 3, clearance: 0.001 }, 'mm'), '2 overlaps, 1 contact, 3 closer than 1.00 mm');
  assert.equal(summary({ overlaps: 0, contacts: 0, near: 0, clearance: 0 }, 'mm'), 'No clashes');
});

test('lengths are read with and without a unit', () => {
  assert.equal(read_length('0.5', 'mm'), 0.0005);
  assert.equal(read_length(' 0,5 mm ', 'in'), 0.0005);
  assert.equal(read_length('1', 'in'), 0.0254);
  assert.equal(read_length('', 'mm'), 0);
  for (const wrong of ['-1', 'a', '1 2', '5 m', '1e3']) assert.equal(read_length(wrong, 'mm'), null, wrong);
});

test('parts stand until one has gone farther than it trembles', () => {
  const rest = new Rest();
  const at = (x, part = 1) => ({ parts: [{ part, T_world_part: { p: [x, 0, 0], q: [1, 0, 0, 0] } }] });
  const voxel = () => 0.001;
  assert.equal(rest.moved(at(0), voxel), true);
  assert.equal(rest.moved(at(0.00001), voxel), false);
  assert.equal(rest.moved(at(0.0001), voxel), true);
  assert.equal(rest.moved(at(0.0001), voxel), false);
  assert.equal(rest.moved(at(0.0001, 2), voxel), true, 'another part');
  assert.equal(rest.moved({ parts: [] }, voxel), true, 'it is gone');
});
