// A SpaceMouse at the machine of the page, by WebHID: Chromium and its relatives, no driver. A person connects it once; from then on the page
// finds it by itself. The cap moves the selected part along the axes of the view.
import { by_id, h } from './dom.ts';
import { Signal } from './signal.ts';
import type { Vec3 } from './protocol.mjs';
import { t } from './texts.ts';

const FULL = 350; // counts
const DEAD = 0.05;
/** ms: pushed, a SpaceMouse reports a hundred times a second; one that says nothing for so long is gone, or stuck */
export const SILENT_MS = 500;
/** 3Dconnexion, and Logitech from the time when it made them */
export const FILTERS = [{ vendorId: 0x256f }, { vendorId: 0x046d, usagePage: 1, usage: 8 }];

interface HidDevice extends EventTarget {
  opened: boolean;
  productName: string;
  open(): Promise<void>;
}

interface Hid extends EventTarget {
  getDevices(): Promise<HidDevice[]>;
  requestDevice(options: { filters: object[] }): Promise<HidDevice[]>;
}

interface Report extends Event {
  reportId: number;
  data: DataView;
  device: HidDevice;
}

export interface Cap {
  /** right, up, away from the person: -1 … 1 */
  move: Vec3;
  /** about up, about left, about away: as arrow keys turn */
  turn: Vec3;
  buttons: number;
}

function shape(counts: number): number {
  const part = Math.min(Math.abs(counts) / FULL, 1);
  return part <= DEAD ? 0 : (Math.sign(counts) * (part - DEAD)) / (1 - DEAD);
}

/** takes a report into the cap; one that is too short, or of another kind, changes nothing */
export function take_report(cap: Cap, id: number, data: DataView): void {
  const axis = (at: number) => shape(data.getInt16(at, true));
  // the cap's x is right, y towards the person, z down
  if (id === 1 && data.byteLength >= 6) cap.move = [axis(0), -axis(4), -axis(2)];
  const at = id === 2 ? 0 : id === 1 && data.byteLength >= 12 ? 6 : -1;
  if (at >= 0 && data.byteLength >= at + 6) cap.turn = [-axis(at + 4), -axis(at), -axis(at + 2)];
  if (id === 3 && data.byteLength >= 1) cap.buttons = data.getUint8(0);
}

export class SpaceMouse {
  readonly cap: Cap = { move: [0, 0, 0], turn: [0, 0, 0], buttons: 0 };
  /** it has moved */
  readonly moved = new Signal<void>();
  name = '';
  private heard = 0;
  private readonly hid = (navigator as unknown as { hid?: Hid }).hid;

  constructor(private readonly failed: (error: unknown) => void) {
    const card = by_id('devices').parentElement!;
    const button = h('button', { type: 'button', class: 'quiet', id: 'connect-spacemouse', onclick: () => void this.connect() }, 'Connect a SpaceMouse');
    const hint = h('p', { class: 'hint', id: 'spacemouse-hint' }, this.hid ? '' : 'This browser has no WebHID; in Chromium a SpaceMouse works without a driver.');
    button.hidden = !this.hid;
    card.append(h('div', { class: 'row wrap' }, button), hint);
    if (!this.hid) return;
    this.hid.addEventListener('disconnect', () => this.rest());
    void this.hid.getDevices().then((devices) => this.use(devices), this.failed);
  }

  get active(): boolean {
    return [...this.cap.move, ...this.cap.turn].some((value) => value !== 0);
  }

  private async connect(): Promise<void> {
    try {
      await this.use(await this.hid!.requestDevice({ filters: FILTERS }));
    } catch (error) {
      this.failed(error);
    }
  }

  private async use(devices: HidDevice[]): Promise<void> {
    for (const device of devices) {
      if (!device.opened) await device.open();
      device.addEventListener('inputreport', (event) => {
        const { reportId, data } = event as Report;
        take_report(this.cap, reportId, data);
        this.heard = performance.now();
        this.moved.emit();
      });
      this.name = device.productName;
      by_id('spacemouse-hint').textContent = t('{0} moves the selected part.', this.name);
    }
  }

  /** at every look: one that has fallen silent while it was pushed pushes no more */
  update(now: number): void {
    if (this.active && now - this.heard > SILENT_MS) this.release();
  }

  private release(): void {
    this.cap.move = [0, 0, 0];
    this.cap.turn = [0, 0, 0];
    this.moved.emit();
  }

  /** it is gone: nothing moves by itself */
  private rest(): void {
    this.release();
    this.name = '';
    by_id('spacemouse-hint').textContent = '';
  }
}
