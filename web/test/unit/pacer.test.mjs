import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from '../load.mjs';

const { Beat, Pacer } = await load('pacer.ts');
const { Stillness } = await load('stillness.ts');

/** a graphics card that finishes pictures when it is told to */
function card() {
  const fences = { open: 0, finished: false, flushed: 0 };
  return {
    fences, SYNC_GPU_COMMANDS_COMPLETE: 1, SYNC_STATUS: 2, SIGNALED: 3,
    fenceSync: () => (fences.open++, fences.finished = false, {}),
    getSyncParameter: () => (fences.finished ? 3 : 4),
    deleteSync: () => fences.open--,
    flush: () => fences.flushed++,
  };
}
const nothing = () => undefined;

test('a picture waits for the one before', () => {
  const gl = card(), pacer = new Pacer(gl), took = [];
  assert.ok(pacer.ready(0, nothing));
  pacer.drawn(0);
  assert.equal(gl.fences.flushed, 1); // or it would never be finished
  assert.ok(!pacer.ready(16, nothing));
  gl.fences.finished = true;
  assert.ok(pacer.ready(17, (milliseconds) => took.push(milliseconds)));
  assert.ok(pacer.ready(18, (milliseconds) => took.push(milliseconds)));
  assert.deepEqual([took, gl.fences.open, pacer.pictures], [[17], 0, 1]);
});

test('after a slow picture there is a pause, as long as it took and no longer than a quarter of a second', () => {
  const gl = card(), pacer = new Pacer(gl);
  for (const [took, pause] of [[20, 0], [80, 80], [3000, 250]]) {
    const began = pacer.pictures * 10000;
    pacer.drawn(began);
    gl.fences.finished = true;
    assert.equal(pacer.ready(began + took, nothing), pause === 0, `${took} ms`);
    assert.equal(pacer.ready(began + took + pause - 1, nothing), pause === 0, `${took} ms, a pause of ${pause}`);
    assert.ok(pacer.ready(began + took + pause, nothing));
  }
});

test('a context that is gone does not stop the page', () => {
  const gl = card(), pacer = new Pacer(gl);
  pacer.drawn(0);
  assert.ok(!pacer.ready(9000, nothing));
  assert.ok(!pacer.ready(10000, nothing)); // the pause
  assert.ok(pacer.ready(10300, nothing));
  assert.equal(gl.fences.open, 0);
});

test('it is slow until pictures are clearly faster', () => {
  const gl = card(), pacer = new Pacer(gl);
  let now = 0;
  const draw = (took, times) => {
    for (let i = 0; i < times; i++) {
      pacer.drawn(now);
      gl.fences.finished = true;
      pacer.ready((now += took), nothing);
      now += 1000;
    }
  };
  assert.ok(!pacer.slow);
  draw(150, 10);
  assert.ok(pacer.slow);
  const rest = pacer.rest_ms;
  draw(80, 30);
  assert.ok(pacer.slow);
  draw(16, 30);
  assert.ok(!pacer.slow && pacer.rest_ms < rest);
});

test('after a motion two pictures are drawn, and for a while as many as there is time for', () => {
  const still = new Stillness(), eye = [1];
  const pictures = (from, every) => {
    let count = 0;
    for (let now = from; now < from + 20000; now += every)
      if (still.moved(now, null, eye)) {
        still.drawn();
        count++;
      }
    return count;
  };
  pictures(0, 10);
  assert.equal(pictures(30000, 10), 0, 'nothing moves');
  still.stir(60000);
  assert.equal(pictures(60000, 16.5), 20, 'sixty a second');
  still.stir(90000);
  assert.equal(pictures(90000, 1000), 2, 'one a second');
  eye[0] = 2;
  assert.equal(pictures(120000, 16.5), 2, 'the eye has moved');
});

test('the page looks at every chance while something moves, and rests else', () => {
  const frames = [], timers = new Map();
  let number = 0, looks = 0, moving = true;
  Object.assign(globalThis, { requestAnimationFrame: (call) => frames.push(call) });
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
  Object.assign(globalThis, { setTimeout: (call, ms) => (timers.set(++number, { call, ms }), number), clearTimeout: (id) => timers.delete(id) });
  try {
    const beat = new Beat(() => (looks++, moving), () => 100);
    const frame = () => frames.shift()();
    beat.wake();
    beat.wake();
    assert.equal(frames.length, 1, 'one chance is enough');
    frame();
    frame();
    assert.deepEqual([looks, frames.length, timers.size], [2, 1, 0]);
    moving = false;
    frame();
    assert.deepEqual([looks, frames.length, [...timers.values()].map(({ ms }) => ms)], [3, 0, [100]]);
    beat.wake(); // something came: the rest ends
    assert.deepEqual([frames.length, timers.size], [1, 0]);
    frame();
    [...timers.values()][0].call();
    assert.equal(frames.length, 1, 'the rest is over');
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
    delete globalThis.requestAnimationFrame;
  }
});
