// Contact for those without a force device: a gamepad rumbles, a phone vibrates, and, where it is wanted, there is a click. The first touch is
// the strongest; while a part is pressed against another, a gamepad hums with the force.
import { by_id, toggle } from './dom.ts';
import { greatest_force } from './felt.ts';
import type { PageHand } from './hand.ts';
import type { Model } from './model.ts';
import { NONE } from './protocol.mjs';

const AGAIN_MS = 120;
const FULL_N = 10;

export class Feedback {
  /** how often there was some, for tests */
  count = 0;
  private touching = false;
  private last = 0;
  private sound = false;
  private audio: AudioContext | null = null;

  constructor(private readonly model: Model, private readonly hand: PageHand) {
    by_id('show').append(toggle('Sound', false, (on) => {
      this.sound = on;
      if (on) this.audio ??= new AudioContext();
    }, 'show-sound'));
  }

  /** at every look */
  update(now: number): void {
    const state = this.model.state;
    const touching = Boolean(state && this.hand.holding !== NONE && state.contact_count > 0 && !this.model.replaying);
    const first = touching && !this.touching;
    this.touching = touching;
    if (!state || !touching || (!first && now - this.last < AGAIN_MS)) return;
    this.last = now;
    const strength = Math.min(1, greatest_force(state) / FULL_N);
    this.rumble(first ? Math.max(0.5, strength) : 0.5 * strength);
    if (!first) return;
    this.count++;
    if (typeof navigator.vibrate === 'function' && navigator.userActivation?.hasBeenActive) navigator.vibrate(25);
    if (this.sound) this.click(Math.max(0.3, strength));
  }

  private rumble(strength: number): void {
    const pads = typeof navigator.getGamepads === 'function' ? navigator.getGamepads() : [];
    const actuator = pads.find((pad) => pad?.connected)?.vibrationActuator;
    void actuator?.playEffect('dual-rumble', { duration: AGAIN_MS, strongMagnitude: strength, weakMagnitude: strength }).catch(() => undefined);
  }

  private click(strength: number): void {
    if (!this.audio) return;
    const { audio } = this, gain = audio.createGain(), tone = audio.createOscillator();
    tone.frequency.value = 180;
    gain.gain.setValueAtTime(0.3 * strength, audio.currentTime);
    gain.gain.exponentialRampToValueAtTime(1e-3, audio.currentTime + 0.06);
    tone.connect(gain).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.07);
  }
}
