// The parts as three.js objects: geometry, materials, looks, the section plane, light and ground. Poses come from the newest
// state when a picture is drawn, not when a message arrives.
import {
  BufferAttribute, BufferGeometry, Box3, Color, DirectionalLight, DoubleSide, Fog, GridHelper, Group, HemisphereLight, LineBasicMaterial,
  LineSegments, Mesh, MeshLambertMaterial, MeshStandardMaterial, NeutralToneMapping, PCFSoftShadowMap, PerspectiveCamera, PMREMGenerator, Plane, Quaternion, Scene,
  Sphere, Vector3, WebGLRenderer, type MeshLambertMaterialParameters, type MeshStandardMaterialParameters, type WebGLProgramParametersWithUniforms,
} from 'three';
import { RoomEnvironment } from 'three/examples/jsm/environments/RoomEnvironment.js';
import { drawn_rgb, near_table } from './colour.ts';
import { explosion } from './explode.ts';
import { Instances } from './instances.ts';
import { edge_lines, shade, type Chunk } from './meshes.ts';
import { look, part_kind, part_use, type message_proximity, type Pose, type Vec3 } from './protocol.mjs';
import type { Model, Part } from './model.ts';
import { Patches } from './patches.ts';
import type { Palette } from './theme.ts';

/** lines of edges are left out of chunks beyond this: they would be black */
const MOST_EDGES = 60000;

const LEAST_SHARPNESS = 0.3;

/** how surfaces of parts are drawn */
const SURFACE = { side: DoubleSide, fog: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };

/** auto: fine, unless there is no graphics card */
export type Quality = 'auto' | 'high' | 'low';

/** one level of a mesh, ready to be drawn; shared by all parts that have it */
export interface Shape {
  mesh: number;
  level: number;
  triangles: number;
  pieces: { geometry: BufferGeometry; lines: BufferGeometry | null; source: Uint32Array; first: number }[];
  low: [number, number, number];
  high: [number, number, number];
}

export interface PartObject {
  part: number;
  group: Group;
  material: MeshStandardMaterial | MeshLambertMaterial;
  shape: Shape | null;
  meshes: Mesh[];
  lines: LineSegments[];
  coloured: boolean;
  look: number;
  /** colour of somebody else who holds it; -1: nobody */
  guest: number;
  /** drawn as any other of its shape: neither held nor coloured nor glass */
  plain: boolean;
  /** drawn by itself, not with others of its shape */
  alone: boolean;
  /** 1: it is fixed and touched, and shows where */
  patched: { value: number };
}

/** the box and a sphere around it, which culling needs; the sphere is not the smallest */
function bound(geometry: BufferGeometry, positions: Float32Array): void {
  const low: Vec3 = [Infinity, Infinity, Infinity], high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i += 3)
    for (let k = 0; k < 3; k++) {
      const value = positions[i + k]!;
      if (value < low[k]!) low[k] = value;
      if (value > high[k]!) high[k] = value;
    }
  geometry.boundingBox = new Box3(new Vector3(...low), new Vector3(...high));
  geometry.boundingSphere = geometry.boundingBox.getBoundingSphere(new Sphere());
}

export function build_shape(mesh: number, level: number, chunks: Chunk[], low: [number, number, number], high: [number, number, number]): Shape {
  let triangles = 0;
  const pieces = chunks.map((chunk) => {
    triangles += chunk.indices.length / 3;
    const shaded = shade(chunk);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(shaded.positions, 3));
    geometry.setAttribute('normal', new BufferAttribute(shaded.normals, 3));
    geometry.setIndex(new BufferAttribute(shaded.indices, 1));
    bound(geometry, shaded.positions);
    let lines: BufferGeometry | null = null;
    // a coarser level has creases that the part does not have
    if (level === 0 && chunk.indices.length / 3 <= 150000) {
      const edges = edge_lines(chunk, Math.cos(0.5), chunks.length === 1);
      if (edges.length && edges.length / 6 <= MOST_EDGES) {
        lines = new BufferGeometry();
        lines.setAttribute('position', new BufferAttribute(edges, 3));
      }
    }
    return { geometry, lines, source: shaded.source, first: chunk.first };
  });
  return { mesh, level, triangles, pieces, low, high };
}

