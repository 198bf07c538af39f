// Directions as people type them: degrees about the fixed axes x, then y, then z; and the nearest direction along the axes.
import { multiply, normalize, rotate, turn, type Quat } from './pose.ts';
import type { Vec3 } from './protocol.mjs';

const DEGREE = Math.PI / 180;

export function from_degrees([x, y, z]: Vec3): Quat {
  return multiply(turn([0, 0, 1], z * DEGREE), multiply(turn([0, 1, 0], y * DEGREE), turn([1, 0, 0], x * DEGREE)));
}

/** the inverse of from_degrees: x and z within ±180, y within ±90; where y is ±90 z is 0 */
export function to_degrees(q: Quat): Vec3 {
  const [w, x, y, z] = normalize(q);
  const sine = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  if (Math.abs(sine) > 1 - 1e-9) return [clean(2 * Math.atan2(x, w)), clean(Math.asin(sine)), 0];
  return [clean(Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))), clean(Math.asin(sine)), clean(Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))];
}

/** no -0, and no 89.99999999 */
function clean(radians: number): number {
  const value = Math.round((radians / DEGREE) * 1e6) / 1e6;
  return value === 0 ? 0 : value;
}

/** the nearest of the 24 directions in which all axes of a part lie along axes of the world */
export function snap(q: Quat): Quat {
  const axes: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  let best: Quat = [1, 0, 0, 0], most = -Infinity;
  for (const up of [...axes, ...axes.map((axis) => axis.map((value) => -value) as Vec3)])
    for (let quarter = 0; quarter < 4; quarter++) {
      // first z to `up`, then quarters about it
      const tilt: Quat = up[2] > 0.5 ? [1, 0, 0, 0] : up[2] < -0.5 ? turn([1, 0, 0], Math.PI) : turn([-up[1], up[0], 0], Math.PI / 2);
      const one = multiply(turn(up, (quarter * Math.PI) / 2), tilt);
      const like = Math.abs(one[0] * q[0] + one[1] * q[1] + one[2] * q[2] + one[3] * q[3]);
      if (like > most + 1e-12) [best, most] = [one, like];
    }
  return best;
}

/** the box of a turned and placed box, world */
export function box_of(pose: { p: Vec3; q: Quat }, low: Vec3, high: Vec3): { low: Vec3; high: Vec3 } {
  const result = { low: [Infinity, Infinity, Infinity] as Vec3, high: [-Infinity, -Infinity, -Infinity] as Vec3 };
  for (let i = 0; i < 8; i++) {
    const corner = rotate(pose.q, [0, 1, 2].map((k) => ((i >> k) & 1 ? high[k]! : low[k]!)) as Vec3);
    corner.forEach((value, k) => {
      result.low[k] = Math.min(result.low[k]!, value + pose.p[k]!);
      result.high[k] = Math.max(result.high[k]!, value + pose.p[k]!);
    });
  }
  return result;
}
