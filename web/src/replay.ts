// Recordings: start, stop, list, download; and the bar to play and scrub one. A replay is the controller's: all pages see it.
import { by_id, h, icon, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { NONE, type message_recording, type message_replaying } from './protocol.mjs';
import { RecordingReport } from './reports.ts';
import { bytes as show_bytes, clock } from './units.ts';
import { t } from './texts.ts';

const PIECE = 262144;

export class Recordings {
  private scrub = by_id<HTMLInputElement>('scrub');
  private speed = by_id<HTMLSelectElement>('replay-speed');
  private scrubbing = false;
  private wanted = new Set<number>(); // recordings whose scene is being loaded
  private seek_timer = 0;

  private report: RecordingReport;

  constructor(private readonly model: Model, private readonly notices: Notices) {
    this.report = new RecordingReport(model, notices);
    by_id('tool-record').addEventListener('click', () => this.toggle());
    by_id('replay-play').addEventListener('click', () => this.send({ playing: !this.model.replaying?.playing }));
    by_id('replay-end').addEventListener('click', () => this.end());
    this.scrub.addEventListener('pointerdown', () => (this.scrubbing = true));
    this.scrub.addEventListener('change', () => {
      this.scrubbing = false;
      this.send({ seconds: Number(this.scrub.value) });
    });
    this.scrub.addEventListener('input', () => {
      text(by_id('replay-time'), this.times(Number(this.scrub.value)));
      window.clearTimeout(this.seek_timer);
      this.seek_timer = window.setTimeout(() => this.send({ seconds: Number(this.scrub.value), playing: false }), 40);
    });
    this.speed.addEventListener('change', () => this.send({ speed: Number(this.speed.value) }));
    model.on_recordings.on(() => {
      this.list();
      for (const recording of this.wanted) if (model.recordings.get(recording)?.here) this.start(recording);
    });
    model.on_scene.on(() => model.ask_recordings()); // which of them are of this scene
    model.on_replaying.on((replaying) => this.show(replaying));
    model.connection.status.on((status) => {
      if (status === 'open') {
        model.replaying = null;
        this.show(null);
        this.list();
      }
    });
  }

  toggle(): void {
    const recording = this.model.state?.recording ?? false;
    if (recording) this.model.connection.ask('record_stop').then(() => this.model.ask_recordings(), this.notices.failed);
    else this.model.connection.ask('record_start', { name: '' }).then(() => this.model.ask_recordings(), this.notices.failed);
  }

  /** from its beginning, once */
  play_again(): void {
    this.send({ playing: true, seconds: 0 });
  }

  /** what was recorded in another scene is shown in that one: parts are known by their names */
  start(recording: number): void {
    const of = this.model.recordings.get(recording);
    if (of && !of.here) {
      const name = of.scene || t('another scene');
      if (!of.scene_path) {
        this.notices.toast(t('“{0}” was recorded in the scene “{1}”. Open that scene at the controller to replay it.', of.name, name), 'warning');
        return;
      }
      if (!window.confirm(t('“{0}” was recorded in the scene “{1}”, not in this one. Load that scene and replay it? What was changed here and not saved is lost.', of.name, name))) return;
      this.wanted = new Set([recording]);
      this.model.connection.ask('load', { path: of.scene_path }).catch((error) => {
        this.wanted.delete(recording);
        this.notices.failed(error);
      });
      return;
    }
    this.wanted.delete(recording);
    this.model.connection.ask('replay', { recording, playing: true, seconds: 0, speed: Number(this.speed.value) }).catch(this.notices.failed);
  }

  end(): void {
    this.model.connection.ask('replay', { recording: NONE, speed: 1 }).catch(this.notices.failed);
  }

  private send(change: { playing?: boolean; seconds?: number; speed?: number }): void {
    const now = this.model.replaying;
    if (!now) return;
    // at the end, play begins anew
    const over = change.playing && now.seconds >= now.length - 0.01;
    this.model.connection.ask('replay', {
      recording: now.recording, playing: change.playing ?? now.playing, seconds: over ? 0 : change.seconds ?? now.seconds,
      speed: change.speed ?? now.speed,
    }).catch(this.notices.failed);
  }

  private show(replaying: message_replaying | null): void {
    by_id('replay').hidden = !replaying;
    if (!replaying) return;
    text(by_id('replay-name'), this.model.recordings.get(replaying.recording)?.name ?? `recording ${replaying.recording}`);
    this.scrub.max = String(replaying.length);
    if (!this.scrubbing) {
      this.scrub.value = String(replaying.seconds);
      text(by_id('replay-time'), this.times(replaying.seconds));
    }
    const play = by_id('replay-play');
    play.replaceChildren(icon(replaying.playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', replaying.playing ? t('Hold the replay') : t('Play'));
  }

  private times(seconds: number): string {
    return `${clock(seconds)} / ${clock(this.model.replaying?.length ?? 0)}`;
  }

  private list(): void {
    const list = by_id('recordings');
    list.replaceChildren();
    const all = [...this.model.recordings.values()].sort((a, b) => b.recording - a.recording);
    if (!all.length) list.append(h('p', { class: 'hint' }, 'None yet. Press R to record.'));
    for (const recording of all) list.append(this.row(recording));
  }

  private row(recording: message_recording): HTMLElement {
    const play = h('button', { type: 'button', class: 'tool small', title: 'Replay', 'aria-label': t('Replay {0}', recording.name), disabled: !recording.finished, onclick: () => this.start(recording.recording) });
    play.append(icon('play'));
    const save = h('button', { type: 'button', class: 'tool small', title: 'Download', 'aria-label': t('Download {0}', recording.name), disabled: !recording.finished, onclick: () => void this.download(recording) });
    save.append(icon('download'));
    const report = h('button', { type: 'button', class: 'tool small', title: 'Report', 'aria-label': t('Report about {0}', recording.name), disabled: !recording.finished, onclick: () => void this.report.open(recording) });
    report.append(icon('report'));
    const rename = h('button', { type: 'button', class: 'chip', title: 'Rename', 'aria-label': t('Rename {0}', recording.name), disabled: !recording.finished, onclick: () => {
      const name = window.prompt(t('Name of the recording'), recording.name)?.trim();
      if (name && name !== recording.name) this.model.connection.ask('record_rename', { recording: recording.recording, name }).catch(this.notices.failed);
    } }, 'rename');
    const remove = h('button', { type: 'button', class: 'tool small', title: 'Delete', 'aria-label': t('Delete {0}', recording.name), disabled: !recording.finished, onclick: () => {
      if (window.confirm(t('Delete the recording “{0}” and its file? This cannot be undone.', recording.name))) this.model.connection.ask('record_remove', { recording: recording.recording }).catch(this.notices.failed);
    } });
    remove.append(icon('trash'));
    // frames are counted at the end: without any, its writer was stopped before
    const cut = recording.finished && recording.frames === 0;
    const long = recording.seconds > 0 ? `${clock(recording.seconds)}${cut ? t(', cut off') : ''}` : cut ? t('cut off, length not known') : '';
    const facts = recording.finished ? [long, show_bytes(recording.bytes), recording.here ? '' : t('of {0}', recording.scene || t('another scene'))].filter(Boolean).join(' · ') : t('recording …');
    const why = cut ? 'The controller was stopped while it recorded. What was written until then can be replayed.' : '';
    return h('div', { class: 'recording', title: why }, h('div', {}, h('div', { class: 'part-name' }, recording.name), h('div', { class: 'part-facts' }, facts)), play, save, report, rename, remove);
  }

  /** piece by piece over the same socket, then as a file of the browser */
  private async download(recording: message_recording): Promise<void> {
    const pieces: Uint8Array[] = [];
    try {
      for (let offset = 0; ;) {
        const answer = await this.model.connection.ask('record_fetch', { recording: recording.recording, size: PIECE, offset });
        if (answer.name !== 'record_data' || !answer.body.bytes.length) break;
        pieces.push(answer.body.bytes.slice());
        offset += answer.body.bytes.length;
        if (offset >= answer.body.total) break;
      }
      const url = URL.createObjectURL(new Blob(pieces as BlobPart[], { type: 'application/octet-stream' }));
      const name = recording.name.replace(/[^\w.-]+/g, '_') || 'recording';
      const file = name.endsWith('.mcap') ? name : `${name}.mcap`;
      h('a', { href: url, download: file }).click();
      window.setTimeout(() => URL.revokeObjectURL(url), 10000);
      this.notices.toast(t('Saved {0}.', file));
    } catch (error) {
      this.notices.failed(error);
    }
  }
}
