import { STUCK_SHARE, STUCK_STEPS } from '../constants.js';
import { CORNERS, SIDE_A } from '../pair-kinds.js';
import type { Settings } from '../settings.js';
import { heights, measureAlongNormal } from './certificate.js';
import type { Forward } from './forward.js';
import type { PairSet } from './pair-set.js';
import { Scratch } from './workspace.js';

/**
 * Lets stuck vertices slide. The half-space bound scales the whole motion of a vertex by one α, so at the floor a small
 * approaching component stops the tangential one as well. If several pairs block each other in this way (three rods in
 * a knot, an edge that should rotate about its contact) nothing moves again: y satisfies every constraint as a weighted
 * sum over four vertices, so the backward step does not change it.
 *
 * For a stuck vertex the pair's half-space therefore constrains y_i alone: the component of y_i − x_i that would cross
 * the plane is removed, and the rest of the motion is free. y is guidance only; the forward step that follows keeps the
 * path safe.
 */
export class Slide {
  readonly #settings: Settings;
  /** uint8[V] consecutive steps in which a pair prevented nearly all motion, up to STUCK_STEPS */
  readonly #stuck: Uint8Array;
  #count = 0;

  constructor(vertexCount: number, settings: Settings, scratch = new Scratch()) {
    this.#settings = settings;
    this.#stuck = scratch.uint8('stuck', vertexCount).fill(0);
  }

  begin(): void {
    this.#stuck.fill(0);
    this.#count = 0;
  }

  /** Call once per step, after the forward step. */
  observe(forward: Forward, residual: Float32Array, moving: Uint8Array): void {
    const stuck = this.#stuck;
    this.#count = 0;
    for (let i = 0; i < stuck.length; i++) {
      const isBlocked =
        moving[i] === 1 &&
        residual[i] >= this.#settings.epsilon &&
        forward.limiter[i] >= 0 &&
        forward.alpha[i] < STUCK_SHARE;
      stuck[i] = isBlocked ? Math.min(STUCK_STEPS, stuck[i] + 1) : 0;
      if (stuck[i] === STUCK_STEPS) this.#count++;
    }
  }

  /**
   * Removes from y the component that blocks stuck vertices, pair by pair in the order of the list. Kinematic targets
   * are prescribed and do not change.
   *
   * @param list uint32[count] pairs with current geometry
   * @param x float32[3·V] current state
   * @param y float32[3·V] target of the step, changed in place
   */
  apply(pairs: PairSet, list: Uint32Array, count: number, x: Float32Array, y: Float32Array, inverseMass: Float32Array) {
    if (this.#count === 0) return;
    const { gamma, floor } = this.#settings;
    for (let n = 0; n < count; n++) {
      const p = list[n];
      const kind = pairs.kind[p];
      const q = 4 * p;
      const { vertex } = pairs;
      if (
        !this.#isStuck(vertex[q]) &&
        !this.#isStuck(vertex[q + 1]) &&
        !this.#isStuck(vertex[q + 2]) &&
        !this.#isStuck(vertex[q + 3])
      )
        continue;
      measureAlongNormal(pairs, p, x);
      const room = 0.5 * gamma * Math.max(0, heights.gap - floor);
      for (let s = 0; s < CORNERS[kind]; s++) {
        const i = vertex[q + s];
        if (!this.#isStuck(i) || inverseMass[i] === 0) continue;
        const side = s < SIDE_A[kind] ? 1 : -1;
        const height = s === 0 ? 0 : s === 1 ? heights.h1 : s === 2 ? heights.h2 : heights.h3;
        const slack = side > 0 ? height - heights.lo : heights.hi - height;
        const nx = side * pairs.normal[3 * p];
        const ny = side * pairs.normal[3 * p + 1];
        const nz = side * pairs.normal[3 * p + 2];
        const k = 3 * i;
        const approach = -(nx * (y[k] - x[k]) + ny * (y[k + 1] - x[k + 1]) + nz * (y[k + 2] - x[k + 2]));
        const excess = approach - gamma * slack - room;
        if (excess <= 0) continue;
        y[k] += excess * nx;
        y[k + 1] += excess * ny;
        y[k + 2] += excess * nz;
      }
    }
  }

  #isStuck(i: number): boolean {
    return i >= 0 && this.#stuck[i] === STUCK_STEPS;
  }
}
