// Many parts of one shape, such as screws, are drawn at once: one call for all that look plain, instead of one for each. A part that is
// held, coloured, glass or under the pointer is drawn by itself. Picking draws each part by itself, too.
import { Color, InstancedBufferAttribute, InstancedMesh, LineSegments, type Group, type LineBasicMaterial, type Material, type Matrix4, type Object3D } from 'three';
import { drawn_rgb } from './colour.ts';
import type { PartObject, Shape } from './scene.ts';

const LEAST = 4; // parts of a shape: fewer are not worth it

interface Batch {
  shape: Shape;
  capacity: number;
  meshes: InstancedMesh[];
  lines: InstancedLines[];
  members: PartObject[];
  colours: number[];
}

/** lines as three.js draws instances: it looks at these fields, whatever the object is */
type InstancedLines = LineSegments & { isInstancedMesh: true; instanceMatrix: InstancedBufferAttribute; instanceColor: null; morphTexture: null; count: number };

function instanced_lines(geometry: LineSegments['geometry'], material: Material, matrices: InstancedBufferAttribute): InstancedLines {
  return Object.assign(new LineSegments(geometry, material), { isInstancedMesh: true as const, instanceMatrix: matrices, instanceColor: null, morphTexture: null, count: 0 });
}

export class Instances {
  private batches = new Map<Shape, Batch>();

  constructor(private readonly root: Object3D, private readonly material: Material, readonly line_material: LineBasicMaterial) {}

  /** how many parts are drawn with others */
  get members(): number {
    return [...this.batches.values()].reduce((sum, batch) => sum + batch.members.length, 0);
  }

  /** poses and looks are set; `colour` of a part, 0xrrggbb */
  update(objects: Iterable<PartObject>, colour: (part: number) => number, edges: boolean): void {
    const alike = new Map<Shape, PartObject[]>();
    for (const object of objects) {
      if (!object.shape || !object.plain || !object.group.visible) continue;
      const list = alike.get(object.shape);
      if (list) list.push(object);
      else alike.set(object.shape, [object]);
    }
    for (const batch of [...this.batches.values()])
      if ((alike.get(batch.shape)?.length ?? 0) < LEAST) this.drop(batch);
    const together = new Set<PartObject>();
    for (const [shape, members] of alike) {
      if (members.length < LEAST) continue;
      for (const member of members) together.add(member);
      this.fill(this.batch(shape, members.length), members, members.map(({ part }) => colour(part)), edges);
    }
    for (const object of objects) this.show_alone(object, !together.has(object));
  }

  /** layer 0 is what is seen, layer 1 what is picked */
  private show_alone(object: PartObject, alone: boolean): void {
    if (object.alone === alone) return;
    object.alone = alone;
    for (const one of [...object.meshes, ...object.lines]) {
      if (alone) one.layers.enable(0);
      else one.layers.disable(0);
    }
  }

  private batch(shape: Shape, count: number): Batch {
    const old = this.batches.get(shape);
    if (old && old.capacity >= count) return old;
    if (old) this.drop(old);
    const capacity = 2 * count;
    const meshes = shape.pieces.map(({ geometry }) => new InstancedMesh(geometry, this.material, capacity));
    for (const mesh of meshes) {
      mesh.castShadow = mesh.receiveShadow = true;
      // one set of places for all pieces of the shape
      mesh.instanceMatrix = meshes[0]!.instanceMatrix;
      mesh.instanceColor = meshes[0]!.instanceColor ??= new InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    }
    const lines = shape.pieces.flatMap((piece) => (piece.lines && meshes[0] ? [instanced_lines(piece.lines, this.line_material, meshes[0].instanceMatrix)] : []));
    for (const line of lines) line.frustumCulled = false; // its sphere is that of one
    const batch: Batch = { shape, capacity, meshes, lines, members: [], colours: [] };
    this.batches.set(shape, batch);
    this.root.add(...meshes, ...lines);
    return batch;
  }

  private fill(batch: Batch, members: PartObject[], colours: number[], edges: boolean): void {
    const first = batch.meshes[0];
    for (const line of batch.lines) line.visible = edges;
    if (!first) return;
    const places = first.instanceMatrix.array as Float32Array;
    const same = members.length === batch.members.length && members.every((member, k) => member === batch.members[k] && colours[k] === batch.colours[k]);
    let moved = !same;
    members.forEach((member, k) => {
      member.group.updateMatrix();
      if (differs(places, 16 * k, member.group)) {
        member.group.matrix.toArray(places, 16 * k);
        moved = true;
      }
    });
    if (!moved) return;
    first.instanceMatrix.needsUpdate = true;
    for (const mesh of batch.meshes) {
      mesh.count = members.length;
      mesh.boundingSphere = mesh.boundingBox = null; // where all of them are now, to leave out what is not in view
    }
    for (const line of batch.lines) line.count = members.length;
    if (same) return;
    const colour = new Color();
    colours.forEach((value, k) => colour.setRGB(...drawn_rgb(value), 'srgb').toArray(first.instanceColor!.array, 3 * k));
    first.instanceColor!.needsUpdate = true;
    batch.members = members;
    batch.colours = colours;
  }

  private drop(batch: Batch): void {
    this.batches.delete(batch.shape);
    this.root.remove(...batch.meshes, ...batch.lines);
    for (const mesh of batch.meshes) mesh.dispose(); // its places; the geometry is the shape's
  }

  /** shapes are gone: another scene, or another level */
  forget(shape: Shape): void {
    const batch = this.batches.get(shape);
    if (batch) this.drop(batch);
  }
}

function differs(places: Float32Array, at: number, group: Group): boolean {
  const { elements } = group.matrix as Matrix4;
  for (let i = 0; i < 16; i++) if (places[at + i] !== Math.fround(elements[i]!)) return true;
  return false;
}
