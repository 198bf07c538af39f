// In a headset (WebXR): both hands or controllers take parts, the grip moves and scales the world, and what is felt is seen and pulses.
// The browser gives poses with y up, in metres of the room; a rig between the room and the scene turns, moves and scales them.
import { BufferGeometry, CanvasTexture, Group, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, Quaternion, SphereGeometry, Sprite, SpriteMaterial, Vector3, type Box3 } from 'three';
import type { Eye } from './camera.ts';
import { tool } from './dom.ts';
import { felt } from './felt.ts';
import { PageHand } from './hand.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { conjugate, multiply, type Quat } from './pose.ts';
import { NONE, type Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { t } from './texts.ts';

const REACH_M = 0.08; // of the room: a part that near to a hand is taken
const SIZE_M = 0.6; // of the room: the scene is that large at first
const HEIGHT_M = 1.1; // … and stands so high
const AWAY_M = 0.7; // … and so far in front
const MAX_ROOM_M = 100;
const FULL_N = 10;
const PULSE_MS = 40;

interface Grip {
  source: XRInputSource;
  hand: PageHand;
  /** in the scene */
  place: Matrix4;
  known: boolean;
  /** how the hand was turned when it took a part */
  turned: Quat;
  /** of the room, while it holds the world */
  world: { at: Vector3; rig: Matrix4 } | null;
  ball: Mesh;
  pulsed: number;
}

export class Headset {
  active = false;
  /** pulses so far, for tests */
  pulses = 0;
  private rig = new Group();
  private grips = new Map<XRInputSource, Grip>();
  private session: XRSession | null = null;
  private space: XRReferenceSpace | null = null;
  private label = document.createElement('canvas');
  private texture = new CanvasTexture(this.label);
  private board = new Sprite(new SpriteMaterial({ map: this.texture, depthTest: false, fog: false }));
  private said = '';
  private button = tool('headset', 'Enter the headset (WebXR)', () => void this.toggle(), 'tool-headset');

  constructor(
    private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye, private readonly notices: Notices,
    /** at every picture in the headset: what the page does at each of its own */
    private readonly look: () => void, private readonly clearance: () => string) {
    this.label.width = 512;
    this.label.height = 128;
    this.button.hidden = true;
    this.board.renderOrder = 10;
    document.getElementById('more-tools')!.prepend(this.button);
    void navigator.xr?.isSessionSupported('immersive-vr').then((there) => (this.button.hidden = !there), () => undefined);
  }

  /** how many times larger than in truth the scene is seen */
  get scale(): number {
    return 1 / this.rig.scale.x;
  }

  private async toggle(): Promise<void> {
    if (this.session) {
      await this.session.end();
      return;
    }
    try {
      const session = await navigator.xr!.requestSession('immersive-vr', { optionalFeatures: ['local-floor', 'hand-tracking'] });
      await this.begin(session);
    } catch (error) {
      this.notices.toast(`${t('The headset could not be entered:')} ${error instanceof Error ? error.message : String(error)}`, 'warning');
    }
  }

  private async begin(session: XRSession): Promise<void> {
    const { renderer, scene } = this.stage;
    this.session = session;
    session.addEventListener('end', () => this.end());
    for (const [name, act] of [['selectstart', (grip: Grip) => this.take(grip)], ['selectend', (grip: Grip) => grip.hand.release()], ['squeezestart', (grip: Grip) => this.hold_world(grip)], ['squeezeend', (grip: Grip) => this.drop_world(grip)]] as const)
      session.addEventListener(name, (event) => {
        const grip = this.grips.get((event as XRInputSourceEvent).inputSource);
        if (grip) act(grip);
      });
    renderer.xr.enabled = true;
    renderer.xr.setReferenceSpaceType('local-floor');
    await renderer.xr.setSession(session);
    this.space = renderer.xr.getReferenceSpace();
    this.place_rig(this.stage.bounds());
    this.rig.add(this.eye.camera, this.board);
    scene.add(this.rig);
    this.active = true;
    renderer.setAnimationLoop((_, frame) => frame && this.picture(frame)); // the first call may come without one
    this.button.setAttribute('aria-pressed', 'true');
  }

  private end(): void {
    const { renderer, scene } = this.stage;
    renderer.setAnimationLoop(null);
    for (const grip of this.grips.values()) this.forget(grip);
    this.grips.clear();
    this.rig.remove(this.eye.camera, this.board);
    scene.remove(this.rig);
    renderer.xr.enabled = false;
    this.session = this.space = null;
    this.active = false;
    this.eye.camera.removeFromParent();
    this.eye.touched = true;
    this.eye.frame(this.stage.bounds(), 'iso');
    this.button.setAttribute('aria-pressed', 'false');
  }

  /** the middle of the scene in front of the person, at the height of a table; z is up there and y here */
  private place_rig(box: Box3): void {
    const size = Math.max(1e-4, ...box.getSize(new Vector3()).toArray()), scale = size / SIZE_M;
    const centre = box.getCenter(new Vector3());
    this.rig.scale.setScalar(scale);
    this.rig.quaternion.setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2);
    const front = new Vector3(0, HEIGHT_M, -AWAY_M).multiplyScalar(scale).applyQuaternion(this.rig.quaternion);
    this.rig.position.copy(centre).sub(front);
    this.rig.updateMatrixWorld(true);
  }

  // ---- at every picture ----

  private picture(frame: XRFrame): void {
    if (!this.session || !this.space) return;
    for (const source of this.session.inputSources) this.follow(source, frame);
    for (const [source, grip] of this.grips) if (![...this.session.inputSources].includes(source)) {
      this.forget(grip);
      this.grips.delete(source);
    }
    this.move_world();
    this.tell();
    this.look();
    this.stage.draw(this.eye.camera);
  }

  private follow(source: XRInputSource, frame: XRFrame): void {
    const pose = frame.getPose(source.gripSpace ?? source.targetRaySpace, this.space!);
    const grip = this.grips.get(source) ?? this.add(source);
    // a pose that is no number, or farther than a room, is none
    grip.known = Boolean(pose) && [...pose!.transform.matrix].every((value) => Math.abs(value) < MAX_ROOM_M);
    grip.ball.visible = grip.known;
    if (!pose || !grip.known) return; // where it is not known, the hand stays, and so does what it holds
    grip.ball.matrix.fromArray(pose.transform.matrix);
    grip.ball.matrix.decompose(grip.ball.position, grip.ball.quaternion, grip.ball.scale);
    this.rig.updateMatrixWorld(true);
    grip.place.multiplyMatrices(this.rig.matrixWorld, new Matrix4().fromArray(pose.transform.matrix));
    if (grip.hand.holding === NONE) return;
    grip.hand.move({ p: place_of(grip), q: multiply(turn_of(grip), conjugate(grip.turned)) });
    this.pulse(grip);
  }

  private add(source: XRInputSource): Grip {
    const hand = new PageHand(this.model);
    hand.failed.on((sentence) => this.notices.toast(sentence, 'warning'));
    const ball = new Mesh(new SphereGeometry(0.012, 16, 12), new MeshBasicMaterial({ color: 0x5ad1e6, fog: false }));
    const ray = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3(0, 0, -REACH_M)]), new LineBasicMaterial({ color: 0x5ad1e6, fog: false }));
    ball.add(ray);
    this.rig.add(ball);
    const grip: Grip = { source, hand, place: new Matrix4(), known: false, turned: [1, 0, 0, 0], world: null, ball, pulsed: 0 };
    this.grips.set(source, grip);
    // each has a hand of its own, where the controller has two
    const hands = hand.hands();
    hand.chosen = hands[(source.handedness === 'left' ? 1 : 0) % hands.length]!;
    return grip;
  }

  private forget(grip: Grip): void {
    grip.hand.release();
    this.rig.remove(grip.ball);
  }

  // ---- parts ----

  /** the movable part whose box is nearest to a place, within reach; at the same distance the smaller one */
  private nearest(at: Vector3): number {
    let best: number = NONE, least = REACH_M * this.rig.scale.x, size = Infinity;
    for (const part of this.model.parts.keys()) {
      const box = this.model.movable(part) ? this.stage.part_bounds(part) : null;
      if (!box) continue;
      const away = box.distanceToPoint(at), its = box.getSize(new Vector3()).length();
      if (away < least || (away === least && its < size)) [best, least, size] = [part, away, its];
    }
    return best;
  }

  private take(grip: Grip): void {
    const at = place_of(grip), part = grip.known ? this.nearest(new Vector3(...at)) : NONE;
    if (part === NONE) return;
    grip.turned = turn_of(grip);
    void grip.hand.grab(part, at);
  }

  private pulse(grip: Grip): void {
    const state = this.model.state, hand = state?.hands[grip.hand.hand];
    if (!state || !hand || state.contact_count === 0) return;
    const now = performance.now(), strength = Math.min(1, Math.hypot(...felt(state, hand).force) / FULL_N);
    if (strength <= 0 || now - grip.pulsed < PULSE_MS) return;
    grip.pulsed = now;
    this.pulses++;
    const actuators = grip.source.gamepad?.hapticActuators as unknown as { pulse?: (strength: number, ms: number) => Promise<boolean> }[] | undefined;
    void actuators?.[0]?.pulse?.(Math.max(0.1, strength), PULSE_MS)?.catch(() => undefined);
  }

  // ---- the world ----

  private room(grip: Grip): Vector3 {
    return grip.ball.position.clone();
  }

  private hold_world(grip: Grip): void {
    grip.hand.release();
    for (const one of this.grips.values()) if (one === grip || one.world) one.world = { at: this.room(one), rig: this.rig.matrixWorld.clone() };
  }

  private drop_world(grip: Grip): void {
    grip.world = null;
    for (const one of this.grips.values()) if (one.world) one.world = { at: this.room(one), rig: this.rig.matrixWorld.clone() };
  }

  /** one hand moves the world; two also turn it about the vertical and scale it */
  private move_world(): void {
    const held = [...this.grips.values()].filter((grip) => grip.world && grip.known);
    const [a, b] = held;
    if (!a?.world) return;
    const begun = [a.world.at, b?.world?.at ?? a.world.at.clone().add(new Vector3(1, 0, 0))] as const;
    const now = [this.room(a), b ? this.room(b) : this.room(a).add(new Vector3(1, 0, 0))] as const;
    // from where the hands are now to where they began: what was at them stays at them
    const back = between(now[0], now[1], begun[0], begun[1], Boolean(b));
    new Matrix4().multiplyMatrices(a.world.rig, back).decompose(this.rig.position, this.rig.quaternion, this.rig.scale);
    this.rig.updateMatrixWorld(true);
  }

  // ---- what is said ----

  /** the clearance, over the hand that holds */
  private tell(): void {
    const holding = [...this.grips.values()].find((grip) => grip.hand.holding !== NONE);
    this.board.visible = holding !== undefined;
    if (!holding) return;
    this.board.position.copy(this.room(holding)).add(new Vector3(0, 0.09, 0));
    this.board.scale.set(0.2, 0.05, 1);
    const words = this.clearance();
    if (words === this.said) return;
    this.said = words;
    const pen = this.label.getContext('2d')!;
    pen.clearRect(0, 0, 512, 128);
    pen.fillStyle = 'rgba(20, 26, 34, 0.85)';
    pen.fillRect(0, 0, 512, 128);
    pen.fillStyle = '#e6ebf1';
    pen.font = '600 56px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillText(words, 256, 64, 490);
    this.texture.needsUpdate = true;
  }
}

function place_of(grip: Grip): Vec3 {
  return new Vector3().setFromMatrixPosition(grip.place).toArray() as Vec3;
}

function turn_of(grip: Grip): Quat {
  const q = new Quaternion();
  grip.place.decompose(new Vector3(), q, new Vector3());
  return [q.w, q.x, q.y, q.z];
}

/** the motion of the room that brings a to c, and b towards d: turned about the vertical and, if `scaled`, made larger or smaller */
export function between(a: Vector3, b: Vector3, c: Vector3, d: Vector3, scaled: boolean): Matrix4 {
  const from = b.clone().sub(a), to = d.clone().sub(c);
  const angle = Math.atan2(from.z, from.x) - Math.atan2(to.z, to.x);
  const times = scaled ? Math.min(100, Math.max(0.01, to.length() / Math.max(1e-6, from.length()))) : 1;
  const turned = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), scaled ? angle : 0);
  const moved = c.clone().sub(a.clone().multiplyScalar(times).applyQuaternion(turned));
  return new Matrix4().compose(moved, turned, new Vector3(times, times, times));
}
