import type { Status } from '../../contract/report.js';
import type { CollisionMesh } from '../../mesh/types.js';
import {
  CLOSED_SHARE,
  JAMMED_SHARE,
  PUSHED,
  REST,
  SHORTENING_REST,
  SHORTENING_SLACK,
  SHORTENING_SWEEPS,
} from '../constants.js';
import { leastOffsetOf } from '../part-offsets.js';
import type { PullBackPlan } from '../scattered-targets.js';
import type { PullStage, Settings } from '../settings.js';
import { StepAbandoned } from '../step-abandoned.js';
import { aimsOf } from './contact-aims.js';
import type { EdgeLengths } from './edges.js';
import { Merit } from './merit.js';
import { markMoving } from './motion.js';
import { Paces } from './paces.js';
import { PoorShortenings, PoorSteps } from './poor-steps.js';
import type { Proximity } from './proximity.js';
import type { PullBackRun } from './pull-back-run.js';
import { PullBackStep } from './pull-back-step.js';
import { ShapeLimits } from './shape-limits.js';
import { Shortfalls } from './shortfalls.js';
import type { Stages } from './stages.js';
import type { Scratch } from './workspace.js';

export interface PullBackOutcome {
  readonly status: Status;
  /**
   * uint8[V] 1 = its box held the vertex when the phase stalled, or the vertex still wanted to move when the phase was
   * stopped
   */
  readonly unsettled: Uint8Array;
}

/** How steps towards y* have ended. */
interface Pulled {
  readonly status: Status;
  readonly mayResume: boolean;
  readonly hasKept: boolean;
  /** Φ of the best state */
  readonly best: number;
}

/**
 * The pull-back: brings x nearer to y* once the kinematic vertices have arrived.
 *
 * Algorithm 1 keeps y from step to step, so a push is never withdrawn, although its normal may have changed. Here every
 * step rebuilds y from y* and projects it again:
 *
 *   y_i ← x_i + t (y*_i − x_i), no longer than a leap;  t = 1 for a vertex that was not pushed in the last steps, otherwise τ
 *
 * which is projected gradient descent on ½ ‖x − y*‖²_M with the constraints linearised at x. Contacts aim at their
 * offset (contact-aims.ts), not at δ_p. The best state by Φ (merit.ts) is kept, and the phase ends when Φ falls too
 * little. Then steps that only shorten edges follow, until no edge is too long or they hardly shorten any edge. Where
 * edges over their limits have ended the phase, it is resumed after them.
 *
 * Each step is as safe as one of Algorithm 1 (pull-back-step.ts).
 */
export class PullBack {
  readonly #settings: Settings;
  readonly #plan: PullBackPlan;
  readonly #stages: Stages;
  readonly #proximity: Proximity;
  readonly #limits: ShapeLimits | undefined;
  readonly #leastOffset: number;
  readonly #merit: Merit;
  readonly #paces: Paces;
  readonly #step: PullBackStep;
  /** whether a step has wanted to move a vertex that no row had pushed */
  #hasFree = false;

  /** @param edges those with a limit, in sweep order; undefined = σ is off */
  constructor(
    mesh: CollisionMesh,
    settings: Settings,
    plan: PullBackPlan,
    stages: Stages,
    proximity: Proximity,
    deltas: { readonly distances: Float32Array | undefined; readonly min: number },
    edges: EdgeLengths | undefined,
    { start, target }: Pick<PullBackRun, 'start' | 'target'>,
    scratch: Scratch,
  ) {
    const { vertexCount, inverseMasses } = mesh;
    this.#settings = settings;
    this.#plan = plan;
    this.#stages = stages;
    this.#proximity = proximity;
    this.#limits = ShapeLimits.of(mesh, settings, plan.longest, edges, target, scratch);
    this.#leastOffset = leastOffsetOf(mesh, settings);
    const aims = aimsOf(mesh, settings, plan, scratch);
    const own = { delta: settings.delta, distances: deltas.distances };
    const shortfalls = new Shortfalls(vertexCount, own, aims, start, scratch);
    this.#merit = new Merit(inverseMasses, plan, this.#limits, shortfalls, scratch);
    this.#paces = new Paces(inverseMasses, plan.longest, this.#limits, scratch);
    this.#step = new PullBackStep(mesh, settings, plan, stages, proximity, deltas, this.#limits, aims, scratch);
  }

