// Own files: dropped on the page or chosen; a form asks what the file does not say (unit, how it may move, voxel size), then
// the bytes go to the controller, which reads, voxelizes and tells how far it is.
import { read_number } from './numbers.ts';
import { by_id, h } from './dom.ts';
import type { Eye } from './camera.ts';
import { format_of, likely_unit, size_of_file, states_unit } from './extent.ts';
import type { Model } from './model.ts';
import type { Notices } from './notices.ts';
import { upright, type Quat, type Up } from './pose.ts';
import { NONE, part_kind, type Vec3 } from './protocol.mjs';
import { Signal } from './signal.ts';
import { bytes as show_bytes, digits, metres } from './units.ts';
import { t } from './texts.ts';

const PIECE = 256 * 1024;
const BACKLOG = 4 * 1024 * 1024;
/** colours for new parts: apart from each other, from red and from green, which mean something */
const COLOURS = [0xd99a4e, 0x6fa8dc, 0xb48ead, 0x7fb3a8, 0xc9b458];
const FIXED = 0x9aa7b4;

export class Files {
  private chosen = 0;
  private unit = ''; // chosen last
  private has_fixed = false; // also when it is still on its way
  /** all of it is at the controller, whose job makes a part of it; `part` gets it in place of its own mesh */
  readonly sent = new Signal<{ job: number; file: File; answers: Answers; part: number }>();
  /** it did not get there */
  readonly failed = new Signal<{ file: File; answers: Answers; part: number; reason: string }>();

