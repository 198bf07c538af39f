// A picture is drawn only when it would differ from the last one: states come sixty times a second, also when nothing moves.
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

export class Stillness {
  private left = 10; // pictures to be drawn whatever happens
  private last = NaN;

  constructor() {
    // after anything a person does, some pictures more: damped motion, menus that switch overlays
    for (const name of ['pointermove', 'pointerdown', 'pointerup', 'wheel', 'keydown', 'keyup', 'click', 'change', 'input', 'resize'])
      window.addEventListener(name, () => this.stir(), { capture: true, passive: true });
  }

  stir(pictures = 20): void {
    this.left = Math.max(this.left, pictures);
  }

  /** whether to draw now; `eye` is the camera's matrix */
  moved(state: message_state | null, eye: readonly number[]): boolean {
    let sum = state ? fingerprint(state) : 0;
    eye.forEach((value, k) => (sum += value * (k + 1.37)));
    if (sum !== this.last) {
      this.last = sum;
      this.stir(2);
    }
    return this.left-- > 0;
  }
}
