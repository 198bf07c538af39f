import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { deepest } = await load('overlaps.ts');

test('a pair of parts is listed once, where it is deepest', () => {
  const list = [
    { part: 1, other: 2, depth: 0.1 },
    { part: 2, other: 1, depth: 0.2 },
    { part: 3, other: 1, depth: 0 },
    { part: 1, other: 2, depth: 0.15 },
  ];
  assert.deepEqual(deepest(list), [1, 2]);
  assert.deepEqual(deepest([]), []);
});
