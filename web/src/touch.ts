// Where the hand of a point tool goes for a pointer. Not pressed it hovers in front of everything, so that on its way from one
// place to another it catches nowhere; pressed it is behind the surface, and its proxy stays on it. Plain numbers: tested without a page.
import { add, dot, meet, scale, sub, type Ray, type View } from './pose.ts';
import type { Vec3 } from './protocol.mjs';

const DEPTH = 0.03; // of the touched part's size, to begin with
const LEAST = 0.002;
const MOST = 0.3;
const NOTCH = 1.2; // of the wheel

export class Touch {
  /** how far behind the surface, in sizes of the touched part */
  share = DEPTH;
  private size = 0;
  private last: Vec3 | null = null;

  /** metres behind the surface */
  get depth(): number {
    return this.share * this.size;
  }

  get pressed(): boolean {
    return this.last !== null;
  }

  /** `nearest`: how far from the eye, along the view, the scene begins; `surface`: what is under the pointer, if anything */
  hover(ray: Ray, view: View, nearest: number, surface: Vec3 | null): Vec3 | null {
    // with the eye among the parts: the space in front of what it sees
    const seen = surface ? 0.6 * dot(sub(surface, ray.origin), view.forward) : Infinity;
    const away = nearest > 0 ? Math.min(nearest, seen) : seen;
    if (!Number.isFinite(away)) return null;
    return add(ray.origin, scale(ray.direction, away / Math.max(1e-6, dot(ray.direction, view.forward))));
  }

  /** the button went down on a part of a size (metres) */
  press(surface: Vec3, size: number): void {
    this.last = surface;
    this.size = size;
  }

  /** beside all parts the hand keeps its distance from the eye: the proxy slides to the edge, and off it */
  push(ray: Ray, view: View, surface: Vec3 | null): Vec3 | null {
    const at = surface ?? (this.last && meet(ray, this.last, view.forward));
    if (!at) return null;
    if (surface) this.last = surface;
    return add(at, scale(ray.direction, this.depth));
  }

  deeper(notches: number): void {
    this.share = Math.min(MOST, Math.max(LEAST, this.share * NOTCH ** notches));
  }

  release(): void {
    this.last = null;
    this.share = DEPTH;
  }
}
