// Notes: remarks at places of parts, kept with the scene. While the tool is on, a click makes one.
import { Box3, Vector3 } from 'three';
import type { Callouts } from './callouts.ts';
import type { Eye } from './camera.ts';
import { by_id, h, icon, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Picker } from './pick.ts';
import { apply, unapply } from './pose.ts';
import { NONE, type message_note, type Vec3 } from './protocol.mjs';
import { Signal } from './signal.ts';
import { t } from './texts.ts';

const CLICK_PIXELS = 4;
const SHORT = 40; // letters in the picture; the list has all

export function short(text: string): string {
  return text.length > SHORT ? `${text.slice(0, SHORT - 1).trimEnd()}…` : text;
}

export class Notes {
  on = false;
  readonly changed = new Signal<void>();
  private card = by_id<HTMLDetailsElement>('notes-card');
  private shown = new Set<string>();
  private press: { x: number; y: number } | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly eye: Eye, private readonly picker: Picker,
    private readonly callouts: Callouts, private readonly notices: Notices) {
    canvas.addEventListener('pointerdown', (event) => {
      this.press = this.on && event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
    });
    canvas.addEventListener('pointerup', (event) => {
      const { press } = this;
      this.press = null;
      if (press && this.on && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= CLICK_PIXELS) this.click(event.clientX, event.clientY);
    });
    model.on_notes.on(() => this.list());
    model.on_scene.on(() => this.list());
  }

  toggle(on = !this.on): void {
    this.on = on;
    this.canvas.classList.toggle('noting', on);
    this.changed.emit();
  }

  /** every picture: notes follow their parts */
  update(): void {
    const keys = new Set<string>();
    for (const note of this.model.notes) {
      const at = this.place(note);
      const key = `note ${note.note}`;
      keys.add(key);
      this.callouts.set(key, { from: at, to: at, label: short(note.text), bad: false });
    }
    for (const key of this.shown) if (!keys.has(key)) this.callouts.set(key, null);
    this.shown = keys;
  }

  private place(note: message_note): Vec3 {
    const pose = note.part === NONE ? null : this.model.pose(note.part);
    return pose ? apply(pose, note.position) : note.position;
  }

  private click(x: number, y: number): void {
    const hit = this.picker.at(x, y);
    const pose = hit && this.model.pose(hit.part);
    if (!hit || !pose) return;
    this.toggle(false);
    const words = window.prompt('Note', '')?.trim();
    if (words) this.send({ note: NONE, part: hit.part, position: unapply(pose, hit.at), text: words });
  }

  private send(note: { note: number; part: number; position: Vec3; text: string }): void {
    if (new TextEncoder().encode(note.text).length > 512) this.notices.toast('This note is too long: a note has at most 512 bytes.', 'warning');
    else this.model.connection.ask('note_set', note).catch(this.notices.failed);
  }

  private list(): void {
    const { notes } = this.model;
    this.card.hidden = notes.length === 0;
    text(by_id('notes-count'), String(notes.length));
    by_id('notes').replaceChildren(...notes.map((note) => this.row(note)));
    this.changed.emit();
  }

  private row(note: message_note): HTMLElement {
    const about = note.part === NONE ? '' : this.model.parts.get(note.part)?.name ?? '';
    const show = h('button', { type: 'button', class: 'clash-pick', title: 'Show where', onclick: () => this.show(note) },
      h('span', { class: 'part-text' }, h('span', { class: 'note-text' }, note.text), h('span', { class: 'part-facts' }, about)));
    const edit = h('button', { type: 'button', class: 'chip', 'aria-label': t('Change the note “{0}”', note.text), onclick: () => {
      const words = window.prompt('Note', note.text)?.trim();
      if (words) this.send({ ...note, text: words });
    } }, 'edit');
    const remove = h('button', { type: 'button', class: 'tool small', title: 'Remove', 'aria-label': t('Remove the note “{0}”', note.text), onclick: () => this.send({ ...note, text: '' }) });
    remove.append(icon('close'));
    return h('div', { class: 'clash note' }, show, edit, remove);
  }

  private show(note: message_note): void {
    const size = this.eye.distance * 0.3;
    this.eye.touched = true;
    this.eye.frame(new Box3().setFromCenterAndSize(new Vector3(...this.place(note)), new Vector3(size, size, size)));
    this.changed.emit();
  }
}
