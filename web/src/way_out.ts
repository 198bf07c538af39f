// Find a way out: the controller searches from where the selected part is now, and keeps its distance to all others on the way. What it
// finds is played, scrubbed, followed by hand with a guide that gives way, or cut so that a person goes on from there. Where a person
// went before is a hint to the search. Without a way, the parts that block it are shown in place.
import { number_field, read_number } from './numbers.ts';
import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, Vector3 } from 'three';
import type { Callouts } from './callouts.ts';
import type { Eye } from './camera.ts';
import { read_length } from './clash_rows.ts';
import { by_id, h, text, toggle } from './dom.ts';
import type { Dragging } from './drag.ts';
import type { PageHand } from './hand.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { apply, conjugate, multiply, type Quat } from './pose.ts';
import { NONE, way_method, type message_way, type Pose, type Vec3, type way_blocker } from './protocol.mjs';
import { set_pose, type Stage } from './scene.ts';
import { Signal } from './signal.ts';
import { length, metres } from './units.ts';
import { pose_file, rows_of, Trace, Way, type Place } from './way.ts';
import { t } from './texts.ts';

const PLAY_SECONDS = 6;
const SHARE = 0.3; // of the hand's force: what the guide pulls with at most
const WAYPOINTS = 256;
const GHOST = 0x2f9e6b, BLOCKER = 0xd6453d;
const METHODS: Record<number, string> = { [way_method.WAY_STRAIGHT]: 'one straight move', [way_method.WAY_LEGS]: 'several moves', [way_method.WAY_TREE]: 'a random search' };

export class WayOut {
  readonly changed = new Signal<void>();
  found: message_way | null = null;
  private way: Way | null = null;
  private at = 0;
  private playing = false;
  private following = false;
  private place: Place | null = null;
  private sent = -1; // the segment that the hand is guided along; -1: none
  private grabbed: { part: number; q: Quat } | null = null;
  private asking: { part: number; job: number; turn: number } | null = null;
  private progress = { seconds: 0, poses: 0, reached: 0 };
  private turn = 0;
  private searches = 0; // the seed: a search that is begun again goes other ways
  private hints = new Map<number, Trace>();
  private tracing = false;
  /** what a person kept of earlier ways, and did since: a way is saved from its beginning */
  private kept: { part: number; poses: Pose[] } | null = null;
  private ghost = new Group();
  private blocked = new Group();
  private line = new Line(new BufferGeometry(), new LineBasicMaterial({ color: GHOST, depthTest: false, transparent: true }));
  private card = by_id<HTMLDetailsElement>('way-card');
  private clearance = h('input', { type: 'text', id: 'way-clearance', value: '0', size: 6, 'aria-label': 'Keep at least' });
  private unit = h('span', { class: 'unit' });
  private seconds = number_field({ id: 'way-seconds', value: '60', 'aria-label': 'Search for' });
  private note = h('p', { class: 'hint', id: 'way-note', role: 'status' });
  private bar = h('progress', { id: 'way-bar', max: 1, value: 0, hidden: true });
  private button = h('button', { type: 'button', class: 'primary', id: 'way-find', onclick: () => void this.find() }, 'Find a way out');
  private stop = h('button', { type: 'button', id: 'way-stop', hidden: true, onclick: () => this.cancel() }, 'Stop');
  private add_hint = h('button', { type: 'button', class: 'quiet', id: 'way-hint', title: 'Where the part is now may lead out', onclick: () => this.hint() }, 'Add waypoint');
  private drop_hints = h('button', { type: 'button', class: 'quiet', id: 'way-no-hints', hidden: true, onclick: () => this.forget_hints() }, 'Clear');
  private play = h('button', { type: 'button', id: 'way-play', onclick: () => this.set_playing(!this.playing) }, 'Play');
  private slider = h('input', { type: 'range', id: 'way-slider', min: '0', max: '1000', step: '1', value: '0', 'aria-label': 'Along the way', oninput: () => this.scrub(Number(this.slider.value) / 1000) });
  private follow_row: HTMLElement;
  private result = h('div', { id: 'way-result', hidden: true });
  private list = h('div', { id: 'way-blockers' });

