// Poses as the protocol has them (q is w x y z), and what dragging does with them. Plain numbers: tested without a page.
import type { Pose, Vec3 } from './protocol.mjs';

export type Quat = [number, number, number, number];

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const cross = (a: Vec3, b: Vec3): Vec3 =>
  [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export const IDENTITY: Quat = [1, 0, 0, 0];

export function multiply(a: Quat, b: Quat): Quat {
  return normalize([
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ]);
}

/** the protocol refuses quaternions that are not of unit length, and products drift */
export function normalize(q: Quat): Quat {
  const n = Math.hypot(...q);
  return n > 0 ? [q[0] / n, q[1] / n, q[2] / n, q[3] / n] : [...IDENTITY];
}

export function conjugate(q: Quat): Quat {
  return [q[0], -q[1], -q[2], -q[3]];
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const u: Vec3 = [q[1], q[2], q[3]];
  const t = scale(cross(u, v), 2);
  return add(add(v, scale(t, q[0])), cross(u, t));
}

/** a turn by `angle` radians about an axis of any length; no axis: no turn */
export function turn(axis: Vec3, angle: number): Quat {
  const n = norm(axis);
  if (!(n > 0)) return [...IDENTITY];
  const s = Math.sin(angle / 2) / n;
  return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

export type Up = 'x' | 'y' | 'z';

/** the turn that stands a part up whose file has another axis up: here it is z */
export function upright(up: Up): Quat {
  return up === 'y' ? turn([1, 0, 0], Math.PI / 2) : up === 'x' ? turn([0, 1, 0], -Math.PI / 2) : [...IDENTITY];
}

export function apply(pose: Pose, point: Vec3): Vec3 {
  return add(pose.p, rotate(pose.q, point));
}

export function unapply(pose: Pose, point: Vec3): Vec3 {
  return rotate(conjugate(pose.q), sub(point, pose.p));
}

export interface Ray {
  origin: Vec3;
  direction: Vec3;
}

/** where a ray meets the plane through `point` with `normal`; null: it runs beside it or away from it */
export function meet(ray: Ray, point: Vec3, normal: Vec3): Vec3 | null {
  const along = dot(ray.direction, normal);
  if (Math.abs(along) < 1e-9) return null;
  const t = dot(sub(point, ray.origin), normal) / along;
  return t > 0 ? add(ray.origin, scale(ray.direction, t)) : null;
}

/** axes of a view, world: right, up, and forward (away from the eye) */
export interface View {
  right: Vec3;
  up: Vec3;
  forward: Vec3;
}

/** A hand that is dragged by a pointer. It moves in the plane through itself that faces the eye. */
export class Drag {
  pose: Pose;
  /** from where the pointer's ray met the plane to the hand: so that nothing jumps when a drag begins or changes */
  private grip: Vec3 = [0, 0, 0];
  private last: Ray | null = null;

  constructor(at: Vec3, q: Quat = IDENTITY) {
    this.pose = { p: [...at], q: [...q] };
  }

  /** the pointer has moved; `share` of the way is gone (less than 1: slowly) */
  move(ray: Ray, view: View, share = 1): void {
    const before = this.last && meet(this.last, this.pose.p, view.forward);
    const now = meet(ray, this.pose.p, view.forward);
    if (now && before && share !== 1) {
      this.pose.p = add(this.pose.p, scale(sub(now, before), share));
      const again = meet(ray, this.pose.p, view.forward);
      if (again) this.grip = sub(this.pose.p, again);
    } else if (now) {
      if (!this.last) this.grip = sub(this.pose.p, now);
      this.pose.p = add(now, this.grip);
    }
    this.last = ray;
  }

  /** the pointer moved while turning: the hand stays, and the next move starts from there */
  turn(ray: Ray, view: View, right_rad: number, up_rad: number): void {
    const q = multiply(turn(view.up, right_rad), turn(view.right, up_rad));
    this.pose.q = multiply(q, this.pose.q);
    this.hold(ray, view);
  }

  roll(view: View, angle: number): void {
    this.pose.q = multiply(turn(view.forward, angle), this.pose.q);
  }

  /** away from the eye by `distance`; the pointer stays over it */
  push(ray: Ray, view: View, distance: number): void {
    this.pose.p = add(this.pose.p, scale(view.forward, distance));
    this.hold(ray, view);
  }

  /** keeps the hand where it is: the pointer's ray is taken as the place where it was gripped */
  hold(ray: Ray, view: View): void {
    const now = meet(ray, this.pose.p, view.forward);
    if (now) this.grip = sub(this.pose.p, now);
    this.last = ray;
  }
}
