// Two fingers on a held part: one moves it, and a second one beside it turns, rolls, or brings it nearer. What two fingers do is decided
// once, by what they do first, so that a turn does not push. Plain numbers: tested without a page.

export interface Finger {
  x: number;
  y: number;
}

export type Gesture = 'none' | 'roll' | 'depth' | 'turn';

export interface Change {
  /** radians, as the fingers turn on the glass */
  roll: number;
  /** how many times farther apart the fingers are than before: more than 1 is nearer */
  spread: number;
  /** pixels that both fingers moved */
  right: number;
  down: number;
}

const ENOUGH_PIXELS = 12; // before it is clear what is meant
const STILL: Change = { roll: 0, spread: 1, right: 0, down: 0 };

const apart = (a: Finger, b: Finger) => Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
const angle = (a: Finger, b: Finger) => Math.atan2(b.y - a.y, b.x - a.x);
const wrap = (radians: number) => radians - 2 * Math.PI * Math.round(radians / (2 * Math.PI));

export class TwoFingers {
  kind: Gesture = 'none';
  private began: [Finger, Finger];
  private last: [Finger, Finger];

  constructor(a: Finger, b: Finger) {
    this.began = this.last = [{ ...a }, { ...b }];
  }

  /** what has changed since the last call */
  move(a: Finger, b: Finger): Change {
    const [a0, b0] = this.began;
    if (this.kind === 'none') {
      const size = apart(a0, b0);
      const pixels: Record<Exclude<Gesture, 'none'>, number> = {
        roll: Math.abs(wrap(angle(a, b) - angle(a0, b0))) * size,
        depth: Math.abs(apart(a, b) - size),
        turn: Math.hypot(a.x + b.x - a0.x - b0.x, a.y + b.y - a0.y - b0.y) / 2,
      };
      const [kind, most] = (Object.entries(pixels) as [Gesture, number][]).reduce((best, one) => (one[1] > best[1] ? one : best));
      if (most < ENOUGH_PIXELS) return STILL;
      this.kind = kind;
      this.last = [{ ...a }, { ...b }]; // what it took to find out does nothing
      return STILL;
    }
    const [a1, b1] = this.last;
    this.last = [{ ...a }, { ...b }];
    if (this.kind === 'roll') return { ...STILL, roll: wrap(angle(a, b) - angle(a1, b1)) };
    if (this.kind === 'depth') return { ...STILL, spread: apart(a, b) / apart(a1, b1) };
    return { ...STILL, right: (a.x + b.x - a1.x - b1.x) / 2, down: (a.y + b.y - a1.y - b1.y) / 2 };
  }
}
