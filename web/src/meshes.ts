// From the wire's chunks to what a graphics card draws: unpacking, normals that keep creases sharp, the lines of a part's
// edges. Plain arrays in and out.
import { MeshoptDecoder } from 'meshoptimizer/meshopt_decoder.module.js';
import type { message_mesh_chunk, message_mesh_packed } from './protocol.mjs';

export interface Chunk {
  /** number of its first vertex in the mesh */
  first: number;
  /** [3 n] metres, part's frame */
  vertices: Float32Array;
  /** [3 m] counted from the chunk's first vertex */
  indices: Uint16Array | Uint32Array;
}

/** True when packed meshes can be read: the decoder is WebAssembly, which a browser or a policy may refuse. */
export async function packing(): Promise<boolean> {
  try {
    await MeshoptDecoder.ready;
    return MeshoptDecoder.supported;
  } catch {
    return false;
  }
}

export function from_chunk(message: message_mesh_chunk): Chunk {
  const wide = message.indices_wide.length > 0;
  return { first: message.first_vertex, vertices: message.vertices, indices: wide ? message.indices_wide : message.indices };
}

export function from_packed(message: message_mesh_packed): Chunk {
  const bytes = new Uint8Array(message.vertices * 12);
  if (message.vertices) MeshoptDecoder.decodeVertexBuffer(bytes, message.vertices, 12, message.packed_vertices);
  const raw = new Uint8Array(message.indices * message.index_size);
  if (message.indices) MeshoptDecoder.decodeIndexBuffer(raw, message.indices, message.index_size, message.packed_indices);
  const indices = message.index_size === 2 ? new Uint16Array(raw.buffer) : new Uint32Array(raw.buffer);
  for (const index of indices) if (index >= message.vertices) throw new RangeError('an index beyond the chunk’s vertices');
  return { first: message.first_vertex, vertices: new Float32Array(bytes.buffer), indices };
}

export interface Shaded {
  positions: Float32Array;
  normals: Float32Array;
  indices: Uint32Array;
  /** for every vertex here, the vertex of the chunk that it comes from */
  source: Uint32Array;
}

/** unit normals of triangles, zero where one has no area, and twice their areas */
export function face_normals(chunk: Chunk): { normals: Float32Array; areas: Float32Array } {
  const { vertices: v, indices } = chunk;
  const count = indices.length / 3;
  const normals = new Float32Array(3 * count);
  const areas = new Float32Array(count);
  for (let t = 0; t < count; t++) {
    const a = 3 * indices[3 * t]!, b = 3 * indices[3 * t + 1]!, c = 3 * indices[3 * t + 2]!;
    const ax = v[a]!, ay = v[a + 1]!, az = v[a + 2]!;
    const ux = v[b]! - ax, uy = v[b + 1]! - ay, uz = v[b + 2]! - az;
    const wx = v[c]! - ax, wy = v[c + 1]! - ay, wz = v[c + 2]! - az;
    const x = uy * wz - uz * wy, y = uz * wx - ux * wz, z = ux * wy - uy * wx;
    // not Math.hypot(), which takes ten times as long: nothing overflows here
    const n = Math.sqrt(x * x + y * y + z * z);
    areas[t] = n;
    if (n > 0) {
      normals[3 * t] = x / n;
      normals[3 * t + 1] = y / n;
      normals[3 * t + 2] = z / n;
    }
  }
  return { normals, areas };
}

