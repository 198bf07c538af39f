// Warnings and faults stay to be read when their toasts are gone: a card of its own, the newest first.
import { by_id, h, icon, text } from './dom.ts';
import type { Model } from './model.ts';
import { event_kind } from './protocol.mjs';

const MAX_KEPT = 100;

export class Messages {
  readonly list: string[] = [];

  constructor(model: Model) {
    model.on_event.on(({ kind, sentence }) => {
      if (kind === event_kind.EVENT_WARNING || kind === event_kind.EVENT_FAULT) this.add(sentence);
    });
    model.on_scene.on(() => {
      this.list.length = 0;
      this.draw();
    });
  }

  private add(sentence: string): void {
    const at = this.list.indexOf(sentence);
    if (at >= 0) this.list.splice(at, 1);
    this.list.unshift(sentence);
    this.list.length = Math.min(this.list.length, MAX_KEPT);
    this.draw();
  }

  private draw(): void {
    by_id('messages-card').hidden = !this.list.length;
    text(by_id('messages-count'), String(this.list.length));
    by_id('messages').replaceChildren(...this.list.map((sentence) => {
      const close = h('button', { class: 'toast-close', type: 'button', 'aria-label': 'Dismiss', onclick: () => {
        this.list.splice(this.list.indexOf(sentence), 1);
        this.draw();
      } });
      close.append(icon('close'));
      const said = h('span');
      text(said, sentence);
      return h('div', { class: 'message' }, said, close);
    }));
  }
}
