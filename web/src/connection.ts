// The socket: handshake, commands with their answers, coming back after a loss. What arrives is decoded at once and handed
// on; nothing is queued here, so what is shown is never older than the wire.
import { ability, decode, encode, ProtocolError, result, role, type Decoded, type Messages } from './protocol.mjs';
import { Latency } from './latency.ts';
import { Signal } from './signal.ts';

export type Status = 'connecting' | 'open' | 'lost' | 'refused';

/** a command that was not carried out; message is the controller's sentence */
export class CommandError extends Error {
  constructor(readonly code: number, sentence: string) {
    super(sentence || `refused (${code})`);
  }
}

interface Pending {
  resolve(message: Decoded): void;
  reject(error: Error): void;
  piece?: (message: Decoded) => void;
}

/** replies that end a command; everything else with its number is a piece, and `done` follows */
const LAST = new Set<string>(['done', 'pong', 'health', 'clearance', 'clashes', 'measure', 'gap_map', 'way', 'record_data', 'state']);
const PING_MS = 2000;
const LONGEST_WAIT_MS = 8000;
const FULL = 65536; // bytes that the browser has not sent yet
const FULL_MS = 20; // until inputs look again whether there is room

export class Connection {
  readonly status = new Signal<Status>();
  readonly message = new Signal<Decoded>();
  readonly latency = new Latency();
  state: Status = 'connecting';
  /** why the connection is not there, for the banner */
  reason = '';
  /** what was granted; 0 before the welcome */
  abilities = 0;
  session = 0;
  name = '';
  loop_rate = 1000;
  private socket: WebSocket | null = null;
  private minor: number | undefined;
  private next = 1;
  private pending = new Map<number, Pending>();
  private wait_ms = 250;
  private timer = 0;
  private pinger = 0;
  private waiting = new Map<string, number>();
  /** when the next attempt is due, on performance.now() */
  retry_at = 0;

  /** refused, and another token may help */
  wants_token = false;

  constructor(private readonly url: string, public token: string, private readonly packed: boolean) {}

  /** tries again with another token */
  use_token(token: string): void {
    this.token = token;
    this.retry();
  }

