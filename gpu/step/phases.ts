import type { Settings } from '../../src/solver/settings.js';
import type { Pass, Recording } from '../device/recording.js';
import { PHASE, type Phase, STATE } from '../kernels/constants.js';
import type { ControlBlock } from './answer.js';
import type { Batch, BatchRecorder, Searches } from './batch.js';
import type { PullBackRecorder } from './pull-back-recorder.js';
import type { StepRecorder } from './recorder.js';
import { sweepsOf } from './request.js';
import { RoundsAhead } from './rounds-ahead.js';
import type { SweepPlan } from './sweep-plan.js';

/** Records the steps of a run, phase by phase: Algorithm 1, then the pull-back. The device decides when a phase ends. */
export class Phases {
  readonly #batches: BatchRecorder;
  readonly #steps: StepRecorder;
  readonly #pullBack: PullBackRecorder;
  readonly #vertexCount: number;
  #phase: Phase = PHASE.ADVANCE;
  #stepsBefore = 0;
  #wasCut = false;
  /** whether the step to be recorded next has already begun and had no room for its candidates */
  #continuesStep = false;
  readonly #rounds = new RoundsAhead();
  /** rounds of sweeps that the step to be recorded next has made, if it requires another one */
  #roundsDone = 0;
  /** `isFew` of the rounds that it has made: those that follow must have the same */
  #wasFew = false;
  /** whether the forward step of the pull-back's step to be recorded next has a y to move to */
  #hasAim = false;
  #keepsMultipliers = false;

  constructor(batches: BatchRecorder, steps: StepRecorder, pullBack: PullBackRecorder, vertexCount: number) {
    this.#batches = batches;
    this.#steps = steps;
    this.#pullBack = pullBack;
    this.#vertexCount = vertexCount;
  }

  /** The phase whose steps are recorded. */
  get phase(): Phase {
    return this.#phase;
  }

  /** Steps of the request when the pull-back began. */
  get stepsBefore(): number {
    return this.#stepsBefore;
  }

  /** Whether its step limit has ended Algorithm 1, and the pull-back followed. */
  get wasCut(): boolean {
    return this.#wasCut;
  }

  /** Whether one workgroup may select the contacts of a step. */
  get canSelectAlone(): boolean {
    return this.#steps.canSelectAlone;
  }

  /** Constrained edges of the mesh. */
  get edgeCount(): number {
    return this.#steps.edgeCount;
  }

  /** Whether Algorithm 1 sweeps edges by lists if few act. */
  get listsEdges(): boolean {
    return this.#steps.canListEdges;
  }

