import { PHASE, type Phase } from '../../gpu/kernels/constants.js';
import type { Status } from '../../src/contract/report.js';
import { CLOSED_SHARE, EXCESS_WEIGHT, JAMMED_SHARE } from '../../src/solver/constants.js';
import { PoorShortenings, PoorSteps } from '../../src/solver/cpu/poor-steps.js';

/**
 * The decisions of the pull-back of the CPU engine (PullBack in src/solver/cpu), with steps whose results are given
 * instead of computed. The device makes the same decisions in gpu/kernels/pull-back/decide.wgsl.
 */

/** The plan of a pull-back, as far as its decisions depend on it. */
export interface ModelPlan {
  readonly minGain: number;
  readonly finer: { readonly minGain: number } | undefined;
  readonly isEarly: boolean;
  /** steps after which no step towards the targets follows, and further ones that are left to the last steps */
  readonly stepLimit: number;
  readonly reservedSteps: number;
  /** distance beyond which the mesh is on its way; 0 = it never is; and the way that a step must then make, times 2 √Σm */
  readonly far: number;
  readonly progress: number;
}

/** A state: the part of Φ of the vertices, and that of edges over their limits before its weight. */
export interface WeighedState {
  readonly distances: number;
  readonly excess: number;
}

export const meritOf = ({ distances, excess }: WeighedState): number => distances + EXCESS_WEIGHT * excess;

/** What a step has done. */
export interface MadeStep {
  readonly state: WeighedState;
  readonly nearGain: number;
  readonly cost: number;
  /** vertices that wanted to move, and those of them that hardly could */
  readonly moving: number;
  readonly jammed: number;
  readonly isHeld: boolean;
  readonly isLeaping: boolean;
  /** something keeps vertices far from their targets */
  readonly hasKept: boolean;
  /** a vertex wanted to move that no row had pushed */
  readonly hasFree: boolean;
}

/** What the model asks for next. */
export type Asked =
  /** the best state, with which a phase begins */
  | { readonly what: 'BEST' }
  /** the same once P is known; a phase that takes no step does not ask */
  | { readonly what: 'RATED'; readonly phase: Phase }
  /** a step of this phase; what decisions of the last one say of it, undefined = nothing */
  | {
      readonly what: 'STEP';
      readonly phase: Phase;
      readonly isThorough?: boolean;
      readonly isClosed?: boolean;
      readonly demandsSearch?: boolean | undefined;
    };

/** The best state, after a step also what that has done. */
export interface Reply {
  readonly best: WeighedState;
  readonly step?: MadeStep;
}

export interface ModelEnd {
  readonly status: Status;
  readonly steps: number;
  readonly resumptions: number;
}

type Model<T> = Generator<Asked, T, Reply>;

interface Pulled {
  readonly status: Status;
  readonly mayResume: boolean;
  readonly hasKept: boolean;
  readonly best: number;
}

/** Makes the decisions of a pull-back. */
export class PullBackModel {
  readonly #plan: ModelPlan;
  #steps = 0;
  /** states that were the best when they were reached */
  #bests = 0;
  #hasFree = false;

  constructor(plan: ModelPlan) {
    this.#plan = plan;
  }

  /** PullBack.#end */
  *run(): Model<ModelEnd> {
    let before: number | undefined;
    for (let resumptions = 0; ; resumptions++) {
      const pulled = yield* this.#pull(resumptions, before, resumptions > 0 ? PHASE.RESUME : PHASE.PULL);
      before = pulled.best;
      const isOver = pulled.status !== 'STEP_LIMIT' && !pulled.mayResume;
      const limit = isOver ? yield* this.#moveOthers(resumptions, pulled.hasKept) : undefined;
      const stopped = yield* this.#shorten();
      if (stopped || !pulled.mayResume) {
        return { status: stopped ?? limit ?? pulled.status, steps: this.#steps, resumptions };
      }
    }
  }

  /** @returns whether there is a step */
  #begins(limit: number): boolean {
    if (this.#steps >= limit) return false;
    this.#steps++;
    return true;
  }

  /** PullBack.#moveOthers */
  *#moveOthers(resumptions: number, hasKept: boolean): Model<'STEP_LIMIT' | undefined> {
    if (hasKept) {
      const { status } = yield* this.#pull(resumptions, undefined, PHASE.OTHERS);
      if (status === 'STEP_LIMIT') return status;
    }
    return this.#bests === 0 && this.#hasFree ? yield* this.#release() : undefined;
  }

