import assert from 'node:assert/strict';
import test from 'node:test';
import { MeshoptEncoder } from 'meshoptimizer/meshopt_encoder.module.js';
import { load, random } from '../load.mjs';

const { edge_lines, face_normals, from_chunk, from_packed, packing, shade } = await load('meshes.ts');
await MeshoptEncoder.ready;
assert.ok(await packing());

const cube = (() => {
  const vertices = [], indices = [];
  for (let i = 0; i < 8; i++) vertices.push(i & 1, (i >> 1) & 1, (i >> 2) & 1);
  for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) indices.push(a, b, c, a, c, d);
  return { first: 0, vertices: new Float32Array(vertices), indices: new Uint32Array(indices) };
})();

function sphere(rings, sides) {
  const vertices = [], indices = [];
  vertices.push(0, 0, 1, 0, 0, -1);
  for (let r = 1; r < rings; r++)
    for (let s = 0; s < sides; s++) {
      const a = (Math.PI * r) / rings, b = (2 * Math.PI * s) / sides;
      vertices.push(Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a));
    }
  for (let s = 0; s < sides; s++) {
    const t = (s + 1) % sides, last = 2 + (rings - 2) * sides;
    indices.push(0, 2 + s, 2 + t, 1, last + t, last + s);
    for (let a = 2; a < last; a += sides) indices.push(a + s, a + sides + s, a + t, a + t, a + sides + s, a + sides + t);
  }
  return { first: 0, vertices: new Float32Array(vertices), indices: new Uint32Array(indices) };
}

test('triangles without area draw no edges and turn no normals', () => {
  const flat = { ...cube, indices: Uint32Array.from([...cube.indices, 0, 0, 3, 5, 5, 5]) };
  assert.equal(edge_lines(flat, undefined, false).length / 6, 12);
  assert.equal(shade(flat).source.length, 24);
});

test('a cube keeps its corners: three normals for each vertex', () => {
  const shaded = shade(cube);
  assert.equal(shaded.source.length, 24);
  for (let t = 0; t < 12; t++)
    for (let k = 0; k < 3; k++) {
      const vertex = shaded.indices[3 * t + k];
      assert.deepEqual([...shaded.positions.subarray(3 * vertex, 3 * vertex + 3)], [...cube.vertices.subarray(3 * cube.indices[3 * t + k], 3 * cube.indices[3 * t + k] + 3)]);
      const face = face_normals(cube).normals.subarray(3 * t, 3 * t + 3);
      assert.deepEqual([...shaded.normals.subarray(3 * vertex, 3 * vertex + 3)], [...face]);
    }
});

test('a ball is smooth: normals point outward, vertices are hardly split', () => {
  const ball = sphere(24, 32);
  const shaded = shade(ball);
  assert.ok(shaded.source.length < 1.1 * (ball.vertices.length / 3));
  for (let i = 0; i < shaded.source.length; i++) {
    const p = shaded.positions.subarray(3 * i, 3 * i + 3), n = shaded.normals.subarray(3 * i, 3 * i + 3);
    if (Math.abs(p[2]) < 0.98) assert.ok(p[0] * n[0] + p[1] * n[1] + p[2] * n[2] > 0.97);
  }
});

test('edges: twelve of a cube, none of a ball, four around an open square', () => {
  assert.equal(edge_lines(cube).length / 6, 12);
  assert.equal(edge_lines(sphere(24, 32), Math.cos(0.5)).length / 6, 0);
  const square = { first: 0, vertices: new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), indices: new Uint32Array([0, 1, 2, 0, 2, 3]) };
  assert.equal(edge_lines(square).length / 6, 4);
  assert.equal(edge_lines(square, 0.9, false).length, 0);
});

test('what was packed is unpacked to the same triangles, with both index sizes', () => {
  const next = random(3);
  for (const size of [2, 4]) {
    const vertices = Float32Array.from({ length: 3 * 500 }, () => next() - 0.5);
    const wide = Uint32Array.from({ length: 3 * 900 }, () => Math.floor(500 * next()));
    const indices = size === 2 ? Uint16Array.from(wide) : wide;
    const chunk = from_packed({
      mesh: 0, level: 0, chunk: 0, first_vertex: 7, vertices: 500, indices: wide.length, index_size: size,
      packed_vertices: MeshoptEncoder.encodeVertexBuffer(new Uint8Array(vertices.buffer), 500, 12),
      packed_indices: MeshoptEncoder.encodeIndexBuffer(new Uint8Array(indices.buffer), wide.length, size),
    });
    assert.equal(chunk.first, 7);
    assert.deepEqual(chunk.vertices, vertices);
    // the codec may turn a triangle, but not change it
    for (let t = 0; t < 900; t++) {
      const one = [...chunk.indices.subarray(3 * t, 3 * t + 3)], other = [...wide.subarray(3 * t, 3 * t + 3)];
      assert.ok([0, 1, 2].some((k) => one.every((value, i) => value === other[(i + k) % 3])), `triangle ${t}: ${one} / ${other}`);
    }
  }
});

test('damaged packed meshes are refused, not drawn', () => {
  const packed = MeshoptEncoder.encodeVertexBuffer(new Uint8Array(cube.vertices.buffer), 8, 12);
  const indices = MeshoptEncoder.encodeIndexBuffer(new Uint8Array(cube.indices.buffer), 36, 4);
  const head = { mesh: 0, level: 0, chunk: 0, first_vertex: 0, vertices: 8, indices: 36, index_size: 4 };
  assert.throws(() => from_packed({ ...head, packed_vertices: packed.slice(0, 5), packed_indices: indices }));
  assert.throws(() => from_packed({ ...head, packed_vertices: packed, packed_indices: indices.slice(0, 6) }));
  assert.throws(() => from_packed({ ...head, vertices: 4, packed_vertices: MeshoptEncoder.encodeVertexBuffer(new Uint8Array(cube.vertices.buffer, 0, 48), 4, 12), packed_indices: indices }), RangeError);
});

test('a chunk says itself how wide its indices are', () => {
  const narrow = { mesh: 0, level: 0, chunk: 0, first_vertex: 3, vertices: cube.vertices, indices: Uint16Array.from(cube.indices), indices_wide: new Uint32Array() };
  assert.equal(from_chunk(narrow).indices.length, 36);
  assert.equal(from_chunk({ ...narrow, indices: new Uint16Array(), indices_wide: cube.indices }).indices, cube.indices);
});
