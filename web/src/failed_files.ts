// Files that could not become parts, and parts that have no voxels, stay in the list, below the parts: with the reason, and what can be done.
import { number_field, read_number } from './numbers.ts';
import { by_id, h, text } from './dom.ts';
import type { Answers, Files } from './files.ts';
import type { Model } from './model.ts';
import { job_state, result } from './protocol.mjs';
import { t } from './texts.ts';
import { metres } from './units.ts';

interface Failed {
  file: File;
  answers: Answers;
  part: number;
  reason: string;
}

export class FailedFiles {
  /** files whose jobs have ended, for tests */
  ended = 0;
  /** that are not parts */
  readonly list: Failed[] = [];
  /** parts that are shown, but that nothing touches, and why */
  private readonly bare = new Map<number, string>();
  /** whose jobs have not ended */
  private under_way = new Map<number, Omit<Failed, 'reason'>>();
  private readonly box = h('div', { id: 'failed-files', role: 'group', 'aria-label': 'Files that could not be loaded', hidden: true });

  constructor(private readonly model: Model, private readonly files: Files, private readonly failed: (error: unknown) => void) {
    by_id('parts').append(this.box);
    files.sent.on(({ job, file, answers, part }) => {
      this.under_way.set(job, { file, answers, part });
      const known = model.jobs.get(job); // a quick one has ended already
      if (known) this.take(job);
    });
    files.failed.on(({ file, answers, part, reason }) => {
      this.ended++;
      this.add({ file, answers, part, reason });
    });
    model.on_job.on((job) => {
      this.take(job.job);
      if (job.state === job_state.JOB_ENDED && job.result !== result.RESULT_OK && model.parts.get(job.part)?.ready === false) {
        this.bare.set(job.part, job.sentence);
        this.draw();
      }
    });
    model.on_part.on((part) => {
      if (part.ready && this.bare.delete(part.part)) this.draw();
    });
    model.on_part_gone.on((part) => {
      if (this.bare.delete(part)) this.draw();
    });
    model.on_scene.on(() => {
      this.under_way.clear();
      this.bare.clear();
      this.list.length = 0;
      this.draw();
    });
  }

  private take(number: number): void {
    const sent = this.under_way.get(number), job = this.model.jobs.get(number);
    if (!sent || job?.state !== job_state.JOB_ENDED) return;
    this.under_way.delete(number);
    this.ended++;
    // what was shown, though without voxels, is in the list of parts
    if (job.result === result.RESULT_OK || job.result === result.RESULT_CANCELLED || this.model.parts.has(job.part)) return;
    this.add({ ...sent, reason: job.sentence || t('{0} failed', sent.file.name) });
  }

  private add(failed: Failed): void {
    this.list.push(failed);
    this.draw();
  }

  private remove(failed: Failed): void {
    const at = this.list.indexOf(failed);
    if (at >= 0) this.list.splice(at, 1);
    this.draw();
  }

  private draw(): void {
    this.box.hidden = !this.list.length && !this.bare.size;
    this.box.replaceChildren(...[...this.bare].map(([part, reason]) => this.bare_part(part, reason)), ...this.list.map((failed) => {
      const { file, answers, part, reason } = failed;
      const action = (name: string, title: string, act: () => void) => h('button', { type: 'button', class: 'quiet', title, onclick: () => {
        this.remove(failed);
        act();
      } }, name);
      const why = h('div', { class: 'hint' });
      text(why, reason);
      return h('div', { class: 'failed-file' }, h('div', { class: 'part-name' }, `⚠ ${file.name}`), why,
        h('div', { class: 'row wrap' }, action('Try again', 'Send the same file with the same answers', () => void this.files.again(file, answers, part)),
          action('Other answers…', 'Ask again for unit, place and voxel size', () => void this.files.ask_again(file)),
          action('Other file…', 'Choose another file', () => this.files.open()), action('Remove', 'Take it out of the list', () => undefined)));
    }));
  }

  /** other voxels may do */
  private bare_part(part: number, reason: string): HTMLElement {
    const { model } = this, why = h('div', { class: 'hint' }), name = h('div', { class: 'part-name' });
    text(name, `⚠ ${model.parts.get(part)?.name ?? ''}`);
    text(why, reason);
    const size = number_field({ 'aria-label': 'Voxel size of the part', placeholder: t('voxel size') });
    const again = h('form', { class: 'row wrap', onsubmit: (event: Event) => {
      event.preventDefault();
      const voxel = read_number(size.value) * metres(model.unit);
      if (voxel > 0) model.connection.make('voxelize', { part, voxel }).catch(this.failed);
      else size.focus();
    } }, size, h('span', { class: 'unit' }, model.unit), h('button', { type: 'submit', class: 'quiet', title: 'Make voxels of this size' }, 'Try again'),
    h('button', { type: 'button', class: 'quiet', title: 'Choose another file', onclick: () => this.files.replace(part) }, 'Replace file…'),
    h('button', { type: 'button', class: 'quiet', title: 'Remove from the scene', onclick: () => void model.connection.ask('remove', { part }).catch(this.failed) }, 'Remove'));
    return h('div', { class: 'failed-file' }, name, why, again);
  }
}
