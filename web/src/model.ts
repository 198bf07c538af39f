// What the page knows: scene, parts, state, parameters, devices, recordings, jobs. It follows the messages and tells those
// who asked; it draws nothing.
import type { Connection } from './connection.ts';
import {
  look, NONE, part_kind, person_bit, want, type Decoded, type message_device, type message_event, type message_guests, type message_job, type message_joint,
  type message_near_voxels, type message_note, type message_parameter, type message_part, type message_person, type message_proximity, type message_recording,
  type message_replaying, type message_scene, type message_state, type Pose,
} from './protocol.mjs';
import { Signal } from './signal.ts';
import { reading_unit } from './units.ts';

export interface Part extends message_part {
  look: number;
}

/** what can be switched on and is sent only then */
export interface Wants {
  contacts: boolean;
  proximity: boolean;
  voxels: boolean;
}

export class Model {
  scene: message_scene | null = null;
  readonly parts = new Map<number, Part>();
  /** the tree that parts are in: the name of each group, and of the one that it is in */
  readonly groups = new Map<string, string>();
  /** groups whose parts move as one */
  readonly rigid = new Set<string>();
  /** what ties parts to each other or to the world */
  joints: message_joint[] = [];
  /** files that parts were read from have changed: what to say about it; empty: none */
  changed_files = '';
  /** which axis of the opened file points up: 1 x, 2 y, 3 z */
  up = 3;
  /** remarks at places */
  notes: message_note[] = [];
  state: message_state | null = null;
  readonly parameters = new Map<string, message_parameter>();
  readonly devices = new Map<number, message_device>();
  readonly recordings = new Map<number, message_recording>();
  readonly jobs = new Map<number, message_job>();
  replaying: message_replaying | null = null;
  /** members of a shared session, by number; empty: the session is not shared */
  readonly people = new Map<number, message_person>();
  /** hands of others, and what they hold */
  guests: message_guests = { hands: [], parts: [], instances: [] };
  /** the part that was clicked or held last: keys, clearance and overlays are about it */
  selected: number = NONE;
  wants: Wants = { contacts: true, proximity: true, voxels: false };
  /** states a second that this page asks for while it is seen */
  private state_rate = 60;
  /** the last sentence of health about the rate */
  rate_sentence = '';

  readonly on_scene = new Signal<message_scene>();
  readonly on_groups = new Signal<void>();
  readonly on_part = new Signal<Part>();
  readonly on_part_gone = new Signal<number>();
  readonly on_state = new Signal<message_state>();
  readonly on_proximity = new Signal<message_proximity>();
  readonly on_voxels = new Signal<message_near_voxels>();
  readonly on_parameter = new Signal<message_parameter>();
  readonly on_devices = new Signal<void>();
  readonly on_recordings = new Signal<void>();
  readonly on_replaying = new Signal<message_replaying | null>();
  readonly on_job = new Signal<message_job>();
  readonly on_event = new Signal<message_event>();
  readonly on_selected = new Signal<number>();
  readonly on_health = new Signal<void>();
  readonly on_notes = new Signal<void>();
  readonly on_joints = new Signal<void>();
  readonly on_up = new Signal<void>();
  readonly on_files = new Signal<void>();
  /** which pairs are fits of the design */
  readonly on_allowed = new Signal<void>();
  readonly on_people = new Signal<void>();
  readonly on_guests = new Signal<message_guests>();

  constructor(readonly connection: Connection) {
    connection.message.on((message) => this.receive(message));
    connection.status.on((status) => {
      if (status === 'open') this.begin();
    });
    window.setInterval(() => this.ask_health(), 2000);
  }

  /** that lengths are shown and asked for in */
  get unit(): 'mm' | 'in' {
    return reading_unit(this.scene?.unit ?? '');
  }

  /** parts that a hand can take */
  movable(part: number): boolean {
    const kind = this.parts.get(part)?.kind;
    return kind === part_kind.PART_MOVABLE || kind === part_kind.PART_FREE;
  }

  select(part: number): void {
    if (part === this.selected) return;
    this.selected = part;
    this.on_selected.emit(part);
  }

  watch(): void {
    const { contacts, proximity, voxels } = this.wants;
    const wants = want.WANT_STATE | want.WANT_JOBS | want.WANT_EVENTS | want.WANT_GAPS | (contacts ? want.WANT_CONTACTS : 0) |
      (proximity ? want.WANT_PROXIMITY : 0) | (voxels ? want.WANT_VOXELS : 0);
    // a page in the background draws nothing: once a second keeps its plots and banners alive
    void this.connection.ask('watch', { wants, state_rate: document.hidden ? 1 : this.state_rate }).catch(() => undefined);
  }

  /** asks for so many states a second */
  set_rate(states: number): void {
    if (states === this.state_rate) return;
    this.state_rate = states;
    if (this.connection.state === 'open') this.watch();
  }