export class Stage {
  readonly scene = new Scene();
  /** parts are drawn away from the middle, by so many times how far they are from it; 0: where they are */
  explode = 0;
  readonly parts = new Map<number, PartObject>();
  readonly shapes = new Map<number, Shape>();
  /** everything but parts: overlays add themselves here */
  readonly renderer: WebGLRenderer;
  /** WebGL without a graphics card: shadows and fine pixels are left out */
  readonly software: boolean;
  readonly section = { on: false, axis: 2 as 0 | 1 | 2, flip: false, at: 0.5 };
  /** what is outside of it is not drawn; shares of the box around everything */
  readonly box = { on: false, low: [0, 0, 0] as Vec3, high: [1, 1, 1] as Vec3 };
  /** drawn over everything, and never cut: handles of the section */
  readonly over = new Scene();
  /** the box around everything when the section was placed: its sides are shares of this */
  section_bounds = new Box3();
  show_edges = true;
  private plane = new Plane(new Vector3(0, 0, -1), 0);
  private cut = { value: 0 };
  /** touched areas of fixed parts */
  readonly patches = new Patches(new Color(0xff4d4d));
  private cut_colour = { value: new Color(0xc9844a) };
  private key = new DirectionalLight(0xffffff, 1.6);
  private sky = new HemisphereLight(0xffffff, 0x8890a0, 0.35);
  private grid: GridHelper | null = null;
  private line_material = new LineBasicMaterial({ color: 0x10151c, transparent: true, opacity: 0.55, fog: false });
  /** parts of one shape, drawn at once */
  readonly instances: Instances;
  private palette: Palette | null = null;
  private size = 1;
  private full_ratio = 1;
  private sharpness = 1; // share of the pixels in each direction while things move
  private drawn_sharpness = 1;
  private slow = 20; // milliseconds, running mean
  /** parts that a person has hidden */
  private hidden = new Set<number>();