  /** Records the end of a run of this phase; undefined = nothing to record. */
  get conclude(): ((pass: Pass) => void) | undefined {
    if (this.#phase === PHASE.ADVANCE) return undefined;
    return (pass) => this.#pullBack.conclude(pass, this.#vertexCount);
  }

  /** Begins a request. @param keepsMultipliers as in StepShape; the buffers of the pull-back must exist */
  begin(keepsMultipliers: boolean): void {
    this.#phase = PHASE.ADVANCE;
    this.#stepsBefore = 0;
    this.#wasCut = false;
    this.#keepsMultipliers = keepsMultipliers;
    this.#continuesStep = false;
    this.#roundsDone = 0;
  }

  /**
   * Whether Algorithm 1 has converged or stalled, and kinematic vertices that have used up their motion take one more
   * step.
   *
   * @param control the control block in which it has ended
   */
  isArrivalDue({ state, phase, steps, short }: ControlBlock, { guard, stepLimit }: Settings): boolean {
    // PAPER, the preset with the guard RADIUS, is Algorithm 1 to the letter.
    if (this.#phase !== PHASE.ADVANCE || guard === 'RADIUS' || short === 0 || steps >= stepLimit) return false;
    const isHandedOver = state === STATE.NEEDS_PHASE && phase === PHASE.PULL;
    return isHandedOver || state === STATE.CONVERGED || state === STATE.STALLED;
  }

  /**
   * Enters the phase that the run has requested, and records its beginning.
   *
   * @param upload writes parameters and control block of the new phase to the device
   */
  open(encoder: Recording, { phase, steps, ending }: ControlBlock, upload: () => void): void {
    if (!isPhaseAfter(phase)) throw new Error(`A run asked for phase ${phase}.`);
    this.#phase = phase;
    if (phase === PHASE.PULL) {
      this.#stepsBefore = steps;
      this.#wasCut = ending === STATE.AT_STEP_LIMIT;
    }
    this.#hasAim = false;
    upload();
    const pass = encoder.beginComputePass();
    this.#steps.arm(pass);
    this.#pullBack.open(pass, phase, this.#vertexCount);
    pass.end();
  }

  /**
   * Records that the run continues after a pause.
   *
   * @param state the reason of the pause
   * @param control the control block with which it continues
   * @param batch the one in which it has paused
   */
  resume(
    encoder: Recording,
    state: number,
    { hasAim, sweepsDone }: ControlBlock,
    { settings, batch }: { readonly settings: Settings; readonly batch: Batch },
  ): void {
    this.#continuesStep = state === STATE.NEEDS_CANDIDATES || state === STATE.NEEDS_ROUNDS;
    this.#hasAim = hasAim === 1;
    this.#roundsDone = 0;
    if (state === STATE.NEEDS_SWEEPS) {
      this.#roundsDone = roundsOf(sweepsDone, settings, this.#phase);
      this.#wasFew = batch.isFew;
      return;
    }
    const pass = encoder.beginComputePass();
    this.#steps.arm(pass);
    pass.end();
  }

  /** Notes the status of steps that were done. */
  observe({ sweepsDone, state }: ControlBlock, settings: Settings): void {
    // A run that has ended has no sweeps of a next step.
    if (this.#phase === PHASE.ADVANCE || state === STATE.NEEDS_SWEEPS || sweepsDone === 0) return;
    this.#rounds.observe(this.#phase, roundsOf(sweepsDone, settings, this.#phase));
  }

  /**
   * @param plan what the sweeps of the last steps have shown
   * @param searches what precedes them
   * @param looksAhead whether rounds of sweeps are recorded that the device may skip
   * @param showsPieces as in PullBackParts
   */
  recordSteps(
    encoder: Recording,
    count: number,
    settings: Settings,
    {
      plan,
      searches,
      looksAhead,
      showsPieces,
    }: {
      readonly plan: SweepPlan;
      readonly searches: Searches;
      readonly looksAhead: boolean;
      readonly showsPieces: boolean;
    },
  ): void {
    if (count === 0) return;
    const { wide, hasDenseEdges, hasFewEnds, hasFewEdges } = plan;
    const selectsAlone = plan.hasFewCandidates;
    const phase = this.#phase;
    const sweeps = sweepsOf(settings, phase);
    const continuesStep = this.#continuesStep;
    if (phase === PHASE.ADVANCE) {
      const slides = settings.forward === 'PLANAR';
      const listsEdges = hasFewEdges && this.#steps.canListEdges;
      const shape = { sweeps, slides, wide, listsEdges, selectsAlone, keepsMultipliers: this.#keepsMultipliers };
      this.#batches.record(encoder, count, shape, searches, continuesStep);
    } else {
      if (count !== 1) throw new Error(`A submission has one step of the pull-back, not ${count}.`);
      const roundsDone = this.#roundsDone;
      const rounds = looksAhead ? this.#rounds.next(phase, roundsDone) : 1;
      const isFew = roundsDone > 0 ? this.#wasFew : hasFewEnds && this.#pullBack.canSweepFew;
      this.#batches.recordPullBack(
        encoder,
        {
          ...{ phase, sweeps, wide, hasDenseEdges, isSmall: this.#pullBack.isSmall(this.#vertexCount) },
          ...{ isFew, selectsAlone },
        },
        searches,
        { hasAim: this.#hasAim, continuesStep, roundsDone, rounds, showsPieces },
      );
      this.#hasAim = true;
    }
    this.#continuesStep = false;
    this.#roundsDone = 0;
  }
}

/** Rounds of sweeps that a step has made; pass 0 is no sweep. */
const roundsOf = (sweepsDone: number, settings: Settings, phase: Phase): number =>
  Math.floor((sweepsDone - 1) / sweepsOf(settings, phase));

const isPhaseAfter = (phase: number): phase is Exclude<Phase, 0> =>
  Object.values(PHASE).includes(phase as Phase) && phase !== PHASE.ADVANCE;
