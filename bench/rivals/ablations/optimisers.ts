import type { Rows } from './rows.js';

/** Moves y towards the constraints of one backward step, from λ = 0. */
export type Optimiser = (rows: Rows, x: Float32Array, y: Float32Array) => void;

/**
 * Projected Jacobi: every row uses the same y. A row is relaxed by the largest number of rows that act on one of its
 * movable vertices, so that their sum is an average and the iteration converges; a row's push is scaled as a whole,
 * which preserves momentum.
 */
export const jacobi =
  (sweeps: number): Optimiser =>
  (rows, x, y) => {
    const { count, corner, stiffness, inverseMass } = rows;
    const lambda = new Float64Array(count);
    const slack = new Float64Array(count);
    const acting = new Int32Array(inverseMass.length);
    for (let sweep = 0; sweep < sweeps; sweep++) {
      acting.fill(0);
      for (let r = 0; r < count; r++) {
        slack[r] = rows.slack(r, x, y);
        if (slack[r] >= 0 && lambda[r] === 0) continue;
        for (let k = 4 * r; k < 4 * r + 4; k++) if (corner[k] >= 0) acting[corner[k]]++;
      }
      for (let r = 0; r < count; r++) {
        if (slack[r] >= 0 && lambda[r] === 0) continue;
        let most = 1;
        for (let k = 4 * r; k < 4 * r + 4; k++) {
          const v = corner[k];
          if (v >= 0 && inverseMass[v] > 0) most = Math.max(most, acting[v]);
        }
        const next = Math.max(0, lambda[r] - slack[r] / (most * stiffness[r]));
        rows.push(r, next - lambda[r], y);
        lambda[r] = next;
      }
    }
  };

/** Descents for one set of multipliers. */
const DESCENTS_PER_UPDATE = 5;

/** Penalty of a row over 1/K, the stiffness with which a single row resists: one row is as strong as the masses. */
const PENALTY = 1;

/**
 * Minimises the augmented Lagrangian ½|y − ŷ|²_M + Σ_r max(0, λ_r − ρ_r s_r)²/(2ρ_r), ρ_r = PENALTY/K_r, by gradient
 * descent in the metric of the masses, as Tang et al. 2018b propose:
 *
 *   y ← y − τ (y − ŷ − Σ_r W J_rᵀ max(0, λ_r − ρ_r s_r(y))),   λ_r ← max(0, λ_r − ρ_r s_r(y)) after every few descents
 *
 * τ is the inverse of a bound on the largest curvature, 1 + max_r Σ_s ρ_s |J_r W J_sᵀ| (Gershgorin).
 *
 * @param iterations descents of a backward step
 */
export const augmentedLagrangian =
  (iterations: number): Optimiser =>
  (rows, x, y) => {
    const { count, corner, jacobian, stiffness, inverseMass } = rows;
    const free = y.slice();
    const lambda = new Float64Array(count);
    const lengthAt = (k: number) => Math.hypot(jacobian[3 * k], jacobian[3 * k + 1], jacobian[3 * k + 2]);
    const incident = new Float64Array(inverseMass.length);
    for (let k = 0; k < 4 * count; k++) {
      if (corner[k] >= 0) incident[corner[k]] += (PENALTY / stiffness[k >> 2]) * lengthAt(k);
    }
    let curvature = 0;
    for (let r = 0; r < count; r++) {
      let sum = 0;
      for (let k = 4 * r; k < 4 * r + 4; k++) {
        if (corner[k] >= 0) sum += inverseMass[corner[k]] * lengthAt(k) * incident[corner[k]];
      }
      curvature = Math.max(curvature, sum);
    }
    const tau = 1 / (1 + curvature);
    const change = new Float64Array(y.length);
    for (let n = 1; n <= iterations; n++) {
      const isUpdate = n % DESCENTS_PER_UPDATE === 0;
      for (let k = 0; k < y.length; k++) change[k] = free[k] - y[k];
      for (let r = 0; r < count; r++) {
        const force = Math.max(0, lambda[r] - (PENALTY / stiffness[r]) * rows.slack(r, x, y));
        if (force > 0) rows.push(r, force, change);
        if (isUpdate) lambda[r] = force;
      }
      for (let k = 0; k < y.length; k++) y[k] += tau * change[k];
    }
  };
