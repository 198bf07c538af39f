// Plots, the rate of the loop and what a frame costs matter to those who feel forces or tune the simulation. Others do not see them: they
// show while a force device moves a hand, or with Expert. L shows and hides the plots at any time.
import { by_id } from './dom.ts';
import { is_expert } from './expert.ts';
import type { Model } from './model.ts';
import { hand_bit } from './protocol.mjs';

export class Technical {
  on = false;
  private chosen: boolean | null = null; // plots, by a person

  constructor(private readonly model: Model, private readonly resized: () => void) {
    by_id('plots').hidden = true;
  }

  toggle_plots(): void {
    this.chosen = by_id('plots').hidden;
    this.show();
  }

  private show(): void {
    const hidden = !(this.chosen ?? this.on);
    if (by_id('plots').hidden === hidden) return;
    by_id('plots').hidden = hidden;
    this.resized();
  }

  /** every picture */
  update(): void {
    const on = is_expert() || (this.model.state?.hands.some((hand) => (hand.bits & hand_bit.HAND_FORCE) !== 0) ?? false);
    if (on === this.on) return;
    this.on = on;
    document.body.classList.toggle('technical', on);
    this.show();
    this.resized(); // the bar at the bottom comes and goes
  }
}