  constructor(
    private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye, private readonly callouts: Callouts, private readonly hand: PageHand,
    private readonly dragging: Dragging, private readonly notices: Notices, private readonly mark: (parts: number[]) => void) {
    stage.scene.add(this.ghost, this.blocked, this.line);
    this.line.renderOrder = 5;
    this.follow_row = toggle('Follow by hand', false, (on) => this.set_following(on), 'way-follow');
    const cut = h('button', { type: 'button', class: 'quiet', id: 'way-cut', title: 'Puts the part there; go on by hand, or search again', onclick: () => void this.cut() }, 'Continue from here');
    const save = h('button', { type: 'button', class: 'quiet', id: 'way-save', onclick: () => this.save() }, 'Save');
    const drop = h('button', { type: 'button', class: 'quiet', id: 'way-drop', onclick: () => this.drop() }, 'Discard');
    this.result.append(h('div', { class: 'row' }, this.play, this.slider), this.follow_row, h('div', { class: 'row end' }, drop, save, cut));
    by_id('way').append(
      h('label', { class: 'field' }, h('span', {}, 'Keep at least'), h('span', { class: 'row' }, this.clearance, this.unit)),
      h('label', { class: 'field' }, h('span', {}, 'Search for'), h('span', { class: 'row' }, this.seconds, h('span', { class: 'unit' }, 's'))),
      toggle('My moves are waypoints', false, (on) => (this.tracing = on), 'way-trace'),
      h('div', { class: 'row end' }, this.drop_hints, this.add_hint, this.stop, this.button), this.bar, this.note, this.result, this.list);
    model.on_scene.on(() => this.forget());
    model.on_up.on(() => this.forget());
    model.on_part_gone.on((part) => {
      if (part === this.found?.part || part === this.asking?.part) this.forget();
    });
    model.on_selected.on(() => this.show());
    this.card.addEventListener('toggle', () => {
      if (!this.card.open) this.set_playing(false);
      this.show();
    });
    this.show();
  }

  /** for tests */
  get seen(): { at: number; length: number; following: boolean; guided: number; hints: number; poses: number; kept: number; ghost: boolean; pose: Pose | null; blockers: number } {
    return { at: this.at, length: this.way?.length ?? 0, following: this.following, guided: this.sent, hints: this.hints.get(this.model.selected)?.poses.length ?? 0, poses: this.progress.poses, kept: this.kept?.poses.length ?? 0,
      ghost: this.ghost.children.length > 0 && this.ghost.visible, pose: this.way?.pose_at(this.at) ?? null, blockers: this.blocked.children.length };
  }

  get active(): boolean {
    return this.playing || this.asking !== null;
  }

  /** every picture */
  update(seconds: number): void {
    if (this.playing && this.way) {
      this.scrub(Math.min(1, (this.way.length > 0 ? this.at / this.way.length : 1) + seconds / PLAY_SECONDS));
      if (this.at >= this.way.length) this.set_playing(false);
    }
    this.trace();
    this.guide();
  }

  // ---- the search ----

  private async find(): Promise<void> {
    const part = this.model.selected;
    const clearance = read_length(this.clearance.value, this.model.unit), seconds = read_number(this.seconds.value);
    if (part === NONE) return;
    if (clearance === null || !(seconds > 0 && seconds <= 3600)) {
      this.notices.toast(clearance === null ? t('“{0}” is no length. Type a number such as 0.5, with or without mm, cm, m or in; at most 1 m.', this.clearance.value) : 'A search takes 1 to 3600 seconds.', 'warning');
      return;
    }
    this.drop();
    const turn = ++this.turn;
    this.asking = { part, job: 0, turn };
    this.progress = { seconds: 0, poses: 0, reached: 0 };
    this.show();
    try {
      const via = rows_of(this.hints.get(part)?.poses ?? []);
      const answer = await this.model.connection.ask('way_ask', { part, has_goal: false, clearance, seconds, seed: ++this.searches, via }, (message) => {
        if (turn !== this.turn || message.name !== 'way_progress' || !this.asking) return;
        const { job, farthest, poses, reached } = message.body;
        this.asking.job = job;
        this.progress = { seconds: message.body.seconds, poses: Number(poses), reached };
        this.bar.value = Math.min(1, message.body.seconds / seconds);
        this.put_ghost(message.body.part, farthest);
        this.show();
      });
      if (turn !== this.turn || answer.name !== 'way') return;
      this.asking = null;
      this.take(answer.body);
    } catch (error) {
      if (turn !== this.turn) return;
      this.asking = null;
      this.clear_ghost();
      this.notices.failed(error);
    }
    this.show();
  }

