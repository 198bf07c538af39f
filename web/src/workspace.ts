// Devices at the controller's machine: how they reach into the scene. Scale, axes, boundary and clutch of each can be chosen; the box that an
// arm reaches is drawn; and the controller hears how the view is turned, so that a push to the right goes to the right of the picture.
import { number_field, read_number, typed } from './numbers.ts';
import { BoxGeometry, EdgesGeometry, LineBasicMaterial, LineSegments, Matrix4, Quaternion, Vector3 } from 'three';
import type { Eye } from './camera.ts';
import { h } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { axes, device_kind, NONE, workspace_bit, type message_device } from './protocol.mjs';
import type { Quat, View } from './pose.ts';
import { set_pose, type Stage } from './scene.ts';
import { digits } from './units.ts';
import { t } from './texts.ts';

const SEND_MS = 60;
const NO_BUTTON = 255;
const COLOURS = { plain: 0x4f9dff, clutched: 0xf5a524, outside: 0xff5c5c };

/** turns x to the right of a view, y away from the eye, z up */
export function view_axes({ right, up, forward }: View): Quat {
  const q = new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(new Vector3(...right), new Vector3(...forward), new Vector3(...up)));
  return [q.w, q.x, q.y, q.z];
}

export class Workspace {
  /** hands whose workspace is drawn, for tests */
  shown: number[] = [];
  private boxes: LineSegments[] = [];
  private sent = '';
  private sent_at = 0;
  private clutching = false;

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye, private readonly notices: Notices) {
    model.connection.status.on(() => (this.sent = ''));
    model.on_devices.on(() => (this.sent = ''));
    // while C is down the clutch is held
    window.addEventListener('keydown', (event) => {
      const typing = (event.target as HTMLElement | null)?.closest('input:not([type=range], [type=checkbox]), select, textarea, dialog[open]');
      if (event.key.toLowerCase() === 'c' && !event.repeat && !event.ctrlKey && !event.altKey && !event.metaKey && !typing) this.clutch(true);
    });
    window.addEventListener('keyup', (event) => {
      if (event.key.toLowerCase() === 'c') this.clutch(false);
    });
    window.addEventListener('blur', () => this.clutch(false));
  }

  /** those that move a hand */
  private moving(): message_device[] {
    return [...this.model.devices.values()].filter((device) => device.hand !== NONE && device.kind !== device_kind.DEVICE_PAGE);
  }

  clutch(held: boolean): void {
    if (held === this.clutching) return;
    this.clutching = held;
    for (const { hand } of this.moving()) this.model.connection.ask('clutch', { hand, held }).catch(this.notices.failed);
  }

  /** every picture */
  update(now: number): void {
    this.draw();
    this.tell_view(now);
  }

  private draw(): void {
    const workspaces = (this.model.state?.workspaces ?? []).filter(({ half }) => half.every((value) => value > 0));
    while (this.boxes.length < workspaces.length) {
      const box = new LineSegments(new EdgesGeometry(new BoxGeometry(2, 2, 2)), new LineBasicMaterial({ transparent: true, opacity: 0.55, depthWrite: false }));
      box.renderOrder = 4;
      this.boxes.push(box);
      this.stage.scene.add(box);
    }
    this.boxes.forEach((box, i) => {
      const workspace = workspaces[i];
      box.visible = Boolean(workspace);
      if (!workspace) return;
      set_pose(box, workspace.T_world_workspace);
      box.scale.set(...workspace.half);
      const { bits } = workspace;
      (box.material as LineBasicMaterial).color.set(bits & workspace_bit.WORKSPACE_CLUTCHED ? COLOURS.clutched : bits & workspace_bit.WORKSPACE_OUTSIDE ? COLOURS.outside : COLOURS.plain);
    });
    this.shown = workspaces.map(({ hand }) => hand);
  }

  /** the view of the page that somebody looks at, whenever it has turned */
  private tell_view(now: number): void {
    if (now - this.sent_at < SEND_MS || document.hidden || this.model.connection.state !== 'open') return;
    const hands = this.moving().filter((device) => device.axes === axes.AXES_VIEW).map(({ hand }) => hand);
    if (!hands.length) return;
    const q = view_axes(this.eye.view());
    const key = `${hands.join()} ${q.map((value) => value.toFixed(4)).join()}`;
    if (key === this.sent) return;
    this.sent = key;
    this.sent_at = now;
    for (const hand of hands) this.model.connection.ask('view_axes', { hand, T_world_view: { p: [0, 0, 0], q } }).catch(() => undefined);
  }

  /** of a device that moves a hand, for the list of devices */
  controls(device: message_device): HTMLElement {
    const set = (change: Partial<Pick<message_device, 'axes' | 'boundary' | 'clutch_button'> & { scale: number }>) => {
      const scale = device.scale_derived ? 0 : device.scale;
      this.model.connection.ask('mapping_set', { hand: device.hand, scale, axes: device.axes, boundary: device.boundary, clutch_button: device.clutch_button, ...change }).catch(this.notices.failed);
    };
    const id = `device-${device.device}`;
    const scale = number_field({ id: `${id}-scale`, 'aria-label': t('Scale of {0}', device.name), value: device.scale_derived ? '' : typed(device.scale, 4), placeholder: t('{0} (automatic)', digits(device.scale)), onchange: () => {
      const value = scale.value.trim() === '' ? 0 : read_number(scale.value);
      if (value === 0 || (value >= 0.001 && value <= 1000)) set({ scale: value });
      else this.notices.toast('A scale is a number from 0.001 to 1000, or empty for the automatic one.', 'warning');
    } });
    const choose = (name: string, label: string, words: string[], now: number, change: (value: number) => void) => {
      const select = h('select', { id: `${id}-${name}`, 'aria-label': t('{0} of {1}', t(label), device.name), onchange: () => change(Number(select.value)) }, ...words.map((word, k) => h('option', { value: String(k) }, word)));
      select.value = String(now);
      return h('label', { class: 'field' }, h('span', {}, label), select);
    };
    return h('div', { class: 'mapping' },
      h('label', { class: 'field', title: 'How far the hand goes in the scene when the device moves by one' }, h('span', {}, 'Scale'), scale),
      choose('axes', 'Axes', ['of the scene', 'of the view'], device.axes, (value) => set({ axes: value as 0 | 1 })),
      choose('boundary', 'At its boundary', ['nothing', 'drift', 'go on (bubble)'], device.boundary, (value) => set({ boundary: value as 0 | 1 | 2 })),
      choose('clutch', 'Clutch', ['key C only', ...Array.from({ length: 8 }, (_, k) => t('button {0}', k + 1))], device.clutch_button === NO_BUTTON ? 0 : device.clutch_button + 1, (value) => set({ clutch_button: value === 0 ? NO_BUTTON : value - 1 })));
  }
}

