import { BlockMatrix } from './block-matrix.js';
import {
  conjugateGradients,
  type LinearOperator,
  type SolveResult,
  type SolveSettings,
} from './conjugate-gradients.js';
import type { ContactTerm } from './contact-term.js';
import type { Model } from './model.js';

export interface DynamicsInput {
  /** float64[3·V]: the iterate x, free of intersections, at which the energy is expanded */
  readonly x: Float64Array;
  /** float64[3·V]: the state at the beginning of the time step */
  readonly previous: Float64Array;
  /** float64[3·V], m/s, at the beginning of the time step */
  readonly velocity: Float64Array;
  /** float64[3·V]: where kinematic vertices go; other entries are not read */
  readonly prescribed: Float64Array;
  readonly timeStep: number;
}

export interface Target {
  /** float64[3·V] */
  readonly y: Float64Array;
  readonly solve: SolveResult;
}

/**
 * One Newton iteration of implicit Euler without collisions: y minimises the quadratic model, at x, of
 *
 *     E(x) = (x − x̂)ᵀ M (x − x̂) / 2h² + Σ forces + Σ contact terms,        x̂ = xₜ + h vₜ + h² g
 *
 * with the second derivative of every element projected to a positive semi-definite one.
 */
export class Dynamics {
  readonly #model: Model;
  readonly #matrix: BlockMatrix;
  readonly #isFree: Uint8Array;
  readonly #settings: SolveSettings;

  constructor(model: Model, settings: SolveSettings) {
    this.#model = model;
    this.#settings = settings;
    this.#matrix = new BlockMatrix(model.vertexCount, model.forces);
    this.#isFree = model.isKinematic.map((flag) => 1 - flag);
  }

  /** Expands the energy at x; the result computes targets until the next call. */
  expandAt(input: DynamicsInput): (terms: readonly ContactTerm[], guess: Float64Array) => Target {
    const { x, previous, velocity, timeStep: h } = input;
    const { masses, gravity, forces } = this.#model;
    const gradient = new Float64Array(x.length);
    this.#matrix.fill(forces, x, gradient);
    for (let i = 0; i < x.length; i++) {
      const inertial = previous[i]! + h * velocity[i]! + h * h * gravity[i % 3]!;
      gradient[i]! += (masses[Math.floor(i / 3)]! / (h * h)) * (x[i]! - inertial);
    }
    return (terms, guess) => this.#solve(input, gradient, terms, guess);
  }

  #solve(
    { x, prescribed, timeStep }: DynamicsInput,
    gradient: Float64Array,
    terms: readonly ContactTerm[],
    guess: Float64Array,
  ): Target {
    const n = x.length;
    const operator = this.#operator(terms, timeStep);
    const y = new Float64Array(n);
    const b = new Float64Array(n);
    const total = gradient.slice();
    for (const term of terms) term.addGradient(x, total);
    // Kinematic vertices go where they are told to: G_ff p_f = −b_f − G_fk p_k.
    for (let i = 0; i < n; i++) if (!this.#isFree[Math.floor(i / 3)]) y[i] = prescribed[i]! - x[i]!;
    operator.multiply(y, b);
    for (let i = 0; i < n; i++) b[i] = -total[i]! - b[i]!;
    const p = guess.map((value, i) => value - x[i]!);
    const solve = conjugateGradients(operator, b, this.#isFree, p, this.#settings);
    for (let i = 0; i < n; i++) y[i] = this.#isFree[Math.floor(i / 3)] ? x[i]! + p[i]! : prescribed[i]!;
    return { y, solve };
  }

  #operator(terms: readonly ContactTerm[], h: number): LinearOperator {
    const { masses } = this.#model;
    const matrix = this.#matrix;
    return {
      multiply(v, out) {
        matrix.multiply(v, out);
        for (let i = 0; i < v.length; i++) out[i]! += (masses[Math.floor(i / 3)]! / (h * h)) * v[i]!;
        for (const term of terms) term.addProduct(v, out);
      },
      diagonalBlocks() {
        const blocks = new Float64Array(9 * masses.length);
        matrix.diagonal.forEach((at, vertex) => {
          for (let k = 0; k < 9; k++) blocks[9 * vertex + k] = matrix.values[at + k]!;
          for (let k = 0; k < 9; k += 4) blocks[9 * vertex + k]! += masses[vertex]! / (h * h);
        });
        for (const term of terms) term.addDiagonal(blocks);
        return blocks;
      },
    };
  }
}
