// The point tool under the pointer: it hovers, and a press on a part brings it down to the surface and a little behind. What it
// meets on the way, its proxy slides over. Beside the parts a press turns the view, as ever.
import { Vector3 } from 'three';
import type { Eye } from './camera.ts';
import type { PageHand } from './hand.ts';
import type { Picker } from './pick.ts';
import { dot, sub } from './pose.ts';
import type { Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { Touch } from './touch.ts';

const PICK_MS = 60; // reading a pixel back waits for the card: while hovering not for every move
const HOVER_MS = 33;

export class Pointing {
  readonly touch = new Touch();
  private pointer = { x: 0, y: 0, id: -1, inside: false };
  private moved = false;
  private sent = 0;
  private picked = 0;
  private surface: Vec3 | null = null;
  /** a second finger, and how far it was from the first */
  private second: { id: number; apart: number } | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly stage: Stage, private readonly eye: Eye,
    private readonly picker: Picker, private readonly hand: PageHand) {
    canvas.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.follow(event), { capture: true });
    canvas.addEventListener('pointerup', (event) => this.lift(event), { capture: true });
    canvas.addEventListener('pointercancel', (event) => this.lift(event), { capture: true });
    canvas.addEventListener('pointerleave', () => (this.pointer.inside = false));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { capture: true, passive: false });
  }

  get pressed(): boolean {
    return this.touch.pressed;
  }

  private press(event: PointerEvent): void {
    if (this.pressed && event.pointerType === 'touch') {
      event.stopImmediatePropagation();
      this.second ??= { id: event.pointerId, apart: this.apart(event) };
      return;
    }
    if (event.button !== 0 || !this.hand.pointing || this.pressed) return;
    const pick = this.picker.at(event.clientX, event.clientY);
    if (!pick) return; // the view turns
    event.stopImmediatePropagation();
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.pointer = { x: event.clientX, y: event.clientY, id: event.pointerId, inside: true };
    const box = this.stage.part_bounds(pick.part);
    this.touch.press(pick.at, box ? box.getSize(new Vector3()).length() : 0.1);
    this.canvas.classList.add('holding');
    this.moved = true;
  }

  private apart(event: PointerEvent): number {
    return Math.max(1, Math.hypot(event.clientX - this.pointer.x, event.clientY - this.pointer.y));
  }

  /** fingers that come together push deeper */
  private pinch(event: PointerEvent): void {
    if (!this.second) return;
    event.stopImmediatePropagation();
    const apart = this.apart(event);
    this.touch.deeper(8 * Math.log(this.second.apart / apart));
    this.second.apart = apart;
    this.moved = true;
  }

  private follow(event: PointerEvent): void {
    if (this.second?.id === event.pointerId) {
      this.pinch(event);
      return;
    }
    if (this.pressed && event.pointerId !== this.pointer.id) return;
    this.pointer.x = event.clientX;
    this.pointer.y = event.clientY;
    this.pointer.inside = true;
    this.moved = true;
    if (this.pressed) event.stopImmediatePropagation();
  }

  private lift(event: PointerEvent): void {
    if (this.second?.id === event.pointerId) {
      event.stopImmediatePropagation();
      this.second = null;
    }
    if (!this.pressed || event.pointerId !== this.pointer.id) return;
    event.stopImmediatePropagation();
    this.end();
  }

  /** up and away from the surface */
  end(): void {
    if (!this.pressed) return;
    this.touch.release();
    this.second = null;
    this.canvas.classList.remove('holding');
    this.moved = true;
  }

  private wheel(event: WheelEvent): void {
    if (!this.pressed) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.touch.deeper(-(event.deltaY || event.deltaX) / 100);
    this.moved = true;
  }

  /** before each picture: at most one place is sent for it */
  update(): void {
    if (!this.hand.pointing) {
      if (this.pressed) this.end();
      return;
    }
    if (!this.moved) return;
    const now = performance.now();
    const ray = this.eye.ray(this.pointer.x, this.pointer.y), view = this.eye.view();
    if (this.pressed) {
      this.moved = false;
      const at = this.touch.push(ray, view, this.picker.at(this.pointer.x, this.pointer.y)?.at ?? null);
      if (at) this.hand.move({ p: at, q: [1, 0, 0, 0] });
      return;
    }
    if (!this.pointer.inside || now - this.sent < HOVER_MS) return;
    if (now - this.picked > Math.max(PICK_MS, 3 * this.picker.cost)) {
      this.moved = false;
      this.picked = now;
      this.surface = this.picker.at(this.pointer.x, this.pointer.y)?.at ?? null;
      this.canvas.classList.toggle('ready', this.surface !== null);
    }
    this.sent = now;
    const at = this.touch.hover(ray, view, this.nearest(view.forward), this.surface);
    if (at) this.hand.move({ p: at, q: [1, 0, 0, 0] });
  }

  /** how far from the eye, along the view, the box around everything begins */
  private nearest(forward: Vec3): number {
    const { min, max } = this.stage.bounds();
    const eye = this.eye.camera.position.toArray() as Vec3;
    let least = Infinity;
    for (let i = 0; i < 8; i++) {
      const corner: Vec3 = [i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z];
      least = Math.min(least, dot(sub(corner, eye), forward));
    }
    return 0.95 * least;
  }
}
