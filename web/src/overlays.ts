// What is drawn over the parts: hands, the ghost of what is held and the coupling to it, contacts, force and torque, voxels
// and points, the measured gap. All in the world's frame, all updated from the newest state.
import {
  ArrowHelper, BufferAttribute, BufferGeometry, BoxGeometry, Color, DynamicDrawUsage, Group, InstancedMesh, Line,
  LineBasicMaterial, LineDashedMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, Points, PointsMaterial, SphereGeometry,
  TorusGeometry, Vector3, ConeGeometry, Quaternion, type Object3D,
} from 'three';
import type { Eye } from './camera.ts';
import type { Model } from './model.ts';
import { felt, proxy_of, touches } from './felt.ts';
import { NearVoxels } from './near.ts';
import { apply } from './pose.ts';
import { look, NONE, overlay_kind, type hand_state, type message_near_voxels, type message_overlay, type message_state, type Vec3, type Wrench } from './protocol.mjs';
import { set_pose, type Stage } from './scene.ts';
import { Signal } from './signal.ts';
import type { Palette } from './theme.ts';

const MOST_CONTACTS = 1024;
const MOST_VOXELS = 16384;
export const OVERLAY_LIMIT = 60000;

interface HandObject {
  group: Group;
  ghost: Group;
  ghost_part: number;
  coupling: Line;
  force: ArrowHelper;
  torque: Group;
}

