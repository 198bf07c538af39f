// The list of clashes: which parts overlap, touch or are too near where they stand. A worker of the controller checks all pairs while
// the list is open, again whenever parts have come to rest somewhere else. A click shows the place.
import { Box3, Vector3 } from 'three';
import type { Callouts } from './callouts.ts';
import type { Eye } from './camera.ts';
import { amount, contact_words, listed, read_length, STATES, summary } from './clash_rows.ts';
import { by_id, h, text, toggle } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { report_format, type clash_pair, type message_clashes, type Vec3 } from './protocol.mjs';
import { save_report } from './reports.ts';
import { Rest } from './rest.ts';
import type { Stage } from './scene.ts';
import { Signal } from './signal.ts';
import { t } from './texts.ts';

const STOOD_MS = 300;
const ROWS = 150; // of a list; the report has all
const AROUND = 1.2; // of the smaller part, in view around a clash

export class Clashes {
  /** something is drawn that was not, or no longer */
  readonly changed = new Signal<void>();
  found: message_clashes | null = null;
  private card = by_id<HTMLDetailsElement>('clashes-card');
  private list = by_id('clashes-list');
  private field = h('input', { type: 'text', id: 'clash-clearance', inputMode: 'decimal', value: '0', size: 6, 'aria-describedby': 'clash-unit' });
  private unit = h('span', { class: 'unit', id: 'clash-unit' });
  private note = h('div', { id: 'clash-summary', class: 'hint', role: 'status' });
  private touch = h('div', { id: 'clash-touch', class: 'hint' });
  private save = h('button', { type: 'button', id: 'clash-report', class: 'quiet', title: 'A page with a table of all findings, and pictures', onclick: () => void this.report() }, 'Save report');
  private filter = { contacts: true, allowed: false };
  private clearance = 0; // metres
  private rest = new Rest();
  private moved_at = 0;
  private due = true;
  private asking = false;
  private shapes = new Map<number, number>(); // meshes of the parts when they were asked about
  private chosen: { part: number; other: number } | null = null;

  /** `mark` selects parts in the tree */
  constructor(
    private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye, private readonly callouts: Callouts,
    private readonly notices: Notices, private readonly mark: (parts: number[]) => void) {
    const clearance = h('label', { class: 'field', title: 'Parts closer than this are listed, too' }, h('span', {}, 'Closer than'), h('span', { class: 'row' }, this.field, this.unit));
    by_id('clashes').append(
      clearance,
      h('div', { class: 'row clash-filter' }, toggle('Contacts', true, (on) => this.set_filter({ contacts: on }), 'clash-contacts'), toggle('Allowed', false, (on) => this.set_filter({ allowed: on }), 'clash-allowed')),
      this.note, this.list, this.touch, h('div', { class: 'row end' }, this.save));
    this.field.addEventListener('change', () => this.set_clearance());
    this.card.addEventListener('toggle', () => {
      this.due = true;
      if (!this.card.open) this.choose(null);
    });
    model.on_scene.on(() => {
      this.found = null;
      this.choose(null);
      this.due = true;
      this.show();
    });
    model.on_part.on(({ part, mesh }) => {
      if (this.shapes.get(part) !== mesh) this.disturb();
    });
    model.on_part_gone.on(() => this.disturb());
    model.on_allowed.on(() => (this.due = true));
  }

  /** every picture */
  update(now: number): void {
    const { state, connection, parts } = this.model;
    text(this.unit, this.model.unit);
    if (!state) return;
    if (this.rest.moved(state, (part) => parts.get(part)?.voxel ?? 0)) this.disturb();
    if (!this.card.open || !this.due || this.asking || connection.state !== 'open' || this.model.replaying) return;
    if (parts.size > 1 && now - this.moved_at > STOOD_MS) void this.ask();
    else if (parts.size < 2) text(this.note, t('A clash needs at least two parts.'));
  }

  private disturb(): void {
    this.moved_at = performance.now();
    this.due = true;
    this.list.classList.toggle('stale', this.found !== null);
  }

  private async ask(): Promise<void> {
    this.asking = true;
    this.due = false;
    this.shapes = new Map([...this.model.parts.values()].map(({ part, mesh }) => [part, mesh]));
    const slow = window.setTimeout(() => text(this.note, t('checking all pairs …')), 400);
    try {
      const answer = await this.model.connection.ask('clashes_ask', { clearance: this.clearance });
      if (answer.name !== 'clashes' || answer.body.scene !== this.model.scene?.scene) return;
      this.found = answer.body;
      if (!this.due) this.list.classList.remove('stale');
      this.show();
    } catch (error) {
      text(this.note, error instanceof Error ? error.message : String(error));
    } finally {
      window.clearTimeout(slow);
      this.asking = false;
    }
  }

