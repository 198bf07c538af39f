// A way of a part: poses between which it goes straight and turns evenly. Plain numbers: tested without a page.
import type { Pose, Vec3 } from './protocol.mjs';
import { add, conjugate, dot, multiply, norm, scale, sub, turn, type Quat } from './pose.ts';

/** the shorter turn from one orientation to another, as a vector of its angle */
export function turn_between(from: Quat, to: Quat): Vec3 {
  let q = multiply(to, conjugate(from));
  if (q[0] < 0) q = [-q[0], -q[1], -q[2], -q[3]];
  const axis: Vec3 = [q[1], q[2], q[3]];
  const sine = norm(axis);
  return sine > 1e-12 ? scale(axis, (2 * Math.atan2(sine, q[0])) / sine) : scale(axis, 2);
}

/** part of the motion from one pose to another; below 0 and above 1 it goes on */
export function between(from: Pose, to: Pose, part: number): Pose {
  const by = scale(turn_between(from.q, to.q), part);
  return { p: add(from.p, scale(sub(to.p, from.p), part)), q: multiply(turn(by, norm(by)), from.q) };
}

export interface Place {
  /** of the poses between which it is */
  segment: number;
  /** along the way, 0 … length */
  at: number;
  /** how far the pose asked about is from it */
  away: number;
  pose: Pose;
}

export class Way {
  readonly poses: Pose[] = [];
  /** where each pose is along the way: metres, turns counted as the travel of a point at `reach` */
  readonly marks: number[] = [0];

  /** `rows`: x y z qw qx qy qz for each pose; `reach` in metres, half of the part's size */
  constructor(rows: ArrayLike<number>, private readonly reach: number) {
    for (let i = 0; i + 6 < rows.length; i += 7)
      this.poses.push({ p: [rows[i]!, rows[i + 1]!, rows[i + 2]!], q: [rows[i + 3]!, rows[i + 4]!, rows[i + 5]!, rows[i + 6]!] });
    for (let i = 1; i < this.poses.length; i++) this.marks.push(this.marks[i - 1]! + this.apart(this.poses[i - 1]!, this.poses[i]!));
  }

  get length(): number {
    return this.marks[this.marks.length - 1]!;
  }

  apart(a: Pose, b: Pose): number {
    return norm(sub(b.p, a.p)) + this.reach * norm(turn_between(a.q, b.q));
  }

  segment_at(at: number): number {
    let low = 0, high = Math.max(0, this.poses.length - 2);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.marks[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  pose_at(at: number): Pose {
    const first = this.segment_at(at);
    const from = this.poses[first]!, to = this.poses[first + 1];
    const size = to ? this.marks[first + 1]! - this.marks[first]! : 0;
    return to && size > 0 ? between(from, to, Math.min(1, Math.max(0, (at - this.marks[first]!) / size))) : from;
  }

  /** the nearest place; with `near`, no farther from it along the way than `within` */
  nearest(pose: Pose, near = 0, within = Infinity): Place {
    let best: Place = { segment: 0, at: 0, away: Infinity, pose: this.poses[0]! };
    for (let i = 0; i + 1 < this.poses.length; i++) {
      if (this.marks[i + 1]! < near - within || this.marks[i]! > near + within) continue;
      const from = this.poses[i]!, to = this.poses[i + 1]!;
      const move = sub(to.p, from.p), by = turn_between(from.q, to.q), reach2 = this.reach * this.reach;
      const length2 = dot(move, move) + reach2 * dot(by, by);
      const along = length2 > 0 ? (dot(sub(pose.p, from.p), move) + reach2 * dot(turn_between(from.q, pose.q), by)) / length2 : 0;
      const part = Math.min(1, Math.max(0, along));
      const there = between(from, to, part), away = this.apart(there, pose);
      if (away < best.away) best = { segment: i, at: this.marks[i]! + part * (this.marks[i + 1]! - this.marks[i]!), away, pose: there };
    }
    return best;
  }

  /** the poses up to a place */
  until(at: number): Pose[] {
    const end = this.pose_at(at);
    return [...this.poses.filter((_, i) => this.marks[i]! < at), end];
  }
}

/** a list of poses with no two nearer than `least`, and no more than `most`: every other one goes when there are more */
export class Trace {
  poses: Pose[] = [];
  private least: number;

  constructor(private readonly reach: number, least: number, private readonly most: number) {
    this.least = least;
  }

  add(pose: Pose): boolean {
    const last = this.poses[this.poses.length - 1];
    if (last && norm(sub(pose.p, last.p)) + this.reach * norm(turn_between(last.q, pose.q)) < this.least) return false;
    this.poses.push({ p: [...pose.p], q: [...pose.q] });
    if (this.poses.length > this.most) {
      this.poses = this.poses.filter((_, i) => i % 2 === 0);
      this.least *= 2;
    }
    return true;
  }
}

export function rows_of(poses: readonly Pose[]): Float64Array {
  return Float64Array.from(poses.flatMap(({ p, q }) => [...p, ...q]));
}

/** a pose file: t x y z qw qx qy qz, lengths in the unit of `metres` */
export function pose_file(poses: readonly Pose[], marks: readonly number[], metres: number, speed: number): string {
  const line = ({ p, q }: Pose, i: number) => [marks[i]! / speed, ...p.map((value) => value / metres), ...q].map((value) => String(Number(value.toPrecision(15)))).join(' ');
  return `# a way out, found by feeler\n${poses.map(line).join('\n')}\n`;
}
