// Arrows and rings at the selected part: the other way of dragging, axis by axis. It moves a stand-in; the hand follows that,
// and the part follows the hand as far as it can. When it is let go, the gizmo jumps back to where the part is.
import { Object3D } from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import type { Eye } from './camera.ts';
import type { PageHand } from './hand.ts';
import type { Model } from './model.ts';
import { NONE, type Pose } from './protocol.mjs';
import { set_pose, type Stage } from './scene.ts';

export class Gizmo {
  on = false;
  private proxy = new Object3D();
  private controls: TransformControls;
  private start: { hand: Pose; part: Pose } | null = null;
  private busy = false;

  constructor(canvas: HTMLCanvasElement, private readonly model: Model, private readonly stage: Stage, eye: Eye, private readonly hand: PageHand) {
    this.controls = new TransformControls(eye.camera, canvas);
    this.controls.setSize(0.85);
    this.controls.attach(this.proxy);
    stage.scene.add(this.proxy);
    this.controls.addEventListener('dragging-changed', (event) => {
      eye.controls.enabled = !event.value;
      if (event.value) this.begin();
      else this.end();
    });
    this.controls.addEventListener('objectChange', () => this.follow());
  }

  set_mode(mode: 'translate' | 'rotate'): void {
    this.controls.setMode(mode);
  }

  get mode(): string {
    return this.controls.mode;
  }

  /** the pointer is on an arrow or ring: a press is the gizmo's */
  get hot(): boolean {
    return this.on && this.controls.axis !== null;
  }

  toggle(on = !this.on): void {
    this.on = on;
    const helper = this.controls.getHelper();
    if (on) this.stage.scene.add(helper);
    else this.stage.scene.remove(helper);
    this.controls.enabled = on;
  }

  update(): void {
    const pose = this.model.pose(this.model.selected);
    const helper = this.controls.getHelper();
    helper.visible = this.on && pose !== null;
    this.controls.enabled = helper.visible;
    if (!pose || this.busy) return;
    set_pose(this.proxy, pose);
    this.proxy.updateMatrixWorld();
  }

  private begin(): void {
    const part = this.model.selected;
    const pose = this.model.pose(part);
    if (!pose) return;
    this.busy = true;
    const kept: Pose = { p: [...pose.p], q: [...pose.q] };
    void this.hand.grab(part, kept.p);
    this.start = { part: kept, hand: { p: [...kept.p], q: [1, 0, 0, 0] } };
  }

  private follow(): void {
    if (!this.start || this.hand.holding === NONE) return;
    const { position, quaternion: q } = this.proxy;
    const target: Pose = { p: [position.x, position.y, position.z], q: [q.w, q.x, q.y, q.z] };
    this.hand.move(this.hand.for_part(target, this.start));
  }

  private end(): void {
    this.busy = false;
    this.start = null;
    this.hand.release();
  }
}
