// Points that touch: the proxy on the surface, the hand behind it, the line between them, the normal, and how strong it is in
// words. The force arrow is the hand's own (overlays.ts).
import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, LineDashedMaterial, Mesh, MeshBasicMaterial, SphereGeometry } from 'three';
import type { Eye } from './camera.ts';
import { by_id, text } from './dom.ts';
import { proxy_of, touches } from './felt.ts';
import type { Model } from './model.ts';
import { add, norm, scale } from './pose.ts';
import type { proxy_state, Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';
import type { Palette } from './theme.ts';
import { digits } from './units.ts';

interface Drawn {
  ball: Mesh;
  rod: Line;
  normal: Line;
}

export class Proxies {
  /** for tests: a proxy is drawn on a surface */
  seen = false;
  private drawn: Drawn[] = [];
  private palette: Palette | null = null;
  private label = by_id('force-label');

  constructor(private readonly model: Model, private readonly stage: Stage, private readonly eye: Eye) {}

  set_palette(palette: Palette): void {
    this.palette = palette;
    for (const { ball, rod, normal } of this.drawn) this.stage.scene.remove(ball, rod, normal);
    this.drawn = [];
  }

  update(): void {
    const state = this.model.state;
    if (!state || !this.palette) return;
    while (this.drawn.length < state.hands.length) this.drawn.push(this.make());
    this.seen = false;
    let strongest: proxy_state | null = null;
    this.drawn.forEach((drawn, number) => {
      const hand = state.hands[number];
      const proxy = hand && hand.bits & 1 ? proxy_of(state, number) : null;
      const touching = proxy !== null && touches(proxy);
      drawn.ball.visible = drawn.rod.visible = drawn.normal.visible = touching;
      if (!proxy || !touching) return;
      this.seen = true;
      if (!strongest || norm(proxy.force) > norm(strongest.force)) strongest = proxy;
      const pixel = this.eye.pixel(proxy.point);
      drawn.ball.position.set(...proxy.point);
      drawn.ball.scale.setScalar(6 * pixel);
      (drawn.ball.material as MeshBasicMaterial).color.set(proxy.sticking ? this.palette!.force : this.palette!.contact);
      set_line(drawn.rod, proxy.point, hand!.T_world_hand.p);
      (drawn.rod.material as LineDashedMaterial).dashSize = 4 * pixel;
      (drawn.rod.material as LineDashedMaterial).gapSize = 3 * pixel;
      drawn.rod.computeLineDistances();
      set_line(drawn.normal, proxy.point, add(proxy.point, scale(proxy.normal, 60 * pixel)));
    });
    this.tell(strongest);
  }

  /** beside the proxy, where the force arrow does not cover it */
  private tell(proxy: proxy_state | null): void {
    this.label.hidden = proxy === null;
    if (!proxy) return;
    text(this.label, `${digits(norm(proxy.force))} N`);
    const { x, y } = this.eye.project(proxy.point);
    const box = by_id('stage').getBoundingClientRect();
    this.label.style.transform = `translate(${Math.round(x - box.left + 14)}px, ${Math.round(y - box.top + 10)}px)`;
  }

  private make(): Drawn {
    const palette = this.palette!;
    const over = { depthTest: false, transparent: true };
    const ball = new Mesh(new SphereGeometry(1, 20, 14), new MeshBasicMaterial({ ...over, color: palette.contact, opacity: 0.95 }));
    const rod = new Line(two_points(), new LineDashedMaterial({ ...over, color: palette.hand }));
    const normal = new Line(two_points(), new LineBasicMaterial({ ...over, color: palette.torque }));
    for (const object of [ball, rod, normal]) {
      object.visible = object.frustumCulled = false;
      object.renderOrder = 6;
      this.stage.scene.add(object);
    }
    ball.renderOrder = 8;
    return { ball, rod, normal };
  }
}

function two_points(): BufferGeometry {
  return new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6), 3));
}

function set_line(line: Line, from: Vec3, to: Vec3): void {
  const positions = line.geometry.getAttribute('position') as BufferAttribute;
  positions.setXYZ(0, ...from);
  positions.setXYZ(1, ...to);
  positions.needsUpdate = true;
}
