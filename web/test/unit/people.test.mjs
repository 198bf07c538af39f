import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { line_of, role_of, trouble_of } = await load('people.ts');
const { guest_bit, person_bit } = await load('protocol.mjs');

const person = (bits, more = {}) => ({ member: 2, bits, colour: 0x112233, delay: 0.0123, loss: 0, bytes_in: 29700, bytes_out: 1500, name: 'Bob', ...more });

test('what a person is to the session', () => {
  const { PERSON_AWAY, PERSON_LEADER, PERSON_READY, PERSON_WATCHER } = person_bit;
  assert.equal(role_of(person(PERSON_READY)), '');
  assert.equal(role_of(person(PERSON_READY | PERSON_LEADER)), 'leads');
  assert.equal(role_of(person(PERSON_READY | PERSON_WATCHER)), 'watches');
  assert.equal(role_of(person(PERSON_WATCHER)), 'watches, joining');
  assert.equal(role_of(person(0)), 'joining');
  // who is not heard: nothing else is known of it any more
  assert.equal(role_of(person(PERSON_AWAY | PERSON_READY | PERSON_LEADER)), 'not heard');
});

test('the way to a person: delay, rates, and loss where there is some', () => {
  assert.equal(line_of(person(0)), '12.3 ms · in 29.7 kB/s · out 1.50 kB/s');
  assert.match(line_of(person(0, { loss: 0.004 })), /kB\/s$/);
  assert.match(line_of(person(0, { loss: 0.05 })), / · 5\S* % lost$/);
});

test('what is wrong with a part: the worst first, nothing where nothing is', () => {
  const part = (bits) => ({ part: 1, member: 2, bits });
  const { GUEST_DIVERGED, GUEST_FROZEN, GUEST_GHOST, GUEST_HOMING } = guest_bit;
  assert.equal(trouble_of(part(0), 'gear', 'Bob'), '');
  assert.equal(trouble_of(part(GUEST_DIVERGED), 'gear', 'Bob'), 'something is caught between gear here and at Bob’s');
  assert.equal(trouble_of(part(GUEST_DIVERGED), 'gear', ''), 'something is caught between gear here and at another’s');
  assert.match(trouble_of(part(GUEST_HOMING), 'gear', ''), /goes to where it was let go/);
  assert.match(trouble_of(part(GUEST_HOMING | GUEST_GHOST), 'gear', ''), /passes through everything/);
  assert.match(trouble_of(part(GUEST_FROZEN | GUEST_HOMING | GUEST_GHOST), 'gear', ''), /frozen/);
});
