import type { Status } from '../../../src/contract/report.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { FORWARD_RULES } from '../../../src/solver/cpu/bound.js';
import { EdgeLengths } from '../../../src/solver/cpu/edges.js';
import { markMoving, restoreOverflow } from '../../../src/solver/cpu/motion.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { Stages } from '../../../src/solver/cpu/stages.js';
import { timeLeftOf } from '../../../src/solver/cpu/time-left.js';
import { Workspace } from '../../../src/solver/cpu/workspace.js';
import type { StepInput } from '../../../src/solver/engine.js';
import { distancesByVertex, smallestDistance } from '../../../src/solver/part-distances.js';
import type { Settings } from '../../../src/solver/settings.js';
import { StepAbandoned } from '../../../src/solver/step-abandoned.js';
import { type ImpactSteps, limitByImpacts } from './impact-steps.js';
import { lineariseAtTarget } from './linearise-at-target.js';
import type { Optimiser } from './optimisers.js';
import { Rows } from './rows.js';

/** What replaces a stage of Algorithm 1; absent = as the paper has it. */
export interface Ablation {
  /** replaces projected Gauss-Seidel */
  readonly optimiser?: Optimiser;
  /** whether gap constraints are linearised at the current y instead of x */
  readonly isLinearisedAtTarget?: boolean;
  /** replaces the distances of pairs */
  readonly impactSteps?: ImpactSteps;
  /** whether every backward step begins at y* instead of the last y */
  readonly isTargetRebuilt?: boolean;
  /** ends when a step changes ‖r‖∞ by less than this */
  readonly leastChange?: number;
}

/** The result of a run of Algorithm 1. */
export interface Answer {
  readonly status: Status;
  readonly positions: Float32Array;
  readonly steps: number;
  readonly searches: number;
}

/**
 * Another implementation of Algorithm 1 from the product's building blocks, with replaceable stages. Settings of preset
 * PAPER; without a replacement its answers are those of the product, bit for bit.
 */
export class Algorithm1 {
  readonly #stages: Stages;
  readonly #proximity: Proximity;
  readonly #edges: EdgeLengths | undefined;
  readonly #distances: Float32Array | undefined;
  readonly #workspace = new Workspace();
  readonly #x: Float32Array;
  readonly #y: Float32Array;
  /** number of the current step: stamps geometry, seeds the order of sweeps */
  #step = 0;
  #steps = 0;
  #searches = 0;

  constructor(
    readonly mesh: CollisionMesh,
    readonly settings: Settings,
    readonly input: StepInput,
    readonly ablation: Ablation,
  ) {
    if (settings.guard !== 'RADIUS' || settings.pullBack) throw new Error('The ablations are those of preset PAPER.');
    this.#stages = new Stages(mesh, settings, this.#workspace);
    this.#proximity = new Proximity(mesh, settings, this.#workspace);
    this.#edges = settings.sigma > 0 ? new EdgeLengths(mesh) : undefined;
    this.#distances = distancesByVertex(mesh, settings);
    this.#x = input.x.slice();
    this.#y = input.y.slice();
  }

