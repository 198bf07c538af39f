// The section box: what is outside of it is not drawn, and what it cuts is filled. Beside the section plane, in the same card.
import { t } from './texts.ts';
import { by_id, h, toggle } from './dom.ts';
import type { Stage } from './scene.ts';

const LEAST = 0.01; // shares of the scene between two sides

export class SectionBox {
  private fields: HTMLInputElement[] = [];

  constructor(private readonly stage: Stage, private readonly place: () => void) {
    const sides = h('div', { id: 'box-sides', hidden: true });
    const on = toggle('Box', false, (value) => {
      stage.box.on = value;
      sides.hidden = !value;
      this.place();
    }, 'section-box');
    for (let axis = 0; axis < 3; axis++) {
      const name = 'XYZ'[axis]!;
      const side = (which: 'low' | 'high', label: string) => {
        const field = h('input', { type: 'range', min: '0', max: '1', step: '0.005', value: which === 'low' ? '0' : '1', id: `box-${which}-${name.toLowerCase()}`, 'aria-label': t('{0} side of the box along {1}', t(label), name), oninput: () => this.set(axis, which, field) });
        this.fields.push(field);
        return field;
      };
      sides.append(h('div', { class: 'row' }, h('span', { class: 'unit' }, name), side('low', 'Lower'), side('high', 'Upper')));
    }
    by_id('section').append(on, sides);
  }

  private set(axis: number, which: 'low' | 'high', field: HTMLInputElement): void {
    const { box } = this.stage;
    const value = Number(field.value);
    box[which][axis] = which === 'low' ? Math.min(value, box.high[axis]! - LEAST) : Math.max(value, box.low[axis]! + LEAST);
    field.value = String(box[which][axis]);
    this.place();
  }
}
