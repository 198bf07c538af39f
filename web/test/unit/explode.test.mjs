import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { explosion } = await load('explode.ts');
const pose = { p: [1, 0, 0], q: [1, 0, 0, 0] };

test('parts go away from the middle, by as much as they are away from it', () => {
  assert.deepEqual(explosion(pose, [-1, -1, -1], [1, 1, 3], [0, 0, 0], 0.5), [0.5, 0, 0.5]);
  assert.deepEqual(explosion(pose, [-1, -1, -1], [1, 1, 1], [1, 0, 0], 2), [0, 0, 0]);
  assert.deepEqual(explosion(pose, [-1, -1, -1], [1, 1, 1], [0, 0, 0], 0), [0, 0, 0]);
});
