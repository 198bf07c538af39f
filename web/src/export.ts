// A replay as a video, and the view as a picture: files of the browser, made from what is drawn.
import { by_id, h, text } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { t } from './texts.ts';

const RATE = 30; // pictures a second
const KINDS = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm', 'video/mp4;codecs=avc3', 'video/mp4'];
const BITS = 8e6; // a second

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function file_name(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').replace(/\.mcap$/, '') || 'feeler';
}

export class Export {
  private recorder: MediaRecorder | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement, private readonly model: Model, private readonly notices: Notices,
    /** draws once, now */
    private readonly draw: () => void,
    /** plays the replay from its beginning */
    private readonly play: () => void) {
    by_id('replay-video').addEventListener('click', () => (this.recorder ? this.stop() : this.video()));
    by_id('replay-image').addEventListener('click', () => this.image());
    model.on_replaying.on((replaying) => {
      // its end, or somebody ended it
      if (this.recorder && (!replaying || (!replaying.playing && replaying.seconds >= replaying.length - 0.05))) this.stop();
    });
  }

  get active(): boolean {
    return this.recorder !== null;
  }

  image(): void {
    this.draw(); // what is drawn is there until the browser shows it
    const name = file_name(this.name());
    this.canvas.toBlob((blob) => {
      if (blob) save(blob, `${name}.png`);
      else this.notices.toast('The browser gave no picture.', 'warning');
    });
  }

  private name(): string {
    const { replaying, recordings, scene } = this.model;
    return (replaying && recordings.get(replaying.recording)?.name) || scene?.name || 'feeler';
  }

  private video(): void {
    const type = typeof MediaRecorder === 'undefined' ? undefined : KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
    if (!type) {
      this.notices.toast('This browser cannot record video. Chromium and Firefox can.', 'warning');
      return;
    }
    const name = `${file_name(this.name())}.${type.startsWith('video/mp4') ? 'mp4' : 'webm'}`;
    const pieces: Blob[] = [];
    const stream = this.canvas.captureStream(RATE);
    const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: BITS });
    recorder.addEventListener('dataavailable', (event) => pieces.push(event.data));
    recorder.addEventListener('stop', () => {
      for (const track of stream.getTracks()) track.stop();
      this.recorder = null;
      this.show();
      save(new Blob(pieces, { type: type.split(';')[0]! }), name);
      this.notices.toast(t('Saved as {0}.', name));
    });
    this.recorder = recorder;
    recorder.start(500);
    this.show();
    this.play();
  }

  private stop(): void {
    if (this.recorder?.state === 'recording') this.recorder.stop();
  }

  private show(): void {
    const button = by_id('replay-video');
    text(button, this.recorder ? 'Stop video' : 'Video');
    button.setAttribute('aria-pressed', String(this.recorder !== null));
  }
}
