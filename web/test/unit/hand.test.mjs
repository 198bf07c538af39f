import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

globalThis.window ??= globalThis;
const { PageHand } = await load('hand.ts');
const { Signal } = await load('signal.ts');
const { NONE } = await load('protocol.mjs');

/** a controller of one hand, as the page sees it: what it asks waits until answer() is called */
function controller() {
  const asked = [], inputs = [];
  const still = { p: [0, 0, 0], q: [1, 0, 0, 0] };
  const model = {
    on_state: new Signal(), devices: new Map(), scene: { hands: 1 }, replaying: null, state: { hands: [{ held: NONE, bits: 0, T_world_hand: still }] },
    pose: () => still, movable: () => true, select: () => undefined,
    connection: {
      status: new Signal(), session: 1,
      input: (name, body) => inputs.push(body),
      ask: (name, body) => new Promise((resolve, reject) => asked.push({ name, ...body, resolve, reject })),
    },
  };
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
  return {
    model, asked, inputs, turn,
    /** the hand is where the page put it; `held`: what the controller says it holds */
    tell: async (held) => {
      const at = inputs.at(-1);
      model.state = { hands: [{ held, bits: 0, T_world_hand: at ? at.T_world_hand : still }] };
      model.on_state.emit(model.state);
      await turn();
    },
    /** answers the oldest question as the controller does: a hand that is full takes nothing */
    answer: async () => {
      const question = asked.shift();
      const { held } = model.state.hands[0];
      if (question.name === 'grab' && held !== NONE) question.reject(new Error('the hand holds something'));
      else {
        model.state = { hands: [{ ...model.state.hands[0], held: question.name === 'grab' ? question.part : NONE }] };
        question.resolve({ name: 'done', body: { value: 0 } });
      }
      await turn();
      return question.name;
    },
  };
}

test('a part is asked for at once, with the place where the hand takes it, and moved from there', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const taken = hand.grab(3, [1, 2, 3]);
  await c.turn();
  const [{ name, has_pose, T_world_hand }] = c.asked;
  assert.deepEqual({ name, has_pose, T_world_hand }, { name: 'grab', has_pose: true, T_world_hand: { p: [1, 2, 3], q: [1, 0, 0, 0] } });
  assert.deepEqual(c.inputs, [], 'nothing goes before it');
  hand.move({ p: [5, 2, 3], q: [1, 0, 0, 0] });
  assert.deepEqual(c.inputs.map((input) => [input.T_world_hand.p, input.buttons]), [[[5, 2, 3], 0]], 'it moves on without waiting for the answer, with no button that could take another part');
  assert.deepEqual(c.asked[0].T_world_hand.p, [1, 2, 3], 'and the part is taken where it was pressed');
  assert.equal(await c.answer(), 'grab');
  assert.equal(await taken, true);
  assert.deepEqual(c.inputs.at(-1).T_world_hand.p, [5, 2, 3]);
  assert.equal(c.inputs.at(-1).buttons, 1);
});

test('a hand that moves while the request before is answered goes where it was wanted', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const first = hand.grab(3, [1, 2, 3]);
  await c.turn();
  hand.release();
  const second = hand.grab(3, [4, 2, 3]);
  hand.move({ p: [6, 2, 3], q: [1, 0, 0, 0] });
  await c.turn();
  assert.equal(c.asked.length, 1, 'one request at a time');
  assert.deepEqual(c.inputs, [], 'and the hand does not move under the part that is taken first');
  assert.equal(await c.answer(), 'grab');
  assert.equal(await c.answer(), 'release');
  assert.equal(await first, false);
  assert.deepEqual(c.asked[0].T_world_hand.p, [4, 2, 3]);
  assert.deepEqual(c.inputs.map((input) => input.T_world_hand.p), [[6, 2, 3]]);
  assert.equal(await c.answer(), 'grab');
  assert.equal(await second, true);
});

test('pressed, let go of and pressed again before the controller answers: held once, and by the page, too', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const first = hand.grab(3, [1, 2, 3]);
  await c.turn();
  hand.release();
  const second = hand.grab(3, [1, 2, 3]);
  await c.turn();
  hand.move({ p: [7, 2, 3], q: [1, 0, 0, 0] });
  for (let i = 0; i < 10; i++) {
    if (c.asked.length) await c.answer();
    else await c.tell(c.model.state.hands[0].held);
  }
  assert.equal(await first, false);
  assert.equal(await second, true);
  assert.equal(c.model.state.hands[0].held, 3);
  assert.equal(hand.holding, 3);
  assert.deepEqual(c.inputs.at(-1).T_world_hand.p, [7, 2, 3], 'and it follows');
});

test('let go of before the controller answers: nothing is held in the end', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const taken = hand.grab(3, [1, 2, 3]);
  await c.turn();
  hand.release();
  for (let i = 0; i < 5; i++)
    if (c.asked.length) await c.answer();
    else await c.turn();
  assert.equal(await taken, false);
  assert.equal(c.model.state.hands[0].held, NONE);
  assert.equal(hand.holding, NONE);
});

test('states of the time before do not make it let go', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const taken = hand.grab(3, [1, 2, 3]);
  await c.turn();
  for (const held of [3, NONE, NONE]) await c.tell(held); // as it was held a moment ago
  await c.answer();
  assert.equal(await taken, true);
  await c.tell(3);
  assert.equal(hand.holding, 3);
  await c.tell(NONE); // this is meant
  assert.equal(hand.holding, NONE);
});

test('what the controller refuses is told, and not held', async () => {
  const c = controller();
  const hand = new PageHand(c.model);
  const said = [];
  hand.failed.on((words) => said.push(words));
  const taken = hand.grab(3, [1, 2, 3]);
  await c.turn();
  c.asked.shift().reject(new Error('no'));
  assert.equal(await taken, false);
  assert.deepEqual(said, ['no']);
  assert.equal(hand.holding, NONE);
});