  run(run: PullBackRun): PullBackOutcome {
    const { held, wants, best } = this.#step;
    this.#step.begin(run);
    let status: Status;
    try {
      status = this.#end(run);
    } finally {
      this.#step.forgetPassed();
    }
    run.x.set(best);
    if (status === 'CONVERGED') wants.fill(0);
    return { status, unsettled: status === 'STALLED' ? held : wants };
  }

  /** Runs both phases, as often as the second lets the first one gain again. @returns how they ended */
  #end(run: PullBackRun): Status {
    try {
      let before: number | undefined;
      for (let resumptions = 0; ; resumptions++) {
        const { status, mayResume, hasKept, best } = this.#pull(run, { resumptions, before });
        before = best;
        if (status === 'DEADLINE') return status;
        const isOver = status !== 'STEP_LIMIT' && !mayResume;
        const limit = isOver ? this.#moveOthers(run, { resumptions, hasKept }) : undefined;
        if (limit === 'DEADLINE') return limit;
        const [held, wants] = [this.#step.held.slice(), this.#step.wants.slice()];
        try {
          const stopped = this.#shortenEdges(run);
          if (stopped || !mayResume) return stopped ?? limit ?? status;
        } finally {
          // The report states what held the vertices on their way to y*, and which wanted to move on, not what did so in
          // the last steps, of which the last one may have been abandoned.
          this.#step.held.set(held);
          this.#step.wants.set(wants);
        }
        this.#resume(run);
      }
    } catch (thrown) {
      if (thrown instanceof StepAbandoned) return 'DEADLINE';
      throw thrown;
    }
  }

