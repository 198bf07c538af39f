// Joints in the page: a list, and a form that makes one. Its axis is picked from a cylinder, an edge or a face of the part that moves; the
// controller finds the feature from the full mesh. Where the parts are then, the joint is at 0.
import { number_field, read_number } from './numbers.ts';
import type { Callouts } from './callouts.ts';
import type { Eye } from './camera.ts';
import { by_id, h, icon, text } from './dom.ts';
import { axis_words, KINDS, limits_words, needs } from './joint_words.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Picker } from './pick.ts';
import { apply, rotate } from './pose.ts';
import { joint_kind, measured_kind, NONE, type joint_axis, type measured, type message_joint, type Vec3 } from './protocol.mjs';
import { Signal } from './signal.ts';
import { metres } from './units.ts';
import { t } from './texts.ts';

const CLICK_PIXELS = 4;
const REACH_PIXELS = 7;
const FREE: joint_axis = { limited: false, low: 0, high: 0, friction: 0, stiffness: 0, rest: 0, damping: 0 };

export class Joints {
  on = false;
  readonly changed = new Signal<void>();
  private card = by_id<HTMLDetailsElement>('joints-card');
  private list = h('div', { id: 'joint-list' });
  private kind = h('select', { id: 'joint-kind', 'aria-label': 'Kind of joint', onchange: () => this.show_form() }, ...KINDS.map(({ name, does }, number) => h('option', { value: String(number) }, `${t(name)}: ${t(does)}`)));
  private base = h('select', { id: 'joint-base', 'aria-label': 'What it moves against' });
  private from = number_field({ id: 'joint-from', placeholder: 'no limit', 'aria-label': 'Lower limit' });
  private to = number_field({ id: 'joint-to', placeholder: 'no limit', 'aria-label': 'Upper limit' });
  private pitch = number_field({ id: 'joint-pitch', value: '1', 'aria-label': 'Travel of a turn' });
  private limits = h('label', { class: 'field' }, h('span', {}, 'From, to'), h('span', { class: 'row' }, this.from, this.to));
  private unit = h('span', { class: 'unit' });
  private pitch_row = h('label', { class: 'field' }, h('span', {}, 'Travel of a turn'), this.pitch);
  private hint = h('p', { class: 'hint', role: 'status' });
  private make = h('button', { type: 'submit', class: 'primary', id: 'joint-make', disabled: true }, 'Make joint');
  private form: HTMLFormElement;
  private picked: { part: number; found: measured } | null = null;
  private press: { x: number; y: number } | null = null;
  private shown = new Set<string>();

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly eye: Eye, private readonly picker: Picker,
    private readonly callouts: Callouts, private readonly notices: Notices, private readonly begin: () => void) {
    this.kind.value = String(joint_kind.JOINT_REVOLUTE);
    this.limits.append(this.unit);
    const cancel = h('button', { type: 'button', class: 'quiet', onclick: () => this.toggle(false) }, 'Cancel');
    this.form = h('form', { hidden: true, noValidate: true }, h('label', { class: 'field' }, h('span', {}, 'Kind'), this.kind), h('label', { class: 'field' }, h('span', {}, 'Moves against'), this.base),
      this.limits, this.pitch_row, this.hint, h('div', { class: 'row end' }, cancel, this.make));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
    const add = h('button', { type: 'button', id: 'joint-add', onclick: () => this.toggle(true) }, 'Add joint…');
    by_id('joints').append(this.list, this.form, h('div', { class: 'row end' }, add));
    canvas.addEventListener('pointerdown', (event) => {
      this.press = this.on && event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    });
    canvas.addEventListener('pointerup', (event) => {
      const { press } = this;
      this.press = null;
      if (press && this.on && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= CLICK_PIXELS) void this.click(event.clientX, event.clientY);
    });
    this.card.addEventListener('toggle', () => this.changed.emit());
    model.on_joints.on(() => this.show());
    model.on_scene.on(() => {
      this.toggle(false);
      this.show();
    });
  }

  toggle(on: boolean): void {
    if (on && !this.on) this.begin();
    this.on = on;
    this.picked = null;
    this.form.hidden = !on;
    this.canvas.classList.toggle('measuring', on);
    if (on) {
      this.card.open = true;
      this.base.replaceChildren(h('option', { value: String(NONE) }, 'the world'), ...[...this.model.parts.values()].slice(0, 1000).map(({ part, name }) => h('option', { value: String(part) }, name || `part ${part}`)));
    }
    this.show_form();
  }

  /** every picture: axes are drawn while the card is open */
  update(): void {
    const keys = new Set<string>();
    if (this.card.open) for (const joint of this.model.joints) {
      const pose = joint.a === NONE ? null : this.model.pose(joint.a);
      const at = pose ? apply(pose, joint.point) : joint.point;
      const axis = pose ? rotate(pose.q, joint.axis) : joint.axis;
      keys.add(`joint ${joint.name}`);
      this.callouts.set(`joint ${joint.name}`, { from: at, to: along(at, axis, this.size()), label: joint.name, bad: false });
    }
    if (this.picked) {
      keys.add('joint axis');
      const { point, direction } = this.picked.found;
      this.callouts.set('joint axis', { from: along(point, direction, -this.size()), to: along(point, direction, this.size()), label: 'axis', bad: false });
    }
    for (const key of this.shown) if (!keys.has(key)) this.callouts.set(key, null);
    this.shown = keys;
  }

  private size(): number {
    const { scene } = this.model;
    return scene ? 0.12 * Math.hypot(...scene.low.map((value, k) => scene.high[k]! - value)) : 0.05;
  }

  private async click(x: number, y: number): Promise<void> {
    const hit = this.picker.at(x, y);
    if (!hit) return;
    const pick = { part: hit.part, kind: measured_kind.MEASURED_ANY, at: hit.at, reach: REACH_PIXELS * this.eye.pixel(hit.at) };
    try {
      const answer = await this.model.connection.ask('measure_ask', { both: false, first: pick, second: pick });
      if (answer.name !== 'measure' || !this.on) return;
      const { first } = answer.body;
      if (Math.hypot(...first.direction) < 0.5) this.notices.toast('That has no axis. Click a cylinder, an edge or a flat face.', 'warning');
      else this.picked = { part: hit.part, found: first };
    } catch (error) {
      this.notices.failed(error);
    }
    this.show_form();
  }

  private show_form(): void {
    const kind = Number(this.kind.value);
    const { turns, slides, pitch } = needs(kind);
    this.limits.hidden = !(turns || slides);
    text(this.unit, slides && !turns ? this.model.unit : '°');
    this.pitch_row.hidden = !pitch;
    this.make.disabled = !this.picked;
    const name = this.picked ? this.model.parts.get(this.picked.part)?.name || `part ${this.picked.part}` : '';
    text(this.hint, this.picked ? t('{0} moves about the {1} that you clicked.', name, t(axis_words(this.picked.found.kind))) : t('Click a cylinder, an edge or a flat face of the part that moves: its axis, direction or normal is the axis.'));
    this.changed.emit();
  }

  private send(): void {
    const { picked, model } = this;
    if (!picked) return;
    const kind = Number(this.kind.value) as message_joint['kind'];
    const { turns, slides, pitch } = needs(kind);
    const scale = turns ? Math.PI / 180 : metres(model.unit);
    const limited = this.from.value.trim() !== '' || this.to.value.trim() !== '';
    const from = read_number(this.from.value), to = read_number(this.to.value), along = read_number(this.pitch.value);
    if (limited && (Number.isNaN(from) || Number.isNaN(to))) {
      this.notices.toast('Give both limits, or none.', 'warning');
      return;
    }
    const axis: joint_axis = { ...FREE, limited, low: limited ? from * scale : 0, high: limited ? to * scale : 0 };
    const part = model.parts.get(picked.part)?.name || 'part';
    let name = `${part} ${KINDS[kind]!.name}`;
    for (let more = 2; model.joints.some((joint) => joint.name === name); more++) name = `${part} ${KINDS[kind]!.name} ${more}`;
    const a = Number(this.base.value);
    const make = async () => {
      // what moves on a joint can be picked up
      if (!model.movable(picked.part)) await model.connection.ask('kind', { part: picked.part, kind: 1 });
      await model.connection.ask('joint_set', {
        name, remove: false, kind, a, b: picked.part, point: picked.found.point, axis: picked.found.direction, pitch: pitch ? along * metres(model.unit) : 0, touch: false,
        turn: turns ? axis : FREE, slide: slides && !turns ? axis : FREE,
      });
      this.toggle(false);
    };
    make().catch(this.notices.failed);
  }

  private show(): void {
    const { joints, unit } = this.model;
    text(by_id('joints-count'), joints.length ? String(joints.length) : '');
    const name = (part: number) => (part === NONE ? 'the world' : this.model.parts.get(part)?.name || `part ${part}`);
    this.list.replaceChildren(...joints.map((joint) => {
      const remove = h('button', { type: 'button', class: 'tool small', title: 'Remove', 'aria-label': t('Remove {0}', joint.name), onclick: () => this.model.connection.ask('joint_set', { name: joint.name, remove: true }).catch(this.notices.failed) });
      remove.append(icon('trash'));
      return h('div', { class: 'joint' }, h('div', { class: 'measurement-text' }, h('div', { class: 'measurement-title' }, joint.name),
        h('div', { class: 'part-facts' }, `${t(KINDS[joint.kind]?.name ?? '')} · ${t('{0} on {1}', name(joint.b), name(joint.a))}${limits_words(joint, unit)}`)), remove);
    }));
    if (!joints.length) this.list.append(h('p', { class: 'hint' }, 'No joints. A joint lets a part turn or slide as designed: a door, a drawer, a lever.'));
    this.changed.emit();
  }
}

function along(at: Vec3, axis: Vec3, by: number): Vec3 {
  const size = Math.hypot(...axis) || 1;
  return at.map((value, k) => value + (axis[k]! * by) / size) as Vec3;
}