  open(): void {
    clearTimeout(this.timer);
    this.set_status('connecting');
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.url, 'feeler');
    } catch (error) {
      this.lost(String(error));
      return;
    }
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      const abilities = ability.ABILITY_COMMAND | ability.ABILITY_HAND | ability.ABILITY_UPLOAD | ability.ABILITY_RECORD |
        ability.ABILITY_LOAD | (this.packed ? ability.ABILITY_PACKED : 0);
      socket.send(encode('hello', { role: role.ROLE_VIEWER, abilities, token: this.token, name: 'feeler viewer' }));
    };
    socket.onmessage = (event) => this.receive(event.data as ArrayBuffer);
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event.reason);
    };
  }

  /** try again now, without waiting for the timer */
  retry(): void {
    if (this.state === 'open' || this.state === 'connecting') return;
    this.wait_ms = 250;
    this.open();
  }

  /** an input: not answered; when the wire is full (an upload) only the latest of each name waits until there is room */
  input<Name extends keyof Messages>(name: Name, body: Partial<Messages[Name]>): void {
    clearTimeout(this.waiting.get(name));
    this.waiting.delete(name);
    if (this.state !== 'open' || !this.socket) return;
    if (this.socket.bufferedAmount > FULL) this.waiting.set(name, window.setTimeout(() => this.input(name, body), FULL_MS));
    else this.socket.send(encode(name, body, 0, this.minor));
  }

  /** a command; resolves with what answers it. `piece` gets what comes before the end, as chunks of a mesh. */
  ask<Name extends keyof Messages>(
    name: Name, body: Partial<Messages[Name]> = {}, piece?: (message: Decoded) => void): Promise<Decoded> {
    return new Promise((resolve, reject) => {
      if (this.state !== 'open' || !this.socket) {
        reject(new CommandError(result.RESULT_CLOSED, 'There is no connection to the controller.'));
        return;
      }
      const request = this.next;
      this.next = (this.next % 0xfffffff0) + 1;
      this.pending.set(request, { resolve, reject, piece });
      this.socket.send(encode(name, body, request, this.minor));
    });
  }

  /** the number that a command made: job, upload, recording */
  async make<Name extends keyof Messages>(name: Name, body: Partial<Messages[Name]> = {}): Promise<number> {
    const answer = await this.ask(name, body);
    return answer.name === 'done' ? answer.body.value : 0;
  }

  /** bytes that the browser has not sent yet; uploads wait for it to fall */
  get backlog(): number {
    return this.socket?.bufferedAmount ?? 0;
  }

  private receive(data: ArrayBuffer): void {
    let message: Decoded;
    try {
      message = decode(data);
    } catch (error) {
      // a message of a version to come is skipped, as the protocol says
      if (error instanceof ProtocolError && error.code === result.RESULT_UNSUPPORTED) return;
      console.warn('feeler: a frame could not be read:', error);
      return;
    }
    const now = performance.now();
    if (message.name === 'welcome') this.welcome(message);
    else if (message.name === 'error' && this.state === 'connecting') {
      // nothing else is denied before a welcome
      this.wants_token = message.body.code === result.RESULT_DENIED;
      this.refuse(message.body.sentence);
      return;
    } else if (message.name === 'bye') this.reason = message.body.sentence;
    else if (message.name === 'state') this.latency.state(message.body.time_us, now);
    else if (message.name === 'ping') this.socket?.send(encode('pong', { stamp: message.body.stamp }, message.request, this.minor));
    this.answer(message);
    this.message.emit(message);
  }

  private answer(message: Decoded): void {
    const pending = message.request ? this.pending.get(message.request) : undefined;
    if (!pending) return;
    if (message.name === 'error' || (message.name === 'done' && message.body.code !== result.RESULT_OK)) {
      this.pending.delete(message.request);
      pending.reject(new CommandError(message.body.code, message.body.sentence));
    } else if (LAST.has(message.name)) {
      this.pending.delete(message.request);
      pending.resolve(message);
    } else pending.piece?.(message);
  }

  private welcome(message: Decoded & { name: 'welcome' }): void {
    this.minor = message.minor;
    this.abilities = message.body.abilities;
    this.session = message.body.session;
    this.name = message.body.name;
    this.loop_rate = message.body.loop_rate || 1000;
    this.wait_ms = 250;
    this.reason = '';
    this.latency.reset();
    this.set_status('open');
    const ping = () => {
      const sent = performance.now();
      this.ask('ping', { stamp: Math.round(sent * 1000) }).then((pong) => {
        if (pong.name === 'pong') this.latency.pong(sent, performance.now(), pong.body.time_us);
      }, () => undefined);
    };
    // some at once for a good clock, then now and then
    for (let i = 0; i < 5; i++) setTimeout(ping, 60 * i);
    clearInterval(this.pinger);
    this.pinger = window.setInterval(ping, PING_MS);
  }

  private refuse(sentence: string): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.fail_pending();
    this.reason = sentence;
    this.set_status('refused');
  }

  private lost(reason: string): void {
    this.socket = null;
    clearInterval(this.pinger);
    this.fail_pending();
    if (reason) this.reason = reason;
    this.retry_at = performance.now() + this.wait_ms;
    // the timer is there before anybody hears of the loss, so that a retry() from a handler ends it
    this.timer = window.setTimeout(() => this.open(), this.wait_ms);
    this.wait_ms = Math.min(LONGEST_WAIT_MS, this.wait_ms * 2);
    this.set_status('lost');
  }

  private fail_pending(): void {
    const error = new CommandError(result.RESULT_CLOSED, 'The connection to the controller was lost.');
    for (const pending of this.pending.values()) pending.reject(error);
    this.pending.clear();
  }

  private set_status(status: Status): void {
    this.state = status;
    this.status.emit(status);
  }
}
