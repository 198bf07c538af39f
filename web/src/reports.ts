// Reports that a job of the controller writes, saved as files of the browser.
import { read_number } from './numbers.ts';
import { by_id, h } from './dom.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { job_state, report_format, result, type message_recording } from './protocol.mjs';
import { t } from './texts.ts';
import { metres } from './units.ts';

function ended(model: Model, job: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const known = model.jobs.get(job);
      if (known?.state !== job_state.JOB_ENDED) return false;
      if (known.result === result.RESULT_OK) resolve();
      else reject(new Error('')); // the notice of the job says why
      return true;
    };
    if (look()) return;
    const stop = model.on_job.on(() => {
      if (look()) stop();
    });
  });
}

/** waits for the job and saves what it wrote; an error without a message was told already */
export async function save_report(model: Model, notices: Notices, job: number, name: string, ending: string): Promise<void> {
  await ended(model, job);
  const { token } = model.connection;
  const answer = await fetch(`reports/${job}.${ending}`, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  if (!answer.ok) throw new Error(`${t('The report could not be downloaded:')} ${await answer.text()}`);
  const url = URL.createObjectURL(await answer.blob());
  const file = `${name.replace(/[^\w-]+/g, '_')}.${ending}`;
  h('a', { href: url, download: file }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10000);
  notices.toast(t('Saved {0}.', file));
}

/** asks which clearance is required and as what the report about a recording is wanted */
export class RecordingReport {
  private dialog = by_id<HTMLDialogElement>('report-dialog');
  private field = by_id<HTMLInputElement>('report-clearance');

  constructor(private readonly model: Model, private readonly notices: Notices) {
    by_id('report-cancel').addEventListener('click', () => this.dialog.close());
  }

  async open(recording: message_recording): Promise<void> {
    this.dialog.returnValue = ''; // Escape leaves what was said last
    by_id('report-unit').textContent = this.model.unit;
    by_id('report-name').textContent = recording.name;
    this.dialog.showModal();
    await new Promise((closed) => this.dialog.addEventListener('close', closed, { once: true }));
    const ending = this.dialog.returnValue;
    if (ending !== 'html' && ending !== 'pdf') return;
    const clearance = this.field.value.trim() === '' ? -1 : read_number(this.field.value) * metres(this.model.unit);
    if (!(clearance >= 0 || this.field.value.trim() === '')) {
      this.notices.toast(t('“{0}” is no length. Type a number such as 0.5, or nothing.', this.field.value), 'warning');
      return;
    }
    const format = ending === 'pdf' ? report_format.REPORT_PDF : report_format.REPORT_HTML;
    try {
      const job = await this.model.connection.make('record_report', { recording: recording.recording, format, clearance });
      await save_report(this.model, this.notices, job, `${recording.name}-report`, ending);
    } catch (error) {
      if (error instanceof Error && error.message) this.notices.failed(error);
    }
  }
}
