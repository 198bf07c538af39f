// Moving the hand with a pointer, with keys, with a gamepad. All three take the part, move it in the view's axes and let go.
import type { Eye } from './camera.ts';
import type { PageHand } from './hand.ts';
import type { Model } from './model.ts';
import type { Picker } from './pick.ts';
import { TwoFingers, type Finger } from './gestures.ts';
import { add, Drag, multiply, scale, turn, type Quat, type View } from './pose.ts';
import { NONE, type Pose, type Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import type { Cap } from './spacemouse.ts';
import { Signal } from './signal.ts';

const SLOW = 0.2; // with Ctrl
const TURN_RAD = 0.008; // per pixel
const KEY_PIXELS = 160; // per second while a key is down
const KEY_TURN = 0.9; // radians per second
const LET_GO_MS = 700; // after the last key
const PICK_MS = 60; // reading a pixel back waits for the card: not for every move of the pointer
const CLICK_PIXELS = 4; // a press that went no farther did not mean to turn the view
const TAP_PIXELS = 14; // likewise of a finger
const PINCH = 0.5; // of the way to the eye, for fingers that are e times farther apart
const DEAD = 0.14; // of a gamepad's sticks

export class Dragging {
  /** movable part under the pointer */
  hover: number = NONE;
  readonly changed = new Signal<void>();
  /** somebody tries to drag a fixed part, for the first time */
  readonly fixed = new Signal<number>();
  private explained = new Set<number>();
  /** its sticks have to be looked at: they say nothing by themselves */
  gamepad_there = false;
  private drag: Drag | null = null;
  private pointer = { x: 0, y: 0, id: -1, inside: false };
  private moved = false; // since the last pick
  private clicked: { part: number; x: number; y: number } | null = null; // a fixed part, unless the view is turned now
  private picked = 0;
  private keys = new Set<string>();
  private slow = false;
  private turned = false; // by the person, since it was taken
  private key_pose: Pose | null = null;
  private key_last = 0;
  private pad_pressed = false;
  private pad_pose: Pose | null = null;
  private cap_pose: Pose | null = null;
  private cap_last = 0;
  /** the second finger on the glass, while the first one holds a part */
  private second: { id: number; at: Finger; two: TwoFingers } | null = null;
  /** of a SpaceMouse at this machine */
  cap: Cap | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly stage: Stage,
    private readonly eye: Eye, private readonly picker: Picker, private readonly hand: PageHand,
    /** the pointer is on the gizmo: a press is not ours */
    private readonly taken: () => boolean) {
    // before the camera's own handlers: a press on a part is a grab, on anything else it turns the view
    canvas.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.point(event), { capture: true });
    canvas.addEventListener('pointerup', (event) => this.lift(event), { capture: true });
    canvas.addEventListener('pointercancel', (event) => this.lift(event), { capture: true });
    canvas.addEventListener('pointerleave', () => (this.pointer.inside = false));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { capture: true, passive: false });
    window.addEventListener('blur', () => this.keys.clear());
    // what is under the pointer may become another without its moving: a part is there, has its voxels, is gone; a key turned the view
    for (const signal of [model.on_part, model.on_part_gone] as Signal<unknown>[]) signal.on(() => (this.moved = true));
    window.addEventListener('keyup', () => (this.moved = true));
  }

  get active(): boolean {
    return this.drag !== null || this.key_pose !== null || this.pad_pose !== null || this.cap_pose !== null;
  }

  /** turns what a pointer drags, unless the person has turned it */
  lead(q: Quat): void {
    if (!this.drag || this.turned) return;
    this.drag.pose.q = [...q];
    this.hand.move(this.drag.pose);
  }

  private press(event: PointerEvent): void {
    this.canvas.focus({ preventScroll: true });
    if (this.drag && event.pointerType === 'touch' && this.add_finger(event)) return;
    if (event.button !== 0 || this.drag || this.key_pose || this.pad_pose || this.cap_pose || this.hand.pointing || this.taken()) return;
    const pick = this.picker.at(event.clientX, event.clientY);
    this.clicked = pick && { part: pick.part, x: event.clientX, y: event.clientY };
    if (!pick || !this.model.movable(pick.part)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.pointer = { x: event.clientX, y: event.clientY, id: event.pointerId, inside: true };
    const drag = new Drag(pick.at);
    drag.hold(this.eye.ray(event.clientX, event.clientY), this.eye.view());
    this.drag = drag;
    this.turned = false;
    this.canvas.classList.add('holding');
    void this.hand.grab(pick.part, pick.at).then((taken) => {
      if (!taken && this.drag === drag) this.end();
    });
  }

  private point(event: PointerEvent): void {
    const dx = event.clientX - this.pointer.x, dy = event.clientY - this.pointer.y;
    if (this.second?.id === event.pointerId) {
      event.stopImmediatePropagation();
      this.second.at = { x: event.clientX, y: event.clientY };
      this.gesture();
      return;
    }
    if (this.drag && event.pointerId !== this.pointer.id) return;
    this.pointer.x = event.clientX;
    this.pointer.y = event.clientY;
    this.pointer.inside = true;
    this.moved = true;
    if (!this.drag) {
      this.explain(event);
      return;
    }
    event.stopImmediatePropagation();
    if (this.second) {
      this.gesture();
      return;
    }
    const ray = this.eye.ray(event.clientX, event.clientY);
    const view = this.eye.view();
    const share = event.ctrlKey ? SLOW : 1;
    this.turned ||= event.shiftKey;
    if (event.shiftKey) this.drag.turn(ray, view, dx * TURN_RAD * share, dy * TURN_RAD * share);
    else this.drag.move(ray, view, share);
    this.hand.move(this.drag.pose);
  }

  /** why a part that is dragged stays where it is: said once of each */
  private explain(event: PointerEvent): void {
    const { clicked } = this;
    if (!clicked || !(event.buttons & 1) || this.explained.has(clicked.part) || this.model.movable(clicked.part)) return;
    if (Math.hypot(event.clientX - clicked.x, event.clientY - clicked.y) < TAP_PIXELS) return;
    this.explained.add(clicked.part);
    this.fixed.emit(clicked.part);
  }

  /** a second finger, beside a held part; false: there is one already */
  private add_finger(event: PointerEvent): boolean {
    if (event.pointerId === this.pointer.id) return false;
    event.stopImmediatePropagation();
    event.preventDefault();
    if (this.second) return true; // a third one does nothing
    this.canvas.setPointerCapture(event.pointerId);
    const at = { x: event.clientX, y: event.clientY };
    this.second = { id: event.pointerId, at, two: new TwoFingers(this.pointer, at) };
    return true;
  }

  private gesture(): void {
    if (!this.drag || !this.second) return;
    const change = this.second.two.move(this.pointer, this.second.at);
    const ray = this.eye.ray(this.pointer.x, this.pointer.y), view = this.eye.view();
    // the part turns as the fingers do: clockwise on the glass is about the axis away from the eye
    if (change.roll || change.right || change.down) this.turned = true;
    if (change.roll) this.drag.roll(view, change.roll);
    if (change.spread !== 1) this.drag.push(ray, view, -PINCH * this.eye.distance * Math.log(change.spread));
    if (change.right || change.down) this.drag.turn(ray, view, change.right * TURN_RAD, change.down * TURN_RAD);
    this.drag.hold(ray, view); // the first finger goes on from where it is
    this.hand.move(this.drag.pose);
  }

  private lift(event: PointerEvent): void {
    const { clicked } = this;
    if (this.second?.id === event.pointerId) {
      event.stopImmediatePropagation();
      this.second = null;
      return;
    }
    this.clicked = null;
    const within = event.pointerType === 'touch' ? TAP_PIXELS : CLICK_PIXELS;
    if (clicked && Math.hypot(event.clientX - clicked.x, event.clientY - clicked.y) < within) this.model.select(clicked.part);
    if (!this.drag || event.pointerId !== this.pointer.id) return;
    event.stopImmediatePropagation();
    this.end();
  }

  /** lets go, however it was held */
  end(): void {
    this.drag = this.key_pose = this.pad_pose = this.cap_pose = this.second = null;
    this.keys.clear();
    this.canvas.classList.remove('holding');
    this.hand.release();
  }

  private wheel(event: WheelEvent): void {
    if (!this.drag) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    const notch = -(event.deltaY || event.deltaX) / 100; // with Shift some browsers turn the wheel sideways
    const share = event.ctrlKey ? SLOW : 1;
    const view = this.eye.view();
    this.turned ||= event.shiftKey;
    if (event.shiftKey) this.drag.roll(view, notch * 0.12 * share);
    else {
      const step = this.eye.pixel(this.drag.pose.p) * 24;
      this.drag.push(this.eye.ray(this.pointer.x, this.pointer.y), view, notch * step * share);
    }
    this.hand.move(this.drag.pose);
  }

  /** a key for moving went down; true when it was one */
  key_down(event: KeyboardEvent): boolean {
    if (!MOVES[event.key] || event.altKey || event.metaKey) return false;
    this.keys.add(event.key);
    this.slow = event.ctrlKey;
    if (event.shiftKey) this.keys.add('Shift');
    return true;
  }

  key_up(event: KeyboardEvent): void {
    this.keys.delete(event.key);
    if (event.key === 'Control') this.slow = false;
  }

  /** before each picture: hover, keys, gamepad */
  update(seconds: number): void {
    if (this.drag && this.hand.holding === NONE) this.end();
    this.look_around();
    this.nudge(seconds);
    this.gamepad(seconds);
    this.spacemouse(seconds);
  }

  private look_around(): void {
    let hover = this.hover;
    if (this.active || !this.pointer.inside || this.hand.pointing) hover = NONE;
    else if (this.moved && performance.now() - this.picked > Math.max(PICK_MS, 3 * this.picker.cost)) {
      this.moved = false;
      this.picked = performance.now();
      const pick = this.picker.at(this.pointer.x, this.pointer.y);
      hover = pick && this.model.movable(pick.part) && this.model.parts.get(pick.part)?.ready ? pick.part : NONE;
      if (pick && hover !== NONE) this.hand.hover(pick.at);
    }
    if (hover !== this.hover) {
      this.hover = hover;
      this.canvas.classList.toggle('ready', hover !== NONE);
      this.changed.emit();
    }
  }

  private nudge(seconds: number): void {
    const moving = [...this.keys].filter((key) => MOVES[key]);
    const now = performance.now();
    if (moving.length) {
      this.key_last = now;
      this.key_pose ??= this.take();
    }
    if (!this.key_pose) return;
    if (this.lost() || now - this.key_last > LET_GO_MS) {
      this.end();
      return;
    }
    if (!moving.length) return;
    const turning = this.keys.has('Shift');
    const move: Vec3 = [0, 0, 0];
    for (const key of moving) MOVES[key]!.forEach((part, axis) => (move[axis]! += part));
    this.shift(this.key_pose, turning ? [0, 0, 0] : move, turning ? move : [0, 0, 0], seconds * (this.slow ? SLOW : 1));
  }

  /** moves along and turns about right, up, forward of the view */
  private shift(pose: Pose, move: Vec3, turns: Vec3, seconds: number): void {
    const view: View = this.eye.view();
    const step = this.eye.pixel(pose.p) * KEY_PIXELS * seconds;
    const axes = [view.right, view.up, view.forward];
    axes.forEach((axis, k) => (pose.p = add(pose.p, scale(axis, move[k]! * step))));
    // an arrow to the right turns to the right: about up
    const angle = KEY_TURN * seconds;
    const q = multiply(turn(view.up, turns[0] * angle), multiply(turn(view.right, -turns[1] * angle), turn(view.forward, turns[2] * angle)));
    pose.q = multiply(q, pose.q);
    this.hand.move(pose);
  }

  /** there is nothing to be moved any more: the part was let go of elsewhere */
  private lost(): boolean {
    return this.hand.holding === NONE && !this.hand.pointing;
  }

  /** takes the selected part by its middle; a point goes on from where it is */
  private take(): Pose | null {
    if (this.hand.pointing) return { p: [...this.hand.pose.p], q: [1, 0, 0, 0] };
    const part = this.model.selected;
    const box = part === NONE ? null : this.stage.part_bounds(part);
    if (!box || this.drag) {
      this.keys.clear();
      return null;
    }
    const at: Vec3 = [(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2, (box.min.z + box.max.z) / 2];
    void this.hand.grab(part, at);
    return this.hand.holding === part ? { p: at, q: [1, 0, 0, 0] } : null;
  }

  /** the cap takes the selected part when it is pushed, and lets go a moment after it was released */
  private spacemouse(seconds: number): void {
    const { cap } = this, now = performance.now();
    if (!cap) return;
    const pushed = [...cap.move, ...cap.turn].some((value) => value !== 0);
    if (pushed) {
      this.cap_last = now;
      if (!this.active) this.cap_pose = this.take();
    }
    if (!this.cap_pose) return;
    if (this.lost() || now - this.cap_last > LET_GO_MS) this.end();
    else if (pushed) this.shift(this.cap_pose, cap.move, cap.turn, 1.6 * seconds);
  }

  private gamepad(seconds: number): void {
    const pad = typeof navigator.getGamepads === 'function' ? navigator.getGamepads().find((one) => one?.connected) : null;
    this.gamepad_there = Boolean(pad);
    if (!pad) return;
    const pressed = pad.buttons[0]?.pressed ?? false;
    if (pressed && !this.pad_pressed) {
      if (this.pad_pose) this.end();
      else if (!this.active) this.pad_pose = this.take();
    }
    this.pad_pressed = pressed;
    if (!this.pad_pose) return;
    if (this.lost()) {
      this.end();
      return;
    }
    const axis = (number: number) => {
      const value = within(pad.axes[number]);
      return Math.abs(value) < DEAD ? 0 : value * Math.abs(value);
    };
    const trigger = (number: number) => within(pad.buttons[number]?.value);
    const move: Vec3 = [axis(0), -axis(1), trigger(7) - trigger(6)];
    const turns: Vec3 = [axis(2), -axis(3), trigger(5) - trigger(4)];
    if ([...move, ...turns].some((value) => value)) this.shift(this.pad_pose, move, turns, 1.6 * seconds);
  }
}

/** what a driver says, if it is a number from -1 to 1: anything else is no push */
function within(value: number | undefined): number {
  return value !== undefined && Math.abs(value) <= 1 ? value : 0;
}

/** right, up, forward */
const MOVES: Record<string, Vec3> = {
  ArrowRight: [1, 0, 0],
  ArrowLeft: [-1, 0, 0],
  ArrowUp: [0, 1, 0],
  ArrowDown: [0, -1, 0],
  PageUp: [0, 0, 1],
  PageDown: [0, 0, -1],
};
