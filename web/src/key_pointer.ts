// A pointer for the keyboard. K shows it, the arrow keys lead it, Enter clicks, E presses and lets go: with these everything that a mouse does in
// the view can be done, whichever tool is chosen. Screen readers announce what it points at. It acts by pointer events of its own.
import { by_id, h, text } from './dom.ts';
import type { Picker } from './pick.ts';
import { t } from './texts.ts';

const STEP = 12; // pixels
const FINE = 1; // with Ctrl
const COARSE = 60; // with Shift, while nothing is held; then Shift turns
const TOLD_MS = 120; // after the last step
/** no pointer of the browser has this number */
const ID = 0x6b657973;
const WAYS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const WHEEL: Record<string, number> = { PageUp: -100, PageDown: 100 };

export class KeyPointer {
  on = false;
  private x = 0;
  private y = 0;
  private pressed = false;
  private timer = 0;
  private readonly says = h('span', { class: 'key-pointer-says', id: 'key-pointer-says', role: 'status' });
  private readonly cross = h('div', { class: 'key-pointer', id: 'key-pointer', hidden: true }, this.says);

  constructor(private readonly canvas: HTMLCanvasElement, private readonly picker: Picker, private readonly name: (part: number) => string) {
    by_id('stage').append(this.cross);
    // a browser refuses to capture a pointer that it does not have; this one goes nowhere else anyway
    for (const method of ['setPointerCapture', 'releasePointerCapture'] as const) {
      const own = canvas[method].bind(canvas);
      canvas[method] = (id: number) => {
        if (id !== ID) own(id);
      };
    }
    // the mouse takes over
    canvas.addEventListener('pointerdown', (event) => {
      if (event.pointerId !== ID) this.toggle(false);
    }, { capture: true });
  }

  toggle(on = !this.on): void {
    if (on === this.on) return;
    if (this.pressed) this.lift();
    this.on = on;
    this.cross.hidden = !on;
    if (!on) return;
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!this.x && !this.y) [this.x, this.y] = [Math.round(width / 2), Math.round(height / 2)];
    this.canvas.focus({ preventScroll: true });
    this.go(0, 0, false);
  }

  /** true: the key was the pointer's */
  key_down(event: KeyboardEvent): boolean {
    if (!this.on || (document.activeElement !== this.canvas && document.activeElement !== document.body)) return false;
    const way = WAYS[event.key], wheel = WHEEL[event.key];
    if (way) {
      const step = event.ctrlKey ? FINE : event.shiftKey && !this.pressed ? COARSE : STEP;
      this.go(way[0] * step, way[1] * step, event.shiftKey);
    } else if (wheel) {
      this.canvas.dispatchEvent(new WheelEvent('wheel', { ...this.place(), deltaY: wheel, shiftKey: event.shiftKey, bubbles: true, cancelable: true }));
    } else if (event.key === 'Enter' && !event.repeat) {
      if (!this.pressed) this.press();
      this.lift();
    } else if (event.key.toLowerCase() === 'e' && !event.repeat && !event.ctrlKey) {
      if (this.pressed) this.lift();
      else this.press();
    } else return false;
    return true;
  }

  private place(): { clientX: number; clientY: number } {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { clientX: left + this.x, clientY: top + this.y };
  }

  private send(type: string, shiftKey = false): void {
    const button = type === 'pointermove' ? -1 : 0;
    this.canvas.dispatchEvent(new PointerEvent(type, { ...this.place(), pointerId: ID, pointerType: 'mouse', isPrimary: true, button, buttons: this.pressed ? 1 : 0, shiftKey, bubbles: true, cancelable: true }));
  }

  private go(dx: number, dy: number, shift: boolean): void {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.x = Math.min(Math.max(this.x + dx, 0), width - 1);
    this.y = Math.min(Math.max(this.y + dy, 0), height - 1);
    this.cross.style.translate = `${this.x}px ${this.y}px`;
    this.send('pointermove', shift);
    this.tell();
  }

  private press(): void {
    this.pressed = true;
    this.cross.classList.add('pressed');
    this.send('pointerdown');
    this.tell();
  }

  private lift(): void {
    this.pressed = false;
    this.cross.classList.remove('pressed');
    this.send('pointerup');
    this.tell();
  }

  /** what it points at, once it rests there */
  private tell(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (!this.on) return;
      const { clientX, clientY } = this.place();
      const pick = this.pressed ? null : this.picker.at(clientX, clientY);
      text(this.says, this.pressed ? t('pressed; E lets go') : pick ? this.name(pick.part) : t('no part'));
    }, TOLD_MS);
  }
}
