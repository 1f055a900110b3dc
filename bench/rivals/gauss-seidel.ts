import { closest, closestEdgeEdge, closestVertexTriangle } from '../../src/solver/cpu/closest.js';
import { VT } from '../../src/solver/pair-kinds.js';
import { NEWTON_ITERATIONS } from '../../src/solver/volume-impulses/constants.js';
import type { CollisionResponse } from '../../src/solver/volume-impulses/volume-impulses.js';
import type { Volumes } from '../../src/solver/volume-impulses/volumes.js';

/**
 * Inelastic impulses one after the other, as in Bridson, Fedkiw and Anderson 2002: for each colliding pair, the
 * relative displacement along the line between its closest points at x^n is set to 0 if it closes. There are as many
 * sweeps between two searches as the globally coupled method has Newton iterations.
 */
export class GaussSeidel implements CollisionResponse {
  readonly #inverseMasses: Float32Array;
  members: number[] = [];
  iterations = 0;
  readonly solverIterations = 0;

  /** @param inverseMasses float32[V], 0 = kinematic */
  constructor(inverseMasses: Float32Array) {
    this.#inverseMasses = inverseMasses;
  }

  solve(volumes: Volumes, x: Float32Array, candidate: Float64Array, pulse: () => void): void {
    const { vertex, count } = volumes;
    for (let sweep = 0; sweep < NEWTON_ITERATIONS; sweep++, this.iterations++) {
      pulse();
      for (let n = 0; n < count; n++) this.#apply(volumes.kind[n], vertex.subarray(4 * n, 4 * n + 4), x, candidate);
    }
    this.members = [...new Set(vertex.subarray(0, 4 * count))].filter((v) => this.#inverseMasses[v] > 0);
  }

  #apply(kind: number, slots: Int32Array, x: Float32Array, candidate: Float64Array): void {
    const [v0, v1, v2, v3] = slots;
    if (kind === VT) closestVertexTriangle(x, v0, v1, v2, v3);
    else closestEdgeEdge(x, v0, v1, v2, v3);
    const distance = Math.sqrt(closest.squared);
    if (distance === 0) return;
    const normal = [closest.x / distance, closest.y / distance, closest.z / distance];
    const sign = kind === VT ? [1, -1, -1, -1] : [1, 1, -1, -1];
    const weight = [closest.w0, closest.w1, closest.w2, closest.w3].map((w, s) => sign[s] * w);
    let [opening, mobility] = [0, 0];
    slots.forEach((v, s) => {
      for (let c = 0; c < 3; c++) opening += weight[s] * normal[c] * (candidate[3 * v + c] - x[3 * v + c]);
      mobility += weight[s] ** 2 * this.#inverseMasses[v];
    });
    if (opening >= 0 || mobility === 0) return;
    slots.forEach((v, s) => {
      const push = (-opening / mobility) * weight[s] * this.#inverseMasses[v];
      for (let c = 0; c < 3; c++) candidate[3 * v + c] += push * normal[c];
    });
  }
}