  /** PullBack.#pull */
  *#pull(resumptions: number, before: number | undefined, begun: Phase): Model<Pulled> {
    const { finer, isEarly, stepLimit } = this.#plan;
    const isOthers = begun === PHASE.OTHERS;
    let best = meritOf((yield { what: 'BEST' }).best);
    let phase = begun;
    let poor = new PoorSteps(this.#plan, { isEarly });
    let bestState: WeighedState | undefined;
    let demandsSearch: boolean | undefined;
    for (let n = 0; best > 0; n++) {
      if (!this.#begins(stepLimit)) {
        return { status: isOthers && n === 0 ? 'CONVERGED' : 'STEP_LIMIT', mayResume: false, hasKept: false, best };
      }
      if (n === 0) bestState = (yield { what: 'RATED', phase }).best;
      best = meritOf(bestState!);
      const { isThorough, isClosed } = poor;
      const step = (yield { what: 'STEP', phase, isThorough, isClosed, demandsSearch }).step!;
      const merit = meritOf(step.state);
      const gain = (best - merit) / best;
      if (gain > 0) {
        this.#bests++;
        best = merit;
        bestState = step.state;
      }
      this.#hasFree ||= step.hasFree;
      const ended = poor.after({
        ...step,
        gain,
        leastGain: this.#leastGain(bestState!),
        isStill: step.moving === 0,
        excess: merit > 0 ? (EXCESS_WEIGHT * step.state.excess) / merit : 0,
        isJammed: step.jammed >= JAMMED_SHARE * step.moving,
        isClosed: step.jammed >= CLOSED_SHARE * step.moving,
      });
      demandsSearch = step.isHeld && poor.hasAny && step.cost === 1;
      if (!ended) continue;
      const mayResume = !isOthers && phase !== PHASE.REFINE && poor.mayResume(resumptions, best, before);
      const hasKept = !isOthers && !mayResume && poor.gainsNothing && step.cost === 1 && step.hasKept;
      const isLast = isOthers || mayResume || hasKept || phase === PHASE.REFINE || step.moving === 0 || step.cost > 1;
      if (!finer || isLast || best === 0) return { status: ended, mayResume, hasKept, best };
      phase = PHASE.REFINE;
      poor = new PoorSteps(finer, { isEarly });
      demandsSearch = undefined;
    }
    return { status: 'CONVERGED', mayResume: false, hasKept: false, best };
  }

  /** Merit.leastGain */
  #leastGain({ distances }: WeighedState): number | undefined {
    const { far, progress } = this.#plan;
    return far > 0 && Math.sqrt(distances) > far ? progress / Math.sqrt(distances) : undefined;
  }

  /** PullBack.#release */
  *#release(): Model<'STEP_LIMIT' | undefined> {
    for (let best: number | undefined; ; ) {
      if (!this.#begins(this.#plan.stepLimit)) return best === undefined ? undefined : 'STEP_LIMIT';
      const demandsSearch = best === undefined ? undefined : false;
      if (best === undefined) {
        yield { what: 'BEST' };
        best = meritOf((yield { what: 'RATED', phase: PHASE.RELEASE }).best);
      }
      const asked = { isThorough: false, isClosed: false, demandsSearch };
      const { state, isLeaping } = (yield { what: 'STEP', phase: PHASE.RELEASE, ...asked }).step!;
      const isBetter = meritOf(state) < best;
      if (isBetter) this.#bests++;
      if (!isBetter || !isLeaping) return undefined;
      best = meritOf(state);
    }
  }

  /** PullBack.#shortenEdges */
  *#shorten(): Model<'STEP_LIMIT' | undefined> {
    const { stepLimit, reservedSteps } = this.#plan;
    const poor = new PoorShortenings();
    let { excess } = (yield { what: 'BEST' }).best;
    for (let demandsSearch: boolean | undefined; excess > 0; ) {
      if (!this.#begins(stepLimit + reservedSteps)) return 'STEP_LIMIT';
      const asked = { isClosed: false, demandsSearch };
      const { state, cost, isHeld } = (yield { what: 'STEP', phase: PHASE.SHORTEN, ...asked }).step!;
      const gain = (excess - state.excess) / excess;
      if (gain > 0) {
        this.#bests++;
        excess = state.excess;
      }
      if (poor.after({ gain, cost, isHeld })) break;
      demandsSearch = isHeld;
    }
    return undefined;
  }
}
