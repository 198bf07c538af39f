// The eye: orbit, pan, zoom with Z up; framing; standard views.
import { Box3, PerspectiveCamera, Sphere, Vector3 } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Ray, View } from './pose.ts';
import type { message_scene, Vec3 } from './protocol.mjs';

const DIRECTIONS: Record<string, [number, number, number]> = {
  iso: [0.5, -0.95, 0.68],
  front: [0, -1, 0.0001],
  right: [1, 0, 0.0001],
  top: [0, -0.0001, 1],
};

export class Eye {
  readonly camera = new PerspectiveCamera(38, 1, 0.001, 100);
  controls: OrbitControls;
  /** a person has chosen a view: new parts do not move it any more */
  touched = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(-1, -1.5, 1);
    this.controls = this.make_controls();
  }

  private make_controls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = true;
    controls.dampingFactor = 0.16;
    controls.zoomToCursor = true;
    controls.addEventListener('start', () => (this.touched = true));
    return controls;
  }

  /** orbiting is about this axis; the controls ask for it only when they are made */
  private set_up(up: Vec3): void {
    const axis = new Vector3(...up).normalize();
    if (axis.distanceTo(this.camera.up) < 1e-6) return;
    this.camera.up.copy(axis);
    const before = this.controls;
    before.dispose();
    this.controls = this.make_controls();
    this.controls.target.copy(before.target);
  }

  /** the view that a scene asks for; false: it asks for none */
  look(scene: message_scene, box: Box3): boolean {
    if (!scene.has_camera) return false;
    const radius = Math.max(box.getBoundingSphere(new Sphere()).radius, 1e-4);
    this.set_up(scene.up);
    this.camera.position.set(...scene.eye);
    this.controls.target.set(...scene.target);
    this.limit(radius, this.distance);
    this.controls.update();
    this.camera.updateMatrixWorld();
    return true;
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  /** all of a box in the picture, seen from where the eye is or from a named direction */
  frame(box: Box3, from?: keyof typeof DIRECTIONS): void {
    if (from) this.set_up([0, 0, 1]);
    const sphere = box.getBoundingSphere(new Sphere());
    const radius = Math.max(sphere.radius, 1e-4);
    const direction = from
      ? new Vector3(...DIRECTIONS[from]!)
      : this.camera.position.clone().sub(this.controls.target);
    const half = ((this.camera.fov / 2) * Math.PI) / 180;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    const distance = (0.92 * radius) / Math.sin(narrow);
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(direction.normalize(), distance);
    this.limit(radius, distance);
    this.controls.update();
    this.camera.updateMatrixWorld();
  }

  private limit(radius: number, distance: number): void {
    this.controls.minDistance = radius / 200;
    this.controls.maxDistance = 30 * radius;
    this.camera.near = distance / 400;
    this.camera.far = distance + 60 * radius;
    this.camera.updateProjectionMatrix();
  }

  update(): void {
    this.controls.update();
    // depth is precise near the target, whatever the zoom
    const near = Math.max(this.distance / 400, 1e-5);
    if (Math.abs(near - this.camera.near) > 0.2 * this.camera.near) {
      this.camera.near = near;
      this.camera.updateProjectionMatrix();
    }
    this.camera.updateMatrixWorld();
  }

  get distance(): number {
    return this.camera.position.distanceTo(this.controls.target);
  }

  /** metres of the scene that a pixel covers at a point */
  pixel(at: Vec3): number {
    const distance = Math.max(1e-6, new Vector3(...at).sub(this.camera.position).dot(this.forward()));
    return (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight;
  }

  private forward(): Vector3 {
    return this.camera.getWorldDirection(new Vector3());
  }

  view(): View {
    const e = this.camera.matrixWorld.elements;
    return {
      right: [e[0]!, e[1]!, e[2]!],
      up: [e[4]!, e[5]!, e[6]!],
      forward: [-e[8]!, -e[9]!, -e[10]!],
    };
  }

  /** through a place of the page, in CSS pixels */
  ray(client_x: number, client_y: number): Ray {
    const box = this.canvas.getBoundingClientRect();
    const x = (2 * (client_x - box.left)) / box.width - 1;
    const y = 1 - (2 * (client_y - box.top)) / box.height;
    const origin = this.camera.position;
    const direction = new Vector3(x, y, 0.5).unproject(this.camera).sub(origin).normalize();
    return { origin: origin.toArray() as Vec3, direction: direction.toArray() as Vec3 };
  }

  /** from the world to the page, for tests and labels */
  project(at: Vec3): { x: number; y: number; behind: boolean } {
    const box = this.canvas.getBoundingClientRect();
    const v = new Vector3(...at).project(this.camera);
    return { x: box.left + ((v.x + 1) * box.width) / 2, y: box.top + ((1 - v.y) * box.height) / 2, behind: v.z > 1 };
  }
}
