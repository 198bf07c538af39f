import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { NearVoxels } = await load('near.ts');
const message = (part, ...centres) => ({ frame: 1, part, size: 0.001, centres: new Float32Array(centres) });
const parts = (near) => [...near.all()].map((one) => [one.part, one.centres.length / 3]);

test('voxels near are kept for each part until an empty message ends them', () => {
  const near = new NearVoxels();
  near.take(message(1, 0, 0, 0));
  near.take(message(2, 0, 0, 0, 1, 1, 1));
  assert.deepEqual(parts(near), [[1, 1], [2, 2]]);
  // the controller tells first who has none any more, then the rest
  near.take(message(1));
  near.take(message(2, 5, 5, 5));
  assert.deepEqual(parts(near), [[2, 1]]);
  near.clear();
  assert.deepEqual(parts(near), []);
});
