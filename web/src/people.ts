// A shared session: who is in it, their hands in the picture, and what is not as it should be with parts that they hold.
import { Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, SphereGeometry, TorusGeometry } from 'three';
import type { Eye } from './camera.ts';
import { by_id, h, text } from './dom.ts';
import type { Model } from './model.ts';
import { guest_bit, person_bit, type guest_part, type message_guests, type message_person } from './protocol.mjs';
import { set_pose, type Stage } from './scene.ts';
import { Signal } from './signal.ts';
import { digits } from './units.ts';
import { t } from './texts.ts';

/** a part as it is at somebody else who holds it, where something is caught between there and here */
interface Instance {
  group: Group;
  mesh: number;
  colour: number;
  materials: (MeshBasicMaterial | LineBasicMaterial)[];
}

interface Drawn {
  group: Group;
  ring: Mesh;
  label: HTMLElement;
  colour: number;
}

/** what a person is to the session, in a word or two */
export function role_of(person: message_person): string {
  if (person.bits & person_bit.PERSON_AWAY) return t('not heard');
  const words = [];
  if (person.bits & person_bit.PERSON_LEADER) words.push('leads');
  if (person.bits & person_bit.PERSON_WATCHER) words.push('watches');
  if (!(person.bits & person_bit.PERSON_READY)) words.push('joining');
  return words.join(', ');
}

/** the way to a person, as numbers */
export function line_of(person: message_person): string {
  const rate = (bytes: number) => `${digits(bytes / 1000)} kB/s`;
  const loss = person.loss >= 0.005 ? ` · ${digits(100 * person.loss)} % lost` : '';
  return `${digits(1000 * person.delay)} ms · in ${rate(person.bytes_in)} · out ${rate(person.bytes_out)}${loss}`;
}

/** what is wrong with a part; '': nothing */
export function trouble_of(part: guest_part, name: string, holder: string): string {
  if (part.bits & guest_bit.GUEST_FROZEN) return t('{0} is frozen: who held it is not heard', name);
  if (part.bits & guest_bit.GUEST_DIVERGED) return t('something is caught between {0} here and at {1}’s', name, holder || t('another'));
  if (part.bits & guest_bit.GUEST_GHOST) return t('{0} passes through everything until it is where it was let go', name);
  if (part.bits & guest_bit.GUEST_HOMING) return t('{0} goes to where it was let go', name);
  return '';
}

