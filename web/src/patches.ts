// The touched area of a fixed part: red around the places where something touches it, and nowhere else. Contacts near each other become
// one place; the shader of a touched part blends towards red within the radius of each.
import { Vector3, Vector4, type Color, type IUniform, type Matrix4, type WebGLProgramParametersWithUniforms } from 'three';
import type { Vec3 } from './protocol.mjs';

export const MOST_PATCHES = 24;

/** one place for all points that share a cell of `size`, metres; at most `most` of them */
export function gather(points: Iterable<Vec3>, size: number, most = MOST_PATCHES): Vec3[] {
  const cells = new Map<string, { sum: Vec3; count: number }>();
  for (const point of points) {
    const key = point.map((value) => Math.floor(value / size)).join();
    const cell = cells.get(key);
    if (cell) {
      cell.count++;
      point.forEach((value, k) => (cell.sum[k]! += value));
    } else if (cells.size < most) cells.set(key, { sum: [...point], count: 1 });
  }
  return [...cells.values()].map(({ sum, count }) => sum.map((value) => value / count) as Vec3);
}

export class Patches {
  /** what is red now: places in the world */
  places: Vec3[] = [];
  radius = 0;
  private readonly at = { value: Array.from({ length: MOST_PATCHES }, () => new Vector4()) };
  private readonly count = { value: 0 };
  private readonly colour: { value: Color };
  private readonly spare = new Vector3();

  constructor(colour: Color) {
    this.colour = { value: colour };
  }

  /** lets a material show them while `patched` is 1 */
  add(shader: WebGLProgramParametersWithUniforms, patched: IUniform<number>): void {
    Object.assign(shader.uniforms, { patched, patch_at: this.at, patch_count: this.count, patch_colour: this.colour });
    shader.fragmentShader = shader.fragmentShader
      .replace('void main() {', `uniform float patched;\nuniform vec4 patch_at[${MOST_PATCHES}];\nuniform int patch_count;\nuniform vec3 patch_colour;\nvoid main() {`)
      .replace('#include <opaque_fragment>', `if (patched > 0.5) {
          float red = 0.0;
          for (int i = 0; i < ${MOST_PATCHES}; i++) {
            if (i >= patch_count) break;
            red = max(red, 1.0 - smoothstep(0.45 * patch_at[i].w, patch_at[i].w, distance(patch_at[i].xyz, -vViewPosition)));
          }
          outgoingLight = mix(outgoingLight, patch_colour, 0.75 * red);
        }
        #include <opaque_fragment>`);
  }

  /** before each picture: where contacts are, and the camera's inverse matrix */
  update(contacts: Iterable<Vec3>, radius: number, view: Matrix4): void {
    this.radius = radius;
    this.places = radius > 0 ? gather(contacts, radius) : [];
    this.count.value = this.places.length;
    this.places.forEach((place, i) => {
      this.spare.set(...place).applyMatrix4(view);
      this.at.value[i]!.set(this.spare.x, this.spare.y, this.spare.z, radius);
    });
  }
}
