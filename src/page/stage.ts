import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three';
import type { ElementPair } from '../contract/elements.js';
import { listEdges, medianLength } from './edges.js';
import type { Field } from './fields/field.js';
import { findMoving } from './moving.js';
import { findParts, type Parts } from './parts.js';
import { boundsOf, type Study } from './study.js';
import { Body } from './view/body.js';
import { addElement, contactTicks, curveOf, outlineOf } from './view/marks.js';
import { makeSharedUniforms } from './view/materials.js';
import { Picker } from './view/pick.js';
import { Ribbons } from './view/ribbons.js';
import { Viewer } from './view/viewer.js';

/** With more edges than this, lines along all of them would cover the surface in grey. */
const MAX_EDGES_SHOWN = 150_000;
/** Time after which the page is idle once it has shown something, milliseconds. */
const IDLE_MS = 1000;
/** Distance from the pointer within which a rod or a grain is hit, pixels. */
const PICK_PIXELS = 7;

/** The range of the colour map of a field. */
export interface Range {
  readonly low: number;
  readonly high: number;
  /** distance of the contour lines; 0 = none */
  readonly lines: number;
}

interface Loaded {
  readonly study: Study;
  readonly edges: Uint32Array<ArrayBuffer>;
  readonly parts: Parts;
  readonly body: Body;
  readonly ghost: LineSegments<BufferGeometry, LineBasicMaterial> | undefined;
  /** of the box around all states; below, its size from there */
  readonly centre: readonly [number, number, number];
  readonly half: readonly [number, number, number];
  readonly medianEdge: number;
}

const NO_POSITIONS = new Float32Array(0);

/**
 * The scene of a study: its mesh in one state, coloured, with marks. Coordinates on the graphics card are relative to
 * the centre of the scene, so that float32 distinguishes vertices even far from the origin.
 */
export class Stage {
  readonly viewer: Viewer;
  readonly #shared = makeSharedUniforms();
  readonly #selection = new Ribbons('#d4148c', 2.2, true);
  readonly #faults = new Ribbons('#c0261b', 1.8, true);
  readonly #contacts = new Ribbons('#0b7285', 1.1, false);
  readonly #picker = new Picker();
  #loaded: Loaded | undefined;
  #selected: { readonly vertex: number; readonly pairs: readonly ElementPair[] } | undefined;
  #highlighted: readonly ElementPair[] = [];
  /** ends of the lines of a marked curve, as drawn */
  #curve = NO_POSITIONS;
  #isAtAnswer = false;
  #hasContacts = false;
  #hasOwnColours = false;

