// Handles of the section in the view: an arrow on the plane, one on each side of the box. Dragging one moves the slider that stands for it, so
// that both say the same.
import { BufferAttribute, BufferGeometry, ConeGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, Vector3 } from 'three';
import type { Eye } from './camera.ts';
import { by_id } from './dom.ts';
import type { Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';

const COLOURS = [0xe5534b, 0x57ab5a, 0x539bf5]; // x, y, z
const REACH_PIXELS = 16;
const FINGER_PIXELS = 28;
const SIZE_PIXELS = 9;

interface Handle {
  slider: string; // id
  axis: number;
  arrow: Group;
}

export class SectionHandles {
  private handles: Handle[] = [];
  private lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: 0x8aa2bd, depthTest: false, transparent: true, opacity: 0.75 }));
  private dragged: { handle: Handle; pointer: number; offset: number } | null = null;
  private drawn = '';

  constructor(private readonly canvas: HTMLCanvasElement, private readonly stage: Stage, private readonly eye: Eye) {
    this.lines.frustumCulled = false;
    stage.over.add(this.lines);
    this.add('section-at', 2);
    for (let axis = 0; axis < 3; axis++) for (const side of ['low', 'high']) this.add(`box-${side}-${'xyz'[axis]}`, axis);
    canvas.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event), { capture: true });
    for (const name of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(name, (event) => this.lift(event), { capture: true });
  }

  /** where the handles are on the page, by the id of their slider */
  get places(): Record<string, { x: number; y: number }> {
    return Object.fromEntries(this.placed().map((handle) => [handle.slider, this.eye.project(handle.arrow.position.toArray() as Vec3)]));
  }

  /** at every look */
  update(): void {
    const { section, box, section_bounds: bounds, over } = this.stage;
    const shown = new Set(this.shown());
    over.visible = shown.size > 0;
    for (const handle of this.handles) handle.arrow.visible = shown.has(handle);
    if (!over.visible) return;
    const size = bounds.getSize(new Vector3());
    for (const handle of shown) {
      if (handle.slider === 'section-at') this.turn(handle, section.axis);
      // in the middle of what the plane, or the side, cuts
      const middle = [0, 1, 2].map((k) => (box.on ? (box.low[k]! + box.high[k]!) / 2 : 0.5));
      middle[handle.axis] = this.share(handle);
      handle.arrow.position.copy(bounds.min).add(new Vector3(...middle).multiply(size));
      handle.arrow.scale.setScalar(SIZE_PIXELS * this.eye.pixel(handle.arrow.position.toArray() as Vec3));
    }
    this.outline();
  }

  private add(slider: string, axis: number): void {
    const arrow = new Group();
    const material = new MeshBasicMaterial({ depthTest: false, transparent: true });
    for (const up of [1, -1]) {
      const cone = new Mesh(new ConeGeometry(0.62, 1.3, 16), material);
      cone.position.y = 0.85 * up;
      if (up < 0) cone.rotation.x = Math.PI;
      cone.renderOrder = 2;
      arrow.add(cone);
    }
    arrow.visible = false; // until it has its place
    const handle: Handle = { slider, axis: -1, arrow };
    this.turn(handle, axis);
    this.handles.push(handle);
    this.stage.over.add(arrow);
  }

  private turn(handle: Handle, axis: number): void {
    if (handle.axis === axis) return;
    handle.axis = axis;
    handle.arrow.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), direction(axis));
    for (const cone of handle.arrow.children) ((cone as Mesh).material as MeshBasicMaterial).color.set(COLOURS[axis]!);
  }

  private shown(): Handle[] {
    const { section, box } = this.stage;
    return this.handles.filter(({ slider }) => (slider === 'section-at' ? section.on : box.on));
  }

  /** those that have their place: a section that was just switched on has none before the next look */
  private placed(): Handle[] {
    return this.shown().filter(({ arrow }) => arrow.visible);
  }

  private share(handle: Handle): number {
    const { section, box } = this.stage;
    if (handle.slider === 'section-at') return section.at;
    return handle.slider.includes('low') ? box.low[handle.axis]! : box.high[handle.axis]!;
  }

  /** the edge of the plane, and the edges of the box */
  private outline(): void {
    const { section, box, section_bounds: bounds } = this.stage;
    const state = JSON.stringify([section, box, bounds]);
    if (state === this.drawn) return;
    this.drawn = state;
    const size = bounds.getSize(new Vector3());
    const at = (shares: number[]) => bounds.min.clone().add(new Vector3(...shares).multiply(size)).toArray();
    const ends: number[] = [];
    const edges = (low: number[], high: number[]) => {
      const corner = (k: number) => [0, 1, 2].map((axis) => (k & (1 << axis) ? high : low)[axis]!);
      for (let k = 0; k < 8; k++) for (let axis = 0; axis < 3; axis++) if (!(k & (1 << axis)) && low[axis] !== high[axis]) ends.push(...at(corner(k)), ...at(corner(k | (1 << axis))));
    };
    if (section.on) {
      const low = [-0.03, -0.03, -0.03], high = [1.03, 1.03, 1.03];
      low[section.axis] = high[section.axis] = section.at;
      edges(low, high);
    }
    if (box.on) edges([...box.low], [...box.high]);
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    this.lines.geometry.setAttribute('position', new BufferAttribute(new Float32Array(ends), 3));
  }

  // ---- the pointer ----

  private under(event: PointerEvent): Handle | null {
    let best: Handle | null = null, least = event.pointerType === 'touch' ? FINGER_PIXELS : REACH_PIXELS;
    for (const handle of this.placed()) {
      const place = this.eye.project(handle.arrow.position.toArray() as Vec3);
      const away = place.behind ? Infinity : Math.hypot(place.x - event.clientX, place.y - event.clientY);
      if (away < least) [best, least] = [handle, away];
    }
    return best;
  }

  /** where on the handle's axis the pointer is, as a share of the scene; null: the axis points at the eye */
  private along(handle: Handle, event: PointerEvent): number | null {
    const { section_bounds: bounds } = this.stage;
    const ray = this.eye.ray(event.clientX, event.clientY);
    const axis = direction(handle.axis), to = new Vector3(...ray.direction), from = new Vector3(...ray.origin).sub(handle.arrow.position);
    // the place on the axis that is nearest to the ray
    const across = axis.dot(to), rest = 1 - across * across;
    if (rest < 1e-3) return null;
    const metres = (axis.dot(from) - across * to.dot(from)) / rest;
    const where = handle.arrow.position.getComponent(handle.axis) + metres - bounds.min.getComponent(handle.axis);
    return where / Math.max(1e-9, bounds.getSize(new Vector3()).getComponent(handle.axis));
  }

  private press(event: PointerEvent): void {
    const handle = event.button === 0 && !this.dragged ? this.under(event) : null;
    const at = handle && this.along(handle, event);
    if (!handle || at === null) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.dragged = { handle, pointer: event.pointerId, offset: at - this.share(handle) };
  }

  private move(event: PointerEvent): void {
    this.canvas.classList.toggle('sliding', this.dragged !== null || (event.buttons === 0 && this.under(event) !== null));
    if (this.dragged?.pointer !== event.pointerId) return;
    event.stopImmediatePropagation();
    const { handle, offset } = this.dragged, at = this.along(handle, event);
    if (at === null) return;
    const slider = by_id<HTMLInputElement>(handle.slider);
    slider.value = String(Math.min(1, Math.max(0, at - offset)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }

  private lift(event: PointerEvent): void {
    if (this.dragged?.pointer !== event.pointerId) return;
    event.stopImmediatePropagation();
    this.dragged = null;
  }
}

function direction(axis: number): Vector3 {
  return new Vector3().setComponent(axis, 1);
}
