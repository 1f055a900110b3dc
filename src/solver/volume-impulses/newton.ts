import { MOST_CORRECTION, NEWTON_ITERATIONS, RELAXATION } from './constants.js';
import { PressureSolver } from './pressure-solver.js';
import type { CollisionResponse } from './volume-impulses.js';
import type { Volumes } from './volumes.js';
import { Zones } from './zones.js';

/** The inner loop of Table 1: Newton's iterations on V(x_*) = V_goal (Eq. 2) with the pairs held fixed. */
export class Newton implements CollisionResponse {
  readonly #solver: PressureSolver;
  readonly #zones: Zones;
  readonly #inverseMasses: Float32Array;
  /** float64[zones] */
  #share = new Float64Array(0);
  /** number so far */
  iterations = 0;

  /** @param inverseMasses float32[V], 0 = kinematic */
  constructor(inverseMasses: Float32Array) {
    this.#inverseMasses = inverseMasses;
    this.#solver = new PressureSolver(inverseMasses);
    this.#zones = new Zones(inverseMasses.length);
  }

  get members(): readonly number[] {
    return this.#zones.members;
  }

  get solverIterations(): number {
    return this.#solver.iterations;
  }

  /**
   * @param x float32[3·V] x^n
   * @param candidate float64[3·V] x_*^{n+1}; members of zones are corrected in place
   * @param pulse called at short intervals; may throw
   */
  solve(volumes: Volumes, x: Float32Array, candidate: Float64Array, pulse: () => void): void {
    const zones = this.#zones;
    const solver = this.#solver;
    zones.build(volumes, x, this.#inverseMasses);
    for (let j = 0; j < NEWTON_ITERATIONS; j++) {
      volumes.evaluate(candidate);
      const delta = solver.solve(volumes, zones, x, pulse);
      this.#limit(volumes, x, candidate, delta);
      for (let zone = 0; zone < zones.count; zone++) {
        const share = RELAXATION * this.#share[zone];
        for (let m = zones.first[zone]; m < zones.first[zone + 1]; m++) {
          const k = 3 * zones.members[m];
          for (let c = 0; c < 3; c++) candidate[k + c] += share * delta[k + c];
        }
      }
      this.iterations++;
    }
  }

  /**
   * The share of its correction that each zone takes. Volumes are linearised, which is valid only up to the size of the
   * tetrahedra; if one is nearly flat in the wrong direction, its row requires an unbounded correction. No correction
   * must be much longer than the motions, including those of kinematic vertices. One share per zone preserves its
   * momentum.
   */
  #limit(volumes: Volumes, x: Float32Array, candidate: Float64Array, delta: Float64Array): void {
    const zones = this.#zones;
    const way = new Float64Array(zones.count);
    const correction = new Float64Array(zones.count);
    for (let n = 0; n < volumes.count; n++) {
      let [zone, longest, largest] = [-1, 0, 0];
      for (let s = 0; s < 4; s++) {
        const v = volumes.vertex[4 * n + s];
        const k = 3 * v;
        const moved = lengthOf(candidate[k] - x[k], candidate[k + 1] - x[k + 1], candidate[k + 2] - x[k + 2]);
        longest = Math.max(longest, moved);
        if (zones.of[v] < 0) continue;
        zone = zones.of[v];
        largest = Math.max(largest, lengthOf(delta[k], delta[k + 1], delta[k + 2]));
      }
      if (zone < 0) continue;
      way[zone] = Math.max(way[zone], longest);
      correction[zone] = Math.max(correction[zone], largest);
    }
    this.#share = correction.map((length, zone) => Math.min(1, (MOST_CORRECTION * way[zone]) / length || 0));
    // 0/0: nothing moves and nothing is corrected.
  }
}

const lengthOf = (x: number, y: number, z: number): number => Math.sqrt(x * x + y * y + z * z);