  /** after a welcome everything is asked anew: it may be another controller */
  private begin(): void {
    this.parameters.clear();
    this.devices.clear();
    this.recordings.clear();
    this.jobs.clear();
    this.people.clear();
    this.guests = { hands: [], parts: [], instances: [] };
    this.on_people.emit();
    this.watch();
    for (const name of ['parameters_ask', 'devices_ask', 'recordings_ask'] as const)
      void this.connection.ask(name).catch(() => undefined);
    this.ask_health();
  }

  ask_recordings(): void {
    void this.connection.ask('recordings_ask').catch(() => undefined);
  }

  private ask_health(): void {
    if (this.connection.state !== 'open' || document.hidden) return;
    this.connection.ask('health_ask').then((answer) => {
      if (answer.name !== 'health') return;
      this.rate_sentence = answer.body.sentence;
      this.on_health.emit();
    }, () => undefined);
  }

  private receive(message: Decoded): void {
    switch (message.name) {
      case 'scene':
        this.scene = message.body;
        this.parts.clear();
        this.groups.clear();
        this.rigid.clear();
        this.notes = [];
        this.joints = [];
        this.changed_files = '';
        this.state = null;
        this.selected = NONE;
        this.on_scene.emit(message.body);
        break;
      case 'group':
        if (message.body.index === 0) {
          this.groups.clear();
          this.rigid.clear();
        }
        if (message.body.count && message.body.rigid) this.rigid.add(message.body.name);
        if (message.body.count) this.groups.set(message.body.name, message.body.in);
        if (message.body.index + 1 >= message.body.count) this.on_groups.emit();
        break;
      case 'part': {
        const part: Part = { ...message.body, look: this.parts.get(message.body.part)?.look ?? look.LOOK_PLAIN };
        this.parts.set(part.part, part);
        this.on_part.emit(part);
        if (this.selected === NONE && this.movable(part.part)) this.select(part.part);
        break;
      }
      case 'part_gone':
        this.parts.delete(message.body.part);
        if (this.selected === message.body.part) this.select(NONE);
        this.on_part_gone.emit(message.body.part);
        break;
      case 'state':
        this.take_state(message.body);
        break;
      case 'proximity':
        this.on_proximity.emit(message.body);
        break;
      case 'near_voxels':
        this.on_voxels.emit(message.body);
        break;
      case 'parameter':
        this.parameters.set(message.body.name, message.body);
        this.on_parameter.emit(message.body);
        break;
      case 'device':
        this.devices.set(message.body.device, message.body);
        this.on_devices.emit();
        break;
      case 'recording':
        if (message.body.gone) this.recordings.delete(message.body.recording);
        else this.recordings.set(message.body.recording, message.body);
        this.on_recordings.emit();
        break;
      case 'replaying':
        this.replaying = message.body.recording === NONE ? null : message.body;
        this.on_replaying.emit(this.replaying);
        break;
      case 'job':
        this.jobs.set(message.body.job, message.body);
        this.on_job.emit(message.body);
        break;
      case 'person':
        if (message.body.bits & person_bit.PERSON_GONE) this.people.delete(message.body.member);
        else this.people.set(message.body.member, message.body);
        this.on_people.emit();
        break;
      case 'guests':
        this.guests = message.body;
        this.on_guests.emit(message.body);
        break;
      case 'note':
        if (message.body.index === 0) this.notes = [];
        if (message.body.count) this.notes.push(message.body);
        if (message.body.index + 1 >= message.body.count) this.on_notes.emit();
        break;
      case 'joint':
        if (message.body.index === 0) this.joints = [];
        if (message.body.count) this.joints.push(message.body);
        if (message.body.index + 1 >= message.body.count) this.on_joints.emit();
        break;
      case 'up':
        this.up = message.body.axis;
        this.on_up.emit();
        break;
      case 'files':
        this.changed_files = message.body.parts ? message.body.sentence : '';
        this.on_files.emit();
        break;
      case 'allowed':
        this.on_allowed.emit();
        break;
      case 'event':
        this.on_event.emit(message.body);
        break;
    }
  }

  private take_state(state: message_state): void {
    if (this.scene && state.scene !== this.scene.scene) return; // of a scene that is gone
    for (const moved of state.parts) {
      const part = this.parts.get(moved.part);
      if (part) {
        part.T_world_part = moved.T_world_part;
        part.look = moved.look;
      }
    }
    this.state = state;
    this.on_state.emit(state);
  }

  /** where a part is now, or null */
  pose(part: number): Pose | null {
    return this.parts.get(part)?.T_world_part ?? null;
  }

  /** somebody else in the shared session who holds a part; null: nobody else */
  guest(part: number): message_person | null {
    const held = this.guests.parts.find((one) => one.part === part && one.member !== 0);
    return (held && this.people.get(held.member)) ?? null;
  }

  /** the hand that holds a part; -1: none */
  holder(part: number): number {
    return this.state ? this.state.hands.findIndex((hand) => hand.held === part) : -1;
  }
}