  constructor(canvas: HTMLCanvasElement) {
    this.viewer = new Viewer(canvas);
    this.viewer.add(this.#selection.object, this.#faults.object, this.#contacts.object);
    this.viewer.onResize = (width, height) => {
      for (const each of [this.#selection, this.#faults, this.#contacts]) each.setSize(width, height);
      this.#loaded?.body.setViewHeight(height);
    };
  }

  get parts(): Parts | undefined {
    return this.#loaded?.parts;
  }

  /** Number of triangles that are drawn. */
  get visibleTriangles(): number {
    return (this.#loaded?.body.visible.triangles.length ?? 0) / 3;
  }

  /** Whether elements at fault, or a curve, are marked. */
  get hasFaults(): boolean {
    return this.#faults.object.visible;
  }

  get edges(): Uint32Array {
    return this.#loaded?.edges ?? new Uint32Array(0);
  }

  /**
   * @param keepsView whether it is the mesh that is already shown, with more data
   * @returns whether there are so few edges that they are shown unless the user hides them
   */
  load(study: Study, keepsView: boolean): boolean {
    const { mesh, path, target } = study;
    const moving = findMoving(mesh, [...path, ...(target ? [target] : [])]);
    if (keepsView && this.#loaded?.study.mesh === mesh) {
      this.#loaded = { ...this.#loaded, study };
      // They are of the state that was shown, not of the answer.
      this.#highlighted = [];
      this.#curve = NO_POSITIONS;
      this.#loaded.body.setMoving(moving);
      this.#drawContacts(false);
      return isDrawable(this.#loaded.edges);
    }
    this.unload();
    const box = boundsOf([...path, ...(target ? [target] : [])]);
    const centre = [0, 1, 2].map((c) => (box[c]! + box[c + 3]!) / 2) as [number, number, number];
    const half = [0, 1, 2].map((c) => (box[c + 3]! - box[c]!) / 2) as [number, number, number];
    const radius = Math.hypot(...half) || 1;
    const edges = listEdges(mesh);
    const parts = findParts(mesh);
    const body = new Body(mesh, parts, edges, study.start, { shared: this.#shared, size: 2 * radius });
    body.setMoving(moving);
    this.#picker.setElements(body.visible);
    const ghost = target && edges.length > 0 ? this.#makeGhost(target, edges, centre) : undefined;
    const medianEdge = medianLength(edges, study.start) || radius / 40;
    this.#loaded = { study, edges, parts, body, ghost, centre, half, medianEdge };
    this.viewer.add(body.group, ...(ghost ? [ghost] : []));
    body.setViewHeight(this.viewer.canvas.height);
    if (!keepsView) this.viewer.frame(half);
    whenIdle(() => {
      if (body === this.#loaded?.body) this.#picker.prepare(body.positions);
    });
    return isDrawable(edges);
  }

  unload(): void {
    if (!this.#loaded) return;
    const { body, ghost } = this.#loaded;
    this.viewer.remove(body.group, ...(ghost ? [ghost] : []));
    body.dispose();
    ghost?.geometry.dispose();
    ghost?.material.dispose();
    this.#loaded = undefined;
    this.#hasOwnColours = false;
    this.#isAtAnswer = false;
    this.#selected = undefined;
    this.#highlighted = [];
    this.#curve = NO_POSITIONS;
    for (const each of [this.#selection, this.#faults, this.#contacts]) each.set(new Float32Array(0));
  }

  #makeGhost(target: ArrayLike<number>, edges: Uint32Array<ArrayBuffer>, centre: readonly number[]) {
    const geometry = new BufferGeometry();
    const positions = Float32Array.from(target, (value, i) => value - centre[i % 3]!);
    geometry.setAttribute('position', new BufferAttribute(positions, 3));
    geometry.setIndex(new BufferAttribute(edges, 1));
    const material = new LineBasicMaterial({ color: 0x1f5fd0, transparent: true, opacity: 0.28, depthWrite: false });
    const ghost = new LineSegments(geometry, material);
    ghost.frustumCulled = false;
    ghost.visible = false;
    return ghost;
  }

  /** @param state [3·V] in the coordinates of the study @param isAnswer whether contacts are those of this state */
  show(state: ArrayLike<number>, isAnswer: boolean): void {
    const loaded = this.#loaded;
    if (!loaded) return;
    loaded.body.setState(state, loaded.centre);
    this.#picker.move();
    if (isAnswer !== this.#isAtAnswer) this.#drawContacts(isAnswer);
    this.#drawMarks();
    this.viewer.ask();
  }

  /** Colours by values; undefined = by part. */
  paint(field: Field | undefined, values: Float32Array | undefined, range: Range | undefined): void {
    const uniforms = this.#shared;
    const categories = field?.categories;
    if (categories && values) {
      this.#loaded?.body.setColours({ colours: categories.map(({ colour }) => colour), places: values });
    } else if (this.#hasOwnColours) this.#loaded?.body.setColours(undefined);
    this.#hasOwnColours = categories !== undefined;
    uniforms.isMapped.value = field && range && !categories ? 1 : 0;
    uniforms.low.value = range?.low ?? 0;
    uniforms.high.value = range?.high ?? 1;
    uniforms.lines.value = range?.lines ?? 0;
    uniforms.isReversed.value = field?.isReversed ? 1 : 0;
    this.#loaded?.body.setValues(values);
    this.viewer.ask();
  }

  hideParts(isHidden: readonly boolean[]): void {
    if (!this.#loaded) return;
    this.#loaded.body.hideParts(isHidden);
    this.#picker.setElements(this.#loaded.body.visible);
    this.#drawContacts();
    this.viewer.ask();
  }

  showEdges(isShown: boolean): void {
    this.#loaded?.body.showEdges(isShown);
    this.viewer.ask();
  }

  showGhost(isShown: boolean): void {
    if (this.#loaded?.ghost) this.#loaded.ghost.visible = isShown;
    this.viewer.ask();
  }

  showContacts(isShown: boolean): void {
    if (isShown === this.#hasContacts) return;
    this.#hasContacts = isShown;
    this.#drawContacts();
    this.viewer.ask();
  }

  /** Marks a vertex and the pairs that concern it. */
  select(vertex: number | undefined, pairs: readonly ElementPair[] = []): void {
    this.#selected = vertex === undefined ? undefined : { vertex, pairs };
    this.#drawMarks();
    this.viewer.ask();
  }

  /** Marks elements at fault. */
  highlight(pairs: readonly ElementPair[]): void {
    this.#highlighted = pairs;
    this.#curve = NO_POSITIONS;
    this.#drawMarks();
    this.viewer.ask();
  }

  /** Marks a curve instead of elements, and moves the view to it. @param points float32[3·n], as in the study */
  showCurve(points: Float32Array, isClosed: boolean): void {
    const loaded = this.#loaded;
    if (!loaded || points.length === 0) return;
    const at = Float32Array.from(points, (value, i) => value - loaded.centre[i % 3]!);
    this.highlight([]);
    this.#curve = curveOf(at, isClosed);
    this.#drawMarks();
    this.#lookAtPoints(at, loaded.medianEdge);
    this.viewer.ask();
  }

  #lookAtPoints(points: Float32Array, medianEdge: number): void {
    const count = points.length / 3;
    const middle = [0, 1, 2].map((c) => points.reduce((sum, value, i) => (i % 3 === c ? sum + value : sum), 0) / count);
    let spread = 0;
    for (let i = 0; i < points.length; i += 3) {
      spread = Math.max(spread, Math.hypot(...[0, 1, 2].map((c) => points[i + c]! - middle[c]!)));
    }
    this.viewer.lookAt(middle as [number, number, number], Math.max(8 * medianEdge, 1.5 * spread));
  }

  /** Moves the view to vertices. */
  lookAt(vertices: readonly number[]): void {
    const loaded = this.#loaded;
    const positions = loaded?.body.positions ?? NO_POSITIONS;
    const known = vertices.filter((v) => 3 * v < positions.length);
    if (!loaded || known.length === 0) return;
    const points = Float32Array.from(known.flatMap((v) => [0, 1, 2].map((c) => positions[3 * v + c]!)));
    this.#lookAtPoints(points, loaded.medianEdge);
  }

  fit(): void {
    if (this.#loaded) this.viewer.frame(this.#loaded.half);
  }

  setTheme({
    mark,
    fault,
    contact,
  }: {
    readonly mark: string;
    readonly fault: string;
    readonly contact: string;
  }): void {
    this.#selection.setColour(mark);
    this.#faults.setColour(fault);
    this.#contacts.setColour(contact);
    this.viewer.ask();
  }

  /** The vertex under a point of the window; undefined for the background. */
  pickAt(x: number, y: number): number | undefined {
    if (!this.#loaded) return undefined;
    const ray = this.viewer.rayAt(x, y);
    const reach = PICK_PIXELS * this.viewer.pixelAngle;
    return this.#picker.pick(this.#loaded.body.positions, ray, reach)?.vertex;
  }

  #drawContacts(isAtAnswer = this.#isAtAnswer): void {
    this.#isAtAnswer = isAtAnswer;
    if (!this.#loaded) return;
    const { medianEdge, study, body } = this.#loaded;
    const contacts = isAtAnswer && this.#hasContacts ? study.answer?.contacts : undefined;
    this.#contacts.set(
      contacts ? contactTicks(contacts, body.positions, medianEdge, (v) => body.isShown(v)) : NO_POSITIONS,
    );
  }

  /** Draws the marks of elements that are selected or at fault. */
  #drawMarks(): void {
    if (!this.#loaded) return;
    const { medianEdge, body } = this.#loaded;
    const { positions } = body;
    const outline = this.#curve.length > 0 ? this.#curve : outlineOf(this.#highlighted, positions, medianEdge);
    this.#faults.set(outline);
    const selected: number[] = [];
    if (this.#selected) {
      const { vertex, pairs } = this.#selected;
      addElement([vertex], positions, medianEdge, selected);
      for (const { a, b } of pairs) for (const ids of [a, b]) addElement(ids, positions, medianEdge, selected);
      for (const { a, b, normal } of pairs) {
        if (!normal) continue;
        const ids = a.includes(vertex) ? a : b;
        const foot = [0, 1, 2].map((c) => ids.reduce((sum, v) => sum + positions[3 * v + c]!, 0) / ids.length);
        const sign = ids === a ? 1 : -1;
        selected.push(...foot, ...foot.map((value, c) => value + 1.6 * sign * medianEdge * normal[c]!));
      }
    }
    this.#selection.set(Float32Array.from(selected));
  }
}

/** Acts after pending drawing; not every browser reports when that is. */
const whenIdle = (act: () => void): void => {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(act, { timeout: IDLE_MS });
  else setTimeout(act, IDLE_MS);
};

const isDrawable = (edges: Uint32Array): boolean => edges.length / 2 <= MAX_EDGES_SHOWN;
