import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';
import { cube_stl } from '../scene.mjs';

const { format_of, likely_unit, size_of, states_unit } = await load('extent.ts');
const bytes = (text) => new TextEncoder().encode(text);

test('the size of a part is read from its file', () => {
  assert.deepEqual(size_of('plug.stl', new Uint8Array(cube_stl([200, -150, 60], 30))), [30, 30, 30]);
  const corners = [[0, 0, 0], [2, 0, 0], [0, -3, 0], [0, 0, 1e-1]];
  assert.deepEqual(size_of('a.STL', bytes(`solid x\n${corners.map((v) => ` vertex ${v.join('  ')}`).join('\n')}\nendsolid`)), [2, 3, 0.1]);
  assert.deepEqual(size_of('a.obj', bytes(`# a\r\n${corners.map((v) => `v ${v.join(' ')}`).join('\r\n')}\r\nvn 9 9 9\nf 1 2 3`)), [2, 3, 0.1]);
});

test('PLY as text and as bytes, with properties between', () => {
  const head = (format) => `ply\nformat ${format} 1.0\ncomment made by hand\nelement vertex 2\nproperty float x\nproperty uchar red\nproperty double y\nproperty float z\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n`;
  assert.deepEqual(size_of('a.ply', bytes(`${head('ascii')}0 255 0 0\n4 255 5 -6\n`)), [4, 5, 6]);
  for (const little of [true, false]) {
    const front = bytes(head(little ? 'binary_little_endian' : 'binary_big_endian'));
    const all = new Uint8Array(front.length + 2 * 17);
    all.set(front);
    const view = new DataView(all.buffer, front.length);
    [[0, 0, 0], [4, 5, -6]].forEach(([x, y, z], i) => {
      view.setFloat32(17 * i, x, little);
      view.setFloat64(17 * i + 5, y, little);
      view.setFloat32(17 * i + 13, z, little);
    });
    assert.deepEqual(size_of('a.ply', all), [4, 5, 6]);
  }
});

test('what cannot be known is not said', () => {
  for (const [name, text] of [['a.stl', ''], ['a.stl', 'solid'], ['a.obj', 'v 1 2'], ['a.obj', 'v a b c'], ['a.ply', 'ply\nend_header\n'], ['a.ply', 'x'], ['a.step', 'ISO-10303-21;']])
    assert.equal(size_of(name, bytes(text)), null, name);
  const cut = new Uint8Array(cube_stl([0, 0, 0], 1)).subarray(0, 300);
  assert.equal(size_of('cut.stl', cut), null);
});

test('the unit that is proposed', () => {
  assert.ok(states_unit('a.STEP') && states_unit('b.glb') && !states_unit('a.stl') && !states_unit('step'));
  assert.equal(likely_unit([0.2, 0.1, 0.01]), 'm');
  assert.equal(likely_unit([120, 80, 0.5]), 'mm');
  assert.equal(likely_unit(null), 'mm');
});

test('endings of one format are one', () => {
  assert.deepEqual(['pump.STP', 'pump.v2.step', 'a.p21', 'a.igs', 'a.IGES', 'a.brp', 'a.stl'].map(format_of), ['step', 'step', 'step', 'iges', 'iges', 'brep', 'stl']);
});
