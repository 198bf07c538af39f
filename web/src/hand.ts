// The page's own hand: which one it is, where it is, what it holds. Mouse, keys, gizmo and gamepad all move this.
import type { Model } from './model.ts';
import { device_kind, hand_bit, NONE, tool, type Pose, type Vec3 } from './protocol.mjs';
import { conjugate, multiply, rotate, sub, unapply } from './pose.ts';
import { Signal } from './signal.ts';

const HOVER_MS = 33; // a hand that only looks around need not be sent more often

export class PageHand {
  /** what this page holds, or NONE; known before the controller says so */
  holding: number = NONE;
  /** where the hand grips the part, part's frame: the coupling is drawn from there */
  grip: Vec3 = [0, 0, 0];
  pose: Pose = { p: [0, 0, 0], q: [1, 0, 0, 0] };
  readonly failed = new Signal<string>();
  /** which hand a person chose for this page; -1: the page chooses */
  chosen = -1;
  private number = 0;
  private sent_at = 0;
  private confirmed = false;
  /** a part is wanted, and the controller has not answered yet */
  private taking = false;
  /** … and the request is on its way: from then on the hand may move, before it stands where the part is gripped */
  private asked = false;
  /** the number of the latest request, and the end of the one before */
  private request = 0;
  private before: Promise<unknown> = Promise.resolve();

  constructor(private readonly model: Model) {
    model.on_state.on((state) => {
      // while it is being taken, states still tell of the time before: the same part may have been let go of just now
      if (this.holding === NONE || this.taking) return;
      const held = state.hands[this.number]?.held;
      if (held === this.holding) this.confirmed = true;
      // the controller let go: reset, undo, another page, or the part is gone
      else if (this.confirmed) this.holding = NONE;
    });
    model.connection.status.on((status) => {
      if (status !== 'open') this.holding = NONE;
    });
  }

  /** hands that a page may move, in order; all of them while nothing is known of devices */
  hands(): number[] {
    const all = Array.from({ length: Math.max(1, this.model.scene?.hands ?? 1) }, (_, hand) => hand);
    const other = new Set<number>();
    for (const device of this.model.devices.values())
      if (device.hand !== NONE && device.kind !== device_kind.DEVICE_PAGE) other.add(device.hand);
    const free = all.filter((hand) => !other.has(hand));
    return free.length ? free : all;
  }

  /** its number: chosen, else by the number of the session, so that two pages have two hands */
  get hand(): number {
    if (this.holding !== NONE) return this.number;
    const hands = this.hands();
    if (this.chosen >= 0 && hands.includes(this.chosen)) return this.chosen;
    return hands[Math.max(0, this.model.connection.session - 1) % hands.length]!;
  }

  /** its tool is a point: it touches and takes nothing */
  get pointing(): boolean {
    return ((this.model.state?.hands[this.hand]?.bits ?? 0) & hand_bit.HAND_POINT) !== 0;
  }

  /** the other tool; the controller sorts triangles before the first point touches */
  async change_tool(): Promise<void> {
    this.release();
    await this.model.connection.ask('tool', { hand: this.hand, tool: this.pointing ? tool.TOOL_GRIP : tool.TOOL_POINT });
  }

  /** moves without holding, so that others see it and what it touches turns green */
  hover(at: Vec3): void {
    if (this.holding !== NONE) return;
    const now = performance.now();
    if (now - this.sent_at < HOVER_MS) return;
    this.pose = { p: at, q: [1, 0, 0, 0] };
    this.send(0);
  }

  /** whether it is held in the end; a request waits for the one before, since the controller answers each */
  grab(part: number, at: Vec3): Promise<boolean> {
    const pose = this.model.pose(part);
    if (!pose || !this.model.movable(part) || this.model.replaying || this.pointing) return Promise.resolve(false);
    this.number = this.hand;
    this.holding = part;
    this.confirmed = false;
    this.grip = unapply(pose, at);
    this.pose = { p: [...at], q: [1, 0, 0, 0] };
    this.model.select(part);
    this.taking = true;
    this.asked = false;
    const request = ++this.request, start = this.pose;
    const taken = this.before.then(() => this.take(part, start, request));
    this.before = taken;
    return taken;
  }

  private async take(part: number, start: Pose, request: number): Promise<boolean> {
    const wanted = () => this.request === request && this.holding === part;
    try {
      if (!wanted()) return false;
      // another page has this hand full: take one that is empty
      const hands = this.model.state?.hands ?? [];
      if (hands[this.number] && hands[this.number]!.held !== NONE)
        this.number = this.hands().find((one) => hands[one]?.held === NONE) ?? this.number;
      const hand = this.number;
      // the part is gripped where the hand is said to be, wherever the loop has it and wherever it goes from there
      const grabbed = this.model.connection.ask('grab', { hand, part, has_pose: true, T_world_hand: start });
      this.asked = true;
      if (this.pose !== start) this.send(0); // it has moved while the request before was answered
      await grabbed;
      if (wanted()) {
        this.send(1);
        return true;
      }
      await this.model.connection.ask('release', { hand }); // let go of in the meantime
      return false;
    } catch (error) {
      if (wanted()) this.holding = NONE;
      this.failed.emit(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      if (this.request === request) this.taking = this.asked = false;
    }
  }

  move(pose: Pose): void {
    this.pose = { p: [...pose.p], q: [...pose.q] };
    // the button is pressed when the part is held: a press before could take another one
    if (!this.taking || this.asked) this.send(this.holding === NONE || this.taking ? 0 : 1);
  }

  release(): void {
    if (this.holding === NONE) return;
    const hand = this.number;
    this.holding = NONE;
    this.confirmed = false;
    if (this.taking) return; // take() sees it
    this.model.connection.ask('release', { hand }).catch(() => undefined);
    this.model.connection.input('hand_input', { hand, buttons: 0, time_us: now_us(), T_world_hand: this.pose });
  }

  /** the hand pose that would bring the held part to `target`, as a gizmo wants it */
  for_part(target: Pose, start: { hand: Pose; part: Pose }): Pose {
    const turned = multiply(target.q, conjugate(start.part.q));
    const offset = rotate(turned, sub(start.hand.p, start.part.p));
    return { p: [target.p[0] + offset[0], target.p[1] + offset[1], target.p[2] + offset[2]], q: multiply(turned, start.hand.q) };
  }

  private send(buttons: number): void {
    this.sent_at = performance.now();
    this.model.connection.input('hand_input', { hand: this.hand, buttons, time_us: now_us(), T_world_hand: this.pose });
  }
}

function now_us(): number {
  return Math.round(performance.now() * 1000);
}
