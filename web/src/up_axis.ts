// Which axis of the opened file points up: most files do not say, and feeler guesses. Changing it turns the whole scene.
import { by_id, h } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { up_axis } from './protocol.mjs';

export class UpAxis {
  private readonly field = h('select', { id: 'scene-up', title: 'Which axis of the file points up; the whole scene is turned', onchange: () => this.send() },
    h('option', { value: '3' }, 'Z'), h('option', { value: '2' }, 'Y'), h('option', { value: '1' }, 'X'));

  /** `turned`: everything stands elsewhere */
  constructor(private readonly model: Model, private readonly notices: Notices, turned: () => void) {
    const row = h('label', { class: 'field', id: 'scene-up-row', hidden: true }, h('span', {}, 'Up is'), this.field);
    by_id('parts').append(row);
    let before = 0;
    model.on_scene.on(() => (before = 0));
    model.on_up.on(() => {
      this.field.value = String(model.up);
      if (before && before !== model.up) turned();
      before = model.up;
    });
    for (const signal of [model.on_scene, model.on_part, model.on_part_gone]) (signal as typeof model.on_part_gone).on(() => (row.hidden = model.parts.size === 0));
  }

  private send(): void {
    this.model.connection.ask('up_set', { axis: Number(this.field.value) as (typeof up_axis)[keyof typeof up_axis] }).catch((error) => {
      this.notices.failed(error);
      this.field.value = String(this.model.up);
    });
  }
}
