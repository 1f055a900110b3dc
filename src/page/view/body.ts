import {
  BufferAttribute,
  BufferGeometry,
  DynamicDrawUsage,
  Group,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  Points,
  type ShaderMaterial,
} from 'three';
import type { MeshInput } from '../../contract/mesh.js';
import type { Colour } from '../colours.js';
import { medianLength } from '../edges.js';
import type { Moving } from '../moving.js';
import type { Parts } from '../parts.js';
import { makeGrainMaterial, makeRodMaterial, makeSurfaceMaterial, type SharedUniforms } from './materials.js';
import { updateNormals } from './normals.js';

/** Radii of rods and grains in median edges or, if there are no edges, as shares of the size of the scene. */
const ROD_RADIUS = 0.13;
const GRAIN_SHARE = 1 / 130;

/**
 * A mesh on the graphics card. Its buffers are made once; a new state, new values or hidden parts only write into them.
 */
export class Body {
  readonly group = new Group();
  readonly #position: BufferAttribute;
  readonly #normal: BufferAttribute;
  readonly #own: BufferAttribute;
  readonly #value: BufferAttribute;
  readonly #surface: Mesh<BufferGeometry, ShaderMaterial>;
  readonly #lines: LineSegments<BufferGeometry, LineBasicMaterial>;
  readonly #rods: Mesh<InstancedBufferGeometry, ShaderMaterial> | undefined;
  readonly #grains: Points<BufferGeometry, ShaderMaterial>;
  readonly #triangles: Uint32Array;
  readonly #segments: Uint32Array;
  readonly #particles: Uint32Array;
  #isHidden: readonly boolean[] = [];
  #moving: Moving | undefined;
  /** whether all positions must be written, because the buffer holds no state of this study */
  #isNew = true;
  /** Elements that are shown, for picking. */
  visible: { triangles: Uint32Array; segments: Uint32Array; particles: Uint32Array };

