import { IntersticeError } from '../../src/contract/errors.js';
import type { StageTimings } from '../../src/contract/report.js';
import type { StepInput } from '../../src/solver/engine.js';
import type { Settings } from '../../src/solver/settings.js';
import { stepLimitOf } from '../../src/solver/step-shares.js';
import { write } from '../device/place.js';
import type { Recording } from '../device/recording.js';
import type { SceneDevice } from '../device/scene-device.js';
import type { Submissions } from '../device/submissions.js';
import { PHASE, type Phase, SEARCH_MODE, STATE } from '../kernels/constants.js';
import { CONTROL } from '../kernels/structs.js';
import type { SceneSearch, SearchPlace } from '../search/scene-search.js';
import type { ControlBlock } from './answer.js';
import { type Batch, type BatchRecorder, MAX_BATCH_STEPS, stepsPerBatch } from './batch.js';
import type { HoldReader } from './hold-reader.js';
import type { Phases } from './phases.js';
import { coverCandidates, STEP_PHASES, sweepsOf, watchSearches } from './request.js';
import type { SceneBuffers } from './scene-buffers.js';
import { ShownStates } from './shown-states.js';
import { addStamps } from './stage-clock.js';
import { type Submission, SubmissionPlan } from './submission-plan.js';
import { SweepPlan } from './sweep-plan.js';

/** Stamps in the pairs have 30 bits; if a request begins beyond half of them, the clock restarts with a new P. */
const CLOCK_LIMIT = 2 ** 29;

/**
 * Readings in a row without a step after which a run is endless. A run that goes on makes a step with every second
 * reading; the others are pauses. Those of one step are at most 32 for rounds of sweeps, and some 260 to shrink boxes,
 * which halve a leap until it is no longer than δ.
 */
const MOST_IDLE_READINGS = 512;

/** The control block before the first request. */
const NEW_CONTROL: ControlBlock = CONTROL.unpack(new ArrayBuffer(CONTROL.bytes));

/** A request in the form that its steps need. */
export interface LoopRequest {
  readonly input: StepInput;
  readonly settings: Settings;
  readonly timings: StageTimings;
  /** undefined = the request does not ask what held each vertex */
  readonly holds: HoldReader | undefined;
  /** writes the parameters of the phase to the device */
  upload(phase: Phase): void;
}

/** The objects that the loop drives. */
export interface LoopParts {
  readonly device: SceneDevice;
  readonly buffers: SceneBuffers;
  readonly search: SceneSearch;
  readonly batches: BatchRecorder;
  readonly phases: Phases;
  readonly submissions: Submissions;
  readonly place: SearchPlace;
  readonly vertexCount: number;
}

/**
 * Submits the steps of a scene's requests and reads their status; knows the control block and P on the device between
 * two submissions. The device takes every decision within a submission; the host handles the reasons for which a run
 * pauses.
 */
export class StepLoop {
  /** whether P on the device is valid */
  hasPairs = false;
  readonly #device: SceneDevice;
  readonly #buffers: SceneBuffers;
  readonly #search: SceneSearch;
  readonly #batches: BatchRecorder;
  readonly #phases: Phases;
  readonly #submissions: Submissions;
  readonly #place: SearchPlace;
  readonly #vertexCount: number;
  readonly #plan: SubmissionPlan;
  /** the control block that was read or written last */
  #control: ControlBlock = NEW_CONTROL;
  readonly #sweeps: SweepPlan;
  /** number of covered candidates in the parameters on the device */
  #covered = 0;
  #watches = false;

  constructor({ device, buffers, search, batches, phases, submissions, place, vertexCount }: LoopParts) {
    this.#submissions = submissions;
    this.#device = device;
    this.#buffers = buffers;
    this.#search = search;
    this.#batches = batches;
    this.#phases = phases;
    this.#place = place;
    this.#vertexCount = vertexCount;
    this.#plan = new SubmissionPlan(place === 'HOST');
    this.#sweeps = new SweepPlan(vertexCount, device.ways, phases.canSelectAlone);
  }

  /** The control block that was read or written last. */
  get control(): ControlBlock {
    return this.#control;
  }

