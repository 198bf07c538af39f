// Where the selected part is, as numbers that can be typed; and the placements that are asked for most: along the axes, in line with another
// part, on a place that is clicked. The controller puts the part there; undo takes it back.
import { decimal, number_field, read_number } from './numbers.ts';
import { by_id, h, text } from './dom.ts';
import { box_of, from_degrees, snap, to_degrees } from './euler.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Picker } from './pick.ts';
import { sub } from './pose.ts';
import { NONE, type Pose, type Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { metres } from './units.ts';
import { t } from './texts.ts';

const CLICK_PIXELS = 4;
const AXES = ['x', 'y', 'z'] as const;

export class Placement {
  /** the next click says where the part is put */
  on = false;
  private readonly card = by_id<HTMLDetailsElement>('placement-card');
  private readonly position: HTMLInputElement[];
  private readonly rotation: HTMLInputElement[];
  private readonly other: HTMLSelectElement;
  private readonly hint = h('p', { class: 'hint', id: 'placement-hint' });
  private readonly unit = h('span', { class: 'unit' });
  private readonly pick: HTMLButtonElement;
  private readonly controls: (HTMLInputElement | HTMLButtonElement | HTMLSelectElement)[];
  private press: { x: number; y: number } | null = null;
  private shown = '';
  private stale = true; // the list of parts to align with: rebuilt once for all parts that arrive, and only while it can be seen

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly stage: Stage, private readonly picker: Picker,
    private readonly notices: Notices) {
    const field = (id: string, label: string) => number_field({ id, 'aria-label': label, onchange: () => this.apply(), onblur: () => this.show(true), onfocus: (event: Event) => (event.target as HTMLInputElement).select() });
    this.position = AXES.map((axis) => field(`place-${axis}`, t('Position {0}', axis)));
    this.rotation = AXES.map((axis) => field(`turn-${axis}`, t('Rotation about {0}, degrees', axis)));
    this.other = h('select', { id: 'align-with', 'aria-label': 'Part to align with', onchange: () => this.show(true) });
    const button = (id: string, label: string, title: string, click: () => void) => h('button', { type: 'button', class: 'chip', id, title, onclick: click }, label);
    this.pick = button('place-at', 'Place at…', 'Click a place: the part is put on it', () => this.toggle());
    const snap_button = button('snap-axes', 'Snap to axes', 'Turn the part to the nearest direction along the axes', () => this.turn_to((pose) => snap(pose.q)));
    const aligns = AXES.map((axis, k) => button(`align-${axis}`, axis.toUpperCase(), t('Centre both along {0}', axis), () => this.align(k)));
    const turned = button('align-turn', 'Rotation', 'Take the other part’s rotation', () => this.turn_to(() => this.model.pose(Number(this.other.value))?.q ?? null));
    this.controls = [...this.position, ...this.rotation, this.pick, snap_button, ...aligns, turned, this.other];
    by_id('placement').append(
      h('div', { class: 'triple' }, h('span', {}, 'Position ', this.unit), ...this.position),
      h('div', { class: 'triple' }, h('span', {}, 'Rotation °'), ...this.rotation),
      h('div', { class: 'row wrap' }, this.pick, snap_button),
      h('div', { class: 'row wrap' }, h('label', { for: 'align-with' }, 'Align with'), this.other, ...aligns, turned),
      this.hint);
    canvas.addEventListener('pointerdown', (event) => {
      this.press = this.on && event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    });
    canvas.addEventListener('pointerup', (event) => {
      const { press } = this;
      this.press = null;
      if (press && this.on && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= CLICK_PIXELS) this.place_at(event.clientX, event.clientY);
    });
    for (const signal of [model.on_part, model.on_part_gone]) signal.on(() => (this.stale = true));
    model.on_scene.on(() => {
      this.toggle(false);
      this.stale = true;
    });
    model.on_selected.on(() => {
      this.stale = true;
      this.toggle(false);
      this.show(true);
    });
  }

  toggle(on = !this.on): void {
    this.on = on && this.movable();
    this.pick.setAttribute('aria-pressed', String(this.on));
    this.canvas.classList.toggle('noting', this.on);
  }

  private movable(): boolean {
    return this.model.movable(this.model.selected);
  }

  /** every picture: the fields follow the part, unless somebody types */
  update(): void {
    this.card.hidden = !this.model.parts.has(this.model.selected);
    if (this.card.hidden) return;
    if (this.stale && this.card.open) this.list();
    this.show(false);
  }

  private show(anew: boolean): void {
    const pose = this.model.pose(this.model.selected);
    if (!pose) return;
    const scale = metres(this.model.unit);
    const key = `${this.model.selected} ${this.model.unit} ${this.movable()} ${this.other.value} ${pose.p.join()} ${pose.q.join()}`;
    if (key === this.shown && !anew) return;
    this.shown = key;
    text(this.unit, this.model.unit);
    const degrees = to_degrees(pose.q);
    const write = (field: HTMLInputElement, value: number) => {
      if (field !== document.activeElement || anew) field.value = decimal(String(Number(value.toFixed(4))));
    };
    this.position.forEach((field, k) => write(field, pose.p[k]! / scale));
    this.rotation.forEach((field, k) => write(field, degrees[k]!));
    const movable = this.movable();
    for (const control of this.controls) control.disabled = !movable || (control.id.startsWith('align-') && control !== this.other && this.other.value === '');
    text(this.hint, movable ? '' : t('This part is fixed. Choose “movable” in the list of parts to place it.'));
  }

  private list(): void {
    this.stale = false;
    const chosen = this.other.value;
    this.other.replaceChildren(h('option', { value: '' }, '–'), ...[...this.model.parts.values()].filter(({ part }) => part !== this.model.selected)
      .map(({ part, name }) => h('option', { value: String(part) }, name || `part ${part}`)));
    this.other.value = [...this.other.options].some((option) => option.value === chosen) ? chosen : '';
  }

  private send(pose: Pose): void {
    const part = this.model.selected;
    if (part === NONE) return;
    this.model.connection.ask('place', { part, T_world_part: pose }).catch((error) => {
      this.notices.failed(error);
      this.show(true);
    });
  }

  private apply(): void {
    const pose = this.model.pose(this.model.selected);
    const fields = [...this.position, ...this.rotation];
    if (!pose) return;
    if (fields.some((field) => Number.isNaN(read_number(field.value)))) {
      this.show(true);
      return;
    }
    const scale = metres(this.model.unit);
    const before = to_degrees(pose.q);
    const typed = this.rotation.map((field) => read_number(field.value)) as Vec3;
    // what was not typed stays as it is, to the last bit
    const same = typed.every((value, k) => value === Number(before[k]!.toFixed(4)));
    const p = this.position.map((field, k) => (read_number(field.value) === Number((pose.p[k]! / scale).toFixed(4)) ? pose.p[k]! : read_number(field.value) * scale)) as Vec3;
    this.send({ p, q: same ? pose.q : from_degrees(typed) });
  }

  private bounds(part: number): { low: Vec3; high: Vec3 } | null {
    const pose = this.model.pose(part), shape = this.stage.parts.get(part)?.shape;
    return pose && shape ? box_of(pose, shape.low, shape.high) : null;
  }

  /** turns the part about the middle of its box */
  private turn_to(direction: (pose: Pose) => Pose['q'] | null): void {
    const pose = this.model.pose(this.model.selected), shape = this.stage.parts.get(this.model.selected)?.shape;
    const q = pose && direction(pose);
    if (!pose || !shape || !q) return;
    const middle = (at: Pose) => {
      const { low, high } = box_of(at, shape.low, shape.high);
      return low.map((value, k) => (value + high[k]!) / 2) as Vec3;
    };
    const off = sub(middle(pose), middle({ p: pose.p, q }));
    this.send({ p: pose.p.map((value, k) => value + off[k]!) as Vec3, q });
  }

  private align(axis: number): void {
    const pose = this.model.pose(this.model.selected), own = this.bounds(this.model.selected), other = this.bounds(Number(this.other.value));
    if (!pose || !own || !other) return;
    const p = [...pose.p] as Vec3;
    p[axis]! += (other.low[axis]! + other.high[axis]! - own.low[axis]! - own.high[axis]!) / 2;
    this.send({ p, q: pose.q });
  }

  /** the middle of the lower side of its box goes to the place that was clicked */
  private place_at(x: number, y: number): void {
    const hit = this.picker.at(x, y), pose = this.model.pose(this.model.selected), own = this.bounds(this.model.selected);
    if (!hit || !pose || !own || hit.part === this.model.selected) {
      this.notices.toast(t('Click a place of another part. Press Esc to cancel.'));
      return;
    }
    this.toggle(false);
    const foot: Vec3 = [(own.low[0] + own.high[0]) / 2, (own.low[1] + own.high[1]) / 2, own.low[2]];
    this.send({ p: pose.p.map((value, k) => value + hit.at[k]! - foot[k]!) as Vec3, q: pose.q });
  }
}
