// Lines between two places with a label: where parts clash, what was measured. Drawn over everything, with ends that can be seen at
// any zoom.
import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, SphereGeometry } from 'three';
import type { Eye } from './camera.ts';
import { by_id, h, text } from './dom.ts';
import type { Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import type { Palette } from './theme.ts';

export interface Callout {
  from: Vec3;
  to: Vec3;
  label: string;
  /** drawn in the colour of contact */
  bad: boolean;
}

interface Drawn {
  callout: Callout;
  line: Line;
  ends: [Mesh, Mesh];
  label: HTMLElement;
}

const BALL = 3.2; // pixels

export class Callouts {
  private drawn = new Map<string, Drawn>();
  private palette: Palette | null = null;
  private labels = by_id('callouts');

  constructor(private readonly stage: Stage, private readonly eye: Eye) {}

  set_palette(palette: Palette): void {
    this.palette = palette;
    for (const drawn of this.drawn.values()) this.colour(drawn);
  }

  /** shows one under a name of the caller's; null: no longer */
  set(key: string, callout: Callout | null): void {
    const old = this.drawn.get(key);
    if (!callout) {
      if (old) this.drop(key, old);
      return;
    }
    const drawn = old ?? this.make(key);
    drawn.callout = callout;
    const positions = drawn.line.geometry.getAttribute('position') as BufferAttribute;
    positions.setXYZ(0, ...callout.from);
    positions.setXYZ(1, ...callout.to);
    positions.needsUpdate = true;
    text(drawn.label, callout.label);
    this.colour(drawn);
  }

  clear(prefix: string): void {
    for (const [key, drawn] of [...this.drawn]) if (key.startsWith(prefix)) this.drop(key, drawn);
  }

  /** for tests */
  get seen(): Record<string, Callout> {
    return Object.fromEntries([...this.drawn].map(([key, { callout }]) => [key, callout]));
  }

  /** every picture */
  update(): void {
    const box = this.labels.getBoundingClientRect();
    const apart = this.stage.explode > 0; // then nothing is drawn where it is measured
    for (const { callout, line, ends, label } of this.drawn.values()) {
      for (const object of [line, ...ends]) object.visible = !apart;
      [callout.from, callout.to].forEach((at, k) => {
        ends[k]!.position.set(...at);
        ends[k]!.scale.setScalar(BALL * this.eye.pixel(at));
      });
      const middle = callout.from.map((value, k) => (value + callout.to[k]!) / 2) as Vec3;
      const { x, y, behind } = this.eye.project(middle);
      label.hidden = apart || behind || !callout.label;
      label.style.transform = `translate(${Math.round(x - box.left + 10)}px, ${Math.round(y - box.top - 10)}px)`;
    }
  }

  private make(key: string): Drawn {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(6), 3));
    const line = new Line(geometry, new LineBasicMaterial({ depthTest: false, transparent: true }));
    const ball = () => new Mesh(new SphereGeometry(1, 12, 8), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 }));
    const ends: [Mesh, Mesh] = [ball(), ball()];
    for (const object of [line, ...ends]) {
      object.renderOrder = 8;
      object.frustumCulled = false;
      this.stage.scene.add(object);
    }
    const label = h('div', { class: 'callout' });
    this.labels.append(label);
    const drawn = { callout: { from: [0, 0, 0], to: [0, 0, 0], label: '', bad: false } as Callout, line, ends, label };
    this.drawn.set(key, drawn);
    return drawn;
  }

  private colour({ callout, line, ends }: Drawn): void {
    if (!this.palette) return;
    const colour = callout.bad ? this.palette.contact : this.palette.torque;
    (line.material as LineBasicMaterial).color.set(colour);
    for (const end of ends) (end.material as MeshBasicMaterial).color.set(colour);
  }

  private drop(key: string, { line, ends, label }: Drawn): void {
    for (const object of [line, ...ends]) {
      this.stage.scene.remove(object);
      object.geometry.dispose();
      (object.material as LineBasicMaterial).dispose();
    }
    label.remove();
    this.drawn.delete(key);
  }
}
