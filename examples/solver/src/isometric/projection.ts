import { conjugateGradients, invertBlocks, type LinearOperator, type SolveSettings } from '../conjugate-gradients.js';
import type { Constraint } from './constraint.js';

export interface Projected {
  /** float64[3·V] */
  readonly x: Float64Array;
  /** one array of multipliers for every constraint */
  readonly multipliers: readonly Float64Array[];
  /** Gauss-Newton iterations, and those of conjugate gradients in all of them */
  readonly iterations: number;
  readonly solverIterations: number;
}

export interface ProjectionSettings extends SolveSettings {
  readonly maxNewtonIterations: number;
}

/**
 * Finds x with C(x) = D λ and x = x̃ − M⁻¹ Bᵀ λ, B = ∂C/∂x, for hard constraints and energies at once: the minimum of ½
 * (x − x̃)ᵀ M (x − x̃) + ½ |r(x)|² under hard constraints. An iteration linearises C at x and solves
 *
 *     (B M⁻¹ Bᵀ + D) Δλ = C(x) − D λ,      x ← x − M⁻¹ Bᵀ Δλ
 *
 * which is system (3.30) of the thesis (the rows of energies have D = 1) for the change of x instead of x itself. Hard
 * constraints lack the term D λ: their D is only damping.
 *
 * @param inverseMasses float64[V]; nodes with 0 stay at their positions in `predicted`
 * @param isDone called after every iteration
 */
export function project(
  predicted: Float64Array,
  inverseMasses: Float64Array,
  constraints: readonly Constraint[],
  settings: ProjectionSettings,
  isDone: (x: Float64Array) => boolean,
): Projected {
  const firsts = constraints.map((_, i) => constraints.slice(0, i).reduce((sum, { rows }) => sum + 3 * rows.count, 0));
  const size = constraints.reduce((sum, { rows }) => sum + 3 * rows.count, 0);
  const each = (act: (constraint: Constraint, first: number) => void): void =>
    constraints.forEach((constraint, i) => {
      act(constraint, firsts[i]!);
    });
  const x = predicted.slice();
  const total = new Float64Array(size);
  const [c, d, b] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const blocks = new Float64Array(3 * size);
  const moved = new Float64Array(x.length);
  const weights = x.map((_, i) => inverseMasses[Math.floor(i / 3)]!);
  const isFree = new Uint8Array(size / 3).fill(1);
  /** moved = M⁻¹ Bᵀ u */
  const push = (u: Float64Array): void => {
    moved.fill(0);
    each(({ rows }, first) => rows.addTransposed(u, moved, first));
    for (let i = 0; i < moved.length; i++) moved[i]! *= weights[i]!;
  };
  const operator: LinearOperator = {
    multiply(u, out) {
      push(u);
      each(({ rows }, first) => rows.multiply(moved, out, first));
      for (let i = 0; i < size; i++) out[i]! += d[i]! * u[i]!;
    },
    preconditioner: () => invertBlocks(blocks, isFree),
  };
  let [iterations, solverIterations] = [0, 0];
  do {
    each((constraint, first) => {
      constraint.evaluate(x, c, first);
      constraint.rows.diagonal(inverseMasses, blocks, first / 3);
      for (let i = 0; i < 3 * constraint.rows.count; i++) {
        const at = first + i;
        const diagonal = 3 * at + (at % 3);
        const size = blocks[diagonal]!;
        // A row without movable nodes has no multiplier.
        d[at] = constraint.kind === 'energy' || size === 0 ? 1 : constraint.softness[i]! * size;
        blocks[diagonal] = size + d[at]!;
        const held = constraint.kind === 'hard' ? 0 : d[at]! * total[at]!;
        b[at] = size === 0 ? 0 : c[at]! - held;
      }
    });
    const change = new Float64Array(size);
    solverIterations += conjugateGradients(operator, b, isFree, change, settings).iterations;
    push(change);
    for (let i = 0; i < x.length; i++) x[i]! -= moved[i]!;
    for (let i = 0; i < size; i++) total[i]! += change[i]!;
    iterations++;
  } while (iterations < settings.maxNewtonIterations && !isDone(x));
  const multipliers = constraints.map(({ rows }, i) => total.slice(firsts[i], firsts[i]! + 3 * rows.count));
  return { x, multipliers, iterations, solverIterations };
}