  /** Notes the control block at the end of a run. */
  settle(control: ControlBlock): void {
    this.#control = control;
  }

  /** Takes over P with its boxes on the device from another scene of the same mesh; called before the first request. */
  adopt(clock: number, pairs: { readonly count: number; readonly radius: number } | undefined): void {
    this.#control = { ...NEW_CONTROL, clock, pairCount: pairs?.count ?? 0, radius: pairs?.radius ?? 0 };
    this.hasPairs = pairs !== undefined;
  }

  /** Notes that a request has failed: the content of the device is unknown. */
  reset(): void {
    this.hasPairs = false;
    // Steps may have run whose status was never read: their stamps in the pairs must differ from those of later steps.
    const { clock } = this.#control;
    this.#control = { ...NEW_CONTROL, clock: clock + 4 * MAX_BATCH_STEPS };
  }

  /**
   * Begins a request: the control block for its opening.
   *
   * @param isEarly whether the pull-back follows at once unless kinematic vertices move
   */
  begin(isEarly: boolean): void {
    const { clock, pairCount, radius } = this.#control;
    const isClockWorn = clock > CLOCK_LIMIT;
    if (isClockWorn) this.hasPairs = false;
    this.#plan.begin(this.hasPairs, isEarly);
    this.#sweeps.begin();
    this.#watches = false;
    this.#cover();
    this.#writeControl({ clock: isClockWorn ? 0 : clock, pairCount, radius, isReused: this.hasPairs ? 1 : 0 });
  }

