// The gap map: surfaces of the selected parts, coloured by their exact distance to the nearest other part, with a scale. The controller
// measures where parts are; the map is made again when parts have come to rest elsewhere.
import { BufferAttribute, BufferGeometry, DoubleSide, Mesh, type Material } from 'three';
import { read_length } from './clash_rows.ts';
import { near_colour, to_linear } from './colour.ts';
import { by_id, h, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import type { message_gap_map } from './protocol.mjs';
import { Rest } from './rest.ts';
import type { Stage } from './scene.ts';
import { Signal } from './signal.ts';
import { length } from './units.ts';
import { t } from './texts.ts';

const STOOD_MS = 300;
const PARTS = 40; // at a time
const INSIDE = [0.55, 0.05, 0.5]; // sRGB: in another part
const FAR = [0.54, 0.58, 0.64];

/** colour of a distance, sRGB, written to `out` at `at`: from touching to out of reach, and one for inside */
export function gap_colour(distance: number, reach: number, out: Float32Array | number[], at = 0): void {
  if (distance < -1e-9) for (let k = 0; k < 3; k++) out[at + k] = INSIDE[k]!;
  else near_colour(distance / reach, FAR, out, at);
}

interface Shown {
  mesh: Mesh;
  map: message_gap_map;
}

export class GapMap {
  readonly changed = new Signal<void>();
  private maps = new Map<number, Shown>();
  private wanted: number[] = [];
  private reach = 0.005;
  private field = h('input', { type: 'text', id: 'gap-reach', value: '5', size: 6, 'aria-label': 'Colour distances up to' });
  private button = h('button', { type: 'button', class: 'primary', id: 'gap-show', title: 'Select parts in the list first; Ctrl adds one' }, 'Show selected parts');
  private clear = h('button', { type: 'button', class: 'quiet', id: 'gap-clear', disabled: true }, 'Clear');
  private note = h('p', { class: 'hint' }, 'Colours the selected parts by their exact distance to the nearest other part.');
  private rest = new Rest();
  private moved_at = 0;
  private stale = false;
  private turn = 0; // answers to what was asked before do not count

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly notices: Notices, private readonly chosen: () => number[]) {
    by_id('gaps').append(this.note, h('label', { class: 'field' }, h('span', {}, 'Colour up to'), h('span', { class: 'row' }, this.field, h('span', { class: 'unit' }, model.unit))),
      h('div', { class: 'row end' }, this.clear, this.button));
    this.button.addEventListener('click', () => this.show());
    this.clear.addEventListener('click', () => this.drop());
    this.field.addEventListener('change', () => {
      if (this.read() && this.wanted.length) void this.ask();
    });
    model.on_scene.on(() => {
      text(by_id('gaps').querySelector<HTMLElement>('.unit')!, model.unit);
      this.drop();
    });
    model.on_part_gone.on((part) => {
      this.wanted = this.wanted.filter((one) => one !== part);
      this.maps.delete(part);
      this.legend();
    });
    const bar: string[] = [];
    for (let i = 0; i <= 20; i++) {
      const colour: number[] = [];
      gap_colour(i / 20, 1, colour);
      bar.push(`rgb(${colour.map((value) => Math.round(255 * value)).join(' ')}) ${5 * i}%`);
    }
    by_id('gap-bar').style.background = `linear-gradient(to right, ${bar.join(', ')})`;
  }

  /** for tests: parts with a map, and the least distance of each */
  get seen(): { part: number; least: number; corners: number }[] {
    return [...this.maps].map(([part, { map }]) => ({ part, least: map.least, corners: map.distances.length }));
  }

  /** every picture */
  update(now: number): void {
    const { state, parts, connection } = this.model;
    if (!state || !this.wanted.length) return;
    for (const [part, { mesh }] of this.maps) this.attach(part, mesh);
    if (this.rest.moved(state, (part) => parts.get(part)?.voxel ?? 0)) {
      this.moved_at = now;
      this.stale = true;
    }
    if (!this.stale || now - this.moved_at < STOOD_MS || connection.state !== 'open') return;
    void this.ask();
  }

  private read(): boolean {
    const value = read_length(this.field.value, this.model.unit);
    if (value === null || value <= 0) {
      this.notices.toast(t('“{0}” is no length. Type a number such as 2, with or without mm, cm, m or in; at most 1 m.', this.field.value), 'warning');
      return false;
    }
    this.reach = value;
    return true;
  }

  private show(): void {
    const parts = this.chosen();
    if (!parts.length) this.notices.toast('Select parts first: click a name in the list; Ctrl adds one, Shift selects everything in between.');
    if (!parts.length || !this.read()) return;
    if (parts.length > PARTS) this.notices.toast(t('A gap map shows {0} parts at most: the first {0} of the selected ones.', PARTS));
    this.drop();
    this.wanted = parts.slice(0, PARTS);
    void this.ask();
  }

  private async ask(): Promise<void> {
    const turn = ++this.turn;
    this.stale = false;
    for (const part of [...this.wanted]) {
      try {
        const answer = await this.model.connection.ask('gap_map_ask', { part, reach: this.reach });
        if (turn !== this.turn) return;
        if (answer.name === 'gap_map') this.put(answer.body);
      } catch (error) {
        if (turn !== this.turn) return;
        this.notices.failed(error);
        this.wanted = this.wanted.filter((one) => one !== part);
      }
    }
  }

  private put(map: message_gap_map): void {
    this.remove(map.part);
    const geometry = new BufferGeometry();
    const colours = new Float32Array(3 * map.distances.length);
    for (let i = 0; i < map.distances.length; i++) gap_colour(map.distances[i]!, map.reach, colours, 3 * i);
    for (let i = 0; i < colours.length; i++) colours[i] = to_linear(colours[i]!);
    geometry.setAttribute('position', new BufferAttribute(map.vertices.slice(), 3));
    geometry.setAttribute('color', new BufferAttribute(colours, 3));
    geometry.computeVertexNormals();
    const mesh = new Mesh(geometry, this.stage.material({ side: DoubleSide, fog: false, vertexColors: true }, 0.6));
    this.maps.set(map.part, { mesh, map });
    this.attach(map.part, mesh);
    this.legend();
  }

  /** the part's own surface gives way to the map, also after it got another one */
  private attach(part: number, mesh: Mesh): void {
    const object = this.stage.parts.get(part);
    if (!object) return;
    if (mesh.parent !== object.group) object.group.add(mesh);
    // what a pointer picks stays; it is only not drawn
    for (const own of object.meshes) own.layers.disable(0);
  }

  private remove(part: number): void {
    const shown = this.maps.get(part);
    if (!shown) return;
    shown.mesh.removeFromParent();
    shown.mesh.geometry.dispose();
    (shown.mesh.material as Material).dispose();
    this.maps.delete(part);
    for (const own of this.stage.parts.get(part)?.meshes ?? []) own.layers.enable(0);
  }

  private drop(): void {
    this.turn++;
    this.wanted = [];
    for (const part of [...this.maps.keys()]) this.remove(part);
    this.legend();
  }

  private legend(): void {
    by_id('gap-legend').hidden = !this.maps.size;
    this.clear.disabled = !this.wanted.length;
    const least = Math.min(...[...this.maps.values()].map(({ map }) => map.least));
    const { unit } = this.model;
    text(by_id('gap-middle'), length(this.reach / 2, unit));
    text(by_id('gap-far'), `≥ ${length(this.reach, unit)}`);
    text(by_id('gap-least'), !this.maps.size ? '' : least < 0 ? t('purple: inside another part, up to {0} deep', length(-least, unit)) : least < this.reach ? t('nearest: {0}', length(least, unit)) : t('nothing is so near'));
    this.changed.emit();
  }
}
