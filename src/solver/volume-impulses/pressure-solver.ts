import { MOST_SOLVER_ITERATIONS, REGULARISATION, SOLVER_TOLERANCE } from './constants.js';
import type { Volumes } from './volumes.js';
import type { Zones } from './zones.js';

/** Conjugate gradients on the pressures of collision tetrahedra, with the memory of one resolve. */
export class PressureSolver {
  readonly #inverseMasses: Float32Array;
  readonly #displacement: Float64Array;
  #diagonal = new Float64Array(0);
  #residual = new Float64Array(0);
  #direction = new Float64Array(0);
  #image = new Float64Array(0);
  /** float64[n] p Δt */
  #pressure = new Float64Array(0);
  /** number so far */
  iterations = 0;

  /** @param inverseMasses float32[V], 0 = kinematic */
  constructor(inverseMasses: Float32Array) {
    this.#inverseMasses = inverseMasses;
    this.#displacement = new Float64Array(3 * inverseMasses.length);
  }

  /**
   * Solves (FᵀPM⁻¹F + ε diag) p Δt = V_goal − V (Eq. 4) by conjugate gradients, preconditioned by the diagonal; P is
   * the projection of {@link Zones.keepAngularMomentum}.
   *
   * @param volumes with V and F at the current positions
   * @param x float32[3·V] x^n
   * @param pulse called at short intervals; may throw
   * @returns float64[3·V] Δx = P M⁻¹ F p Δt; meaningful for members of zones, valid until the next solve
   */
  solve(volumes: Volumes, zones: Zones, x: Float32Array, pulse: () => void): Float64Array {
    const { count, gradient, vertex, goal, volume } = volumes;
    const inverseMasses = this.#inverseMasses;
    this.#reserve(count);
    const diagonal = this.#diagonal;
    const p = this.#pressure;
    const r = this.#residual;
    const d = this.#direction;
    const q = this.#image;
    for (let n = 0; n < count; n++) {
      let sum = 0;
      for (let s = 0; s < 4; s++) {
        const k = 12 * n + 3 * s;
        const squared = gradient[k] ** 2 + gradient[k + 1] ** 2 + gradient[k + 2] ** 2;
        sum += inverseMasses[vertex[4 * n + s]] * squared;
      }
      diagonal[n] = sum;
      p[n] = 0;
      r[n] = sum > 0 ? goal[n] - volume[n] : 0;
    }
    const product = (): void => {
      this.#displace(d, volumes, zones, x);
      const u = this.#displacement;
      for (let n = 0; n < count; n++) {
        let sum = REGULARISATION * diagonal[n] * d[n];
        for (let s = 0; s < 4; s++) {
          const k = 12 * n + 3 * s;
          const v = 3 * vertex[4 * n + s];
          sum += gradient[k] * u[v] + gradient[k + 1] * u[v + 1] + gradient[k + 2] * u[v + 2];
        }
        q[n] = sum;
      }
    };
    let rz = 0;
    for (let n = 0; n < count; n++) {
      d[n] = diagonal[n] > 0 ? r[n] / diagonal[n] : 0;
      rz += r[n] * d[n];
    }
    const enough = SOLVER_TOLERANCE ** 2 * rz;
    for (let iteration = 0; iteration < MOST_SOLVER_ITERATIONS && rz > enough; iteration++) {
      pulse();
      product();
      let dq = 0;
      for (let n = 0; n < count; n++) dq += d[n] * q[n];
      if (!(dq > 0)) break;
      const alpha = rz / dq;
      let next = 0;
      for (let n = 0; n < count; n++) {
        p[n] += alpha * d[n];
        r[n] -= alpha * q[n];
        if (diagonal[n] > 0) next += (r[n] * r[n]) / diagonal[n];
      }
      const beta = next / rz;
      rz = next;
      for (let n = 0; n < count; n++) d[n] = (diagonal[n] > 0 ? r[n] / diagonal[n] : 0) + beta * d[n];
      this.iterations++;
    }
    this.#displace(p, volumes, zones, x);
    return this.#displacement;
  }

  /** Computes P M⁻¹ F p, for members of zones; kinematic vertices stay at 0. */
  #displace(p: Float64Array, volumes: Volumes, zones: Zones, x: Float32Array): void {
    const { count, gradient, vertex } = volumes;
    const inverseMasses = this.#inverseMasses;
    const u = this.#displacement;
    for (const v of zones.members) u.fill(0, 3 * v, 3 * v + 3);
    for (let n = 0; n < count; n++) {
      for (let s = 0; s < 4; s++) {
        const v = vertex[4 * n + s];
        const scale = inverseMasses[v] * p[n];
        const k = 12 * n + 3 * s;
        u[3 * v] += scale * gradient[k];
        u[3 * v + 1] += scale * gradient[k + 1];
        u[3 * v + 2] += scale * gradient[k + 2];
      }
    }
    zones.keepAngularMomentum(u, x, inverseMasses);
  }

  #reserve(count: number): void {
    if (this.#pressure.length >= count) return;
    const length = Math.max(count, 2 * this.#pressure.length);
    this.#diagonal = new Float64Array(length);
    this.#residual = new Float64Array(length);
    this.#direction = new Float64Array(length);
    this.#image = new Float64Array(length);
    this.#pressure = new Float64Array(length);
  }
}
