// When to look and when to draw. The page looks at every chance that the browser gives while something moves, and ten times a second
// while nothing does. It hands a picture to the graphics card only when the one before is finished. Where pictures take long, as
// without a graphics card or on a busy machine, it leaves a pause after each: for the page's own messages, other pages and programs.

const REST_MS = 100; // between two looks while nothing moves
const SLOW_REST_MS = 250; // … where pictures take long
const QUICK_MS = 34; // a picture that takes no longer needs no pause
const SLOW_MS = 100; // mean beyond which everything else is done less often
const LONGEST_PAUSE_MS = 250;
const LOST_MS = 10000; // a picture not finished by then never will be: the context is gone

/** the part of WebGL 2 that says when a picture is finished */
export type Fences = Pick<WebGL2RenderingContext, 'fenceSync' | 'getSyncParameter' | 'deleteSync' | 'flush' | 'SYNC_GPU_COMMANDS_COMPLETE' | 'SYNC_STATUS' | 'SIGNALED'>;

/** Times pictures by fences: what the graphics card takes, not what handing it over takes. */
export class Pacer {
  /** ms that pictures take, running mean */
  mean = 16;
  /** pictures drawn so far */
  pictures = 0;
  private fence: WebGLSync | null = null;
  private began = 0;
  private pause_until = 0;

  constructor(private readonly gl: Fences) {}

  /** pictures take so long that what only informs is to be drawn less often; it stays so until they are clearly faster */
  get slow(): boolean {
    return this.is_slow;
  }
  private is_slow = false;

  /** ms until the next look while nothing moves */
  get rest_ms(): number {
    return this.slow ? SLOW_REST_MS : REST_MS;
  }

  /** Whether a picture may be drawn now. Gives the time of the last one to `finished`, once. */
  ready(now: number, finished: (milliseconds: number) => void): boolean {
    if (this.fence) {
      const done = this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) === this.gl.SIGNALED;
      if (!done && now - this.began < LOST_MS) return false;
      this.gl.deleteSync(this.fence);
      this.fence = null;
      const took = now - this.began;
      this.mean = 0.8 * this.mean + 0.2 * took;
      this.is_slow = this.mean > (this.is_slow ? SLOW_MS / 2 : SLOW_MS);
      if (took > QUICK_MS) this.pause_until = now + Math.min(took, LONGEST_PAUSE_MS);
      finished(took);
    }
    return now >= this.pause_until;
  }

  /** a picture has been handed over */
  drawn(now: number): void {
    this.pictures++;
    this.began = now;
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }
}

/** Calls `look` at every chance to draw while it returns true, else after a rest. */
export class Beat {
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly look: () => boolean, private readonly rest_ms: () => number) {}

  /** something may be new: look at the next chance, not after the rest */
  readonly wake = (): void => {
    clearTimeout(this.timer);
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.look()) this.wake();
      else if (!this.frame) this.timer = setTimeout(this.wake, this.rest_ms());
    });
  };
}
