// Measuring: while it is on, a click picks a corner, an edge, a face or a part; two picks are a measurement. The controller measures, from
// the triangles of the full meshes. Picks move with their parts, and what is listed is measured anew when parts have come to rest elsewhere.
import type { Callouts } from './callouts.ts';
import type { Eye } from './camera.ts';
import { by_id, h, icon } from './dom.ts';
import { between, details, exact_length, what } from './measure_words.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Picker } from './pick.ts';
import { apply, unapply } from './pose.ts';
import { measured_kind, type message_measure, type pick, type Vec3 } from './protocol.mjs';
import { Rest } from './rest.ts';
import { Signal } from './signal.ts';
import { t } from './texts.ts';

const CLICK_PIXELS = 4;
const REACH_PIXELS = 7; // a corner or an edge so near is meant
const STOOD_MS = 300;

/** a pick in the frame of its part */
interface Picked {
  part: number;
  kind: number;
  at: Vec3;
  reach: number;
}

interface Entry {
  number: number;
  picks: Picked[];
  found: message_measure | null;
}

export class Measuring {
  on = false;
  /** something is drawn that was not, or no longer */
  readonly changed = new Signal<void>();
  readonly entries: Entry[] = [];
  private card = by_id('measure-card');
  private list = by_id('measurements');
  private mean = h('select', { id: 'measure-mean', 'aria-label': 'What a click means' },
    h('option', { value: String(measured_kind.MEASURED_ANY) }, 'corner, edge or face'), h('option', { value: String(measured_kind.MEASURED_POINT) }, 'point of the surface'), h('option', { value: String(measured_kind.MEASURED_PART) }, 'whole part'));
  private hint = h('p', { class: 'hint' });
  private press: { x: number; y: number } | null = null;
  private numbers = 0;
  private rest = new Rest();
  private moved_at = 0;
  private stale = false;

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly eye: Eye, private readonly picker: Picker,
    private readonly callouts: Callouts, private readonly notices: Notices) {
    const clear = h('button', { type: 'button', class: 'quiet', id: 'measure-clear', onclick: () => this.clear() }, 'Clear');
    const end = h('button', { type: 'button', class: 'quiet', id: 'measure-end', title: 'Esc', onclick: () => this.toggle(false) }, 'Done');
    by_id('measure').append(h('label', { class: 'field' }, h('span', {}, 'Click a'), this.mean), this.hint, this.list, h('div', { class: 'row end' }, clear, end));
    canvas.addEventListener('pointerdown', (event) => {
      this.press = this.on && event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    });
    canvas.addEventListener('pointerup', (event) => {
      const { press } = this;
      this.press = null;
      if (press && this.on && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= CLICK_PIXELS) void this.click(event.clientX, event.clientY);
    });
    model.on_scene.on(() => this.clear());
    model.on_part_gone.on((part) => {
      for (const entry of this.entries.filter((one) => one.picks.some((picked) => picked.part === part))) this.remove(entry);
    });
  }

  toggle(on = !this.on): void {
    this.on = on;
    // a pick without a second one says what it is; it does not wait for the next time
    this.canvas.classList.toggle('measuring', on);
    this.show();
  }

  clear(): void {
    this.entries.length = 0;
    this.callouts.clear('measure ');
    this.show();
  }

  /** every picture */
  update(now: number): void {
    const { state, parts, connection } = this.model;
    if (!state || !this.entries.length) return;
    if (this.rest.moved(state, (part) => parts.get(part)?.voxel ?? 0)) {
      this.moved_at = now;
      this.stale = true;
    }
    if (!this.stale || now - this.moved_at < STOOD_MS || connection.state !== 'open') return;
    this.stale = false;
    for (const entry of this.entries) void this.ask(entry);
  }

  private async click(x: number, y: number): Promise<void> {
    const hit = this.picker.at(x, y);
    const pose = hit && this.model.pose(hit.part);
    if (!hit || !pose) return;
    const picked: Picked = { part: hit.part, kind: Number(this.mean.value), at: unapply(pose, hit.at), reach: REACH_PIXELS * this.eye.pixel(hit.at) };
    const last = this.entries.at(-1);
    const open = last && last.picks.length === 1 && last.found ? last : null;
    const entry: Entry = { number: open ? open.number : ++this.numbers, picks: open ? [...open.picks, picked] : [picked], found: null };
    try {
      await this.ask(entry);
      if (open) this.remove(open, false);
      this.entries.push(entry);
      this.show();
    } catch (error) {
      this.notices.failed(error);
    }
  }

  private world({ part, kind, at, reach }: Picked): pick {
    const pose = this.model.pose(part);
    return { part, kind, at: pose ? apply(pose, at) : at, reach };
  }

  private async ask(entry: Entry): Promise<void> {
    const [first, second] = entry.picks.map((picked) => this.world(picked));
    const answer = await this.model.connection.ask('measure_ask', { both: second !== undefined, first: first!, second: second ?? first! });
    if (answer.name !== 'measure') return;
    entry.found = answer.body;
    this.show();
  }

  // ---- showing ----

  private name(part: number): string {
    return this.model.parts.get(part)?.name || `part ${part}`;
  }

  private draw({ number, picks, found }: Entry): void {
    if (!found) return;
    const { unit } = this.model;
    const alone = picks.length === 1;
    const at = this.world(picks[0]!).at;
    const from = alone ? at : found.from, to = alone ? (found.first.radius > 0 ? found.first.point : at) : found.to;
    this.callouts.set(`measure ${number}`, { from, to, label: alone ? what(found.first, this.name(found.first.part), unit) : this.title(found), bad: !alone && found.distance < 0 });
  }

  private title(found: message_measure): string {
    const { unit } = this.model;
    return found.distance < 0 ? t('{0} deep', exact_length(-found.distance, unit)) : exact_length(found.distance, unit);
  }

  private row(entry: Entry): HTMLElement {
    const { found } = entry;
    const { unit } = this.model;
    const remove = h('button', { type: 'button', class: 'tool small', 'aria-label': 'Remove this measurement', title: 'Remove', onclick: () => this.remove(entry) });
    remove.append(icon('close'));
    const lines = !found ? [] : entry.picks.length === 1 ? details(found.first, unit) : between(found, unit);
    const words = (one: 'first' | 'second') => (found ? what(found[one], this.name(found[one].part), unit) : '');
    const title = !found ? 'measuring …' : entry.picks.length === 1 ? words('first') : this.title(found);
    const about = !found ? '' : entry.picks.length === 1 ? this.name(found.first.part) : `${words('first')} of ${this.name(found.first.part)} – ${words('second')} of ${this.name(found.second.part)}`;
    return h('div', { class: 'measurement' },
      h('div', { class: 'measurement-text' }, h('div', { class: 'measurement-title' }, title), h('div', { class: 'part-facts' }, about), ...lines.map((line) => h('div', { class: 'measurement-line' }, line))), remove);
  }

  private remove(entry: Entry, show = true): void {
    const at = this.entries.indexOf(entry);
    if (at >= 0) this.entries.splice(at, 1);
    if (!show) return;
    this.callouts.set(`measure ${entry.number}`, null);
    this.show();
  }

  private show(): void {
    this.card.hidden = !this.on && !this.entries.length;
    const half = this.entries.at(-1)?.picks.length === 1;
    this.hint.hidden = !this.on;
    this.hint.textContent = half ? t('Click a second place to measure the distance.') : t('Click two places. Drag to turn the view; press Esc to finish.');
    this.list.replaceChildren(...[...this.entries].reverse().map((entry) => this.row(entry)));
    for (const entry of this.entries) this.draw(entry);
    this.changed.emit();
  }
}
