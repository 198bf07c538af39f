// Parts that started in each other: press fits, nominal fits, modelled threads. A list with depth and place; a click shows where.
import { Box3, Vector3 } from 'three';
import type { Eye } from './camera.ts';
import { by_id, h, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { Overlays } from './overlays.ts';
import type { overlap_state } from './protocol.mjs';
import { length } from './units.ts';
import { t } from './texts.ts';

const EXACT = 2; // the engine that tolerates them
const AROUND = 40; // depths that are in view around one

/** of each pair of parts where it is deepest: places in the list, in its order */
export function deepest(overlaps: readonly Pick<overlap_state, 'part' | 'other' | 'depth'>[]): number[] {
  const best = new Map<string, number>();
  overlaps.forEach((one, k) => {
    const pair = `${Math.min(one.part, one.other)} ${Math.max(one.part, one.other)}`;
    const before = best.get(pair);
    if (before === undefined || one.depth > overlaps[before]!.depth) best.set(pair, k);
  });
  return [...best.values()].sort((a, b) => a - b);
}

export class Overlaps {
  private card = by_id('overlaps-card');
  private list = by_id('overlaps');
  private shown = '';
  private chosen = -1;

  constructor(private readonly model: Model, private readonly overlays: Overlays, private readonly eye: Eye, notices: Notices) {
    by_id('overlaps-exact').addEventListener('click', () => void model.connection.ask('set', { name: 'engine', value: EXACT }).catch(notices.failed));
    model.on_scene.on(() => this.choose(-1));
  }

  /** every picture; the list is made anew only when it differs */
  update(): void {
    const overlaps = this.model.state?.overlaps ?? [];
    const exact = this.model.parameters.get('engine')?.value === EXACT;
    const pairs = deepest(overlaps);
    const words = pairs.map((k) => this.words(overlaps[k]!, exact));
    this.card.hidden = overlaps.length === 0;
    by_id('overlaps-voxels').hidden = exact;
    const key = words.join('\n');
    if (key === this.shown) return;
    this.shown = key;
    text(by_id('overlaps-count'), `${pairs.length}`);
    this.list.replaceChildren(...words.map((line, k) => h('button', { type: 'button', class: 'overlap', title: 'Show where', onclick: () => this.show(pairs[k]!) }, line)));
    if (this.chosen >= overlaps.length) this.choose(-1);
  }

  private words(one: overlap_state, exact: boolean): string {
    const name = (part: number) => this.model.parts.get(part)?.name || `part ${part}`;
    const deep = one.depth > 0 ? t('{0} deep in', length(one.depth, this.model.unit)) : 'meets';
    const now = !exact ? '' : one.tolerated > 0 ? t(' · can be moved out') : t(' · has come free');
    return `${name(one.part)} ${deep} ${name(one.other)}${now}`;
  }

  private choose(index: number): void {
    this.chosen = index;
    const one = this.model.state?.overlaps[index];
    this.overlays.mark(one ? one.point : null);
  }

  private show(index: number): void {
    const one = this.model.state?.overlaps[index];
    if (!one) return;
    this.choose(index);
    const size = Math.max(AROUND * one.depth, 2e-3);
    this.eye.touched = true;
    this.eye.frame(new Box3().setFromCenterAndSize(new Vector3(...one.point), new Vector3(size, size, size)));
  }
}
