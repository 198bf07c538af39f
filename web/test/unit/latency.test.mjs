import assert from 'node:assert/strict';
import test from 'node:test';
import { load, random } from '../load.mjs';

const { Latency, Window, StateRate } = await load('latency.ts');

test('quantiles are of the values that are in the window', () => {
  const window = new Window(100);
  assert.ok(Number.isNaN(window.quantile(0.5)));
  for (let i = 1; i <= 150; i++) window.add(i);
  assert.equal(window.quantile(0), 51);
  assert.equal(window.quantile(0.5), 100);
  assert.equal(window.quantile(1), 150);
});

test('the clocks’ difference is found in spite of jitter, and ages from it', () => {
  const next = random(7);
  const latency = new Latency();
  const offset = 123456.7; // controller's clock less the page's, ms
  for (let i = 0; i < 20; i++) {
    const sent = 1000 * i, there = 0.3 + 8 * next() ** 4, back = 0.3 + 8 * next() ** 4;
    latency.pong(sent, sent + there + back, (sent + there + offset) * 1000);
  }
  assert.ok(Math.abs(latency.offset - offset) < 1, `offset ${latency.offset}`);
  for (let i = 0; i < 200; i++) {
    const made = 20000 + 16 * i;
    const age = latency.state((made + offset) * 1000, made + 5);
    assert.ok(Math.abs(age - 5) < 1, `age ${age}`);
  }
  assert.ok(Math.abs(latency.p95 - 5) < 1);
});

test('without a pong there is no age; with a clock of another beginning only what exceeds the fastest', () => {
  const latency = new Latency();
  assert.ok(Number.isNaN(latency.state(0.984e6, 1990)));
  latency.pong(0, 2, 9e12);
  const first = latency.state(1e6, 2000), late = latency.state(1.016e6, 2056);
  assert.ok(first < 2 && Math.abs(late - first - 40) < 1e-6, `${first} ${late}`);
});

test('old answers are forgotten, since clocks drift', () => {
  const latency = new Latency();
  latency.pong(0, 0.1, 5000);
  latency.pong(60000, 60004, 60012000);
  assert.ok(Math.abs(latency.offset - 10) < 1e-9);
});

test('a page that falls behind asks for fewer states, and for more when they are fresh again', () => {
  const rate = new StateRate();
  assert.equal(rate.next(0, 5, false), 60);
  assert.equal(rate.next(10, NaN, false), 60);
  assert.equal(rate.next(10, 200, false), 60);
  // late: half as many, once a second, never none
  assert.equal(rate.next(20, 900, false), 30);
  assert.equal(rate.next(500, 900, false), 30);
  for (let now = 1020; now < 20000; now += 1000) rate.next(now, 3000, false);
  assert.equal(rate.rate, 2);
  // fresh: slowly more
  assert.equal(rate.next(25000, 20, false), 4);
  assert.equal(rate.next(26000, 20, false), 4);
  for (let now = 28000; now < 60000; now += 1000) rate.next(now, 20, false);
  assert.equal(rate.rate, 60);
  assert.equal(rate.next(60001, 20, true), 20);
  assert.equal(rate.next(70000, 20, true), 20);
});
