import assert from 'node:assert/strict';
import { load } from '../load.mjs';
import { test } from 'node:test';
const { gather, MOST_PATCHES } = await load('patches.ts');

test('contacts near each other are one touched place', () => {
  assert.deepEqual(gather([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [5, 5, 5]], 1), [[0.2, 0.1, 0.1], [5, 5, 5]]);
  const many = Array.from({ length: 500 }, (_, i) => [i, 0, 0]);
  assert.equal(gather(many, 0.5).length, MOST_PATCHES);
  assert.deepEqual(gather([], 1), []);
});