  /**
   * @param edges uint32[2·E] of triangles and segments
   * @param state [3·V] any state, which determines the radius of rods
   * @param size of the scene, in the unit of the positions
   */
  constructor(
    mesh: MeshInput,
    private readonly parts: Parts,
    private readonly edges: Uint32Array<ArrayBuffer>,
    state: ArrayLike<number>,
    { shared, size }: { readonly shared: SharedUniforms; readonly size: number },
  ) {
    this.#triangles = mesh.triangles ?? new Uint32Array(0);
    this.#segments = mesh.segments ?? new Uint32Array(0);
    this.#particles = mesh.particles ?? new Uint32Array(0);
    this.visible = { triangles: this.#triangles, segments: this.#segments, particles: this.#particles };
    const dynamic = (width: number, count = mesh.vertexCount) => {
      const attribute = new BufferAttribute(new Float32Array(width * count), width);
      attribute.setUsage(DynamicDrawUsage);
      return attribute;
    };
    this.#position = dynamic(3);
    this.#normal = dynamic(3);
    this.#value = dynamic(2);
    this.#own = dynamic(3);

    const geometry = this.#shared(this.#triangles);
    this.#surface = new Mesh(geometry, makeSurfaceMaterial(shared));
    const edgeGeometry = this.#shared(edges);
    const lineMaterial = new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.2, depthWrite: false });
    this.#lines = new LineSegments(edgeGeometry, lineMaterial);
    const radius = ROD_RADIUS * (medianLength(this.#segments, state) || size / 200);
    this.#rods = this.#segments.length > 0 ? this.#makeRods(shared, radius) : undefined;
    this.#grains = new Points(this.#shared(this.#particles), makeGrainMaterial(shared, size * GRAIN_SHARE));
    for (const each of [this.#surface, this.#lines, this.#rods, this.#grains]) {
      if (!each) continue;
      // The buffers change, but the bounds that the library computes from the first state would not.
      each.frustumCulled = false;
      this.group.add(each);
    }
    this.setColours(undefined);
  }

  /** float32[3·V] as drawn, relative to the middle of the scene. */
  get positions(): Float32Array {
    return this.#position.array as Float32Array;
  }

  /** Sets the vertices that move between states from now on. */
  setMoving(moving: Moving): void {
    this.#moving = moving;
    this.#isNew = true;
  }

  /** Makes a geometry over the common vertex buffers. */
  #shared(index: Uint32Array): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', this.#position);
    geometry.setAttribute('normal', this.#normal);
    geometry.setAttribute('own', this.#own);
    geometry.setAttribute('value', this.#value);
    geometry.setIndex(new BufferAttribute(index, 1));
    return geometry;
  }

  #makeRods(shared: SharedUniforms, radius: number): Mesh<InstancedBufferGeometry, ShaderMaterial> {
    const geometry = new InstancedBufferGeometry();
    // Along the rod from 0 to 1, across it from −1 to 1.
    geometry.setAttribute('position', new BufferAttribute(Float32Array.of(0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    const count = this.#segments.length / 2;
    for (const [name, width] of [
      ['from', 3],
      ['to', 3],
      ['own', 3],
      ['valueFrom', 2],
      ['valueTo', 2],
    ] as const) {
      const attribute = new InstancedBufferAttribute(new Float32Array(width * count), width);
      geometry.setAttribute(name, attribute.setUsage(DynamicDrawUsage));
    }
    geometry.instanceCount = count;
    return new Mesh(geometry, makeRodMaterial(shared, radius));
  }

  /**
   * Gives every vertex its own colour, or that of its part if it has none.
   *
   * @param own colours, and for each vertex its place among them (NaN = none)
   */
  setColours(own: { readonly colours: readonly Colour[]; readonly places: ArrayLike<number> } | undefined): void {
    const out = this.#own.array as Float32Array;
    const parts = this.parts.list.map(({ colour }) => linear(colour));
    const colours = own?.colours.map(linear) ?? [];
    for (let v = 0; v < this.parts.of.length; v++) {
      const value = colours[own?.places[v] ?? -1] ?? parts[this.parts.of[v]!]!;
      for (let c = 0; c < 3; c++) out[3 * v + c] = value[c]!;
    }
    this.#own.needsUpdate = true;
    this.#fillRods('own', 'own', out, 3);
  }

  /**
   * Writes the moving vertices, and the others only the first time.
   *
   * @param state [3·V] in the coordinates of the study
   * @param centre the middle of the scene
   */
  setState(state: ArrayLike<number>, centre: readonly [number, number, number]): void {
    const { positions } = this;
    const [first, end] =
      this.#moving && !this.#isNew ? [this.#moving.first, this.#moving.end] : [0, positions.length / 3];
    const [x, y, z] = centre;
    for (let i = 3 * first; i < 3 * end; i += 3) {
      positions[i] = state[i]! - x;
      positions[i + 1] = state[i + 1]! - y;
      positions[i + 2] = state[i + 2]! - z;
    }
    const normals = this.#normal.array as Float32Array;
    if (this.#triangles.length > 0) {
      if (this.#isNew || !this.#moving)
        updateNormals(wholeOf(this.#triangles, positions.length / 3), positions, normals);
      else updateNormals(this.#moving, positions, normals);
    }
    for (const attribute of [this.#position, this.#normal]) {
      // The library merges the ranges, and clears them when it has sent them.
      attribute.addUpdateRange(3 * first, 3 * (end - first));
      attribute.needsUpdate = true;
    }
    this.#isNew = false;
    this.#fillRods('from', 'to', positions, 3);
  }

  /** @param values float32[V]; NaN = none */
  setValues(values: Float32Array | undefined): void {
    const pairs = this.#value.array as Float32Array;
    for (let v = 0; v < pairs.length / 2; v++) {
      const value = values?.[v] ?? Number.NaN;
      const isKnown = !Number.isNaN(value);
      pairs[2 * v] = isKnown ? value : 0;
      pairs[2 * v + 1] = isKnown ? 1 : 0;
    }
    this.#value.needsUpdate = true;
    this.#fillRods('valueFrom', 'valueTo', pairs, 2);
  }

  /** Copies values of vertices to the two ends of the rods that are shown. */
  #fillRods(first: string, second: string, source: ArrayLike<number>, width: number): void {
    if (!this.#rods) return;
    const ends = [first, second].map((name) => this.#rods!.geometry.getAttribute(name) as InstancedBufferAttribute);
    const segments = this.visible.segments;
    for (const [end, attribute] of ends.entries()) {
      const out = attribute.array as Float32Array;
      for (let s = 0; 2 * s < segments.length; s++) {
        const v = segments[2 * s + end]!;
        for (let c = 0; c < width; c++) out[width * s + c] = source[width * v + c]!;
      }
      attribute.needsUpdate = true;
    }
    this.#rods.geometry.instanceCount = segments.length / 2;
  }

  /** @param isHidden by index of the part */
  hideParts(isHidden: readonly boolean[]): void {
    const isSame = ![...isHidden, ...this.#isHidden].includes(true);
    this.#isHidden = isHidden;
    if (isSame) return;
    const isShown = (v: number) => !isHidden[this.parts.of[v]!];
    const keep = (elements: Uint32Array, width: number): Uint32Array<ArrayBuffer> => {
      const kept = new Uint32Array(elements.length);
      let end = 0;
      for (let i = 0; i < elements.length; i += width) {
        if (!isShown(elements[i]!)) continue;
        for (let k = 0; k < width; k++) kept[end++] = elements[i + k]!;
      }
      return kept.slice(0, end);
    };
    this.visible = {
      triangles: keep(this.#triangles, 3),
      segments: keep(this.#segments, 2),
      particles: keep(this.#particles, 1),
    };
    this.#surface.geometry.setIndex(new BufferAttribute(this.visible.triangles, 1));
    this.#lines.geometry.setIndex(new BufferAttribute(keep(this.edges, 2), 1));
    this.#grains.geometry.setIndex(new BufferAttribute(this.visible.particles, 1));
    this.#fillRods('from', 'to', this.#position.array, 3);
    this.#fillRods('own', 'own', this.#own.array, 3);
    this.#fillRods('valueFrom', 'valueTo', this.#value.array, 2);
  }

  isShown(vertex: number): boolean {
    return !this.#isHidden[this.parts.of[vertex]!];
  }

  showEdges(isShown: boolean): void {
    this.#lines.visible = isShown;
  }

  /** @param pixels of the picture, from top to bottom */
  setViewHeight(pixels: number): void {
    this.#grains.material.uniforms.viewHeight!.value = pixels;
  }

  dispose(): void {
    for (const each of [this.#surface, this.#lines, this.#rods, this.#grains]) {
      each?.geometry.dispose();
      each?.material.dispose();
    }
  }
}

/** The moving part if everything moves. */
function wholeOf(triangles: Uint32Array, vertexCount: number) {
  const vertices = Uint32Array.from({ length: vertexCount }, (_, v) => v);
  return { vertices, isChanged: new Uint8Array(vertexCount).fill(1), triangles };
}

const linear = (colour: Colour): Colour => [toLinear(colour[0]), toLinear(colour[1]), toLinear(colour[2])];

const toLinear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
