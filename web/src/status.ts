// The line at the bottom and the chip at the top: whether 1000 Hz are held, what it costs, how old the picture is.
import { by_id, text } from './dom.ts';
import { Window } from './latency.ts';
import { without_voxels } from './expert.ts';
import type { Model } from './model.ts';
import type { message_state } from './protocol.mjs';
import type { Stage } from './scene.ts';
import { clock, count, digits } from './units.ts';
import { t } from './texts.ts';

/** Voxels that are read as they are needed. */
function paging(state: message_state): string {
  const mb = (bytes: number) => `${digits(bytes / 1e6)} MB`;
  const waits = state.waits === 0 ? t('never waited') : t('waited {0}×, at most {1} ms', count(state.waits), digits(1000 * state.longest_wait));
  return `${t('voxels {0} of {1} and {2} of directory', mb(state.paged_resident), mb(state.paged_memory), mb(state.paged_directory))} · ${t('{0} read', mb(state.paged_read))} · ${t('{0} % in time', digits(100 * state.paged_hits))} · ${waits}`;
}

export class Status {
  fps = 0;
  private frames = new Window(120);
  private last = 0; // when the last picture of something that moves was drawn; 0: all stands
  private shown = 0;
  private recorded_since = 0; // or since this page is there

  constructor(private readonly model: Model, private readonly stage: Stage) {}

  loading(loaded: number, wanted: number): void {
    by_id('status').classList.toggle('busy', loaded < wanted);
    text(by_id('status-mesh'), loaded < wanted ? t('meshes {0} / {1}', loaded, wanted) : t('{0} triangles', count(this.stage.triangles)));
  }

  /** a picture was drawn, of something that moves or of what stands */
  picture(now: number, moving: boolean): void {
    if (this.last && moving) this.frames.add(now - this.last);
    this.last = moving ? now : 0;
  }

  /** at every look; `slow`: drawing takes long */
  update(now: number, slow: boolean): void {
    if (now - this.shown < (slow ? 1000 : 250)) return;
    this.shown = now;
    const { connection, state } = this.model;
    this.fps = this.frames.count ? 1000 / this.frames.quantile(0.5) : 0;
    const chip = by_id('rate');
    if (connection.state !== 'open' || !state) {
      text(chip, connection.state === 'open' ? t('waiting for the loop') : t('not connected'));
      chip.dataset['state'] = 'off';
      return;
    }
    chip.dataset['waiting'] = String(state.waiting && !this.model.replaying);
    const held = state.rate_held;
    const rate = `${connection.loop_rate} Hz`;
    const why = without_voxels(this.model.rate_sentence).replace(/(\d) us\b/g, '$1 µs');
    const late = / Hz not held/.test(why); // it is asked for every two seconds, and may be of before
    if (this.model.replaying) {
      text(chip, t('replay: the loop is held'));
      chip.dataset['state'] = 'off';
    } else if (state.waiting) {
      text(chip, state.paused ? t('paused: waiting for data from disk') : t('waiting for data from disk'));
      chip.dataset['state'] = 'bad';
    } else if (state.paused) {
      text(chip, t('paused'));
      chip.dataset['state'] = 'off';
    } else {
      text(chip, held ? t('{0} held', rate) : late ? why : t('{0} not held: {1} periods without a frame', rate, state.skipped));
      chip.dataset['state'] = held ? 'good' : 'bad';
    }
    chip.title = `${why}${connection.name ? ` · ${connection.name}` : ''}`;
    text(by_id('status-compute'), t('compute p50 {0} · p99 {1} · max {2} µs', digits(state.compute.p50), digits(state.compute.p99), digits(state.compute.max)));
    text(by_id('status-points'), t('{0} points · {1} contacts', count(state.points_tested), count(state.contact_count)));
    const paged = by_id('status-paged');
    paged.hidden = state.paged_memory === 0;
    if (!paged.hidden) text(paged, paging(state));
    const { p50, p95 } = connection.latency;
    text(by_id('status-latency'), Number.isNaN(p50) ? t('latency …') : t('pose to page p50 {0} · p95 {1} ms', digits(p50), digits(p95)));
    text(by_id('status-fps'), t('{0} fps', Math.round(this.fps)));
    const record = by_id('tool-record');
    record.setAttribute('aria-pressed', String(state.recording));
    if (!state.recording) this.recorded_since = 0;
    else this.recorded_since ||= now;
    text(by_id('record-text'), state.recording ? `${t('Stop')} ${clock(Math.floor((now - this.recorded_since) / 1000)).replace(/\.\d$/, '')}` : t('Record'));
    by_id('tool-pause').setAttribute('aria-pressed', String(state.paused && !this.model.replaying));
  }
}
