// What is under the pointer: the graphics card draws one pixel with the number of each part and how far away it is. That costs
// the same for a million triangles as for ten, and sees what a person sees: sections cut, hidden parts are not there.
import { DoubleSide, FloatType, Mesh, NearestFilter, RGBAFormat, ShaderMaterial, Vector3, WebGLRenderTarget } from 'three';
import type { Eye } from './camera.ts';
import { NONE, type Vec3 } from './protocol.mjs';
import type { Stage } from './scene.ts';

export interface Pick {
  part: number;
  at: Vec3;
}

export class Picker {
  private target = new WebGLRenderTarget(1, 1, { type: FloatType, format: RGBAFormat, minFilter: NearestFilter, magFilter: NearestFilter });
  private pixel = new Float32Array(4);
  private material = new ShaderMaterial({
    side: DoubleSide,
    clipping: true,
    uniforms: { part: { value: 0 } },
    vertexShader: `
      #include <common>
      #include <clipping_planes_pars_vertex>
      varying float away;
      void main() {
        #include <begin_vertex>
        #include <project_vertex>
        #include <clipping_planes_vertex>
        away = -mvPosition.z;
      }`,
    fragmentShader: `
      #include <common>
      #include <clipping_planes_pars_fragment>
      uniform float part;
      varying float away;
      void main() {
        #include <clipping_planes_fragment>
        gl_FragColor = vec4(part, away, 0.0, 1.0);
      }`,
  });

  /** ms that the last one took: where drawing is slow one looks less often */
  cost = 0;

  constructor(private readonly stage: Stage, private readonly eye: Eye, private readonly canvas: HTMLCanvasElement) {}

  at(client_x: number, client_y: number): Pick | null {
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(client_x - box.left), y = Math.floor(client_y - box.top);
    if (x < 0 || y < 0 || x >= box.width || y >= box.height) return null;
    const began = performance.now();
    const { renderer, scene } = this.stage;
    const camera = this.eye.camera;
    const kept = { background: scene.background, auto: scene.matrixWorldAutoUpdate, shadow: renderer.shadowMap.autoUpdate };
    const numbers = new Map<number, number>();
    const restore: [Mesh, Mesh['material'], Mesh['onBeforeRender']][] = [];
    for (const object of this.stage.parts.values()) {
      const number = numbers.size + 1;
      numbers.set(number, object.part);
      for (const mesh of object.meshes) {
        restore.push([mesh, mesh.material, mesh.onBeforeRender]);
        mesh.material = this.material;
        mesh.onBeforeRender = () => {
          this.material.uniforms['part']!.value = number;
          this.material.uniformsNeedUpdate = true;
        };
      }
    }
    camera.setViewOffset(box.width, box.height, x, y, 1, 1);
    camera.layers.set(1);
    scene.background = null;
    renderer.shadowMap.autoUpdate = false;
    renderer.setRenderTarget(this.target);
    renderer.setClearColor(0, 0);
    renderer.clear();
    renderer.render(scene, camera);
    renderer.readRenderTargetPixels(this.target, 0, 0, 1, 1, this.pixel);
    renderer.setRenderTarget(null);
    camera.clearViewOffset();
    camera.layers.set(0);
    scene.background = kept.background;
    renderer.shadowMap.autoUpdate = kept.shadow;
    for (const [mesh, material, before] of restore) {
      mesh.material = material;
      mesh.onBeforeRender = before;
    }
    this.cost = performance.now() - began;
    const part = numbers.get(Math.round(this.pixel[0]!)) ?? NONE;
    if (part === NONE) return null;
    // the ray's direction is of unit length; the depth is along the view
    const ray = this.eye.ray(client_x, client_y);
    const forward = camera.getWorldDirection(new Vector3());
    const along = forward.x * ray.direction[0] + forward.y * ray.direction[1] + forward.z * ray.direction[2];
    const t = this.pixel[1]! / along;
    const away = this.stage.offset(part); // in an exploded view
    return { part, at: [0, 1, 2].map((k) => ray.origin[k]! + t * ray.direction[k]! - away[k]!) as Vec3 };
  }
}
