// Whether parts stand: what is measured is about places where they stay for a moment, not about each step of a drag.
import type { message_state, Pose } from './protocol.mjs';

const STILL_SHARE = 0.02; // of a voxel: what a part pressed against another trembles

export class Rest {
  private stood: Pose[] = [];
  private numbers: number[] = [];

  /** whether a part has left the place where it was when this was last true; `voxel`: of a part, 0 where not known */
  moved(state: Pick<message_state, 'parts'>, voxel: (part: number) => number): boolean {
    const now = state.parts;
    let far = now.length !== this.stood.length;
    now.forEach((part, k) => {
      const was = this.stood[k];
      const limit = STILL_SHARE * (voxel(part.part) || 1e-4);
      const { p, q } = part.T_world_part;
      far ||= !was || this.numbers[k] !== part.part || Math.hypot(p[0] - was.p[0], p[1] - was.p[1], p[2] - was.p[2]) > limit || q.some((value, i) => Math.abs(value - was.q[i]!) > 1e-4);
    });
    if (far) {
      this.stood = now.map((part) => part.T_world_part);
      this.numbers = now.map((part) => part.part);
    }
    return far;
  }
}
