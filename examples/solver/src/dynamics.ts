import { BlockMatrix } from './block-matrix.js';
import { conjugateGradients, type SolveResult, type SolveSettings } from './conjugate-gradients.js';
import type { ContactTerm } from './contact-term.js';
import type { Model } from './model.js';
import { SweptSystem } from './sweep.js';

export interface DynamicsInput {
  /** float64[3·V]: the iterate x at which the energy is expanded */
  readonly x: Float64Array;
  /** float64[3·V]: the state at the beginning of the time step */
  readonly previous: Float64Array;
  /** float64[3·V], m/s, at the beginning of the time step */
  readonly velocity: Float64Array;
  /** float64[3·V]: targets of kinematic vertices; other entries are not read */
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

  /**
   * Expands the energy at x; the result computes targets until the next call.
   * @param tolerance of a target, instead of that of the settings
   */
  expandAt(input: DynamicsInput): (terms: readonly ContactTerm[], guess: Float64Array, tolerance?: number) => Target {
    const { x, previous, velocity, timeStep: h } = input;
    const { masses, gravity, forces } = this.#model;
    const gradient = new Float64Array(x.length);
    this.#matrix.fill(forces, x, gradient);
    for (let i = 0; i < x.length; i++) {
      const inertial = previous[i]! + h * velocity[i]! + h * h * gravity[i % 3]!;
      gradient[i]! += (masses[Math.floor(i / 3)]! / (h * h)) * (x[i]! - inertial);
    }
    return (terms, guess, tolerance = this.#settings.tolerance) =>
      this.#solve(input, gradient, terms, guess, { ...this.#settings, tolerance });
  }

  #solve(
    { x, prescribed, timeStep }: DynamicsInput,
    gradient: Float64Array,
    terms: readonly ContactTerm[],
    guess: Float64Array,
    settings: SolveSettings,
  ): Target {
    const n = x.length;
    const weights = this.#model.masses.map((mass) => mass / (timeStep * timeStep));
    const y = new Float64Array(n);
    const b = new Float64Array(n);
    const total = gradient.slice();
    for (const term of terms) term.addGradient(x, total);
    // Kinematic vertices move as prescribed: G_ff p_f = −b_f − G_fk p_k.
    const isFree = (i: number): boolean => this.#isFree[Math.floor(i / 3)] === 1;
    for (let i = 0; i < n; i++) if (!isFree(i)) y[i] = prescribed[i]! - x[i]!;
    this.#matrix.multiply(y, b);
    for (const term of terms) term.addProduct(y, b);
    for (let i = 0; i < n; i++) b[i] = isFree(i) ? -total[i]! - b[i]! : 0;
    const system = new SweptSystem(this.#matrix, weights, terms, this.#isFree);
    system.forward(b);
    const p = system.transform(guess.map((value, i) => (isFree(i) ? value - x[i]! : 0)));
    const solve = conjugateGradients(system, b, this.#isFree, p, settings);
    system.backward(p);
    for (let i = 0; i < n; i++) y[i] = isFree(i) ? x[i]! + p[i]! : prescribed[i]!;
    return { y, solve };
  }
}