/** Smooth where triangles meet at less than the crease angle, sharp elsewhere: a vertex is split where its corners differ. */
export function shade(chunk: Chunk, crease_cos = Math.cos(0.6)): Shaded {
  const { vertices, indices } = chunk;
  const vertex_count = vertices.length / 3;
  const { normals: faces, areas } = face_normals(chunk);
  // corners of each vertex, one after the other
  const begin = new Uint32Array(vertex_count + 1);
  for (let k = 0; k < indices.length; k++) begin[indices[k]! + 1]!++;
  for (let i = 0; i < vertex_count; i++) begin[i + 1]! += begin[i]!;
  const fill = begin.slice(0, vertex_count);
  const around = new Uint32Array(indices.length);
  for (let k = 0; k < indices.length; k++) around[fill[indices[k]!]!++] = k;

  const corners = indices.length;
  const out = new Uint32Array(corners);
  const source = new Uint32Array(corners);
  const normals = new Float32Array(3 * corners);
  let made = 0;
  for (let vertex = 0; vertex < vertex_count; vertex++) {
    const first = made; // variants of this vertex
    for (let i = begin[vertex]!; i < begin[vertex + 1]!; i++) {
      const corner = around[i]!;
      const t = (corner / 3) | 0;
      const fx = faces[3 * t]!, fy = faces[3 * t + 1]!, fz = faces[3 * t + 2]!;
      let x = 0, y = 0, z = 0;
      for (let j = begin[vertex]!; j < begin[vertex + 1]!; j++) {
        const other = (around[j]! / 3) | 0;
        const ox = faces[3 * other]!, oy = faces[3 * other + 1]!, oz = faces[3 * other + 2]!;
        if (ox * fx + oy * fy + oz * fz < crease_cos) continue;
        const weight = areas[other]!;
        x += ox * weight;
        y += oy * weight;
        z += oz * weight;
      }
      const n = Math.sqrt(x * x + y * y + z * z);
      if (n > 0) {
        x /= n;
        y /= n;
        z /= n;
      } else {
        x = fx;
        y = fy;
        z = fz;
      }
      // the same vertex with nearly the same normal is shared; a corner of a triangle without area takes any
      let same = first;
      if (areas[t]! > 0)
        while (same < made && normals[3 * same]! * x + normals[3 * same + 1]! * y + normals[3 * same + 2]! * z < 0.9995) same++;
      if (same === made) {
        made++;
        source[same] = vertex;
        normals[3 * same] = x;
        normals[3 * same + 1] = y;
        normals[3 * same + 2] = z;
      }
      out[corner] = same;
    }
  }
  const positions = new Float32Array(3 * made);
  for (let i = 0; i < made; i++)
    for (let k = 0; k < 3; k++) positions[3 * i + k] = vertices[3 * source[i]! + k]!;
  return { positions, normals: normals.slice(0, 3 * made), indices: out, source: source.slice(0, made) };
}

/** Lines where two triangles meet at more than the angle, and where a surface ends (unless `open` is false, as for a chunk
 * of several, whose border is no edge of the part). [6 n]: two points for each. */
export function edge_lines(chunk: Chunk, angle_cos = Math.cos(0.45), open = true): Float32Array {
  const { vertices, indices } = chunk;
  const { normals, areas } = face_normals(chunk);
  const vertex_count = vertices.length / 3;
  const first = new Map<number, number>(); // edge → triangle, or -1: more than two, or already drawn
  const lines: number[] = [];
  const draw = (a: number, b: number) =>
    lines.push(vertices[3 * a]!, vertices[3 * a + 1]!, vertices[3 * a + 2]!, vertices[3 * b]!, vertices[3 * b + 1]!, vertices[3 * b + 2]!);
  for (let k = 0; k < indices.length; k++) {
    const t = Math.floor(k / 3);
    const a = indices[k]!, b = indices[k % 3 === 2 ? k - 2 : k + 1]!;
    const key = a < b ? a * vertex_count + b : b * vertex_count + a;
    const other = first.get(key);
    if (other === undefined) first.set(key, t);
    else if (other >= 0) {
      first.set(key, -1);
      const cosine = normals[3 * t]! * normals[3 * other]! + normals[3 * t + 1]! * normals[3 * other + 1]! +
        normals[3 * t + 2]! * normals[3 * other + 2]!;
      if (cosine < angle_cos && areas[t]! > 0 && areas[other]! > 0) draw(a, b);
    }
  }
  if (open)
    for (const [key, t] of first) if (t >= 0) draw(Math.floor(key / vertex_count), key % vertex_count);
  return new Float32Array(lines);
}
