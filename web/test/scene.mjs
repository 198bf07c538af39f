// The scene of the page's tests as files: node test/scene.mjs FOLDER writes scene.json and its meshes for a real controller.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { first_scene } from './mock.mjs';

/** triangles in metres as a binary STL in millimetres */
export function stl({ vertices, indices }) {
  const count = indices.length / 3;
  const buffer = Buffer.alloc(84 + 50 * count);
  buffer.writeUInt32LE(count, 80);
  for (let t = 0; t < count; t++)
    for (let k = 0; k < 9; k++) buffer.writeFloatLE(1000 * vertices[3 * indices[3 * t + Math.floor(k / 3)] + (k % 3)], 84 + 50 * t + 12 + 4 * k);
  return buffer;
}

/** a cube, millimetres */
export function cube_stl(centre, size) {
  const vertices = [], indices = [];
  for (let i = 0; i < 8; i++) for (let k = 0; k < 3; k++) vertices.push((centre[k] + ((i >> k) & 1 ? 0.5 : -0.5) * size) / 1000);
  for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) indices.push(a, b, c, a, c, d);
  return stl({ vertices, indices });
}

export function write_scene(folder) {
  const { meshes, parts } = first_scene();
  mkdirSync(folder, { recursive: true });
  for (const part of parts) writeFileSync(join(folder, `${part.name}.stl`), stl(meshes[part.mesh]));
  const scene = {
    feeler: 1, name: 'test bay', unit: 'mm', voxel: 1,
    parts: parts.map((part) => ({
      name: part.name, file: `${part.name}.stl`, colour: `#${part.colour.toString(16).padStart(6, '0')}`, moving: part.kind !== 0,
      pose: { position: part.T_world_part.p.map((value) => Math.round(1e6 * value) / 1000), orientation: [1, 0, 0, 0] },
      ...(part.kind ? { density: 2700 } : {}),
    })),
  };
  writeFileSync(join(folder, 'scene.json'), JSON.stringify(scene, null, 2));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) write_scene(process.argv[2]);
