// What a hand feels. A device with force feedback says what it was given; a mouse gives nothing, so there the contacts of the
// held part are added up: that is what a hand would feel in its place. A point's proxy knows its force itself.
import { add, cross, norm, sub } from './pose.ts';
import { NONE, type hand_state, type message_state, type proxy_state, type Vec3, type Wrench } from './protocol.mjs';

const FORCE_BIT = 2; // hand_bit.HAND_FORCE

/** the point of a hand that touches with one; null: it takes parts */
export function proxy_of(state: message_state, hand: number): proxy_state | null {
  return state.proxies.find((proxy) => proxy.hand === hand) ?? null;
}

/** whether a point is on a surface */
export function touches(proxy: proxy_state): boolean {
  return norm(proxy.normal) > 0.5;
}

/** world's axes, about the hand's origin; newtons and newton metres */
export function felt(state: message_state, hand: hand_state): Wrench {
  const proxy = proxy_of(state, state.hands.indexOf(hand));
  if (proxy && !(hand.bits & FORCE_BIT)) return { force: proxy.force, torque: [0, 0, 0] };
  if (hand.bits & FORCE_BIT || hand.held === NONE) return hand.wrench;
  let force: Vec3 = [0, 0, 0];
  let torque: Vec3 = [0, 0, 0];
  for (const contact of state.contacts) {
    if (contact.part !== hand.held && contact.other !== hand.held) continue;
    const sign = contact.part === hand.held ? 1 : -1; // an action on the other is a reaction on this
    const here = contact.force.map((value) => sign * value) as Vec3;
    force = add(force, here);
    torque = add(torque, cross(sub(contact.point, hand.T_world_hand.p), here));
  }
  // the list may hold fewer than there are: those not listed are taken to be like those that are
  const share = state.contacts.length ? Math.max(1, state.contact_count / state.contacts.length) : 1;
  return { force: force.map((value) => value * share) as Vec3, torque: torque.map((value) => value * share) as Vec3 };
}

/** the greatest of all hands, newtons */
export function greatest_force(state: message_state): number {
  return Math.max(0, ...state.hands.map((hand) => Math.hypot(...felt(state, hand).force)));
}
