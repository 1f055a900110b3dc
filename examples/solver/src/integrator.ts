import { type Contacts, NO_CONTACTS } from './contacts.js';
import { Dynamics } from './dynamics.js';
import { Friction, type FrictionSettings } from './friction.js';
import type { Model } from './model.js';
import { contactImpulses, type Impulses } from './momentum.js';
import { Repulsion } from './repulsion.js';
import type { Answer, Report } from './service.js';

/** The part of the service that the integrator needs: a {@link Service}, or a substitute in a test. */
export interface CollisionHandler {
  step(y: Float64Array, contactDistance: number): Promise<Answer>;
}

/** When the service is called: inside the Newton loop, or after it ("staggered"). */
export type Coupling = 'INSIDE' | 'STAGGERED';

export interface IntegratorSettings {
  /** h, s */
  readonly timeStep: number;
  /** Newton iterations of a time step */
  readonly iterations: number;
  /** whether the service is called after each of them, or once, after the last; default 'INSIDE' */
  readonly coupling?: Coupling;
  /** of the linear solves */
  readonly tolerance: number;
  /** of the solves whose targets serve only to estimate friction; default: the same */
  readonly estimateTolerance?: number;
  readonly maxSolverIterations: number;
  /** pairs nearer than this repel each other, m */
  readonly repulsionDistance: number;
  /** see {@link RepulsionSettings}, 1/s² */
  readonly repulsionStiffness: number;
  readonly friction?: FrictionSettings;
  /** gap below which a pair of a target counts as penetrating, m: the aim of the service */
  readonly contactOffset: number;
}

/** All data on which the next time step depends. */
export interface State {
  /** number of completed time steps */
  readonly frame: number;
  /** float64[3·V], m */
  readonly x: Float64Array;
  /** float64[3·V], m/s */
  readonly velocity: Float64Array;
  /** of the last answer */
  readonly contacts: Contacts;
}

export const startOf = (model: Model): State => ({
  frame: 0,
  x: Float64Array.from(Float32Array.from(model.start)),
  velocity: model.startVelocity.slice(),
  contacts: NO_CONTACTS,
});

/** The costs of a call of the service, and of the Newton iterations before it. */
export interface IterationRecord {
  readonly report: Report;
  /** of the linear solves, and the final residual of the last one */
  readonly solverIterations: number;
  readonly solverResidual: number;
  readonly contacts: number;
  /** dynamics and friction, and the call of the service, ms */
  readonly dynamicsMs: number;
  readonly serviceMs: number;
  readonly impulses: Impulses;
}

export interface StepResult {
  readonly state: State;
  readonly iterations: readonly IterationRecord[];
}

/**
 * Implicit Euler, step and project: every Newton iteration computes a target without collisions (x[k] → y[k + 1]) and
 * lets the service move towards it (x[k] → x[k + 1]). Staggered, an iteration begins at the target of the previous one,
 * and the service is called once, for the last target. The velocity follows from the result: v = (x[K] − xₜ) / h.
 */
export class Integrator {
  readonly #model: Model;
  readonly #dynamics: Dynamics;
  readonly #handler: CollisionHandler;
  readonly #settings: IntegratorSettings;

  constructor(model: Model, handler: CollisionHandler, settings: IntegratorSettings) {
    this.#model = model;
    const { tolerance, maxSolverIterations: maxIterations } = settings;
    this.#dynamics = new Dynamics(model, { tolerance, maxIterations });
    this.#handler = handler;
    this.#settings = settings;
  }

  async step(state: State): Promise<StepResult> {
    const { timeStep, iterations, repulsionDistance, coupling } = this.#settings;
    const frame = state.frame + 1;
    const prescribed = state.x.slice();
    this.#model.prescribe(frame * timeStep, prescribed);
    const records: IterationRecord[] = [];
    let { x, contacts } = state;
    let [began, solverIterations] = [performance.now(), 0];
    for (let k = 0; k < iterations; k++) {
      // The first guess continues the motion; after the first iteration it is the current iterate.
      const guess = k === 0 ? x.map((value, i) => value + timeStep * state.velocity[i]!) : x;
      const target = this.#target(state, { x, contacts, guess }, prescribed);
      const { y, solverResidual } = target;
      solverIterations += target.solverIterations;
      if (coupling === 'STAGGERED' && k + 1 < iterations) {
        x = y;
        continue;
      }
      const asked = performance.now();
      const answer = await this.#handler.step(y, repulsionDistance);
      records.push({
        report: answer.report,
        solverIterations,
        solverResidual,
        contacts: answer.contacts.count,
        dynamicsMs: asked - began,
        serviceMs: performance.now() - asked,
        impulses: contactImpulses(this.#model, y, answer.positions, timeStep),
      });
      ({ positions: x, contacts } = answer);
      [began, solverIterations] = [performance.now(), 0];
    }
    const velocity = x.map((value, i) => (value - state.x[i]!) / timeStep);
    return { state: { frame, x, velocity, contacts }, iterations: records };
  }

  #target(
    state: State,
    { x, contacts, guess }: { x: Float64Array; contacts: Contacts; guess: Float64Array },
    prescribed: Float64Array,
  ) {
    const { timeStep, friction, estimateTolerance, contactOffset: offset } = this.#settings;
    const { repulsionDistance: distance, repulsionStiffness: stiffness } = this.#settings;
    const { x: previous, velocity } = state;
    const { inverseMasses } = this.#model;
    const repulsion = new Repulsion(contacts, x, inverseMasses, { distance, stiffness });
    const solve = this.#dynamics.expandAt({ x, previous, velocity, prescribed, timeStep });
    const free = solve([repulsion], guess, friction && estimateTolerance);
    if (!friction) return { y: free.y, solverIterations: free.solve.iterations, solverResidual: free.solve.residual };
    const slowing = new Friction(
      { contacts, previous, y: free.y, inverseMasses, offset, repulsion, timeStep },
      friction,
    );
    const trial = solve([repulsion, slowing], free.y, estimateTolerance);
    slowing.yieldTo(trial.y);
    const slowed = solve([repulsion, slowing], trial.y);
    return {
      y: slowed.y,
      solverIterations: free.solve.iterations + trial.solve.iterations + slowed.solve.iterations,
      solverResidual: slowed.solve.residual,
    };
  }
}
