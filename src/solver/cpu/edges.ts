import { ownLength } from '../../mesh/rest-lengths.js';
import type { CollisionMesh } from '../../mesh/types.js';
import { edgesByColour } from '../edges-by-colour.js';
import { Scratch } from './workspace.js';

/**
 * Edge length constraints (Eq. 13), linearised at the target y* as in the paper, in units of length instead of ratios:
 *
 *   c = σ L − u·(y_i − y_j) ≥ 0,   u = (y*_i − y*_j) / |y*_i − y*_j|
 *
 * L is |y*_i − y*_j|, or the length of the edge at rest if it has one. They are soft: every step starts with λ = 0.
 * Edges of two kinematic vertices and edges with L = 0 have no constraint; neither does an edge without length in the
 * target, which has u = 0.
 */
export class EdgeLengths {
  readonly colours: number;
  /** edges of colour c: offsets[c] … offsets[c + 1] − 1 */
  readonly offsets: Uint32Array;
  readonly #inverseMass: Float32Array;
  /** uint32[2·n] vertices, in sweep order, of the contact edges and inner edges with a dynamic vertex */
  readonly ends: Uint32Array;
  /** float64[n] lengths at rest, in sweep order, the caller's unit; undefined = all edges have those in the target */
  readonly #rest: Float64Array | undefined;
  // Shared memory, valid during one request:
  /** float32[4·n] u and σ L, in sweep order; a negative limit marks an edge without constraint */
  #row: Float32Array = new Float32Array(0);
  /** float32[n] λ, in sweep order */
  #lambda: Float32Array = new Float32Array(0);

  constructor(mesh: CollisionMesh) {
    this.#inverseMass = mesh.inverseMasses;
    const { ends, rest, offsets, colours } = edgesByColour(mesh);
    this.colours = colours;
    this.offsets = offsets;
    this.ends = ends;
    this.#rest = rest;
  }

  /** Bytes kept between requests. */
  get bytes(): number {
    return this.ends.byteLength + this.offsets.byteLength + (this.#rest?.byteLength ?? 0);
  }

  /** Whether edges have lengths at rest. */
  get hasRest(): boolean {
    return this.#rest !== undefined;
  }

  /**
   * L of an edge.
   *
   * @param inTarget its length in the target, engine units
   * @param scale engine units per caller's unit
   */
  lengthOf(n: number, inTarget: number, scale: number): number {
    const own = ownLength(this.#rest?.[n]);
    return own === undefined ? inTarget : Math.fround(own * scale);
  }

  /** Ends a request: drops the references to shared memory. */
  release(): void {
    this.#row = new Float32Array(0);
    this.#lambda = new Float32Array(0);
  }

  /**
   * Linearises at the target y*, once per request.
   *
   * @param target float32[3·V] y*
   * @param sigma σ > 1
   * @param scratch holds the rows until {@link release}
   * @param scale engine units per caller's unit; read only if edges have lengths at rest
   */
  linearise(target: Float32Array, sigma: number, scratch = new Scratch(), scale = 1): void {
    const ends = this.ends;
    const count = ends.length / 2;
    const row = scratch.float32('edge rows', 4 * count);
    this.#row = row;
    this.#lambda = scratch.float32('edge lambda', count).fill(0);
    for (let n = 0; n < count; n++) {
      const i = 3 * ends[2 * n];
      const j = 3 * ends[2 * n + 1];
      const dx = target[i] - target[j];
      const dy = target[i + 1] - target[j + 1];
      const dz = target[i + 2] - target[j + 2];
      const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
      row[4 * n] = length > 0 ? dx / length : 0;
      row[4 * n + 1] = length > 0 ? dy / length : 0;
      row[4 * n + 2] = length > 0 ? dz / length : 0;
      const reference = this.lengthOf(n, length, scale);
      row[4 * n + 3] = reference > 0 ? sigma * reference : -1;
    }
  }

  /** Sets λ = 0, at the start of every backward step. */
  reset(): void {
    this.#lambda.fill(0);
  }

  /** Makes one projected Gauss-Seidel sweep over y, float32[3·V], colour by colour (Eq. 9). */
  sweep(y: Float32Array): void {
    const row = this.#row;
    const ends = this.ends;
    const lambda = this.#lambda;
    const inverseMass = this.#inverseMass;
    for (let n = 0; n < lambda.length; n++) {
      const limit = row[4 * n + 3];
      if (limit < 0) continue;
      const i = ends[2 * n];
      const j = ends[2 * n + 1];
      const ux = row[4 * n];
      const uy = row[4 * n + 1];
      const uz = row[4 * n + 2];
      const c =
        limit - (ux * (y[3 * i] - y[3 * j]) + uy * (y[3 * i + 1] - y[3 * j + 1]) + uz * (y[3 * i + 2] - y[3 * j + 2]));
      const old = lambda[n];
      if (c >= 0 && old === 0) continue;
      const wi = inverseMass[i];
      const wj = inverseMass[j];
      const value = Math.max(0, old - c / (wi + wj));
      const change = value - old;
      lambda[n] = value;
      // J_i = −u, J_j = +u
      y[3 * i] -= wi * change * ux;
      y[3 * i + 1] -= wi * change * uy;
      y[3 * i + 2] -= wi * change * uz;
      y[3 * j] += wj * change * ux;
      y[3 * j + 1] += wj * change * uy;
      y[3 * j + 2] += wj * change * uz;
    }
  }
}
