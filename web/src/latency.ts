// How old a state is when the page has decoded it. The controller's clock and the page's have nothing in common, so pings
// tell their difference: of all the answers of late, the one that came back fastest bounds it best.

/** a sample window that gives quantiles */
export class Window {
  private values: Float64Array;
  private next = 0;
  count = 0;

  constructor(size: number) {
    this.values = new Float64Array(size);
  }

  add(value: number): void {
    this.values[this.next] = value;
    this.next = (this.next + 1) % this.values.length;
    this.count = Math.min(this.count + 1, this.values.length);
  }

  clear(): void {
    this.next = this.count = 0;
  }

  /** NaN while it is empty; q from 0 to 1, nearest rank */
  quantile(q: number): number {
    if (!this.count) return NaN;
    const sorted = this.values.slice(0, this.count).sort();
    return sorted[Math.min(this.count - 1, Math.max(0, Math.ceil(q * this.count) - 1))]!;
  }
}

const KEEP_MS = 30000; // clocks drift by some ppm: after this an answer says too little

export class Latency {
  private answers: { at: number; trip: number; offset: number }[] = [];
  private delays = new Window(512);
  /** least difference of arrival and the controller's stamp: what remains when there is no common clock */
  private least = Infinity;
  /** ms, of the newest state; NaN: not known yet */
  last = NaN;

  /** an answer to a ping: sent and received on the page's clock (ms), answered on the controller's (µs) */
  pong(sent: number, received: number, answered_us: number): void {
    const trip = received - sent;
    if (!(trip >= 0)) return;
    this.answers.push({ at: received, trip, offset: answered_us / 1000 - (sent + received) / 2 });
    this.answers = this.answers.filter((answer) => received - answer.at < KEEP_MS);
  }

  /** controller's clock less the page's, ms; NaN: not known yet */
  get offset(): number {
    let best: { trip: number; offset: number } | null = null;
    for (const answer of this.answers) if (!best || answer.trip < best.trip) best = answer;
    return best ? best.offset : NaN;
  }

  /** least round trip of late, ms */
  get trip(): number {
    return this.answers.reduce((least, answer) => Math.min(least, answer.trip), Infinity);
  }

  /** a state of the loop's time `time_us` has been decoded; gives its age in ms, or NaN */
  state(time_us: number, decoded: number): number {
    const raw = decoded - time_us / 1000;
    this.least = Math.min(this.least, raw);
    const offset = this.offset;
    if (Number.isNaN(offset)) return NaN;
    // a loop that counts from another beginning than pongs do: only what exceeds the fastest can be told
    let age = raw + offset;
    if (age < -5 || age > 60000) age = raw - this.least + this.trip / 2;
    this.last = Math.max(0, age);
    this.delays.add(this.last);
    return this.last;
  }

  reset(): void {
    this.answers = [];
    this.last = NaN;
    this.delays.clear();
    this.least = Infinity;
  }

  get p50(): number {
    return this.delays.quantile(0.5);
  }
  get p95(): number {
    return this.delays.quantile(0.95);
  }
  get samples(): number {
    return this.delays.count;
  }
}

const RATE = 60; // states a second
const SLOW_RATE = 20; // … where pictures take long
const LEAST_RATE = 2;
const LATE_MS = 400; // a state that is older has waited behind others: the page does not keep up
const FRESH_MS = 150;
const LESS_MS = 1000; // between two changes: what is on its way was asked for before
const MORE_MS = 3000;

/** How many states a second a page asks for. One that reads more slowly than they come would fall behind by minutes, since sockets hold
 * megabytes; so it asks for fewer as soon as they come late, and for more again when they are fresh. */
export class StateRate {
  rate = RATE;
  private changed = -Infinity;

  /** a state came that is so many ms old (NaN: not known); `slow`: pictures take long */
  next(now: number, age: number, slow: boolean): number {
    const top = slow ? SLOW_RATE : RATE;
    let rate = Math.min(this.rate, top);
    if (age > LATE_MS && now - this.changed >= LESS_MS) rate = Math.max(LEAST_RATE, Math.floor(rate / 2));
    else if (age < FRESH_MS && now - this.changed >= MORE_MS) rate = Math.min(top, 2 * rate);
    if (rate !== this.rate) this.changed = now;
    return (this.rate = rate);
  }
}