export class Overlays {
  show = { contacts: true, forces: true, ghost: true, voxels: false };
  /** voxels or points that were asked for are there, or those that were near are no more */
  readonly came = new Signal<void>();
  private hands: HandObject[] = [];
  private palette: Palette | null = null;
  private contact_points: InstancedMesh;
  private contact_lines: LineSegments;
  private near: InstancedMesh;
  private near_at = 0;
  private near_voxels = new NearVoxels();
  private gap: LineSegments;
  private gap_ends: InstancedMesh;
  private gap_at: [Vec3, Vec3] = [[0, 0, 0], [0, 0, 0]];
  private interferes = false;
  private marked: Mesh;
  private marked_at: Vec3 | null = null;
  private boxes = new Map<string, Object3D>();
  /** where the grip of a held part is, part's frame, by hand; the page's own hand knows, others start at the hand */
  readonly grips = new Map<number, Vec3>();
  /** for tests: what is visible now */
  readonly seen = { contacts: 0, force_arrow: false, torque_arrow: false, ghost: false, near_voxels: 0, gap: null as null | { from: Vec3; to: Vec3; interference: boolean }, mark: null as Vec3 | null };

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye) {
    this.contact_points = new InstancedMesh(new SphereGeometry(1, 10, 8), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }), MOST_CONTACTS);
    this.contact_points.renderOrder = 5;
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(6 * MOST_CONTACTS), 3).setUsage(DynamicDrawUsage));
    this.contact_lines = new LineSegments(geometry, new LineBasicMaterial({ depthTest: false, transparent: true }));
    this.contact_lines.renderOrder = 5;
    this.near = new InstancedMesh(new BoxGeometry(0.94, 0.94, 0.94), new MeshBasicMaterial({ transparent: true, opacity: 0.55, depthWrite: false }), MOST_VOXELS);
    const gap = new BufferGeometry();
    gap.setAttribute('position', new BufferAttribute(new Float32Array(6), 3));
    this.gap = new LineSegments(gap, new LineBasicMaterial({ depthTest: false, transparent: true }));
    this.gap.renderOrder = 6;
    this.gap.visible = false;
    // its ends: a tenth of a millimetre is less than a pixel
    this.gap_ends = new InstancedMesh(new SphereGeometry(1, 12, 8), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }), 2);
    this.gap_ends.renderOrder = 6;
    this.gap_ends.visible = false;
    this.marked = new Mesh(new TorusGeometry(1, 0.12, 8, 40), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }));
    this.marked.renderOrder = 6;
    this.marked.visible = false;
    for (const object of [this.contact_points, this.contact_lines, this.near, this.gap, this.gap_ends, this.marked]) {
      object.frustumCulled = false;
      stage.scene.add(object);
    }
    this.contact_points.count = this.near.count = 0;
    this.contact_points.visible = this.contact_lines.visible = this.near.visible = false;
    this.contact_lines.geometry.setDrawRange(0, 0);
    model.on_voxels.on((message) => this.take_voxels(message));
    model.on_scene.on(() => this.clear());
    model.on_part_gone.on((part) => {
      for (const kind of [0, 1]) this.drop(part, kind);
    });
  }

  set_palette(palette: Palette): void {
    this.palette = palette;
    (this.contact_points.material as MeshBasicMaterial).color.set(palette.contact);
    (this.contact_lines.material as LineBasicMaterial).color.set(palette.contact);
    (this.near.material as MeshBasicMaterial).color.set(palette.force);
    this.colour_gap();
    (this.marked.material as MeshBasicMaterial).color.set(palette.contact);
    for (const hand of this.hands) this.stage.scene.remove(hand.group, hand.ghost, hand.coupling, hand.force, hand.torque);
    this.hands = [];
  }

  update(): void {
    const state = this.model.state;
    if (!state || !this.palette) return;
    while (this.hands.length < state.hands.length) this.hands.push(this.make_hand());
    this.seen.force_arrow = this.seen.torque_arrow = this.seen.ghost = false;
    state.hands.forEach((hand, number) => this.update_hand(hand, number));
    this.update_contacts(state);
    const holding = state.hands.some((hand) => hand.held !== NONE);
    // what was near is near no more soon after nothing is held
    if (!this.show.voxels || (!holding && performance.now() - this.near_at > 500)) {
      if (this.near.count) this.came.emit(); // and gone
      this.near.count = 0;
      this.near_voxels.clear();
    }
    this.near.visible = this.near.count > 0;
    this.seen.near_voxels = this.near.count;
    this.place_gap();
  }

  private make_hand(): HandObject {
    const palette = this.palette!;
    const group = new Group();
    const ball = new Mesh(new SphereGeometry(0.32, 20, 14), this.stage.material({ color: palette.hand, emissive: palette.hand, emissiveIntensity: 0.35, depthTest: false, transparent: true, opacity: 0.95 }, 0.35));
    const ring = new Mesh(new TorusGeometry(1, 0.07, 8, 40), new MeshBasicMaterial({ color: palette.hand, depthTest: false, transparent: true, opacity: 0.8 }));
    ring.name = 'ring';
    group.add(ball, ring);
    const coupling = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]),
      new LineDashedMaterial({ color: palette.hand, dashSize: 1, gapSize: 0.6, depthTest: false, transparent: true }));
    coupling.frustumCulled = false;
    const force = new ArrowHelper(new Vector3(0, 0, 1), new Vector3(), 1, palette.force);
    for (const material of [force.line.material as LineBasicMaterial, force.cone.material as MeshBasicMaterial]) {
      material.depthTest = false;
      material.transparent = true;
    }
    // a shaft with a body: a line of one pixel is lost on a large screen
    const shaft = new Mesh(new BoxGeometry(1, 1, 1), force.cone.material);
    shaft.name = 'shaft';
    force.add(shaft);
    const torque = new Group();
    const arc = new Mesh(new TorusGeometry(1, 0.06, 8, 40, 1.6 * Math.PI), new MeshBasicMaterial({ color: palette.torque, depthTest: false, transparent: true }));
    const tip = new Mesh(new ConeGeometry(0.2, 0.5, 12), arc.material);
    tip.position.set(Math.cos(1.6 * Math.PI), Math.sin(1.6 * Math.PI), 0);
    tip.rotation.z = 1.6 * Math.PI;
    torque.add(arc, tip);
    const ghost = new Group();
    for (const object of [group, coupling, force, torque]) {
      object.visible = false;
      object.traverse((child) => (child.renderOrder = 7));
      this.stage.scene.add(object);
    }
    this.stage.scene.add(ghost);
    return { group, ghost, ghost_part: NONE, coupling, force, torque };
  }

  private update_hand(hand: hand_state, number: number): void {
    const object = this.hands[number]!;
    const present = (hand.bits & 1) !== 0;
    const at = hand.T_world_hand.p;
    const pixel = this.eye.pixel(at);
    object.group.visible = present;
    set_pose(object.group, hand.T_world_hand);
    object.group.scale.setScalar(pixel * (hand.held === NONE ? 9 : 11));
    const ring = object.group.getObjectByName('ring')!;
    ring.visible = hand.held !== NONE || hand.touched !== NONE;
    ring.quaternion.copy(object.group.quaternion).invert().multiply(this.eye.camera.quaternion); // faces the eye
    this.update_ghost(object, hand);
    this.update_coupling(object, hand, number);
    // a point pushes where its proxy is
    const proxy = proxy_of(this.model.state!, number);
    const pushed = hand.held !== NONE || (proxy !== null && present && touches(proxy));
    this.update_wrench(object, pushed, felt(this.model.state!, hand), proxy?.point ?? at, pixel);
  }

  private update_ghost(object: HandObject, hand: hand_state): void {
    const part = this.model.parts.get(hand.held);
    const source = this.stage.parts.get(hand.held);
    const apart = part && this.show.ghost ? distance(hand, part.T_world_part.p, part.T_world_part.q) : 0;
    const size = source?.shape ? new Vector3(...source.shape.high).sub(new Vector3(...source.shape.low)).length() : 1;
    // only when it differs: otherwise it would flicker inside the part
    const shown = Boolean(part && source?.shape && apart > 0.004 * size);
    if (hand.held !== object.ghost_part) {
      object.ghost.clear();
      object.ghost_part = hand.held;
      if (source?.shape) {
        const material = new MeshBasicMaterial({ color: this.palette!.ghost, transparent: true, opacity: 0.16, depthWrite: false });
        const lines = new LineBasicMaterial({ color: this.palette!.ghost, transparent: true, opacity: 0.5 });
        for (const piece of source.shape.pieces) {
          object.ghost.add(new Mesh(piece.geometry, material));
          if (piece.lines) object.ghost.add(new LineSegments(piece.lines, lines));
        }
      }
    }
    object.ghost.visible = shown;
    if (shown) {
      this.seen.ghost = true;
      set_pose(object.ghost, hand.T_world_ghost);
    }
  }

  private update_coupling(object: HandObject, hand: hand_state, number: number): void {
    const part = this.model.parts.get(hand.held);
    object.coupling.visible = Boolean(part);
    if (!part) return;
    const grip = this.grips.get(number);
    const from = grip ? apply(part.T_world_part, grip) : part.T_world_part.p;
    const to = hand.T_world_hand.p;
    const positions = object.coupling.geometry.getAttribute('position') as BufferAttribute;
    positions.setXYZ(0, from[0], from[1], from[2]);
    positions.setXYZ(1, to[0], to[1], to[2]);
    positions.needsUpdate = true;
    const material = object.coupling.material as LineDashedMaterial;
    material.dashSize = 6 * this.eye.pixel(to);
    material.gapSize = 4 * this.eye.pixel(to);
    object.coupling.computeLineDistances();
  }

  private update_wrench(object: HandObject, pushed: boolean, wrench: Wrench, at: Vec3, pixel: number): void {
    const force = new Vector3(...wrench.force);
    const newtons = force.length();
    // by the square root: small forces can be seen, large ones fit
    object.force.visible = this.show.forces && pushed && newtons > 0.02;
    if (object.force.visible) {
      this.seen.force_arrow = true;
      const length = pixel * Math.min(200, 26 + 34 * Math.sqrt(newtons));
      object.force.position.set(...at);
      object.force.setDirection(force.normalize());
      object.force.setLength(length, 14 * pixel, 9 * pixel);
      const shaft = object.force.getObjectByName('shaft')!;
      shaft.scale.set(2.6 * pixel, length - 12 * pixel, 2.6 * pixel);
      shaft.position.set(0, (length - 12 * pixel) / 2, 0);
    }
    const torque = new Vector3(...wrench.torque);
    const amount = torque.length();
    object.torque.visible = this.show.forces && pushed && amount > 0.005;
    if (object.torque.visible) {
      this.seen.torque_arrow = true;
      object.torque.position.set(...at);
      object.torque.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), torque.normalize()));
      object.torque.scale.setScalar(pixel * Math.min(90, 18 + 60 * Math.sqrt(amount)));
    }
  }

  private update_contacts(state: message_state): void {
    const count = this.show.contacts ? Math.min(state.contacts.length, MOST_CONTACTS) : 0;
    const matrix = new Matrix4();
    const ends = this.contact_lines.geometry.getAttribute('position') as BufferAttribute;
    const array = ends.array as Float32Array;
    for (let i = 0; i < count; i++) {
      const { point, force } = state.contacts[i]!;
      const pixel = this.eye.pixel(point);
      const newtons = Math.hypot(...force);
      const length = newtons > 0 ? (pixel * Math.min(60, 10 + 16 * Math.sqrt(newtons))) / newtons : 0;
      matrix.makeScale(2.6 * pixel, 2.6 * pixel, 2.6 * pixel).setPosition(...point);
      this.contact_points.setMatrixAt(i, matrix);
      array.set(point, 6 * i);
      for (let k = 0; k < 3; k++) array[6 * i + 3 + k] = point[k]! + force[k]! * length;
    }
    this.contact_points.count = count;
    // what is empty needs no shader yet, which takes long to build without a graphics card
    this.contact_points.visible = this.contact_lines.visible = count > 0;
    this.contact_points.instanceMatrix.needsUpdate = true;
    this.contact_lines.geometry.setDrawRange(0, this.show.forces ? 2 * count : 0);
    ends.needsUpdate = true;
    this.seen.contacts = count;
  }

  private take_voxels(message: message_near_voxels): void {
    this.near_voxels.take(message);
    this.near_at = performance.now();
    if (this.show.voxels) this.draw_voxels();
  }

  private draw_voxels(): void {
    const turned = new Matrix4();
    let count = 0;
    for (const { part, size, centres } of this.near_voxels.all()) {
      const object = this.stage.parts.get(part);
      if (!object) continue;
      object.group.updateMatrixWorld();
      for (let i = 0; i + 2 < centres.length && count < MOST_VOXELS; i += 3) {
        turned.makeScale(size, size, size).setPosition(centres[i]!, centres[i + 1]!, centres[i + 2]!).premultiply(object.group.matrixWorld);
        this.near.setMatrixAt(count++, turned);
      }
    }
    this.near.count = count;
    this.near.instanceMatrix.needsUpdate = true;
  }

  /** the gap that was measured: its two nearest points and a line; red where parts interfere */
  set_gap(from: Vec3, to: Vec3, interferes: boolean): void {
    const positions = this.gap.geometry.getAttribute('position') as BufferAttribute;
    positions.setXYZ(0, ...from);
    positions.setXYZ(1, ...to);
    positions.needsUpdate = true;
    this.gap_at = [from, to];
    this.gap.visible = this.gap_ends.visible = true;
    if (interferes !== this.interferes) {
      this.interferes = interferes;
      this.colour_gap();
    }
  }

  hide_gap(): void {
    this.gap.visible = this.gap_ends.visible = false;
  }

  /** a ring around a place; null: none */
  mark(at: Vec3 | null): void {
    this.marked_at = at;
  }

  private colour_gap(): void {
    if (!this.palette) return;
    const colour = this.interferes ? this.palette.contact : this.palette.torque;
    (this.gap.material as LineBasicMaterial).color.set(colour);
    (this.gap_ends.material as MeshBasicMaterial).color.set(colour);
  }

  private place_gap(): void {
    const matrix = new Matrix4();
    this.gap_at.forEach((at, k) => {
      const size = 3.2 * this.eye.pixel(at);
      this.gap_ends.setMatrixAt(k, matrix.makeScale(size, size, size).setPosition(...at));
    });
    this.gap_ends.instanceMatrix.needsUpdate = true;
    // in an exploded view nothing is drawn where it is measured
    for (const { material } of [this.gap, this.gap_ends]) (material as LineBasicMaterial).visible = this.stage.explode === 0;
    this.marked.visible = this.marked_at !== null;
    if (this.marked_at) {
      this.marked.position.set(...this.marked_at);
      this.marked.scale.setScalar(16 * this.eye.pixel(this.marked_at));
      this.marked.quaternion.copy(this.eye.camera.quaternion); // faces the eye
    }
    this.seen.gap = this.gap.visible ? { from: this.gap_at[0], to: this.gap_at[1], interference: this.interferes } : null;
    this.seen.mark = this.marked_at;
  }

  /** voxels or points of a part, as the controller gives them; they move with it */
  async ask_overlay(part: number, kind: number): Promise<message_overlay | null> {
    this.drop(part, kind);
    const pieces: message_overlay[] = [];
    await this.model.connection.ask('overlay_ask', { part, kind, limit: OVERLAY_LIMIT }, (piece) => {
      if (piece.name === 'overlay') pieces.push(piece.body);
    });
    const first = pieces[0];
    const object = this.stage.parts.get(part);
    if (!first || !object) return null;
    const count = pieces.reduce((sum, piece) => sum + piece.positions.length / 3, 0);
    const made = kind === overlay_kind.OVERLAY_VOXELS ? this.make_voxels(pieces, count, first.size) : this.make_points(pieces, count);
    made.name = `overlay${kind}`;
    object.group.add(made);
    this.boxes.set(`${part} ${kind}`, made);
    this.came.emit(); // long after the click that asked, maybe
    return first;
  }

  has(part: number, kind: number): boolean {
    return this.boxes.has(`${part} ${kind}`);
  }

  drop(part: number, kind: number): void {
    const key = `${part} ${kind}`;
    const made = this.boxes.get(key);
    made?.removeFromParent();
    if (made && 'geometry' in made) (made.geometry as BufferGeometry).dispose();
    this.boxes.delete(key);
  }

  private make_voxels(pieces: message_overlay[], count: number, size: number): Object3D {
    const boxes = new InstancedMesh(new BoxGeometry(0.96 * size, 0.96 * size, 0.96 * size),
      this.stage.material({ color: 0x7fb2e5, transparent: true, opacity: 0.85 }, 0.8), count);
    const matrix = new Matrix4();
    let number = 0;
    for (const { positions } of pieces)
      for (let i = 0; i + 2 < positions.length; i += 3)
        boxes.setMatrixAt(number++, matrix.makeTranslation(positions[i]!, positions[i + 1]!, positions[i + 2]!));
    boxes.frustumCulled = false;
    return boxes;
  }

  private make_points(pieces: message_overlay[], count: number): Object3D {
    const positions = new Float32Array(3 * count);
    const colours = new Float32Array(3 * count);
    // vertex, edge, face
    const of = [new Color(0xff5b5b), new Color(0xffc24d), new Color(0x6fd3ff)];
    let at = 0;
    for (const piece of pieces) {
      positions.set(piece.positions, at);
      for (let i = 0; i < piece.positions.length / 3; i++) of[Math.min(2, piece.features[i] ?? 2)]!.toArray(colours, at + 3 * i);
      at += piece.positions.length;
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setAttribute('color', new BufferAttribute(colours, 3));
    return new Points(geometry, new PointsMaterial({ size: 2.5, sizeAttenuation: false, vertexColors: true }));
  }

  private clear(): void {
    for (const key of [...this.boxes.keys()]) {
      const [part, kind] = key.split(' ').map(Number);
      this.drop(part!, kind!);
    }
    this.near.count = 0;
    this.near_voxels.clear();
    this.hide_gap();
    this.marked_at = null;
    for (const hand of this.hands) {
      hand.ghost.clear();
      hand.ghost_part = NONE;
    }
  }

  colliding(): number[] {
    return [...this.model.parts.values()].filter((part) => part.look === look.LOOK_COLLIDING).map((part) => part.part);
  }
}

/** how far ghost and part are apart; a turn counts as the way of a point a tenth of a metre away */
function distance(hand: hand_state, p: Vec3, q: readonly number[]): number {
  const ghost = hand.T_world_ghost;
  const moved = Math.hypot(ghost.p[0] - p[0], ghost.p[1] - p[1], ghost.p[2] - p[2]);
  const cosine = Math.min(1, Math.abs(ghost.q.reduce((sum, value, k) => sum + value * q[k]!, 0)));
  return moved + 0.1 * 2 * Math.acos(cosine);
}
