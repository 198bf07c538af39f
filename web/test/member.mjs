// A client of one controller in a shared session, without a page: TOKEN=… node test/member.mjs PORT WHAT [ARGUMENT]…
//   people N                       waits until N members are ready and heard
//   away NAME                      waits until a member is not heard
//   others PART N                  waits until N others hold the part
//   free PART                      waits until nobody holds the part and it is not frozen
//   carry PART X Y Z [SECONDS]     takes a part, moves it by so many millimetres in a second, holds it for SECONDS, lets go
//   path PART SECONDS X Y Z…       the same by several moves, one after the other; holds it for SECONDS then
//   release                        opens the hand, whoever closed it
//   leads                          waits until this controller leads, and prints after how many seconds
//   pause 0|1                      lets everything stand still here, or go on
//   pose PART                      waits until it lies for 1000 frames and nobody brings it anywhere, and prints where it is
import WebSocket from 'ws';
import { ability, decode, encode, NONE, person_bit, role, want } from '../src/protocol.mjs';

const [port, what, ...given] = process.argv.slice(2);
const socket = new WebSocket(`ws://localhost:${port}/ws`, 'feeler');
socket.binaryType = 'arraybuffer';
const people = new Map(), parts = new Map(), answers = new Map();
let guests = { hands: [], parts: [] }, state = null, request = 0;

const PATIENCE = 900000; // ms after which a wait counts as hung
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const send = (name, body, number = 0) => socket.send(encode(name, body, number));
const ask = (name, body) => new Promise((resolve, reject) => {
  answers.set(++request, { resolve, reject });
  send(name, body, request);
});

socket.on('open', () => send('hello', { role: role.ROLE_HOST, abilities: ability.ABILITY_COMMAND | ability.ABILITY_HAND, token: process.env.TOKEN ?? '', name: 'test' }));
socket.on('error', (error) => end(1, error.message));
socket.on('close', () => end(1, 'the connection was closed'));
socket.on('message', (data) => {
  const message = decode(data);
  const { name, body } = message;
  if (name === 'welcome') void begin();
  else if (name === 'part') parts.set(body.part, body);
  else if (name === 'person') {
    if (body.bits & person_bit.PERSON_GONE) people.delete(body.member);
    else people.set(body.member, body);
  } else if (name === 'guests') guests = body;
  else if (name === 'state') {
    state = body;
    for (const moved of body.parts) Object.assign(parts.get(moved.part) ?? {}, { T_world_part: moved.T_world_part });
  } else if (name === 'done' || name === 'error') {
    const answer = answers.get(message.request);
    if (body.code === 0) answer?.resolve(body.value);
    else if (answer) answer.reject(new Error(body.sentence));
    else end(1, body.sentence);
  }
});

function end(code, sentence) {
  if (sentence) console.log(sentence);
  process.exit(code);
}

async function until(condition, wanted) {
  for (const limit = performance.now() + PATIENCE; !condition(); await sleep(20))
    if (performance.now() > limit)
      end(1, `did not happen: ${wanted}: ${JSON.stringify({ people: [...people.values()], guests, hands: state?.hands })}`);
}

const find = (name) => [...parts.values()].find((part) => part.name === name);

async function path(name, seconds, ...moves) {
  const part = find(name);
  const from = part.T_world_part.p;
  let at = [...from];
  const move = (p) => send('hand_input', { hand: 0, buttons: 0, time_us: Math.round(performance.now() * 1000), T_world_hand: { p, q: [1, 0, 0, 0] } });
  await ask('grab', { hand: 0, part: part.part, has_pose: true, T_world_hand: { p: at, q: [1, 0, 0, 0] } });
  await until(() => state.hands[0].held === part.part, 'it is held');
  for (let leg = 0; leg + 2 < moves.length; leg += 3) {
    const by = moves.slice(leg, leg + 3).map((value) => Number(value) / 1000), begin = at;
    for (let i = 1; i <= 50; i++) {
      move((at = begin.map((value, k) => value + (by[k] * i) / 50)));
      await sleep(20);
    }
  }
  for (const limit = performance.now() + 1000 * seconds; performance.now() < limit && state.hands[0].held !== NONE;) await sleep(50);
  await ask('release', { hand: 0 });
  await until(() => state.hands[0].held === NONE, 'it is let go');
}

async function pose(name) {
  let since = -Infinity, before = '';
  await until(() => {
    const part = find(name);
    const now = JSON.stringify(part.T_world_part);
    if (now !== before || guests.parts.some((one) => one.part === part.part)) since = state.frame;
    before = now;
    return state.frame - since > 1000;
  }, 'it lies');
  console.log(before);
}

async function begin() {
  await ask('watch', { wants: want.WANT_STATE | want.WANT_EVENTS, state_rate: 60 });
  await until(() => state !== null, 'a state comes');
  const others = () => guests.parts.filter((one) => one.part === find(given[0]).part && one.member !== 0).length;
  const heard = (person) => person.bits & person_bit.PERSON_READY && !(person.bits & person_bit.PERSON_AWAY);
  if (what === 'people') await until(() => [...people.values()].filter(heard).length === Number(given[0]), `${given[0]} are ready`);
  else if (what === 'away') await until(() => people.size > 0 && [...people.values()].every((person) => person.name !== given[0] || !heard(person)), 'it is not heard');
  else if (what === 'others') await until(() => others() === Number(given[1]), `${given[1]} others hold it`);
  else if (what === 'free') await until(() => !guests.parts.some((one) => one.part === find(given[0]).part), 'it is free');
  else if (what === 'carry') await path(given[0], given[4] ?? 0, ...given.slice(1, 4));
  else if (what === 'path') await path(...given);
  else if (what === 'release') await ask('release', { hand: 0 });
  else if (what === 'pause') await ask('pause', { paused: given[0] === '1' });
  else if (what === 'leads') {
    const began = performance.now();
    await until(() => [...people.values()].some((person) => (person.bits & person_bit.PERSON_SELF) && (person.bits & person_bit.PERSON_LEADER)), 'it leads');
    console.log(((performance.now() - began) / 1000).toFixed(2));
  }
  else if (what === 'pose') await pose(given[0]);
  end(0);
}
