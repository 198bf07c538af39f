// Toasts for news, a banner for a connection that is not there, a bar for work under way.
import type { Connection } from './connection.ts';
import { by_id, h, icon, text } from './dom.ts';
import { is_expert, plain } from './expert.ts';
import type { Model } from './model.ts';
import { event_kind, job_kind, job_state, result, type message_job } from './protocol.mjs';
import { t } from './texts.ts';

export type Kind = 'note' | 'warning' | 'fault';

export class Notices {
  private toasts = by_id('toasts');
  private banner = by_id('banner');
  private jobs = by_id('jobs');
  private bars = new Map<number, { row: HTMLElement; bar: HTMLProgressElement; line: HTMLElement }>();
  private was_lost = false; // and not there again
  private timers = new WeakMap<HTMLElement, number>();
  private ready: { toast: Element | null; names: string[] } = { toast: null, names: [] };

  constructor(private readonly model: Model, private readonly connection: Connection) {
    model.on_event.on((event) => {
      // who came and went, and each grab, is in the picture already
      if (event.kind === event_kind.EVENT_CLIENT || event.kind === event_kind.EVENT_GRABBED || event.kind === event_kind.EVENT_RELEASED) return;
      // how large voxels were chosen concerns those who tune them
      if (event.kind === event_kind.EVENT_NOTE && !is_expert() && plain(event.sentence) === null) return;
      this.toast(event.sentence, event.kind === event_kind.EVENT_FAULT ? 'fault' : event.kind === event_kind.EVENT_WARNING ? 'warning' : 'note');
    });
    // the chip has room for the beginning of a sentence only
    by_id('rate').addEventListener('click', () => this.toast(by_id('rate').title));
    model.on_job.on((job) => this.show_job(job));
    connection.status.on(() => this.show_status());
    window.setInterval(() => this.show_status(), 500);
  }

  toast(sentence: string, kind: Kind = 'note'): void {
    if (!sentence) return;
    sentence = t(sentence);
    // one that is said again stays longer; it is not said twice
    const shown = [...this.toasts.children].find((one) => one.firstElementChild?.textContent === sentence) as HTMLElement | undefined;
    const toast = shown ?? this.make_toast(sentence, kind);
    window.clearTimeout(this.timers.get(toast));
    this.timers.set(toast, window.setTimeout(() => toast.remove(), Math.max(kind === 'note' ? 4500 : 9000, 70 * sentence.length))); // time to read it
  }

  private make_toast(sentence: string, kind: Kind): HTMLElement {
    const close = h('button', { class: 'toast-close', type: 'button', 'aria-label': 'Dismiss', onclick: () => toast.remove() });
    close.append(icon('close'));
    const toast = h('div', { class: `toast ${kind}`, role: kind === 'note' ? 'status' : 'alert' }, h('span', {}, sentence), close);
    this.toasts.append(toast);
    while (this.toasts.children.length > 4) this.toasts.firstElementChild!.remove();
    return toast;
  }

  /** one toast for all that became ready while it is there: twenty files would hide the picture */
  private tell_ready(name: string): void {
    const { toast, names } = this.ready;
    const all = toast?.isConnected ? [...names, name] : [name];
    if (toast?.isConnected) toast.remove();
    const sentence = all.length === 1 ? t('{0}: ready', name) : t('{0} are ready: {1}', all.length, `${all.slice(0, 3).join(', ')}${all.length > 3 ? ' …' : ''}`);
    this.toast(sentence);
    this.ready = { toast: this.toasts.lastElementChild, names: all };
  }

  /** for the catch of a command */
  readonly failed = (error: unknown): void => this.toast(error instanceof Error ? error.message : String(error), 'warning');

  private show_status(): void {
    const { state, reason, retry_at, wants_token } = this.connection;
    // while it tries again the banner stays as it is: one that changes its height moves the picture
    if (state !== 'connecting') this.was_lost = state === 'lost';
    this.banner.hidden = state === 'open';
    this.banner.dataset['state'] = state === 'refused' && wants_token ? 'token' : this.was_lost ? 'lost' : state;
    text(by_id('retry'), state === 'refused' && wants_token ? t('Enter it') : t('Try now'));
    const line = this.banner.querySelector<HTMLElement>('.banner-text')!;
    const seconds = Math.max(0, Math.ceil((retry_at - performance.now()) / 1000));
    if (state === 'connecting' && !this.was_lost) text(line, t('Connecting to the controller …'));
    else if (state === 'refused' && wants_token) text(line, t('This controller asks for a token.'));
    else if (state === 'refused') text(line, t('The controller refused this page: {0}', reason || t('no reason given')));
    else if (this.was_lost)
      text(line, `${t('No connection to the controller')}${reason ? ` (${t(reason)})` : ''}. ${seconds > 0 ? t('What you see is as it was. Trying again in {0} s.', seconds) : t('What you see is as it was. Trying again now.')}`);
  }

  private show_job(job: message_job): void {
    let entry = this.bars.get(job.job);
    if (job.state === job_state.JOB_ENDED) {
      entry?.row.remove();
      this.bars.delete(job.job);
      if (job.result === result.RESULT_CANCELLED) this.toast(`${job.name}: ${job.sentence || 'cancelled'}`);
      else if (job.result !== result.RESULT_OK) this.toast(job.sentence || t('{0} failed', job.name), 'fault');
      else if (job.kind === job_kind.JOB_SAVE) this.toast(t('Saved as {0}, with its meshes in {1}_parts beside it.', job.name, job.name.replace(/.*\//, '').replace(/\.json$/, '')));
      // of a replay its bar tells
      else if (job.kind !== job_kind.JOB_MERGE && job.kind !== job_kind.JOB_REPORT && ![...this.model.recordings.values()].some(({ name }) => name === job.name)) this.tell_ready(job.name);
      return;
    }
    if (!entry) {
      const bar = h('progress', { max: 1, value: 0, 'aria-label': t('Progress of {0}', job.name) });
      const line = h('span', { class: 'job-line' });
      const cancel = h('button', {
        type: 'button', class: 'quiet', 'aria-label': t('Cancel {0}', job.name),
        onclick: () => this.model.connection.ask('cancel', { job: job.job }).catch(this.failed),
      }, 'Cancel');
      const row = h('div', { class: 'job' }, line, bar, cancel);
      entry = { row, bar, line };
      this.bars.set(job.job, entry);
      this.jobs.append(row);
    }
    entry.bar.value = job.fraction;
    const said = is_expert() || (plain(job.sentence) !== null && job.kind !== job_kind.JOB_MERGE) ? job.sentence : t('preparing');
    const name = job.kind === job_kind.JOB_MERGE ? t('fixed parts') : job.name || t('work');
    text(entry.line, `${name}: ${said || (job.state === job_state.JOB_WAITING ? t('waiting') : t('working'))} · ${Math.round(100 * job.fraction)} %`);
  }
}