  private cancel(): void {
    if (this.asking?.job) this.model.connection.ask('cancel', { job: this.asking.job }).catch(this.notices.failed);
  }

  private take(found: message_way): void {
    this.found = found;
    if (!found.found) {
      this.clear_ghost();
      this.show_blockers(found.blockers);
      return;
    }
    this.way = new Way(found.poses, this.reach(found.part));
    const middle = this.middle(found.part);
    const points = this.way.poses.flatMap((pose) => apply(pose, middle));
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(Float32Array.from(points), 3));
    this.line.visible = true;
    this.scrub(0);
    this.set_playing(true);
  }

  // ---- blockers ----

  private show_blockers(blockers: readonly way_blocker[]): void {
    const clones = blockers.slice(0, 5).map(({ part }) => this.clone(part, new MeshBasicMaterial({ color: BLOCKER, transparent: true, opacity: 0.55, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 })));
    this.blocked.clear();
    clones.forEach((clone, i) => {
      const pose = this.model.pose(blockers[i]!.part);
      if (pose) set_pose(clone, pose);
      this.blocked.add(clone);
    });
    this.list.replaceChildren(...blockers.map((blocker, i) => h('button', { type: 'button', class: 'clash-pick', title: 'Show where', onclick: () => this.look_at(blocker) },
      h('span', { class: 'dot dot-overlap' }), h('span', { class: 'part-text' }, h('span', { class: 'part-name' }, `${i + 1}. ${this.name(blocker.part)}`),
        h('span', { class: 'part-facts' }, blocker.sole ? 'without it, the part comes out' : `stopped ${Number(blocker.stops)} ${Number(blocker.stops) === 1 ? 'move' : 'moves'}`)))));
    blockers.slice(0, 3).forEach((blocker, i) => this.callouts.set(`way ${i}`, { from: blocker.at, to: blocker.at, label: `${i + 1}. ${this.name(blocker.part)}`, bad: true }));
    this.changed.emit();
  }

  private look_at({ part }: way_blocker): void {
    this.mark([part]);
    this.stage.set_visible(part, true);
    const box = this.stage.part_bounds(part);
    if (!box) return;
    this.eye.touched = true;
    this.eye.frame(box.expandByScalar(0.5 * box.getSize(new Vector3()).length()));
    this.changed.emit();
  }

  // ---- playing ----

  private scrub(share: number): void {
    const { way, found } = this;
    if (!way || !found) return;
    this.at = share * way.length;
    this.slider.value = String(Math.round(1000 * share));
    this.put_ghost(found.part, way.pose_at(this.at));
    this.changed.emit();
  }

  private set_playing(on: boolean): void {
    if (on && this.way && this.at >= this.way.length) this.scrub(0);
    this.playing = on && this.way !== null;
    text(this.play, this.playing ? t('Pause') : t('Play'));
    this.changed.emit();
  }

  // ---- with a person ----

  /** draws the hand's part towards the way; a hand that pulls harder takes it elsewhere */
  private guide(): void {
    const { way, found, hand } = this;
    const held = this.following && way && found && hand.holding === found.part;
    if (!held) {
      this.grabbed = null;
      if (this.sent >= 0) this.unguide();
      return;
    }
    const pose = this.model.pose(found.part);
    if (!pose) return;
    this.grabbed ??= { part: found.part, q: [...pose.q] as Quat };
    this.place = this.place && this.place.away < this.reach(found.part) ? way.nearest(pose, this.place.at, 0.25 * way.length + this.reach(found.part)) : way.nearest(pose);
    this.scrub_silently(this.place.at);
    // a pointer has no way to turn the part at the same time: the way does, unless the person turns it
    this.dragging.lead(multiply(this.place.pose.q, conjugate(this.grabbed.q)));
    if (this.place.segment === this.sent) return;
    this.sent = this.place.segment;
    const from = way.poses[this.sent]!, to = way.poses[this.sent + 1] ?? from;
    this.model.connection.ask('guide', { hand: hand.hand, on: true, from, to, share: SHARE }).catch(this.notices.failed);
  }

  private scrub_silently(at: number): void {
    if (!this.way || !this.found || this.playing) return;
    this.at = at;
    this.slider.value = String(this.way.length > 0 ? Math.round((1000 * at) / this.way.length) : 0);
    this.put_ghost(this.found.part, this.way.pose_at(at));
  }

  private unguide(): void {
    this.sent = -1;
    this.place = null;
    if (this.model.connection.state === 'open') this.model.connection.ask('guide', { hand: this.hand.hand, on: false, share: 0 }).catch(() => undefined);
  }

  private set_following(on: boolean): void {
    this.following = on;
    if (on) {
      this.set_playing(false);
      if (this.found && !this.model.movable(this.found.part)) this.notices.toast('Let the part move first: it is fixed.', 'warning');
      else if (!this.model.state?.paused) this.notices.toast('Take the part and follow the line. Pull harder to leave it.');
    }
    this.changed.emit();
  }

  /** the part goes to the place shown; the rest of the way is forgotten */
  private async cut(): Promise<void> {
    const { way, found, at } = this;
    if (!way || !found) return;
    const before = this.kept?.part === found.part ? this.kept.poses : [];
    const kept = [...before, ...way.until(at)];
    try {
      await this.model.connection.ask('place', { part: found.part, T_world_part: way.pose_at(at) });
      this.drop();
      this.kept = { part: found.part, poses: kept };
      this.show();
    } catch (error) {
      this.notices.failed(error);
    }
  }

  private hint(): void {
    const part = this.model.selected, pose = part === NONE ? null : this.model.pose(part);
    if (!pose) return;
    this.trace_of(part).add(pose);
    this.show();
  }

  private trace_of(part: number): Trace {
    let trace = this.hints.get(part);
    if (!trace) this.hints.set(part, (trace = new Trace(this.reach(part), 0.02 * this.reach(part), WAYPOINTS)));
    return trace;
  }

  /** where the held part goes: waypoints, and the way that a person goes on by hand */
  private trace(): void {
    const part = this.hand.holding, pose = part === NONE ? null : this.model.pose(part);
    if (!pose) return;
    if (this.tracing && this.trace_of(part).add(pose)) this.show();
    if (this.kept?.part !== part || this.way) return;
    const last = this.kept.poses[this.kept.poses.length - 1];
    const step = 0.02 * this.reach(part);
    if (!last || new Way(rows_of([last, pose]), this.reach(part)).length > step) this.kept.poses.push({ p: [...pose.p], q: [...pose.q] });
  }

  private forget_hints(): void {
    this.hints.delete(this.model.selected);
    this.show();
  }

  private save(): void {
    const { way, found } = this;
    if (!way || !found) return;
    const before = this.kept?.part === found.part ? this.kept.poses : [];
    const whole = new Way(rows_of([...before, ...way.poses]), this.reach(found.part));
    const file = `${this.name(found.part).replace(/[^\w-]+/g, '_')}-way.txt`;
    const url = URL.createObjectURL(new Blob([pose_file(whole.poses, whole.marks, metres(this.model.unit), this.reach(found.part))], { type: 'text/plain' }));
    h('a', { href: url, download: file }).click();
    window.setTimeout(() => URL.revokeObjectURL(url), 10000);
    this.notices.toast(before.length ? t('Saved {0}. Check it with feeler verify: the piece that went by hand was not.', file) : t('Saved {0}.', file));
  }

  // ---- what is shown ----

  private drop(): void {
    this.turn++;
    if (this.asking) this.cancel();
    this.asking = null;
    this.set_playing(false);
    this.found = null;
    this.way = null;
    this.at = 0;
    if (this.sent >= 0) this.unguide();
    this.clear_ghost();
    this.line.visible = false;
    this.blocked.clear();
    this.list.replaceChildren();
    this.callouts.clear('way ');
    this.show();
  }

  private forget(): void {
    this.hints.clear();
    this.kept = null;
    this.drop();
  }

  private show(): void {
    const { model, asking, found, progress } = this;
    const part = model.selected, chosen = part !== NONE, hints = this.hints.get(part)?.poses.length ?? 0;
    text(this.unit, model.unit);
    this.button.disabled = !chosen || asking !== null;
    this.add_hint.disabled = !chosen;
    this.stop.hidden = this.bar.hidden = asking === null;
    this.drop_hints.hidden = !hints;
    text(this.drop_hints, hints === 1 ? 'Clear 1 waypoint' : t('Clear {0} waypoints', hints));
    this.result.hidden = this.way === null;
    const kept = this.kept && !this.way ? t(' The way so far has {0} poses; a new search goes on from here.', this.kept.poses.length) : '';
    if (asking) text(this.note, t('{0}: {1} poses tried, {2} from the start.', this.name(asking.part), progress.poses, length(progress.reached, model.unit)));
    else if (found?.found) {
      const nearest = found.nearest === NONE ? t('Nothing comes near.') : t('It stays {0} or more from {1}.', length(found.lower, model.unit), this.name(found.nearest));
      text(this.note, t('{0} comes out by {1}: {2} long, {3}° of turns. {4}', this.name(found.part), t(METHODS[found.method] ?? 'a way'), length(found.length, model.unit), Math.round((found.turn * 180) / Math.PI), nearest));
    } else if (found) text(this.note, `${t(found.stopped ? 'No way found: stopped.' : 'No way found.')} ${t('{0} came {1} far.', this.name(found.part), length(found.reached, model.unit))}${found.blockers.length ? ` ${t('In its way:')}` : ''}`);
    else text(this.note, chosen ? `${t('From where {0} is now, clear of all other parts.', this.name(part))}${kept}` : t('Select a part first.'));
    this.changed.emit();
  }

  private name(part: number): string {
    return this.model.parts.get(part)?.name || `part ${part}`;
  }

  private reach(part: number): number {
    return Math.max(1e-6, 0.5 * (this.stage.part_bounds(part)?.getSize(new Vector3()).length() ?? 0.1));
  }

  /** the middle of its box where it stands, in its own frame */
  private middle(part: number): Vec3 {
    const object = this.stage.parts.get(part), box = this.stage.part_bounds(part);
    return object && box ? (object.group.worldToLocal(box.getCenter(new Vector3())).toArray() as Vec3) : [0, 0, 0];
  }

  private clone(part: number, material: MeshBasicMaterial): Group {
    const group = new Group();
    for (const own of this.stage.parts.get(part)?.meshes ?? []) {
      const mesh = new Mesh(own.geometry, material);
      mesh.position.copy(own.position);
      mesh.quaternion.copy(own.quaternion);
      mesh.scale.copy(own.scale);
      group.add(mesh);
    }
    group.userData['part'] = part;
    return group;
  }

  private put_ghost(part: number, pose: Pose): void {
    let copy = this.ghost.children[0] as Group | undefined;
    if (!copy || copy.userData['part'] !== part || !copy.children.length) {
      this.ghost.clear();
      copy = this.clone(part, new MeshBasicMaterial({ color: GHOST, transparent: true, opacity: 0.4, depthWrite: false }));
      this.ghost.add(copy);
    }
    set_pose(copy, pose);
    this.ghost.visible = true;
    this.changed.emit();
  }

  private clear_ghost(): void {
    this.ghost.clear();
    this.ghost.visible = false;
  }
}