export class People {
  /** hands of others are elsewhere: a picture is due */
  readonly moved = new Signal<void>();
  private drawn = new Map<string, Drawn>();
  private instances = new Map<string, Instance>();
  private rows = new Map<number, { row: HTMLElement; swatch: HTMLElement; name: HTMLElement; role: HTMLElement; line: HTMLElement }>();
  private labels = by_id('guests');
  private last = 0;

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye) {
    model.on_people.on(() => this.list());
    model.on_guests.on((guests) => this.look(guests));
  }

  private look(guests: message_guests): void {
    let sum = guests.hands.length + 3 * guests.parts.length;
    guests.hands.forEach((hand, k) => {
      hand.T_world_hand.p.forEach((value, i) => (sum += value * (k + 1.37 * i + 1)));
      hand.T_world_hand.q.forEach((value, i) => (sum += value * (k + 1.71 * i + 1)));
    });
    for (const part of guests.parts) sum += part.bits + 0.1 * part.member + 0.01 * part.part;
    for (const one of guests.instances ?? []) {
      sum += 1 + 0.1 * one.member + 0.01 * one.part;
      one.T_world_part.p.forEach((value, i) => (sum += value * (1.19 * i + 1)));
      one.T_world_part.q.forEach((value, i) => (sum += value * (1.53 * i + 1)));
    }
    if (sum === this.last) return;
    this.last = sum;
    this.moved.emit();
  }

  /** every picture */
  update(): void {
    const seen = new Set<string>();
    for (const hand of this.model.guests.hands) {
      const person = this.model.people.get(hand.member);
      if (!person) continue;
      const key = `${hand.member}/${hand.hand}`;
      seen.add(key);
      let drawn = this.drawn.get(key);
      if (drawn && drawn.colour !== person.colour) {
        this.drop(key, drawn);
        drawn = undefined;
      }
      if (!drawn) this.drawn.set(key, (drawn = this.make(person.colour)));
      set_pose(drawn.group, hand.T_world_hand);
      drawn.group.scale.setScalar(11 * this.eye.pixel(hand.T_world_hand.p));
      drawn.ring.quaternion.copy(drawn.group.quaternion).invert().multiply(this.eye.camera.quaternion);
      text(drawn.label, person.name);
      const { x, y } = this.eye.project(hand.T_world_hand.p);
      const box = by_id('stage').getBoundingClientRect();
      drawn.label.style.transform = `translate(${Math.round(x - box.left + 14)}px, ${Math.round(y - box.top - 22)}px)`;
    }
    for (const [key, drawn] of this.drawn) if (!seen.has(key)) this.drop(key, drawn);
    this.update_instances();
    this.tell();
  }

  /** parts that have diverged, transparent, where others have them and in their colours */
  private update_instances(): void {
    const seen = new Set<string>();
    for (const one of this.model.guests.instances ?? []) {
      const person = this.model.people.get(one.member);
      const shape = this.stage.parts.get(one.part)?.shape;
      const mesh = this.model.parts.get(one.part)?.mesh ?? -1;
      if (!person || !shape) continue;
      const key = `${one.member}/${one.part}`;
      seen.add(key);
      let drawn = this.instances.get(key);
      if (drawn && (drawn.colour !== person.colour || drawn.mesh !== mesh)) {
        this.drop_instance(key, drawn);
        drawn = undefined;
      }
      if (!drawn) {
        const surface = new MeshBasicMaterial({ color: person.colour, transparent: true, opacity: 0.3, depthWrite: false });
        const edges = new LineBasicMaterial({ color: person.colour, transparent: true, opacity: 0.7 });
        const group = new Group();
        for (const piece of shape.pieces) {
          group.add(new Mesh(piece.geometry, surface));
          if (piece.lines) group.add(new LineSegments(piece.lines, edges));
        }
        this.stage.scene.add(group);
        this.instances.set(key, (drawn = { group, mesh, colour: person.colour, materials: [surface, edges] }));
      }
      set_pose(drawn.group, one.T_world_part);
    }
    for (const [key, drawn] of this.instances) if (!seen.has(key)) this.drop_instance(key, drawn);
  }

  /** its geometry is the part's own */
  private drop_instance(key: string, drawn: Instance): void {
    this.stage.scene.remove(drawn.group);
    for (const material of drawn.materials) material.dispose();
    this.instances.delete(key);
  }

  /** what is drawn of them, for tests */
  get diverged(): string[] {
    return [...this.instances.keys()];
  }

  private make(colour: number): Drawn {
    const over = { color: colour, depthTest: false, transparent: true };
    const group = new Group();
    const ring = new Mesh(new TorusGeometry(1, 0.12, 8, 40), new MeshBasicMaterial({ ...over, opacity: 0.9 }));
    group.add(new Mesh(new SphereGeometry(0.36, 20, 14), new MeshBasicMaterial({ ...over, opacity: 0.95 })), ring);
    group.traverse((object) => (object.renderOrder = 7));
    this.stage.scene.add(group);
    const label = h('div', { class: 'guest-label' });
    label.style.background = css(colour);
    this.labels.append(label);
    return { group, ring, label, colour };
  }

  private drop(key: string, drawn: Drawn): void {
    this.stage.scene.remove(drawn.group);
    drawn.group.traverse((object) => {
      if (!(object instanceof Mesh)) return;
      object.geometry.dispose();
      (object.material as MeshBasicMaterial).dispose();
    });
    drawn.label.remove();
    this.drawn.delete(key);
  }

  /** the first part with which something is not as it should be */
  private tell(): void {
    const line = by_id('status-shared');
    let sentence = '';
    for (const part of this.model.guests.parts) {
      sentence = trouble_of(part, this.model.parts.get(part.part)?.name ?? 'a part', this.model.people.get(part.member)?.name ?? '');
      if (sentence) break;
    }
    line.hidden = !sentence;
    text(line, sentence);
  }

  private list(): void {
    const { people } = this.model;
    by_id('people-card').hidden = people.size === 0;
    for (const [member, { row }] of this.rows)
      if (!people.has(member)) {
        row.remove();
        this.rows.delete(member);
      }
    for (const person of people.values()) {
      let entry = this.rows.get(person.member);
      if (!entry) {
        const swatch = h('span', { class: 'swatch' }), name = h('span', { class: 'person-name' });
        const role = h('span', { class: 'person-role' }), line = h('span', { class: 'person-line' });
        entry = { row: h('div', { class: 'person' }, swatch, name, role, line), swatch, name, role, line };
        this.rows.set(person.member, entry);
        by_id('people').append(entry.row);
      }
      const self = (person.bits & person_bit.PERSON_SELF) !== 0;
      entry.row.classList.toggle('away', (person.bits & person_bit.PERSON_AWAY) !== 0);
      entry.swatch.style.background = css(person.colour);
      text(entry.name, self ? t('{0} (you)', person.name) : person.name);
      text(entry.role, role_of(person));
      text(entry.line, self || person.bits & person_bit.PERSON_AWAY ? '' : line_of(person));
    }
  }
}

function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, '0')}`;
}
