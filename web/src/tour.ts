// A short guided tour: a card that goes from place to place of the page and says what each is for.
import { by_id, h, text } from './dom.ts';
import { t } from './texts.ts';

interface Stop {
  at: string; // id
  title: string;
  says: string;
}

const STOPS: Stop[] = [
  { at: 'view', title: 'Pick up a part', says: 'Drag a part: it follows your pointer until something is in its way. Drag beside the parts to look around; turn the wheel, or pinch, to zoom.' },
  { at: 'readout', title: 'How much room there is', says: 'The distance from the held or selected part to its nearest neighbour, measured on the exact surfaces.' },
  { at: 'parts', title: 'Your parts', says: 'Click a name to select a part. Below the list you choose whether it moves, and where it stands.' },
  { at: 'tool-undo', title: 'Nothing is lost', says: 'Undo takes the last move back; Reset puts every part where it was.' },
  { at: 'tool-record', title: 'Record the way out', says: 'Record a motion, replay it, and save a report with the least clearance along the way.' },
  { at: 'tool-open', title: 'Your own files', says: 'Add STEP, STL, glTF or other CAD files here, or drop them on the page.' },
];

export class Tour {
  private at = -1;
  private card: HTMLElement;
  private title = h('b', { id: 'tour-title' });
  private says = h('p', { id: 'tour-says' });
  private next = h('button', { type: 'button', class: 'primary', onclick: () => this.go(1) });
  private back = h('button', { type: 'button', class: 'quiet', onclick: () => this.go(-1) }, 'Back');
  private count = h('span', { class: 'hint' });
  private before: Element | null = null; // what had the focus

  constructor() {
    const close = h('button', { type: 'button', class: 'quiet', onclick: () => this.end() }, 'Close');
    this.card = h('div', { id: 'tour', class: 'card glass', role: 'dialog', hidden: true, 'aria-labelledby': 'tour-title', 'aria-describedby': 'tour-says' },
      this.title, this.says, h('div', { class: 'row' }, this.count, h('span', { class: 'fill' }), close, this.back, this.next));
    document.body.append(this.card);
    this.card.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.end();
      else if (event.key === 'ArrowRight') this.go(1);
      else if (event.key === 'ArrowLeft') this.go(-1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    window.addEventListener('resize', () => this.place());
  }

  begin(): void {
    this.before = document.activeElement;
    this.at = -1;
    this.go(1);
  }

  end(): void {
    this.mark(false);
    this.card.hidden = true;
    this.at = -1;
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus();
  }

  private go(by: number): void {
    this.mark(false);
    this.at = Math.max(0, this.at + by);
    const stop = STOPS[this.at];
    if (!stop) {
      this.end();
      return;
    }
    this.card.hidden = false;
    text(this.title, t(stop.title));
    text(this.says, t(stop.says));
    text(this.count, `${this.at + 1} / ${STOPS.length}`);
    text(this.next, t(this.at + 1 < STOPS.length ? 'Next' : 'Done'));
    this.back.disabled = this.at === 0;
    this.mark(true);
    this.place();
    this.next.focus();
  }

  private mark(on: boolean): void {
    const stop = STOPS[this.at];
    if (!stop) return;
    const place = by_id(stop.at);
    place.classList.toggle('tour-here', on);
    // in a narrow window the panel is over the view only while it is spoken of
    if (place.closest('#panel')) {
      if (on) place.closest('details')?.setAttribute('open', '');
      if (window.matchMedia('(max-width: 760px)').matches) document.body.classList.toggle('no-panel', !on);
      if (on) place.scrollIntoView({ block: 'nearest' });
    }
  }

  /** beside what it speaks of, where there is room */
  private place(): void {
    const stop = STOPS[this.at];
    if (!stop || this.card.hidden) return;
    const there = by_id(stop.at).getBoundingClientRect(), own = this.card.getBoundingClientRect();
    const within = (value: number, most: number) => Math.round(Math.max(8, Math.min(value, most - 8)));
    let x = there.left, y = there.bottom + 10;
    if (stop.at === 'view') [x, y] = [there.left + (there.width - own.width) / 2, there.bottom - own.height - 24];
    else if (there.left > window.innerWidth / 2 && there.height > 60) [x, y] = [there.left - own.width - 12, there.top];
    this.card.style.left = `${within(x, window.innerWidth - own.width)}px`;
    this.card.style.top = `${within(y, window.innerHeight - own.height)}px`;
  }
}
