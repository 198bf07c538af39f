// Meshes: each is asked for coarsely first, so that something is there at once, then finer, the largest on the screen first,
// until the budget of triangles is spent. What a hand holds is wanted whole: its proximity colours count vertices of level 0.
import { from_chunk, from_packed, type Chunk } from './meshes.ts';
import type { Model } from './model.ts';
import type { message_mesh } from './protocol.mjs';
import { build_shape, type Stage } from './scene.ts';
import { Signal } from './signal.ts';

const FIRST_ALL = 300000; // triangles of the first, coarse picture
const WHOLE_MOST = 1500000; // a held part beyond this stays coarse

interface Entry {
  mesh: number;
  level: number; // of what is shown; Infinity: nothing yet
  triangles: number;
  asked: number; // the greatest budget that was asked for
  failed: boolean;
  busy: boolean;
}

export class Loader {
  readonly progress = new Signal<{ loaded: number; wanted: number }>();
  /** triangles that may be drawn in all */
  budget = 1500000;
  private entries = new Map<number, Entry>();
  private running = false;
  private scene = 0;

  constructor(private readonly model: Model, private readonly stage: Stage) {
    if (stage.software) this.budget = 250000;
    model.on_scene.on(() => {
      this.scene++;
      this.entries.clear();
    });
    model.on_part.on((part) => {
      if (!this.entries.has(part.mesh)) {
        this.entries.set(part.mesh, { mesh: part.mesh, level: Infinity, triangles: 0, asked: 0, failed: false, busy: false });
        void this.run();
      }
    });
    model.connection.status.on((status) => {
      if (status !== 'open') this.entries.clear();
    });
    model.on_selected.on(() => void this.run());
  }

  set_budget(triangles: number): void {
    this.budget = triangles;
    for (const entry of this.entries.values()) entry.failed = false;
    void this.run();
  }

  get loaded(): number {
    return [...this.entries.values()].filter((entry) => entry.level !== Infinity).length;
  }

  /** parts are there, and the first mesh is on its way */
  get coming(): boolean {
    return this.loaded === 0 && [...this.entries.values()].some((entry) => !entry.failed);
  }

  get complete(): boolean {
    return this.entries.size > 0 && this.loaded === this.entries.size;
  }

  /** one mesh after the other: the controller's worker is one, and commands go in between */
  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      for (let next = this.choose(); next; next = this.choose()) {
        const { entry, triangles } = next;
        const scene = this.scene;
        try {
          await this.fetch(entry, triangles);
        } catch (error) {
          entry.failed = true;
          if (scene === this.scene && this.model.connection.state === 'open') console.warn('feeler: mesh', entry.mesh, error);
        }
        this.progress.emit({ loaded: this.loaded, wanted: this.entries.size });
      }
    } finally {
      this.running = false;
    }
  }

  private choose(): { entry: Entry; triangles: number } | null {
    if (this.model.connection.state !== 'open') return null;
    const entries = [...this.entries.values()].filter((entry) => !entry.failed);
    const first = entries.find((entry) => entry.level === Infinity);
    if (first) return { entry: first, triangles: Math.max(2000, Math.floor(FIRST_ALL / this.entries.size)) };
    const held = this.model.parts.get(this.model.selected)?.mesh;
    const wanted = entries.find((entry) => entry.mesh === held && entry.level > 0 && entry.asked < WHOLE_MOST);
    if (wanted) return { entry: wanted, triangles: WHOLE_MOST };
    // finer by a factor of four each time, while all together stay within the budget
    // a mesh costs as often as there are parts of it
    const parts = new Map<number, number>();
    for (const { mesh } of this.model.parts.values()) parts.set(mesh, (parts.get(mesh) ?? 0) + 1);
    const times = (entry: Entry) => Math.max(1, parts.get(entry.mesh) ?? 1);
    const total = entries.reduce((sum, entry) => sum + entry.triangles * times(entry), 0);
    const finer = entries.filter((entry) => entry.level > 0)
      .map((entry) => ({ entry, triangles: Math.min(4 * Math.max(entry.triangles, entry.asked), Math.floor((this.budget - total) / times(entry)) + entry.triangles) }))
      .filter(({ entry, triangles }) => triangles > 1.3 * entry.triangles && triangles > entry.asked)
      .sort((a, b) => a.entry.triangles - b.entry.triangles);
    return finer[0] ?? null;
  }

  private async fetch(entry: Entry, triangles: number): Promise<void> {
    let head: message_mesh | null = null;
    const chunks: Chunk[] = [];
    entry.asked = triangles;
    const scene = this.scene;
    let trouble: unknown = null;
    await this.model.connection.ask('mesh_ask', { mesh: entry.mesh, triangles }, (piece) => {
      try {
        if (piece.name === 'mesh') head = piece.body;
        else if (piece.name === 'mesh_chunk') chunks.push(from_chunk(piece.body));
        else if (piece.name === 'mesh_packed') chunks.push(from_packed(piece.body));
      } catch (error) {
        trouble = error;
      }
    });
    if (trouble) throw trouble;
    const mesh = head as message_mesh | null;
    if (!mesh || chunks.length !== mesh.chunks) throw new Error(`${chunks.length} of ${mesh?.chunks ?? '?'} chunks came`);
    if (scene !== this.scene) return;
    const finer = mesh.level < entry.level;
    entry.level = Math.min(entry.level, mesh.level);
    if (!finer) return; // the controller has no level between
    entry.triangles = mesh.triangles;
    this.stage.add_shape(build_shape(mesh.mesh, mesh.level, chunks, mesh.low, mesh.high));
  }
}
