// What a part is to the others: solid, passed through, or a keep-out zone. Also the card that says that a hidden part is in the way of
// the one in hand, and offers to let it pass: hiding a part changes the picture only.
import { by_id, h, text } from './dom.ts';
import type { Model, Part } from './model.ts';
import type { Notices } from './notices.ts';
import { part_use } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { t } from './texts.ts';

const NAMES = ['solid', 'pass through', 'keep-out zone'];
const TOLD_MS = 8000; // the card stays so long after the last touch

/** of a part's line in the tree; empty: it is solid, like most */
export function use_words(part: Part): string {
  return part.use === part_use.PART_USE_PASS ? 'others pass through' : part.use === part_use.PART_USE_KEEP_OUT ? 'keep-out zone' : '';
}

export class Uses {
  private select = h('select', { id: 'part-use', 'aria-label': 'What the part is to the others', title: 'solid: others touch it; pass through: they do not; keep-out zone: clashes report whatever is in it' },
    ...NAMES.map((name, number) => h('option', { value: String(number) }, name)));
  private sentence = h('span');
  private card = h('div', { id: 'in-the-way', class: 'card glass', role: 'status', hidden: true }, this.sentence,
    h('div', { class: 'row' },
      h('button', { type: 'button', class: 'primary', id: 'in-the-way-pass', onclick: () => this.each((part) => this.set(part, part_use.PART_USE_PASS)) }, 'Let parts pass through'),
      h('button', { type: 'button', class: 'quiet', id: 'in-the-way-show', onclick: () => this.each((part) => stage_show(this.stage, part)) }, 'Show again')));
  private blocking = new Map<number, number>(); // hidden parts that were touched, and when last

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly notices: Notices, form: HTMLElement, private readonly redraw: () => void) {
    form.append(this.select);
    by_id('toasts').before(this.card);
    this.select.addEventListener('change', () => this.set(model.selected, Number(this.select.value) as 0 | 1 | 2));
    const show = () => (this.select.value = String(model.parts.get(model.selected)?.use ?? 0));
    model.on_selected.on(show);
    model.on_part.on(show);
    model.on_scene.on(() => this.blocking.clear());
    model.on_part_gone.on((part) => this.blocking.delete(part));
  }

  /** every picture */
  update(now: number): void {
    const { state } = this.model;
    const held = new Set((state?.hands ?? []).map((hand) => hand.held));
    for (const { part, other } of state?.contacts ?? [])
      for (const one of [part, other])
        if (!this.stage.is_visible(one) && !held.has(one) && this.model.parts.get(one)?.use !== part_use.PART_USE_PASS) this.blocking.set(one, now);
    for (const [part, at] of this.blocking)
      if (now - at > TOLD_MS || this.stage.is_visible(part) || this.model.parts.get(part)?.use === part_use.PART_USE_PASS) this.blocking.delete(part);
    this.card.hidden = !this.blocking.size;
    if (this.card.hidden) return;
    const names = [...this.blocking.keys()].map((part) => this.model.parts.get(part)?.name || `part ${part}`);
    text(this.sentence, names.length === 1 ? t('“{0}” is hidden, but still in the way.', names[0]!) : t('{0} hidden parts are still in the way: {1}.', names.length, `${names.slice(0, 3).join(', ')}${names.length > 3 ? ' …' : ''}`));
  }

  private each(act: (part: number) => void): void {
    for (const part of this.blocking.keys()) act(part);
    this.redraw();
  }

  private set(part: number, use: 0 | 1 | 2): void {
    this.model.connection.ask('use', { part, use }).catch((error) => {
      this.notices.failed(error);
      this.select.value = String(this.model.parts.get(this.model.selected)?.use ?? 0);
    });
  }
}

function stage_show(stage: Stage, part: number): void {
  stage.set_visible(part, true);
}
