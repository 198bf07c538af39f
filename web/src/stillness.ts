// A picture is drawn only if it would differ from the last one: states come sixty times a second, also when nothing moves.
import type { message_state } from './protocol.mjs';

/** a number that differs when what is drawn of a state does (but for the odds of two sums being equal) */
export function fingerprint(state: message_state): number {
  let sum = state.contacts.length;
  let weight = 1;
  const mix = (values: readonly number[]) => {
    for (const value of values) sum += value * (weight = (weight * 1.618) % 97);
  };
  for (const part of state.parts) {
    mix(part.T_world_part.p);
    mix(part.T_world_part.q);
    sum += part.look * (weight = (weight * 1.618) % 97);
  }
  for (const hand of state.hands) {
    mix(hand.T_world_hand.p);
    mix(hand.T_world_ghost.p);
    mix(hand.T_world_ghost.q);
    mix(hand.wrench.force);
    // none is a large number, beside which a small motion would be lost
    mix([hand.held % 8191, hand.touched % 8191, hand.bits]);
  }
  for (const contact of state.contacts) mix(contact.point);
  for (const proxy of state.proxies) {
    mix(proxy.point);
    mix(proxy.force);
    mix(proxy.normal);
  }
  return sum;
}

const SWAY_MS = 330; // after anything a person does: damped motion, menus that switch overlays

/** Whether there is something new to draw. Counted in pictures and in time, so that a slow machine draws two and not twenty. */
export class Stillness {
  private left = 2; // pictures to be drawn whatever happens
  private until = 0; // ms: up to then something may still move
  private last = NaN;

  /** so many pictures more, and all there is time for in so many ms */
  stir(now: number, pictures = 2, ms = SWAY_MS): void {
    this.left = Math.max(this.left, pictures);
    this.until = Math.max(this.until, now + ms);
  }

  /** looks at what would be drawn, and says whether to; `eye` is the camera's matrix */
  moved(now: number, state: message_state | null, eye: readonly number[]): boolean {
    let sum = state ? fingerprint(state) : 0;
    eye.forEach((value, k) => (sum += value * (k + 1.37)));
    if (sum !== this.last) {
      this.last = sum;
      this.stir(now, 2, 0);
    }
    return this.left > 0 || now < this.until;
  }

  /** a picture of it is drawn */
  drawn(): void {
    this.left = Math.max(0, this.left - 1);
  }
}
