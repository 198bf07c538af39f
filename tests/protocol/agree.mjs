// node agree.mjs PROTOCOL_MJS: reads what protocol_frames prints; the page's codec has to decode each frame to the same
// values or refuse it with the same code and sentence, and to encode what it decoded to the same bytes
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { decode, encode, ProtocolError, MINOR } = await import(pathToFileURL(process.argv[2]));

// a decoded value as protocol_frames prints it: lanes of numbers
function flat(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return [value ? 1 : 0];
  if (typeof value === 'number') return [value === Infinity ? null : value];
  if (ArrayBuffer.isView(value)) return Array.from(value, (n) => [n]);
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'number' ? item : flat(item)));
  if (value.p) return [...value.p, ...value.q];
  if (value.torque) return [...value.torque, ...value.force];
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, flat(part)]));
}

let [yes, no, canonical] = [0, 0, 0];
for (const line of readFileSync(0, 'utf8').split('\n')) {
  if (!line) continue;
  const [, direction, hex, verdict, rest] = /^(\d) ([0-9a-f]*) (yes|no) (.*)$/.exec(line);
  // anywhere in a buffer: aligned or not
  const bytes = Buffer.from(hex, 'hex');
  const store = new Uint8Array(bytes.length + 1);
  const frame = store.subarray(yes % 2, (yes % 2) + bytes.length);
  frame.set(bytes);
  let message;
  let refused;
  try {
    message = decode(frame, Number(direction));
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    refused = error;
  }
  if (verdict === 'no') {
    const [, code, sentence] = /^(\d+) (.*)$/.exec(rest);
    assert(refused, `accepted, but C says: ${rest}\n${hex}`);
    assert.deepStrictEqual([refused.code, refused.message], [Number(code), sentence], hex);
    no++;
    continue;
  }
  assert(!refused, `${refused?.message}, but C accepts\n${hex}`);
  const wanted = JSON.parse(rest);
  assert.strictEqual(message.name, wanted.message);
  assert.strictEqual(message.request, wanted.request);
  assert.deepStrictEqual(flat(message.body), wanted.body, hex);
  if (frame[6] === 1 && frame[7] === MINOR) {
    assert.strictEqual(Buffer.from(encode(message.name, message.body, message.request)).toString('hex'), hex);
    canonical++;
  }
  yes++;
}

// what only JavaScript can get wrong
const refuses = (call, sentence) => assert.throws(call, (error) => error instanceof ProtocolError && error.message === sentence);
refuses(() => encode('grab', { hand: -1 }), "message 'grab', field 'hand': is not a whole number of its range");
refuses(() => encode('grab', { hand: 1.5 }), "message 'grab', field 'hand': is not a whole number of its range");
refuses(() => encode('set', { value: NaN }), "message 'set', field 'value': is not a finite number");
refuses(() => encode('hello', { token: 'x'.repeat(257) }), "message 'hello', field 'token': has more bytes than 256");
refuses(() => encode('mesh_chunk', { vertices: new Float32Array([0, 1, NaN]) }),
  "message 'mesh_chunk', field 'vertices[2]': is not a finite number");
refuses(() => encode('mesh_chunk', { vertices: [0, 1, NaN] }),
  "message 'mesh_chunk', field 'vertices[2]': is not a finite number");
assert.deepStrictEqual(encode('mesh_chunk', { indices: [1, 2, 3] }), encode('mesh_chunk', { indices: new Uint16Array([1, 2, 3]) }));
refuses(() => encode('nonsense'), "message 'nonsense' is not known");
assert.deepStrictEqual(decode(encode('place', { part: 3 }), 1).body.T_world_part, { p: [0, 0, 0], q: [1, 0, 0, 0] });

// a newer minor version may say more, this one may not
const more = new Uint8Array(encode('pong', { stamp: 5 }).length + 4);
more.set(encode('pong', { stamp: 5 }));
more[0] += 4;
refuses(() => decode(more), "message 'pong' has bytes behind its last field");
more[7] = MINOR + 1;
assert.strictEqual(decode(more).body.stamp, 5);

assert(yes > 500 && no > 500, `${yes} accepted, ${no} refused: too few to mean anything`);
console.log(`${yes} frames accepted (${canonical} encoded again to the same bytes), ${no} refused, as C does`);