  /** Begins steps towards y* again, from the best state and without multipliers. */
  #resume({ x }: PullBackRun): void {
    this.#step.returnToBest(x, 'PULL_BACK');
    this.#limits?.reset();
    this.#step.resetContacts();
  }

  /**
   * Makes the steps in which some vertices rest, after those in which all may move.
   *
   * @returns why they were stopped; undefined = they are complete, or there were none
   */
  #moveOthers(
    run: PullBackRun,
    { resumptions, hasKept }: { readonly resumptions: number; readonly hasKept: boolean },
  ): Extract<Status, 'STEP_LIMIT' | 'DEADLINE'> | undefined {
    const [held, wants] = [this.#step.held.slice(), this.#step.wants.slice()];
    let limit: Status | undefined;
    try {
      if (hasKept) {
        this.#resume(run);
        limit = this.#pull(run, { resumptions, restsKept: true }).status;
      }
      if (limit === 'DEADLINE' || limit === 'STEP_LIMIT') return limit;
      return !this.#step.hasGained && this.#hasFree ? this.#release(run) : undefined;
    } finally {
      // The report states what held the vertices in the steps before, and which wanted to move.
      this.#step.held.set(held);
      this.#step.wants.set(wants);
    }
  }

  /**
   * Makes steps from the best state in which only vertices move that no row pushes, as long as they gain and a leap limits
   * one of them.
   *
   * Φ is one number. In a heap at rest, contacts that the sweeps of a step do not quite open raise it by more than what
   * slow vertices elsewhere gain. Then every step is worse than the start, which would be the answer, so that a sheet
   * would hang in the air for as long as the heap beside it rests.
   *
   * No later step opens the contacts that such a vertex closes, so these steps leave the smallest contact offset of gaps,
   * not only the floor.
   *
   * @returns why they were stopped; undefined = they are complete
   */
  #release(run: PullBackRun): Extract<Status, 'STEP_LIMIT' | 'DEADLINE'> | undefined {
    const { x, y, target } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    const rows = { sweeps: this.#plan.sweeps, slack: 0, mostExcess: Number.POSITIVE_INFINITY };
    this.#resume(run);
    this.#paces.forget();
    for (let best: number | undefined; ; ) {
      const step = run.nextStep('PULL');
      if (typeof step !== 'number') return best === undefined ? undefined : step;
      this.#paces.rebuild(x, y, target, 0);
      if (best === undefined) {
        if (this.#step.isOutside(x)) this.#step.search(run);
        best = this.#merit.of(x, target, this.#proximity.pairs);
      }
      this.#step.sweepRows(run, step, markMoving(x, y, moving), rows);
      this.#paces.countUnpushed(y, PUSHED * delta);
      this.#paces.holdPushed(x, y);
      const { isWhole, from } = this.#step.forward(run, step, REST * delta, false, this.#leastOffset);
      const merit = this.#merit.of(x, target, this.#proximity.pairs);
      const isBetter = merit < best;
      if (isBetter) this.#step.keep(run, from);
      else this.#step.pass(run, from);
      if (!isWhole) return 'DEADLINE';
      if (!isBetter || !this.#paces.isLeaping(x, target, this.#step.cost)) return undefined;
      best = merit;
    }
  }

  /**
   * Steps towards y* until Φ no longer falls, then finer ones if the quality has them.
   *
   * Φ is one number. A heap that something keeps many leaps away from its targets raises it in every step by contacts that
   * the sweeps do not quite open, more than all others can gain, and then no state is better than the one before. So where the
   * last steps were all worse, others follow in which such vertices rest (`restsKept`): what they contribute to Φ stays.
   *
   * @param of.resumptions how often this phase has been resumed
   * @param of.before Φ of the best state where it ended the last time
   * @param of.restsKept whether the vertices rest that the steps before could not move (Paces.findKept)
   * @returns how it ended, and with which Φ; whether it may be resumed after the last steps (PoorSteps.mayResume); whether
   *   the others may gain by steps in which some rest
   */
  #pull(
    run: PullBackRun,
    of: { readonly resumptions: number; readonly before?: number | undefined; readonly restsKept?: boolean },
  ): Pulled {
    const { resumptions, before, restsKept = false } = of;
    const { x, y, target } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    let best = this.#merit.of(x, target, undefined);
    let stage: PullStage = this.#plan;
    let poorSteps = new PoorSteps(stage, this.#plan);
    for (let n = 0; best > 0; n++) {
      const step = run.nextStep('PULL');
      if (typeof step !== 'number') {
        // What all vertices could do is complete, even if no step is left for the others.
        const hasBegun = !restsKept || n > 0;
        return { status: hasBegun ? step : 'CONVERGED', mayResume: false, hasKept: false, best };
      }
      this.#paces.rebuild(x, y, target, stage.tau);
      // Without a valid P there are no contacts to sweep; any other search comes after the sweeps.
      const isOutside = n === 0 && (resumptions > 0 || restsKept) && this.#step.isOutside(x);
      if (isOutside || !this.#step.hasPairs) this.#step.search(run);
      if (n === 0) {
        best = this.#merit.of(x, target, this.#proximity.pairs);
        this.#merit.keep(x, target);
      }
      const rows = {
        ...{ sweeps: stage.sweeps, slack: 0, mostExcess: poorSteps.mostExcess(best) },
        framesOf: poorSteps.isThorough ? this.#step.best : undefined,
      };
      this.#step.sweepRows(run, step, markMoving(x, y, moving), rows);
      this.#paces.countUnpushed(y, PUSHED * delta);
      if (restsKept) this.#paces.restKept(x, y);
      const { isWhole, from } = this.#step.forward(run, step, REST * delta, poorSteps.isClosed);
      const merit = this.#merit.of(x, target, this.#proximity.pairs);
      const [gain, { nearGain }] = [(best - merit) / best, this.#merit];
      if (gain > 0) {
        best = merit;
        this.#merit.keep(x, target);
        this.#step.keep(run, from);
      } else this.#step.pass(run, from);
      if (!isWhole) return { status: 'DEADLINE', mayResume: false, hasKept: false, best };
      const { cost, held, wants } = this.#step;
      this.#hasFree ||= this.#paces.hasFree(wants);
      const { excess, leastGain } = this.#merit;
      const [isLeaping, isHeld, isStill, isJammed, isClosed] = [
        this.#paces.isLeaping(x, target, cost),
        held.includes(1),
        !wants.includes(1),
        this.#step.isJammed(JAMMED_SHARE),
        this.#step.isJammed(CLOSED_SHARE),
      ];
      const ended = poorSteps.after({
        gain,
        nearGain,
        leastGain,
        cost,
        isLeaping,
        isHeld,
        isStill,
        excess,
        isJammed,
        isClosed,
      });
      if (ended && restsKept) return { status: ended, mayResume: false, hasKept: false, best };
      if (ended) {
        const { finer } = this.#plan;
        const mayResume = stage !== finer && poorSteps.mayResume(resumptions, best, before);
        if (mayResume) return { status: ended, mayResume, hasKept: false, best };
        const hasKept = poorSteps.gainsNothing && cost === 1 && this.#paces.findKept(x, target);
        const isFiner = finer && stage !== finer && best > 0 && !isStill && cost === 1 && !hasKept;
        if (!isFiner) return { status: ended, mayResume, hasKept, best };
        stage = finer;
        poorSteps = new PoorSteps(stage, this.#plan);
        continue;
      }
      // A vertex that its box holds may gain something in a new box, if that can be larger.
      if (isHeld && poorSteps.hasAny && cost === 1) this.#step.demandSearch();
    }
    return { status: 'CONVERGED', mayResume: false, hasKept: false, best };
  }

  /**
   * Shortens edges from the best state: y = x, every multiplier is 0, and only edges that are too long pull, together
   * with the contacts that obstruct them.
   *
   * @returns why it was stopped; undefined = it is complete
   */
  #shortenEdges(run: PullBackRun): Extract<Status, 'STEP_LIMIT' | 'DEADLINE'> | undefined {
    const { x, y } = run;
    const { moving } = this.#stages;
    const { delta } = this.#settings;
    if (!this.#limits) return undefined;
    this.#step.returnToBest(x, 'SHORTENING');
    moving.fill(0);
    const options = { sweeps: SHORTENING_SWEEPS, slack: SHORTENING_SLACK * delta };
    const poorSteps = new PoorShortenings();
    let excess = this.#limits.excess(x);
    for (let n = 0; excess > 0; n++) {
      const step = run.nextStep('SHORTEN');
      if (typeof step !== 'number') return step;
      y.set(x);
      if ((n === 0 && this.#step.isOutside(x)) || !this.#step.hasPairs) this.#step.search(run);
      this.#step.resetContacts();
      this.#step.sweepRows(run, step, this.#step.markPulled(run, this.#limits, options), { ...options, mostExcess: 0 });
      const { isWhole, from } = this.#step.forward(run, step, SHORTENING_REST * delta, false);
      // Few vertices move, each a little, so a vertex that its box held gets a new box at once.
      const isHeld = this.#step.held.includes(1);
      if (isHeld) this.#step.demandSearch();
      const left = this.#limits.excess(x);
      const gain = (excess - left) / excess;
      if (gain > 0) {
        excess = left;
        this.#step.keep(run, from);
      } else this.#step.pass(run, from);
      if (!isWhole) return 'DEADLINE';
      if (poorSteps.after({ gain, cost: this.#step.cost, isHeld })) break;
    }
    return undefined;
  }
}
