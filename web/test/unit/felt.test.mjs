import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { felt, greatest_force, proxy_of, touches } = await load('felt.ts');
const NONE = 4294967295;
const hand = (held, bits = 1) => ({ held, touched: NONE, bits, T_world_hand: { p: [0, 0, 0], q: [1, 0, 0, 0] }, wrench: { force: [7, 0, 0], torque: [0, 0, 0] } });
const contact = (part, other, point, force) => ({ part, other, point, force, depth: 0 });

test('a device that gives force says what it gave', () => {
  const state = { contacts: [contact(1, 0, [0, 1, 0], [0, 0, 3])], contact_count: 1, hands: [hand(1, 3)], proxies: [] };
  assert.deepEqual(felt(state, state.hands[0]).force, [7, 0, 0]);
});

test('for a mouse contacts of the held part add up, with their torque and their reaction', () => {
  const state = {
    contacts: [contact(1, 0, [0, 1, 0], [0, 0, 3]), contact(2, 1, [1, 0, 0], [0, 0, 1]), contact(2, 0, [9, 9, 9], [50, 0, 0])],
    contact_count: 3, hands: [hand(1)], proxies: [],
  };
  const { force, torque } = felt(state, state.hands[0]);
  assert.deepEqual(force, [0, 0, 2]);
  assert.deepEqual(torque, [3, 1, 0]);
  assert.equal(greatest_force(state), 2);
});

test('contacts that are not in the list count as those that are', () => {
  const state = { contacts: [contact(1, 0, [0, 0, 0], [0, 2, 0])], contact_count: 10, hands: [hand(1)], proxies: [] };
  assert.equal(felt(state, state.hands[0]).force[1], 20);
});

test('a point feels what its proxy says, without torque', () => {
  const proxy = { hand: 1, part: 4, point: [0, 0, 1], normal: [0, 0, 1], force: [0, 0, 2.5], depth: 0.003, sticking: false };
  const state = { contacts: [], contact_count: 0, hands: [hand(NONE), hand(NONE, 9)], proxies: [proxy] };
  assert.equal(proxy_of(state, 0), null);
  assert.equal(proxy_of(state, 1), proxy);
  assert.deepEqual(felt(state, state.hands[1]), { force: [0, 0, 2.5], torque: [0, 0, 0] });
  assert.ok(touches(proxy));
  assert.ok(!touches({ ...proxy, normal: [0, 0, 0] }));
  // a force device says what it was given
  state.hands[1].bits |= 2;
  assert.deepEqual(felt(state, state.hands[1]).force, [7, 0, 0]);
});