  constructor(private readonly model: Model, private readonly eye: Eye, private readonly notices: Notices) {
    model.on_scene.on(() => (this.has_fixed = false));
    model.on_part.on((part) => (this.has_fixed ||= part.kind === part_kind.PART_STATIC));
    const drop = by_id('drop');
    let depth = 0; // drag events come for every child
    window.addEventListener('dragenter', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      depth++;
      drop.hidden = false;
    });
    window.addEventListener('dragover', (event) => event.preventDefault());
    window.addEventListener('dragleave', () => {
      depth = Math.max(0, depth - 1);
      if (!depth) drop.hidden = true;
    });
    window.addEventListener('drop', (event) => {
      event.preventDefault();
      depth = 0;
      drop.hidden = true;
      if (event.dataTransfer) void this.add([...event.dataTransfer.files]);
    });
    by_id('file-cancel').addEventListener('click', () => by_id<HTMLDialogElement>('file-dialog').close());
    by_id('empty-open').addEventListener('click', () => this.open());
    const place = by_id<HTMLSelectElement>('file-place');
    place.addEventListener('change', () => (by_id('file-at').hidden = place.value !== 'at'));
    const input = by_id<HTMLInputElement>('file-input');
    input.addEventListener('change', () => {
      const files = [...(input.files ?? [])];
      input.value = ''; // so that the same file can be chosen again
      void this.add(files);
    });
  }

  open(): void {
    by_id<HTMLInputElement>('file-input').click();
  }

  private async add(files: File[]): Promise<void> {
    const usable = files.filter((file) => this.usable(file));
    const alike = new Map<string, Answers>(); // by how names end: those of another kind are asked about
    for (const [k, file] of usable.entries()) {
      const format = format_of(file.name);
      const answers = alike.get(format) ?? (await this.ask(file, k + 1, usable));
      if (!answers) return; // cancelled: the rest is not asked about either
      if (answers.all) alike.set(format, answers);
      this.has_fixed ||= answers.kind === part_kind.PART_STATIC;
      await this.again(file, answers);
    }
  }

  /** sends a file with these answers */
  async again(file: File, answers: Answers, part: number = NONE): Promise<void> {
    try {
      await this.send(file, answers, part);
    } catch (error) {
      this.notices.failed(error);
      this.failed.emit({ file, answers, part, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  /** asks for other answers, and sends it */
  async ask_again(file: File): Promise<void> {
    const answers = await this.ask(file, 1, [file]);
    if (answers) await this.again(file, answers);
  }

  /** asks for a file that takes the place of a part's own; all else of the part stays */
  replace(part: number): void {
    const input = h('input', { type: 'file', id: 'replace-input' });
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      if (file && this.usable(file)) void this.send_revision(file, part);
    });
    by_id('file-input').after(input);
    input.hidden = true;
    input.addEventListener('cancel', () => input.remove());
    input.addEventListener('change', () => input.remove());
    input.click();
  }

  private async send_revision(file: File, part: number): Promise<void> {
    const size = await size_of_file(file);
    const unit = states_unit(file.name) ? 0 : metres(this.unit || likely_unit(size));
    await this.again(file, { all: false, unit, kind: part_kind.PART_STATIC, voxel: 0, turn: [1, 0, 0, 0], assembly: false, place: [0, 0, 0] }, part);
  }

  private usable(file: File): boolean {
    if (!file.size) this.notices.toast(t('{0} is empty.', file.name), 'warning');
    else if (/\.(json|mcap)$/i.test(file.name))
      this.notices.toast(t('{0} is no mesh. Scenes are opened by feeler serve SCENE, recordings are replayed from the folder of recordings.', file.name), 'warning');
    else return true;
    return false;
  }

  /** fills the form in with what is likely */
  private async propose(file: File, number: number, of: File[]): Promise<void> {
    const size = await size_of_file(file);
    const rest = of.slice(number).filter((other) => format_of(other.name) === format_of(file.name)).length;
    by_id('file-title').textContent = of.length > 1 ? t('Add a part ({0} of {1})', number, of.length) : t('Add a part');
    by_id('file-name').textContent = `${file.name} · ${show_bytes(file.size)}`;
    by_id('file-all').hidden = rest === 0;
    by_id('file-all').textContent = t('Add all {0} like this', rest + 1);
    const unit = by_id<HTMLSelectElement>('file-unit');
    const stated = states_unit(file.name);
    unit.querySelector<HTMLOptionElement>('[value=""]')!.hidden = !stated;
    // those that are dropped together mostly come from one place
    unit.value = stated ? '' : number > 1 && this.unit ? this.unit : likely_unit(size);
    const tell = () => {
      const scale = metres(unit.value);
      const show = (value: number) => digits((value * scale) / metres(this.model.unit));
      by_id('file-size').hidden = !size || unit.value === '';
      if (size) by_id('file-size').textContent = t('That makes it {0} {1}.', size.map(show).join(' × '), this.model.unit);
    };
    unit.onchange = tell;
    tell();
    by_id<HTMLInputElement>('file-voxel').value = '';
    // formats that hold assemblies: asked once, for all parts of the file
    by_id('file-assembly-row').hidden = !holds_parts(file.name);
    by_id<HTMLSelectElement>('file-assembly').value = holds_parts(file.name) ? 'apart' : 'one';
    by_id<HTMLSelectElement>('file-place').value = 'origin';
    // these formats have y up by their rules; most others say nothing, and CAD has z up
    by_id<HTMLSelectElement>('file-up').value = /\.(gltf|glb|fbx|x3d|wrl)$/i.test(file.name) ? 'y' : 'z';
    by_id('file-at').hidden = true;
    for (const id of ['file-voxel-unit', 'file-at-unit']) by_id(id).textContent = this.model.unit;
    // the first thing in a scene is mostly what the others are taken out of
    // of an assembly all but the largest part can move
    by_id<HTMLSelectElement>('file-kind').value = this.has_fixed || (await places_parts(file)) ? 'movable' : 'static';
  }

  private async ask(file: File, number: number, of: File[]): Promise<Answers | null> {
    const dialog = by_id<HTMLDialogElement>('file-dialog');
    await this.propose(file, number, of);
    dialog.returnValue = ''; // Escape leaves what was said last
    dialog.showModal();
    await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }));
    if (dialog.returnValue !== 'add' && dialog.returnValue !== 'all') return null;
    const data = new FormData(dialog.querySelector('form')!);
    const scale = metres(this.model.unit);
    const typed = (name: string) => read_number(String(data.get(name)));
    const voxel = typed('voxel') * scale;
    const place = data.get('place');
    this.unit = String(data.get('unit'));
    return {
      all: dialog.returnValue === 'all',
      unit: this.unit ? metres(this.unit) : 0,
      kind: data.get('kind') === 'movable' ? part_kind.PART_MOVABLE : part_kind.PART_STATIC,
      voxel: Number.isFinite(voxel) && voxel > 0 ? voxel : 0,
      turn: upright(data.get('up') as Up),
      assembly: holds_parts(file.name) && data.get('assembly') === 'apart',
      place: place === 'view' ? (this.eye.controls.target.toArray() as Vec3)
        : place === 'at' ? (['x', 'y', 'z'].map((axis) => (typed(axis) || 0) * scale) as Vec3) : [0, 0, 0],
    };
  }

  /** `part`: that gets it in place of its own mesh */
  private async send(file: File, answers: Answers, part: number = NONE): Promise<void> {
    const { connection } = this.model;
    const bar = h('progress', { max: 1, value: 0, 'aria-label': t('Sending {0}', file.name) });
    let stopped = false;
    const row = h('div', { class: 'job' }, h('span', { class: 'job-line' }, t('{0}: sending', file.name)), bar,
      h('button', { type: 'button', class: 'quiet', onclick: () => (stopped = true) }, 'Cancel'));
    by_id('jobs').append(row);
    try {
      const upload = await connection.make('upload', { bytes: file.size, unit: answers.unit, name: file.name });
      let last: Promise<unknown> = Promise.resolve();
      for (let offset = 0; offset < file.size && !stopped; offset += PIECE) {
        const bytes = new Uint8Array(await file.slice(offset, offset + PIECE).arrayBuffer());
        last = connection.ask('upload_bytes', { upload, offset, bytes });
        // pieces go out without waiting for each answer, but not faster than the wire takes them
        last.catch(() => undefined);
        if (connection.backlog > BACKLOG || (offset / PIECE) % 8 === 7) await last;
        bar.value = offset / file.size;
      }
      await last;
      if (stopped) return; // the controller throws away what is not ended, with the session
      const colour = answers.kind === part_kind.PART_STATIC ? FIXED : COLOURS[this.chosen++ % COLOURS.length]!;
      const job = await connection.make('upload_end', {
        upload, kind: answers.kind, colour, voxel: answers.voxel, assembly: answers.assembly, T_world_part: { p: answers.place, q: answers.turn },
        replaces: part !== NONE, part,
      });
      this.sent.emit({ job, file, answers, part });
    } finally {
      row.remove();
    }
  }
}

/** may a file of this name hold an assembly? */
export function holds_parts(name: string): boolean {
  return /\.(step|stp|p21|iges|igs|gltf|glb|dae|3mf|fbx|x3d|brep|brp)$/i.test(name);
}

/** does a STEP file place parts in others? Of other formats nothing is known before they are read */
async function places_parts(file: File): Promise<boolean> {
  const MAX_READ = 32 * 1024 * 1024;
  if (!/\.(step|stp|p21)$/i.test(file.name)) return false;
  return /NEXT_ASSEMBLY_USAGE_OCCURRENCE/.test(await file.slice(0, MAX_READ).text());
}

export interface Answers {
  all: boolean; // the others of its kind, too
  unit: number; // metres in one of its coordinates; 0: as the file says
  kind: 0 | 1;
  voxel: number;
  turn: Quat;
  assembly: boolean; // each of its parts becomes a part
  place: Vec3;
}