  /**
   * Submits batches of steps and reads their status until the run is over or the caller stops it.
   *
   * @param opening contains the opening of the request; the first batch is recorded after it
   * @returns whether the caller stopped the run
   * @throws INTERNAL if the run neither makes a step nor ends
   */
  async run(opening: Recording, request: LoopRequest): Promise<boolean> {
    const { input, settings, holds } = request;
    const { runsAhead } = this.#device;
    // Every state and every hold is reported on its own: no step may run before those of the previous one are read.
    const isStepwise = !runsAhead || input.onState !== undefined || holds !== undefined;
    const states = new ShownStates((...state) => input.onState?.(...state));
    // In a convoy the other scenes fill the device.
    const maxInFlight = isStepwise || this.#place === 'HOST' || this.#device.convoy ? 1 : 2;
    let encoder = opening;
    /** batches that were submitted and whose status was not read yet; the oldest comes first */
    const inFlight: Batch[] = [];
    const discardAll = () => {
      for (const { reading, steps } of inFlight.splice(0)) {
        reading.discard();
        this.#plan.discard(steps);
      }
    };
    const shouldStop = () => input.shouldStop?.() ?? false;
    let idleReadings = 0;
    try {
      for (;;) {
        const isStopped = shouldStop();
        const next = this.#nextOf(inFlight, isStepwise, settings);
        const count = isStopped ? 0 : next.steps;
        // Without a step to record, a search, or the status of the opening or of the end of the run, must still be read.
        if (count > 0 || inFlight.length === 0) {
          const submission: Submission = isStopped ? { ...next, steps: 0, precedes: 'NONE' } : next;
          this.#record(encoder, submission, settings, isStepwise, input.onState !== undefined);
          inFlight.push(await this.#batches.submit(encoder, count, input.onState !== undefined));
          encoder = this.#newEncoder();
          if (count > 0 && inFlight.length < maxInFlight) continue;
        }
        const oldest = inFlight.shift()!;
        const stepsBefore = this.#control.steps;
        let state = await this.#readStatus(oldest, request, states);
        if (!isStopped && this.#phases.isArrivalDue(this.#control, settings) && !shouldStop()) {
          discardAll();
          this.#batches.recordArrival(encoder);
          const batch = await this.#batches.submit(encoder, 1, input.onState !== undefined);
          encoder = this.#newEncoder();
          state = await this.#readStatus(batch, request, states, true);
        }
        if (isStopped || isFinal(state)) {
          if (!isStopped) this.#plan.end();
          return isStopped;
        }
        idleReadings = this.#control.steps === stepsBefore ? idleReadings + 1 : 0;
        if (idleReadings > MOST_IDLE_READINGS) {
          const { phase, steps } = this.#control;
          const at = `state ${state}, phase ${phase}, after ${steps} steps`;
          throw new IntersticeError('INTERNAL', `A run on the device neither ends nor makes another step: ${at}.`);
        }
        if (state === STATE.RUNNING) continue;
        // The run has paused: the batches submitted after the pause did nothing.
        discardAll();
        if (state === STATE.NEEDS_PHASE) {
          // Finer steps go on from the last state, the others from the best one.
          if (this.#control.phase !== PHASE.REFINE) states.dropWaiting();
          this.#plan.end();
          this.#openPhase(encoder, request);
          continue;
        }
        if (shouldStop()) return true;
        await this.#resume(state, encoder, request, oldest);
      }
    } finally {
      // The copies of a run that ends before it has read them, also by an error or a listener that throws, are free again.
      discardAll();
      states.dropWaiting();
    }
  }

  #nextOf(inFlight: readonly Batch[], isStepwise: boolean, settings: Settings): Submission {
    const submitted = inFlight.reduce((sum, { steps }) => sum + steps, 0);
    const most = isStepwise ? 1 : stepsPerBatch(sweepsOf(settings, this.#phases.phase));
    // Steps beyond the limit would only cost their dispatches.
    const left = stepLimitOf(STEP_PHASES[this.#phases.phase], settings) - this.#control.steps - submitted;
    // Rounds are recorded for as many contacts as the last step had, so it is worth waiting for its status.
    return this.#plan.next(submitted, most, left, isStepwise || this.#sweeps.rounds > 0);
  }

  #record(
    encoder: Recording,
    { steps, precedes, between }: Submission,
    settings: Settings,
    isStepwise: boolean,
    showsPieces: boolean,
  ): void {
    const search = this.#search.device;
    if (steps > 0) {
      if (this.#sweeps.covered !== this.#covered) this.#cover();
      this.#watch(steps > 1 && between === 'WATCH' && this.#place !== 'HOST');
      const searches = { precedes, between, search };
      const looksAhead = !isStepwise;
      this.#phases.recordSteps(encoder, steps, settings, { plan: this.#sweeps, searches, looksAhead, showsPieces });
    } else if (search && precedes === 'SEARCH') {
      this.#batches.recordSearch(encoder, search, this.#phases.phase);
    }
  }

  /** Sets whether steps that are recorded without searches between them pause if one is due. */
  #watch(watches: boolean): void {
    if (watches === this.#watches) return;
    this.#watches = watches;
    watchSearches(this.#device.memory.device.queue, this.#buffers, watches);
  }

  #cover(): void {
    this.#covered = this.#sweeps.covered;
    coverCandidates(this.#device.memory.device.queue, this.#buffers, this.#covered);
  }

  /** Handles the reason of a pause, and records that the run continues. @throws TOO_LARGE, OUT_OF_DEVICE_MEMORY */
  async #resume(state: number, encoder: Recording, { timings, settings }: LoopRequest, batch: Batch): Promise<void> {
    const paused = performance.now();
    const hadPairs = this.hasPairs;
    this.hasPairs = false;
    let control: ControlBlock;
    if (state === STATE.NEEDS_SEARCH && this.#place === 'HOST') {
      control = await this.#search.searchOnHost(this.#control);
      this.hasPairs = true;
    } else if (state === STATE.NEEDS_SWEEPS) {
      control = { ...this.#control, state: STATE.WANTS_SWEEPS };
      this.hasPairs = hadPairs;
    } else if (state === STATE.NEEDS_SEARCH) {
      control = { ...this.#control, state: STATE.RUNNING };
      this.hasPairs = hadPairs;
    } else if (state === STATE.NEEDS_ROUNDS) {
      this.#sweeps.extend(this.#control.candidateDemand);
      control = { ...this.#control, state: STATE.RUNNING };
      this.hasPairs = hadPairs;
    } else if (state === STATE.NEEDS_CANDIDATES) {
      control = await this.#search.growCandidates(this.#control);
      this.hasPairs = hadPairs;
    } else {
      control = await this.#search.growPairs(this.#control);
    }
    this.#writeControl(control);
    this.#plan.resume(state, control);
    timings.search += 1000 * (performance.now() - paused);
    this.#phases.resume(encoder, state, control, { settings, batch });
  }

  #openPhase(encoder: Recording, request: LoopRequest): void {
    this.#phases.open(encoder, this.#control, () => {
      this.#watches = false;
      request.upload(this.#phases.phase);
      this.#cover();
      const phase = this.#control.phase as Exclude<Phase, 0>;
      this.#sweeps.enterPullBack(phase, this.#phases.edgeCount, this.#phases.listsEdges ? this.#control : undefined);
      // What begins with the best state begins with a complete search, as openShortening does.
      const goesBack = phase !== PHASE.PULL && phase !== PHASE.REFINE;
      const wanted = goesBack ? SEARCH_MODE.ALL : this.#control.wantsSearch;
      const begun = phase === PHASE.REFINE ? BEGINS_FINER : { wantsSearch: wanted };
      this.#writeControl({ ...this.#control, state: STATE.RUNNING, ...begun });
      this.#plan.enter(phase, this.#control.wantsSearch);
    });
  }

  #writeControl(values: Partial<ControlBlock>): void {
    this.#control = { ...NEW_CONTROL, ...values };
    const { pairCapacity, candidateCapacity, packedRows } = this.#buffers;
    const packed = CONTROL.pack({ ...values, pairCapacity, candidateCapacity, packedRows });
    write(this.#device.memory.device.queue, this.#buffers.control, 0, packed);
  }

  /** Waits for the status of a batch, reports the steps that it has done, and returns the state of the run. */
  async #readStatus(
    batch: Batch,
    { input, settings, timings, holds }: LoopRequest,
    states: ShownStates,
    isArrival = false,
  ): Promise<number> {
    const before = this.#control;
    const parts = await batch.reading.wait();
    const x = batch.withPositions ? parts.at(-1) : undefined;
    if (batch.stamped) addStamps(timings, batch.stamped.stages, parts[1]);
    // A device that refused a submission leaves the old status block: the run would never end.
    this.#device.assertUsable();
    this.#control = CONTROL.unpack(parts[0]);
    const { state, steps, searches, residual, unfinished } = this.#control;
    this.#plan.observe(this.#control, batch.steps, steps - before.steps);
    if (steps > before.steps) this.#sweeps.observe(this.#control, steps - before.steps);
    if (!isArrival) this.#phases.observe(this.#control, settings);
    if (state === STATE.NEEDS_ROOM) this.hasPairs = false;
    else if (searches > before.searches) this.hasPairs = true;
    if (steps > before.steps) {
      const isBest = this.#control.bests > before.bests;
      const { phase } = this.#phases;
      for (let n = 0; batch.withPieces && n < this.#control.lastFurther; n++) {
        const length = 3 * this.#vertexCount;
        states.add(new Float32Array(parts.at(-2)!, n * 4 * length, length), phase, steps, false);
      }
      if (x) states.add(new Float32Array(x), phase, steps, isBest, isArrival);
      input.onProgress?.({ steps, residual, unfinishedVertices: unfinished });
    }
    // Reports of what holds the other vertices remain those from before the arrival.
    if (!isArrival) await holds?.note(before, this.#control, this.#phases.phase);
    return state;
  }

  #newEncoder(): Recording {
    return this.#submissions.begin();
  }
}

const isFinal = (state: number): boolean =>
  state === STATE.CONVERGED || state === STATE.STALLED || state === STATE.AT_STEP_LIMIT;

/** Words of the control block with which finer steps begin: as if no step before had been poor or had an aim. */
export const BEGINS_FINER = {
  wantsSearch: SEARCH_MODE.NONE,
  ...{ poorSteps: 0, beyond: 0, hasRecovered: 0, wasTaut: 0, worseSteps: 0 },
  ...{ isThorough: 0, isBest: 0, hasAim: 0 },
};
