import {
  type Object3D,
  type OrthographicCamera,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Spherical,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

export type UpAxis = 'y' | 'z';

type Triple = readonly [number, number, number];

/** Angle of view, degrees: little distortion, some depth. */
const FIELD_OF_VIEW = 28;
/** Turn (radians) and shift (share of the distance) of the view per arrow key, and zoom factor of + and −. */
const TURN = Math.PI / 24;
const SHIFT = 0.05;
const ZOOM = 1.15;
const MARGIN = 1.08;
/** Height of the eye at first, relative to its distance in front of the mesh. */
const HEIGHT = 0.5;

/** Draws a scene only when something has changed. */
export class Viewer {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
  readonly #renderer: WebGLRenderer;
  readonly #controls: OrbitControls;
  #isAsked = false;
  #half: Triple = [1, 1, 1];
  #up: UpAxis = 'z';
  /** Number of pictures drawn, for tests: an idle page draws none. */
  frames = 0;
  onResize: (width: number, height: number) => void = () => {};
  /** Called before each picture: it applies changes since the last one once, however many there were. */
  beforeDraw: () => void = () => {};

  /** @throws Error with a hint if the browser has no WebGL 2 */
  constructor(readonly canvas: HTMLCanvasElement) {
    this.#renderer = rendererOf(canvas);
    this.#controls = new OrbitControls(this.camera, canvas);
    this.#controls.addEventListener('change', () => this.ask());
    this.#controls.zoomToCursor = true;
    new ResizeObserver(() => this.#fit()).observe(canvas);
    canvas.addEventListener('keydown', (event) => this.#onKey(event));
    this.lookFrom('z');
  }

  add(...objects: readonly Object3D[]): void {
    this.scene.add(...objects);
    this.ask();
  }

  remove(...objects: readonly Object3D[]): void {
    this.scene.remove(...objects);
    this.ask();
  }

  /** Draws once before the browser shows the next frame, however often this is called. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    this.beforeDraw();
    this.#isAsked = false;
    this.frames += 1;
    this.#renderer.render(this.scene, this.camera);
  }

  /** The current picture as a PNG. */
  picture(): string {
    this.drawNow();
    return this.canvas.toDataURL('image/png');
  }

  /** Shows the whole of a box around the origin. @param half its size from the centre, in the unit of the positions */
  frame(half: Triple): void {
    this.#half = half;
    const direction = this.camera.position.clone().sub(this.#controls.target).normalize();
    const distance = MARGIN * this.#distanceFor(half, direction);
    this.#controls.target.set(0, 0, 0);
    this.camera.position.copy(direction.multiplyScalar(distance));
    this.camera.near = distance / 500;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.#controls.update();
    this.ask();
  }

  /** The distance from which a whole box is within the picture. @param direction from the origin to the eye, unit */
  #distanceFor(half: Triple, direction: Vector3): number {
    const right = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const upward = new Vector3().crossVectors(direction, right);
    const tangent = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const point = new Vector3(...half.map((size, c) => (corner & (1 << c) ? size : -size)));
      const across = Math.abs(point.dot(right)) / (tangent * this.camera.aspect);
      const along = Math.abs(point.dot(upward)) / tangent;
      distance = Math.max(distance, Math.max(across, along) + point.dot(direction));
    }
    return distance;
  }

  /** Moves the view to a point, closer if it is far. @param radius of the surroundings to show */
  lookAt(point: readonly [number, number, number], radius: number): void {
    const target = new Vector3(...point);
    const direction = this.camera.position.clone().sub(this.#controls.target);
    const distance = Math.min(direction.length(), (MARGIN * radius) / Math.sin((FIELD_OF_VIEW * Math.PI) / 360));
    this.#controls.target.copy(target);
    this.camera.position.copy(target.clone().add(direction.normalize().multiplyScalar(distance)));
    this.#controls.update();
    this.ask();
  }

  get up(): UpAxis {
    return this.#up;
  }

  /**
   * Sets the view from the front, above and right, with this axis up.
   *
   * @param height of the eye above the mesh, relative to its distance in front of it
   */
  lookFrom(up: UpAxis, height = HEIGHT): void {
    this.#up = up;
    this.camera.up.set(0, up === 'y' ? 1 : 0, up === 'z' ? 1 : 0);
    const direction = up === 'z' ? new Vector3(0.5, -1, height) : new Vector3(0.5, height, 1);
    this.camera.position.copy(this.#controls.target.clone().add(direction));
    this.frame(this.#half);
  }

  /** @param x,y pixels of the window */
  rayAt(x: number, y: number): { origin: [number, number, number]; direction: [number, number, number] } {
    const box = this.canvas.getBoundingClientRect();
    const point = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    const caster = new Raycaster();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(point, this.camera as PerspectiveCamera | OrthographicCamera);
    return { origin: caster.ray.origin.toArray(), direction: caster.ray.direction.toArray() };
  }

  /** Size of a pixel at depth 1. */
  get pixelAngle(): number {
    return (2 * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
  }

  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.#renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.#renderer.setSize(width, height, false);
    const isFirst = this.camera.aspect === 1;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (isFirst) this.frame(this.#half);
    const ratio = this.#renderer.getPixelRatio();
    this.onResize(width * ratio, height * ratio);
    // Drawn at once: a canvas of another size is empty until then.
    this.drawNow();
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const along = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
    const zoom = { '+': 1 / ZOOM, '=': 1 / ZOOM, '-': ZOOM }[event.key];
    if (across !== 0 || along !== 0) {
      if (event.shiftKey) this.#shift(across, along);
      else this.#turn(across * TURN, along * TURN);
    } else if (zoom !== undefined) this.#zoom(zoom);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.#controls.update();
    this.ask();
  }

  #turn(across: number, along: number): void {
    const offset = this.camera.position.clone().sub(this.#controls.target);
    if (this.#up === 'z') offset.applyAxisAngle(new Vector3(1, 0, 0), -Math.PI / 2);
    const spherical = new Spherical().setFromVector3(offset);
    spherical.theta += across;
    spherical.phi -= along;
    spherical.makeSafe();
    offset.setFromSpherical(spherical);
    if (this.#up === 'z') offset.applyAxisAngle(new Vector3(1, 0, 0), Math.PI / 2);
    this.camera.position.copy(this.#controls.target.clone().add(offset));
  }

  #shift(across: number, along: number): void {
    const distance = this.camera.position.distanceTo(this.#controls.target);
    const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const upward = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    const by = right.multiplyScalar(across * SHIFT * distance).add(upward.multiplyScalar(along * SHIFT * distance));
    this.camera.position.add(by);
    this.#controls.target.add(by);
  }

  #zoom(factor: number): void {
    const offset = this.camera.position.clone().sub(this.#controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.#controls.target.clone().add(offset));
  }
}

function rendererOf(canvas: HTMLCanvasElement): WebGLRenderer {
  try {
    // A picture of the canvas is taken directly after drawing, so its buffer need not be kept.
    return new WebGLRenderer({ canvas, antialias: true, alpha: true });
  } catch (cause) {
    const words = { code: 'NO_WEBGL', hint: 'This page needs a browser with WebGL 2.' };
    throw Object.assign(new Error(`The scene cannot be drawn: ${(cause as Error).message}`, { cause }), words);
  }
}