  private set_clearance(): void {
    const value = read_length(this.field.value, this.model.unit);
    this.field.setAttribute('aria-invalid', String(value === null));
    if (value === null) {
      this.notices.toast(t('“{0}” is no length. Type a number such as 0.5, with or without mm, cm, m or in; at most 1 m.', this.field.value), 'warning');
      return;
    }
    this.clearance = value;
    this.due = true;
  }

  private set_filter(change: Partial<{ contacts: boolean; allowed: boolean }>): void {
    Object.assign(this.filter, change);
    this.show();
  }

  // ---- the list ----

  private name(part: number): string {
    return this.model.parts.get(part)?.name || t('part {0}', part);
  }

  private show(): void {
    const { found } = this;
    const pairs = found ? listed(found.pairs, this.filter) : [];
    text(by_id('clashes-count'), found ? String(found.overlaps + found.contacts + found.near) : '');
    const left = found && found.left_out > 0 ? ` ${found.left_out === 1 ? t('1 part was left out: more than a million triangles.') : t('{0} parts were left out: more than a million triangles.', found.left_out)}` : '';
    const allowed = found?.allowed ? t('; {0} allowed', found.allowed) : '';
    text(this.note, found ? `${summary(found, this.model.unit)}${allowed}.${left}` : '');
    text(this.touch, found ? contact_words(found, this.model.unit) : '');
    const rows = pairs.slice(0, ROWS).map((pair) => this.row(pair));
    const more = pairs.length - ROWS;
    this.list.replaceChildren(...rows);
    if (more > 0) this.list.append(h('p', { class: 'hint' }, t('and {0} more; the report lists them all.', more)));
    const still = this.chosen && pairs.find((pair) => pair.part === this.chosen!.part && pair.other === this.chosen!.other);
    this.draw(still ?? null);
    this.changed.emit();
  }

  private row(pair: clash_pair): HTMLElement {
    const names = t('{0} and {1}', this.name(pair.part), this.name(pair.other));
    const pick = h('button', { type: 'button', class: 'clash-pick', title: 'Show where', onclick: () => this.choose(pair) },
      h('span', { class: `dot dot-${pair.allowed ? 'allowed' : STATES[pair.state] ?? 'ok'}` }),
      h('span', { class: 'part-text' }, h('span', { class: 'part-name' }, names), h('span', { class: 'part-facts' }, `${amount(pair, this.model.unit)}${pair.allowed ? t(' · allowed') : ''}`)));
    const allow = h('button', {
      type: 'button', class: 'chip', 'aria-pressed': String(pair.allowed), title: pair.allowed ? 'Report this pair again' : 'A fit of the design: do not report this pair. Save scene keeps this',
      'aria-label': t('Allow {0}', names), onclick: () => this.model.connection.ask('allow', { part: pair.part, other: pair.other, allowed: !pair.allowed }).catch(this.notices.failed),
    }, 'allow');
    const current = this.chosen?.part === pair.part && this.chosen.other === pair.other;
    const row = h('div', { class: 'clash', 'aria-current': String(current) }, pick, allow);
    row.dataset['pair'] = `${pair.part} ${pair.other}`;
    return row;
  }

  // ---- one of them ----

  private choose(pair: clash_pair | null): void {
    this.chosen = pair && { part: pair.part, other: pair.other };
    for (const row of this.list.querySelectorAll<HTMLElement>('.clash')) row.setAttribute('aria-current', String(pair !== null && row.dataset['pair'] === `${pair.part} ${pair.other}`));
    this.draw(pair);
    if (!pair) return;
    for (const part of [pair.part, pair.other]) this.stage.set_visible(part, true);
    this.mark([pair.part, pair.other]);
    const sizes = [pair.part, pair.other].map((part) => this.stage.part_bounds(part)?.getSize(new Vector3()).length() ?? 0.1);
    const size = Math.max(AROUND * Math.min(...sizes), 4 * Math.hypot(...pair.from.map((value, k) => value - pair.to[k]!)), 1e-9);
    const middle = pair.from.map((value, k) => (value + pair.to[k]!) / 2) as Vec3;
    this.eye.touched = true;
    this.eye.frame(new Box3().setFromCenterAndSize(new Vector3(...middle), new Vector3(size, size, size)));
    this.changed.emit();
  }

  private draw(pair: clash_pair | null): void {
    this.callouts.set('clash', pair && { from: pair.from, to: pair.to, label: amount(pair, this.model.unit), bad: pair.state > 1 && !pair.allowed });
    this.changed.emit();
  }

  // ---- the report ----

  private async report(): Promise<void> {
    this.save.disabled = true;
    try {
      const job = await this.model.connection.make('report', { clearance: this.clearance, format: report_format.REPORT_HTML });
      await save_report(this.model, this.notices, job, `${this.model.scene?.name || 'scene'}-clashes`, 'html');
    } catch (error) {
      if (error instanceof Error && error.message) this.notices.failed(error);
    } finally {
      this.save.disabled = false;
    }
  }
}