  constructor(canvas: HTMLCanvasElement, private readonly model: Model, private readonly quality: Quality) {
    this.software = quality === 'low' || (quality === 'auto' && /swiftshader|llvmpipe|software/i.test(device_name()));
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, powerPreference: 'high-performance' });
    this.renderer.toneMapping = NeutralToneMapping;
    // asking whether a shader is right waits for all that the graphics card has to do, for other pages, too
    this.renderer.debug.checkShaderErrors = false;
    this.full_ratio = this.software ? 1 : Math.min(2, window.devicePixelRatio);
    this.renderer.setPixelRatio(this.full_ratio);
    this.renderer.shadowMap.enabled = !this.software;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    if (this.software) this.sky.intensity = 1.5;
    else {
      const room = new PMREMGenerator(this.renderer);
      this.scene.environment = room.fromScene(new RoomEnvironment(), 0.04).texture;
      this.scene.environmentIntensity = 0.55;
      // the room is made for y up
      this.scene.environmentRotation.set(Math.PI / 2, 0, 0);
      room.dispose();
    }
    const alike = this.material(SURFACE, 0.55, 0.12);
    alike.onBeforeCompile = (shader) => this.add_cut(shader);
    this.instances = new Instances(this.scene, alike, this.line_material.clone());
    this.scene.fog = new Fog(0, 1, 2); // for the ground only: it ends in the distance
    this.scene.add(this.key, this.key.target, this.sky);
    this.sky.position.set(0, 0, 1);
    model.on_scene.on(() => this.clear());
    model.on_part.on((part) => this.put(part));
    model.on_part_gone.on((part) => this.remove(part));
    model.on_proximity.on((message) => this.colour(message));
  }

  /** the box around all parts where they are now */
  bounds(): Box3 {
    const box = new Box3();
    for (const object of this.parts.values()) {
      if (!object.shape || !object.group.visible) continue;
      object.group.updateMatrixWorld();
      box.union(new Box3(new Vector3(...object.shape.low), new Vector3(...object.shape.high)).applyMatrix4(object.group.matrixWorld));
    }
    if (box.isEmpty() && this.model.scene)
      box.set(new Vector3(...this.model.scene.low), new Vector3(...this.model.scene.high));
    if (box.isEmpty()) box.set(new Vector3(-0.1, -0.1, -0.1), new Vector3(0.1, 0.1, 0.1));
    return box;
  }

  part_bounds(part: number): Box3 | null {
    const object = this.parts.get(part);
    if (!object?.shape) return null;
    object.group.updateMatrixWorld();
    return new Box3(new Vector3(...object.shape.low), new Vector3(...object.shape.high)).applyMatrix4(object.group.matrixWorld);
  }

  /** levels of a mesh replace each other: only finer ones, unless there is none */
  add_shape(shape: Shape): void {
    const old = this.shapes.get(shape.mesh);
    this.shapes.set(shape.mesh, shape);
    for (const part of this.model.parts.values()) if (part.mesh === shape.mesh) this.put(part);
    if (old) this.instances.forget(old);
    if (old) for (const piece of old.pieces) {
      piece.geometry.dispose();
      piece.lines?.dispose();
    }
    this.place_light();
  }

  /** A picture took so long: while things move, fewer pixels keep them moving. */
  pace(milliseconds: number): void {
    if (this.quality === 'high') return;
    this.slow = 0.8 * this.slow + 0.2 * milliseconds;
    if (this.slow > 40 && this.sharpness > LEAST_SHARPNESS) this.set_sharpness(Math.max(LEAST_SHARPNESS, this.sharpness * 0.8));
    else if (this.slow < 18 && this.sharpness < 1) this.set_sharpness(Math.min(1, this.sharpness * 1.25));
  }

  /** all stands still: every pixel counts again; gives whether there is something to draw for that */
  sharpen(): boolean {
    if (this.drawn_sharpness === 1) return false;
    this.apply_sharpness(1);
    return true;
  }

  /** before a picture of something that moves */
  soften(): void {
    this.apply_sharpness(this.sharpness);
  }

  private set_sharpness(share: number): void {
    this.sharpness = share;
    this.slow = 30; // a new size is given time to show what it brings
  }

  private apply_sharpness(share: number): void {
    if (share === this.drawn_sharpness) return;
    this.drawn_sharpness = share;
    this.renderer.setPixelRatio(this.full_ratio * share);
  }

  get triangles(): number {
    let sum = 0;
    for (const object of this.parts.values()) sum += object.shape?.triangles ?? 0;
    return sum;
  }

  private clear(): void {
    for (const part of [...this.parts.keys()]) this.remove(part);
    for (const shape of this.shapes.values()) {
      this.instances.forget(shape);
      for (const piece of shape.pieces) {
        piece.geometry.dispose();
        piece.lines?.dispose();
      }
    }
    this.shapes.clear();
    this.hidden.clear();
  }

  /** of a surface: plain where there is no graphics card */
  material(common: MeshLambertMaterialParameters & MeshStandardMaterialParameters, roughness: number, metalness = 0): MeshStandardMaterial | MeshLambertMaterial {
    return this.software ? new MeshLambertMaterial(common) : new MeshStandardMaterial({ ...common, roughness, metalness });
  }

  private put(part: Part): void {
    const shape = this.shapes.get(part.mesh) ?? null;
    let object = this.parts.get(part.part);
    if (!object) {
      const material = this.material(SURFACE, 0.55, 0.12);
      const patched = { value: 0 };
      material.onBeforeCompile = (shader) => {
        this.add_cut(shader);
        this.patches.add(shader, patched);
      };
      const group = new Group();
      group.matrixAutoUpdate = true;
      object = { part: part.part, group, material, shape: null, meshes: [], lines: [], coloured: false, look: -1, guest: -1, plain: false, alone: true, patched };
      this.parts.set(part.part, object);
      this.scene.add(group);
    }
    set_pose(object.group, part.T_world_part);
    if (object.shape !== shape) {
      object.group.clear();
      object.shape = shape;
      object.coloured = false;
      object.meshes = (shape?.pieces ?? []).map((piece) => {
        const mesh = new Mesh(piece.geometry, object.material);
        mesh.userData.part = part.part;
        mesh.layers.enable(1); // what a pointer can pick
        mesh.castShadow = mesh.receiveShadow = true;
        return mesh;
      });
      object.lines = (shape?.pieces ?? []).flatMap((piece) => (piece.lines ? [new LineSegments(piece.lines, this.line_material)] : []));
      for (const lines of object.lines) lines.visible = this.show_edges;
      if (object.meshes.length) object.group.add(...object.meshes);
      if (object.lines.length) object.group.add(...object.lines);
      object.look = -1;
      object.alone = true;
    }
    object.group.visible = !this.hidden.has(part.part);
  }

  private remove(part: number): void {
    const object = this.parts.get(part);
    if (!object) return;
    this.scene.remove(object.group);
    object.material.dispose();
    this.parts.delete(part);
  }

  set_visible(part: number, visible: boolean): void {
    if (visible) this.hidden.delete(part);
    else this.hidden.add(part);
    const object = this.parts.get(part);
    if (object) object.group.visible = visible;
  }

  is_visible(part: number): boolean {
    return !this.hidden.has(part);
  }

  set_edges(show: boolean): void {
    this.show_edges = show;
    for (const object of this.parts.values()) for (const lines of object.lines) lines.visible = show;
  }

  /** by how much a part is drawn elsewhere than where it is */
  offset(part: number): Vec3 {
    const known = this.model.parts.get(part), shape = this.parts.get(part)?.shape, scene = this.model.scene;
    if (!known || !shape || !scene || this.explode === 0) return [0, 0, 0];
    const centre = scene.low.map((value, k) => (value + scene.high[k]!) / 2) as Vec3;
    return explosion(known.T_world_part, shape.low, shape.high, centre, this.explode);
  }

  /** poses and looks of the newest state; `touched` by points; the eye's distance tells where the ground fades */
  update(hover: number, touched: ReadonlySet<number>, distance: number): void {
    const fog = this.scene.fog as Fog;
    fog.near = distance;
    fog.far = distance + 1.1 * this.size;
    for (const object of this.parts.values()) {
      const part = this.model.parts.get(object.part);
      if (!part) continue;
      set_pose(object.group, part.T_world_part);
      if (this.explode > 0) object.group.position.add(new Vector3(...this.offset(object.part)));
      // the page sees the pointer before the controller does: ready shows at once
      let shown = part.look;
      if (shown === look.LOOK_PLAIN && hover === object.part) shown = look.LOOK_READY;
      else if (shown === look.LOOK_PLAIN && touched.has(object.part)) shown = look.LOOK_HELD;
      const held = this.model.holder(object.part) >= 0;
      if (object.coloured && !held) this.uncolour(object);
      this.paint(object, part, shown);
      object.plain = shown === look.LOOK_PLAIN && !object.coloured && object.guest < 0 && part.ready && part.use === part_use.PART_USE_SOLID;
    }
    this.instances.update([...this.parts.values()], (part) => this.model.parts.get(part)?.colour ?? 0, this.show_edges);
  }

  private paint(object: PartObject, part: Part, shown: number): void {
    const key = shown + (object.coloured ? 8 : 0) + (part.ready ? 0 : 16) + part.use * 32 + part.colour * 128;
    const guest = this.model.guest(object.part)?.colour ?? -1;
    if ((object.look === key && object.guest === guest) || !this.palette) return;
    object.look = key;
    object.guest = guest;
    const own = new Color().setRGB(...drawn_rgb(part.colour), 'srgb');
    const { ready, held, colliding } = this.palette;
    const material = object.material;
    material.emissive.setRGB(0, 0, 0);
    // of a fixed part only the touched area turns red
    const fixed = part.kind === part_kind.PART_STATIC;
    object.patched.value = fixed && shown === look.LOOK_COLLIDING ? 1 : 0;
    const tint = object.patched.value ? null : shown === look.LOOK_COLLIDING ? colliding : shown === look.LOOK_READY ? ready : shown === look.LOOK_HELD ? held : null;
    if (object.coloured) {
      // proximity colours say how near; the look is a glow over them
      material.color.set(0xffffff);
      if (tint && shown === look.LOOK_COLLIDING) {
        material.color.lerp(new Color(tint), 0.8);
        material.emissive.set(tint).multiplyScalar(0.3);
      }
    } else {
      material.color.copy(own);
      if (tint) {
        material.color.lerp(new Color(tint), fixed ? 0.16 : shown === look.LOOK_HELD ? 0.3 : 0.72);
        material.emissive.set(tint).multiplyScalar(fixed ? 0.03 : 0.12);
      }
    }
    // somebody else has it in hand: it glows in their colour, whatever else it shows
    if (guest >= 0) {
      if (shown !== look.LOOK_COLLIDING) material.color.lerp(new Color(guest), 0.45);
      material.emissive.lerp(new Color(guest), 0.35);
    }
    // without voxels it takes part in nothing yet: shown as glass, as is what others pass through, and a zone
    const glass = !part.ready || part.use !== part_use.PART_USE_SOLID;
    material.transparent = glass;
    material.opacity = glass ? 0.45 : 1;
    material.depthWrite = part.use !== part_use.PART_USE_KEEP_OUT;
    // back faces first, then front faces: twice the work, which a processor that draws cannot spare
    material.forceSinglePass = this.software;
    material.vertexColors = object.coloured;
    material.needsUpdate = true;
  }

  private colour(message: message_proximity): void {
    const object = this.parts.get(message.part);
    const part = this.model.parts.get(message.part);
    if (!object?.shape || !part || object.shape.level !== 0 || this.model.holder(message.part) < 0) return;
    const table = near_table(drawn_rgb(part.colour));
    const greatest = message.greatest > 0 ? message.greatest : 1;
    const last = message.first_vertex + message.distances.length;
    object.shape.pieces.forEach((piece, number) => {
      const geometry = object.meshes[number]!.geometry;
      let colours = geometry.getAttribute('color') as BufferAttribute | undefined;
      if (!colours) {
        colours = new BufferAttribute(new Float32Array(3 * piece.source.length), 3);
        const far = table.subarray(255 * 3, 256 * 3);
        for (let i = 0; i < piece.source.length; i++) (colours.array as Float32Array).set(far, 3 * i);
        geometry.setAttribute('color', colours);
      }
      const array = colours.array as Float32Array;
      for (let i = 0; i < piece.source.length; i++) {
        const vertex = piece.first + piece.source[i]!;
        if (vertex < message.first_vertex || vertex >= last) continue;
        const share = message.distances[vertex - message.first_vertex]! / greatest;
        const entry = 3 * Math.min(255, Math.max(0, Math.round(share * 255)));
        array[3 * i] = table[entry]!;
        array[3 * i + 1] = table[entry + 1]!;
        array[3 * i + 2] = table[entry + 2]!;
      }
      colours.needsUpdate = true;
    });
    object.coloured = true;
  }

  uncolour(object: PartObject): void {
    object.coloured = false;
    object.look = -1;
  }

  uncolour_all(): void {
    for (const object of this.parts.values()) if (object.coloured) this.uncolour(object);
  }

  /** back faces that a section lays open are painted flat, so that solid parts look cut and not hollow */
  private add_cut(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms['cut'] = this.cut;
    shader.uniforms['cut_colour'] = this.cut_colour;
    shader.fragmentShader = shader.fragmentShader
      .replace('void main() {', 'uniform float cut;\nuniform vec3 cut_colour;\nvoid main() {')
      .replace('#include <opaque_fragment>',
        'if (cut > 0.5 && !gl_FrontFacing) outgoingLight = cut_colour;\n#include <opaque_fragment>');
  }

  /** a picture: the scene, then what is over it */
  draw(camera: PerspectiveCamera): void {
    const { renderer } = this;
    renderer.render(this.scene, camera);
    if (!this.over.visible || !this.over.children.length) return;
    const { clippingPlanes } = renderer;
    renderer.clippingPlanes = [];
    renderer.autoClear = renderer.info.autoReset = false;
    renderer.render(this.over, camera);
    renderer.autoClear = renderer.info.autoReset = true;
    renderer.clippingPlanes = clippingPlanes;
  }

  /** puts the plane in its place, and says where on its axis that is */
  update_section(): number {
    const box = this.section_bounds = this.bounds();
    const { axis, flip, at, on } = this.section;
    const low = box.min.getComponent(axis), high = box.max.getComponent(axis);
    const sign = flip ? 1 : -1;
    this.plane.normal.set(0, 0, 0).setComponent(axis, sign);
    const where = low + at * (high - low);
    this.plane.constant = -sign * where;
    this.renderer.clippingPlanes = [...(on ? [this.plane] : []), ...(this.box.on ? box_planes(box, this.box.low, this.box.high) : [])];
    this.cut.value = on || this.box.on ? 1 : 0;
    return where;
  }

  /** light and ground follow the size of the scene */
  place_light(): void {
    const box = this.bounds();
    const size = box.getSize(new Vector3()).length();
    const centre = box.getCenter(new Vector3());
    this.size = size;
    this.key.position.set(centre.x - 0.45 * size, centre.y - 0.7 * size, centre.z + 1.1 * size);
    this.key.target.position.copy(centre);
    this.key.castShadow = true;
    const shadow = this.key.shadow;
    shadow.mapSize.set(2048, 2048);
    Object.assign(shadow.camera, { left: -0.6 * size, right: 0.6 * size, top: 0.6 * size, bottom: -0.6 * size, near: 0.1 * size, far: 3 * size });
    shadow.camera.updateProjectionMatrix();
    shadow.normalBias = 0.002 * size;
    shadow.bias = -0.0004;
    shadow.radius = 6;
    if (this.grid) {
      this.scene.remove(this.grid);
      this.grid.dispose();
    }
    // squares of 1, 2 or 5 times a power of ten
    const raw = size / 14;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * (raw / power >= 5 ? 5 : raw / power >= 2 ? 2 : 1);
    const count = 2 * Math.ceil((1.2 * size) / step);
    const colour = this.palette?.grid ?? 0x888888;
    this.grid = new GridHelper(count * step, count, colour, colour);
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.set(Math.round(centre.x / step) * step, Math.round(centre.y / step) * step, box.min.z - 0.002 * size);
    const material = this.grid.material;
    material.transparent = true;
    material.opacity = 0.32;
    material.depthWrite = false;
    this.scene.add(this.grid);
  }

  set_palette(palette: Palette): void {
    this.palette = palette;
    this.scene.background = new Color(palette.background);
    this.scene.fog!.color.set(palette.background);
    for (const material of [this.line_material, this.instances.line_material]) {
      material.color.set(palette.edge);
      material.opacity = palette.edge_opacity;
    }
    this.cut_colour.value.set(palette.cut);
    for (const object of this.parts.values()) object.look = -1;
    this.place_light();
  }
}

/** what draws; asked of a context that is thrown away, since the choice of antialiasing comes before the real one */
function device_name(): string {
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return name;
}

/** the six sides of a part of a box, which keep what is inside */
function box_planes(box: Box3, low: Vec3, high: Vec3): Plane[] {
  const planes: Plane[] = [];
  for (let axis = 0; axis < 3; axis++) {
    const from = box.min.getComponent(axis), size = box.max.getComponent(axis) - from;
    // a side at the end cuts nothing, also when parts are moved beyond
    if (low[axis]! > 0) planes.push(new Plane(new Vector3().setComponent(axis, 1), -(from + low[axis]! * size)));
    if (high[axis]! < 1) planes.push(new Plane(new Vector3().setComponent(axis, -1), from + high[axis]! * size));
  }
  return planes;
}

const quaternion = new Quaternion();

export function set_pose(object: { position: Vector3; quaternion: Quaternion }, pose: Pose): void {
  object.position.set(...pose.p);
  object.quaternion.copy(quaternion.set(pose.q[1], pose.q[2], pose.q[3], pose.q[0]));
}
