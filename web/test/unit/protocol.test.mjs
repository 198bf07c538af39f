// The codec on the fuzz corpus: what decodes encodes to the same bytes, everything else is a ProtocolError and never another
// exception. That C decides alike is tests/e2e/test_protocol.sh.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { random, root } from '../load.mjs';
import { decode, encode, ProtocolError, TO_CLIENT, TO_CONTROLLER, TO_PEER } from '../../src/protocol.mjs';

const folder = join(root, '..', 'fuzz', 'corpus', 'protocol');
// the corpus lacks the length in front of each frame, so that a fuzzer need not guess it
const frames = readdirSync(folder).map((name) => {
  const rest = readFileSync(join(folder, name));
  const frame = new Uint8Array(rest.length + 4);
  new DataView(frame.buffer).setUint32(0, frame.length, true);
  frame.set(rest, 4);
  return { name, frame };
});

function attempt(frame) {
  const results = [];
  for (const direction of [TO_CLIENT, TO_CONTROLLER, TO_PEER])
    try {
      results.push(decode(frame.slice(), direction));
    } catch (error) {
      assert.ok(error instanceof ProtocolError, `${error}`);
    }
  return results;
}

test('every message of the corpus decodes, and encodes to the same bytes', () => {
  assert.ok(frames.length >= 50);
  let same = 0;
  for (const { name, frame } of frames)
    for (const message of attempt(frame)) {
      assert.deepEqual(encode(message.name, message.body, message.request, message.minor), frame, name);
      same++;
    }
  assert.ok(same >= 50);
});

test('damaged frames are refused by a ProtocolError or mean what they say', () => {
  const next = random(5);
  for (const { frame } of frames)
    for (let i = 0; i < 60; i++) {
      const damaged = frame.slice(0, next() < 0.3 ? Math.floor(next() * frame.length) : frame.length);
      for (let k = 0; k < 3 && damaged.length; k++) damaged[Math.floor(next() * damaged.length)] ^= 1 << Math.floor(8 * next());
      if (next() < 0.5 && damaged.length >= 4) new DataView(damaged.buffer).setUint32(0, damaged.length, true);
      attempt(damaged);
    }
});