  run(): Answer {
    return this.#workspace.run(() => {
      this.#proximity.acquire();
      const status = this.#advance();
      return { status, positions: this.#x.slice(), steps: this.#steps, searches: this.#searches };
    });
  }

  #advance(): Status {
    const { input, settings } = this;
    const { residuals, watch, slide, forward, moving } = this.#stages;
    const { pulse } = timeLeftOf(input);
    const [x, y] = [this.#x, this.#y];
    residuals.begin(x, input.y, settings.floor);
    this.#proximity.beginRequest(undefined);
    this.#edges?.linearise(input.y, settings.sigma);
    watch.begin(x, residuals.r);
    slide.begin();
    let isDue = true;
    for (;;) {
      const last = residuals.largest;
      if (last < settings.epsilon) return 'CONVERGED';
      if (this.#steps >= settings.stepLimit) return 'STEP_LIMIT';
      try {
        if (isDue) {
          this.#proximity.renew(x, y, undefined, pulse);
          this.#searches++;
        }
        pulse();
        this.#step++;
        this.#backward(pulse);
        this.#forward(pulse);
      } catch (thrown) {
        if (thrown instanceof StepAbandoned) return 'DEADLINE';
        throw thrown;
      }
      this.#steps++;
      residuals.update(x, y, forward.alpha, settings.epsilon);
      slide.observe(forward, residuals.r, moving);
      this.#proximity.radius -= 2 * forward.largestMove;
      isDue = this.#proximity.radius < settings.searchRadiusMin;
      input.onState?.(x);
      const { largest, unfinished } = residuals;
      input.onProgress?.({ steps: this.#steps, residual: largest, unfinishedVertices: unfinished });
      if (largest < settings.epsilon) continue;
      if (last - largest < (this.ablation.leastChange ?? Number.NEGATIVE_INFINITY)) return 'STALLED';
      const verdict = watch.judge(x, residuals.r);
      if (verdict === 'stalled') return 'STALLED';
      isDue ||= verdict === 'search';
    }
  }

  /** y ← Backward(y, x, y*, P), Eqs. 9–13. */
  #backward(pulse: () => void): void {
    const { mesh, settings, input, ablation } = this;
    const { active, candidates, contacts, slide, moving } = this.#stages;
    const { pairs } = this.#proximity;
    const [x, y] = [this.#x, this.#y];
    const { optimiser, isLinearisedAtTarget, isTargetRebuilt } = ablation;
    if (isTargetRebuilt) y.set(input.y);
    const edges = optimiser ? undefined : this.#edges;
    edges?.reset();
    edges?.sweep(y);
    active.gather(pairs, moving, markMoving(x, y, moving));
    candidates.find(pairs, active, x, input.x, this.#step, settings.delta, this.#distances, pulse);
    const { list, count } = candidates;
    contacts.assemble(pairs, list, count, x, this.#step, pulse);
    const at = isLinearisedAtTarget ? y.slice() : x;
    if (isLinearisedAtTarget) lineariseAtTarget(contacts, pairs, at, mesh.inverseMasses);
    if (optimiser) {
      const rows = new Rows(mesh.inverseMasses);
      if (this.#edges) rows.addEdges(this.#edges.ends, input.y, settings.sigma, x);
      rows.addContacts(contacts, at, x);
      optimiser(rows, x, y);
    } else {
      contacts.sweep(at, y);
      for (let n = 1; n < settings.sweeps; n++) {
        edges?.sweep(y);
        contacts.sweep(at, y);
      }
    }
    if (FORWARD_RULES[settings.forward].isAlongNormal) slide.apply(pairs, list, count, x, y, mesh.inverseMasses);
    restoreOverflow(y, input.y);
  }

  /** x ← Forward(x, y − x, P), Eqs. 14–16. The radius of P limits every variant. */
  #forward(pulse: () => void): void {
    const { settings, ablation } = this;
    const { active, forward, moving } = this.#stages;
    const { pairs, radius } = this.#proximity;
    const [x, y] = [this.#x, this.#y];
    const { gamma, floor, forward: rule, delta } = settings;
    const { impactSteps } = ablation;
    active.gather(pairs, moving, markMoving(x, y, moving));
    const list = active.list.subarray(0, active.count);
    forward.advance({
      ...{ x, y, pairs, active: active.list, activeCount: impactSteps ? 0 : active.count, moving },
      ...{ step: this.#step, rule, gamma, floor, delta: smallestDistance(this.#distances, delta) },
      ...{ box: undefined, radius, pulse },
      limitFurther: impactSteps && ((alpha) => limitByImpacts(impactSteps, pairs, list, x, y, gamma, alpha)),
    });
  }
}
