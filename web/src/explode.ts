// The exploded view: parts are drawn away from the middle of the scene, each as far as its own middle is, times a factor. Only the picture
// changes; the controller's parts stay where they are.
import { apply } from './pose.ts';
import type { Pose, Vec3 } from './protocol.mjs';

/** by how much a part is drawn elsewhere: `low` and `high` are its box in its own frame, `centre` the middle of the scene */
export function explosion(pose: Pose, low: Vec3, high: Vec3, centre: Vec3, factor: number): Vec3 {
  if (factor === 0) return [0, 0, 0];
  const middle = apply(pose, low.map((value, k) => (value + high[k]!) / 2) as Vec3);
  return middle.map((value, k) => factor * (value - centre[k]!)) as Vec3;
}
