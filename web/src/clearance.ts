// The read-out of the clearance. While a part is held it is the exact distance of the newest state: a number with its error, and
// negative where parts interfere. Where the controller measures none, it is what the voxels say, as bounds; as soon as everything
// stands, the distance of the selected part is asked for. A figure is never shown for a place where the part no longer is.
import { by_id, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Overlays } from './overlays.ts';
import { NONE, type gap_state, type message_state, type Vec3 } from './protocol.mjs';
import { Rest } from './rest.ts';
import { Signal } from './signal.ts';
import { bounds, gap_text, length } from './units.ts';
import { t } from './texts.ts';

const STOOD_MS = 300;
const CHOOSE = 'Nothing here can be moved. Click a part, and choose “movable” below it in the list.';
const SLOW_MS = 4000; // an answer that took longer is asked for by hand from then on

interface Exact {
  distance: number;
  error: number;
  name: string;
}

/** an answer, and the frame whose poses it is about */
interface Answer extends Exact {
  frame: number;
  from: Vec3;
  to: Vec3;
}

/** the nearest of a state that is about what is held, else about the selected part */
export function gap_of(state: message_state, selected: number): gap_state | null {
  const held = state.hands.filter((hand) => hand.held !== NONE).map((hand) => hand.held);
  const about = held.length > 0 ? held : [selected];
  return state.gaps.find((gap) => about.includes(gap.part) || about.includes(gap.other)) ?? null;
}

export class Clearance {
  /** the drawn gap has come or gone */
  readonly changed = new Signal<void>();
  private readout = by_id('clearance-value');
  private note = by_id('exact-value');
  private asked_for: Exact | null = null;
  private early: Answer | null = null; // for a frame that the page does not show yet
  private rest = new Rest();
  private moved_at = 0;
  private asked = false; // for where the parts stand now
  private asking = false;
  private slow = false;
  private live = false; // what is drawn is of a state

  constructor(private readonly model: Model, private readonly overlays: Overlays, private readonly notices: Notices) {
    by_id('exact-button').addEventListener('click', () => void this.measure());
    model.on_scene.on(() => {
      this.slow = false;
      this.forget();
    });
    for (const signal of [model.on_part, model.on_part_gone, model.on_selected]) signal.on(() => this.forget());
  }

  /** exact distance of the selected part, from triangles; `asked`: by a person, who wants to know why not */
  async measure(asked = true): Promise<void> {
    const part = this.model.selected;
    if (part === NONE) {
      if (asked) this.notices.toast('Select a part first: click it, or its name in the list.');
      return;
    }
    if (this.asking) return;
    this.asking = this.asked = true;
    if (asked) text(this.note, t('measuring …'));
    const began = performance.now();
    try {
      const answer = await this.model.connection.ask('clearance_ask', { part, other: NONE, exact: true });
      // what moved meanwhile is somewhere else
      if (answer.name !== 'clearance' || this.model.selected !== part || !this.asked) return;
      this.slow ||= performance.now() - began > SLOW_MS;
      const { known, distance, error, from, to, other, frame } = answer.body;
      this.early = { distance: known ? distance : Infinity, error, name: this.model.parts.get(other)?.name ?? '', frame, from, to };
      this.changed.emit();
    } catch (error) {
      if (asked) this.notices.failed(error);
    } finally {
      this.asking = false;
    }
  }

  private draw(from: Vec3, to: Vec3, distance: number): void {
    this.overlays.set_gap(from, to, distance < 0);
  }

  /** Shows an answer as soon as the page shows its frame: answers overtake the states of a page that draws slowly. */
  private take_answer(state: message_state): void {
    const answer = this.early;
    if (!answer || (state.frame < answer.frame && !this.model.replaying)) return;
    this.early = null;
    this.asked_for = answer;
    if (Number.isFinite(answer.distance)) this.draw(answer.from, answer.to, answer.distance);
    this.changed.emit();
  }

  private forget(): void {
    this.moved_at = performance.now();
    this.asked = false;
    this.asked_for = this.early = null;
    if (!this.live) this.overlays.hide_gap();
    this.changed.emit();
  }

  private nothing_moves(): boolean {
    return this.model.parts.size > 0 && ![...this.model.parts.keys()].some((part) => this.model.movable(part));
  }

  /** the number of the newest state, with its nearest points; null: it has none */
  private take_live(state: message_state): Exact | null {
    const gap = gap_of(state, this.model.selected);
    if (gap) this.draw(gap.from, gap.to, gap.distance);
    else if (this.live) {
      this.overlays.hide_gap();
      this.changed.emit();
    }
    this.live = gap !== null;
    if (!gap) return null;
    const about = state.hands.some((hand) => hand.held === gap.part) || gap.part === this.model.selected;
    return { distance: gap.distance, error: gap.error, name: this.model.parts.get(about ? gap.other : gap.part)?.name ?? '' };
  }

  /** every picture; texts are written only when they differ */
  update(now: number): void {
    const { state, unit, selected, connection } = this.model;
    if (!state) return;
    const live = this.take_live(state);
    if (this.rest.moved(state, (part) => this.model.parts.get(part)?.voxel ?? 0)) this.forget();
    else if (!live && !this.asked && !this.slow && !this.asking && !this.model.replaying && now - this.moved_at > STOOD_MS && connection.state === 'open' &&
      this.model.parts.size > 1 && this.model.parts.get(selected)?.ready) void this.measure(false);
    this.take_answer(state);
    const exact = live ?? this.asked_for;
    const pressed = state.contact_count > 0; // force acts, which begins before surfaces meet
    const meets = exact !== null && exact.distance <= 0;
    let words = exact ? gap_text(exact.distance, exact.error, unit) : bounds(state.lower, state.upper, unit);
    // the loop looks only at what is held: otherwise it does not know
    if (!exact && !Number.isFinite(state.lower) && !state.hands.some((hand) => hand.held !== NONE)) words = '–';
    text(this.readout, words);
    this.readout.classList.toggle('touching', meets);
    this.readout.classList.toggle('pressed', pressed && !meets);
    const onset = this.model.parameters.get('onset')?.value ?? 0;
    // coarser voxels than those that the length counts let it begin earlier: then the length would contradict the distance
    const begins = onset > 0 && !(exact && exact.distance > onset);
    const force = pressed && begins ? t('force acts, which begins at about {0}', length(onset, unit)) : pressed ? t('force acts') : '';
    if (exact && meets) text(this.note, `${t('with {0}', exact.name || t('another part'))}${this.nothing_moves() ? `. ${t(CHOOSE)}` : ''}`);
    else if (exact) text(this.note, [exact.name ? t('exact, to {0}', exact.name) : t('exact'), force].filter(Boolean).join(' · '));
    else if (!this.asking) text(this.note, this.nothing_moves() ? t(CHOOSE) : force);
  }
}
