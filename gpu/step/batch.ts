import { PULL_BACK_PIECES } from '../../src/solver/constants.js';
import type { DeviceMemory } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
import type { Reading } from '../device/readback.js';
import type { Pass, Recording } from '../device/recording.js';
import type { Submissions } from '../device/submissions.js';
import { PHASE, type Phase } from '../kernels/constants.js';
import { CONTROL } from '../kernels/structs.js';
import type { DeviceSearch } from '../search/device-search.js';
import type { Dispatcher } from './dispatcher.js';
import { PIECE_BYTES } from './pull-back-buffers.js';
import type { PullBackParts, PullBackRecorder, PullBackShape } from './pull-back-recorder.js';
import type { StepRecorder, StepShape } from './recorder.js';
import type { SceneBuffers } from './scene-buffers.js';
import { PassSequence, type Stage, StageClock, type StampedPasses } from './stage-clock.js';

/** Steps recorded between two readings of the status block. */
export const MAX_BATCH_STEPS = 8;

/** Sweeps recorded between two readings, if that is fewer steps: with many sweeps, deadlines need more readings. */
const MAX_BATCH_SWEEPS = 32;

export const stepsPerBatch = (sweeps: number): number =>
  Math.max(1, Math.min(MAX_BATCH_STEPS, Math.floor(MAX_BATCH_SWEEPS / sweeps)));

/**
 * What precedes a step: SEARCH, a search that runs if one is due; WATCH, a test whether one is due, for which the run
 * pauses (it is part of the decision of the previous step if that is in the same submission: watchSearches); NONE, if
 * it is known that none is due.
 */
export type Precedes = 'SEARCH' | 'WATCH' | 'NONE';

/** What precedes the recorded steps. */
export interface Searches {
  /** the first of them */
  readonly precedes: Precedes;
  /** each of the others */
  readonly between: Precedes;
  /** undefined if the host searches */
  readonly search: DeviceSearch | undefined;
}

/** Submitted steps, and the reading of their results. */
export interface Batch {
  readonly reading: Reading;
  /** their number */
  readonly steps: number;
  readonly stamped: StampedPasses | undefined;
  readonly withPositions: boolean;
  /** whether the states between the pieces of a forward step of the pull-back precede the positions */
  readonly withPieces: boolean;
  /** whether one workgroup makes the sweeps of its steps that do not visit all edges (PullBackShape) */
  readonly isFew: boolean;
}

/** Records steps, and searches before them, and submits them with copies of what the host reads. */
export class BatchRecorder {
  /** dispatches of the step recorded last, without those of a search */
  dispatchesPerStep = 0;
  /** steps submitted since the scene was opened, including those in which the device found nothing to do */
  submittedSteps = 0;

  readonly #buffers: SceneBuffers;
  readonly #dispatcher: Dispatcher;
  readonly #recorder: StepRecorder;
  readonly #pullBack: PullBackRecorder;
  readonly #submissions: Submissions;
  readonly #clock: StageClock | undefined;
  readonly #vertexCount: number;
  /** of the steps that were recorded last */
  #isFew = false;
  #showsPieces = false;

  /** @param isTimed whether the time of each stage is taken, if the device has time stamps */
  constructor(
    memory: DeviceMemory,
    buffers: SceneBuffers,
    recorders: { readonly dispatcher: Dispatcher; readonly steps: StepRecorder; readonly pullBack: PullBackRecorder },
    submissions: Submissions,
    vertexCount: number,
    isTimed: boolean,
  ) {
    this.#buffers = buffers;
    this.#dispatcher = recorders.dispatcher;
    this.#recorder = recorders.steps;
    this.#pullBack = recorders.pullBack;
    this.#submissions = submissions;
    this.#vertexCount = vertexCount;
    this.#clock = isTimed ? StageClock.open(memory) : undefined;
  }

  /** Whether time stamps divide the device's time among stages. */
  get isTimed(): boolean {
    return this.#clock !== undefined;
  }

  /** Records what precedes the first step of a request. @param hasPairs whether there is a P that may be reused */
  recordOpening(encoder: Recording, hasPairs: boolean): void {
    this.#clock?.begin();
    const passes = new PassSequence(encoder, this.#clock);
    this.#recorder.begin((stage) => passes.enter(stage), this.#vertexCount, hasPairs);
    passes.end();
  }

  /**
   * Records steps of Algorithm 1.
   *
   * @param searches what precedes them
   * @param continuesStep whether the first of these steps has already begun (StepRecorder.step); no search precedes it
   */
  record(encoder: Recording, count: number, shape: StepShape, searches: Searches, continuesStep: boolean): void {
    this.#showsPieces = false;
    this.#recordEach(encoder, count, searches, continuesStep, undefined, (enter, isContinued) => {
      this.#recorder.step(enter, shape, isContinued);
    });
  }

  /**
   * Records a step of the pull-back. A submission has only one: sweeps that require another round pause the run behind
   * them, and the decision of a further step would clear what they have counted before the host reads it.
   *
   * @param how `hasAim`: whether its sweeps are done (PullBackRecorder.step); `continuesStep`: whether they had no room
   *   for their candidates
   */
  recordPullBack(
    encoder: Recording,
    shape: PullBackShape,
    searches: Searches,
    how: Omit<PullBackParts, 'isContinued'> & { readonly continuesStep: boolean },
  ): void {
    this.#isFew = shape.isFew ?? false;
    this.#showsPieces = how.showsPieces;
    const { continuesStep, ...parts } = how;
    const isBegun = continuesStep || parts.roundsDone > 0;
    this.#recordEach(encoder, 1, searches, isBegun, this.#pullBack, (enter, isContinued) => {
      this.#pullBack.step(enter, shape, { ...parts, isContinued });
    });
  }

  /** Records a search alone, which runs if one is due. @param phase whose steps follow */
  recordSearch(encoder: Recording, search: DeviceSearch, phase: Phase): void {
    const passes = new PassSequence(encoder, this.#clock);
    this.#search(passes, search, phase === PHASE.ADVANCE ? undefined : this.#pullBack);
    passes.end();
  }

  /** Records the last step of kinematic vertices. */
  recordArrival(encoder: Recording): void {
    const passes = new PassSequence(encoder, this.#clock);
    this.#recorder.arrive(passes.enter('forward'));
    passes.end();
  }

  #recordEach(
    encoder: Recording,
    count: number,
    { precedes, between, search }: Searches,
    continuesStep: boolean,
    pullBack: PullBackRecorder | undefined,
    recordStep: (enter: (stage: Stage) => Pass, isContinued: boolean) => void,
  ): void {
    const passes = new PassSequence(encoder, this.#clock);
    for (let n = 0; n < count; n++) {
      const dispatches = this.#dispatcher.dispatches;
      const isContinued = continuesStep && n === 0;
      const before = n === 0 ? precedes : between;
      if (search && !isContinued) {
        if (before === 'SEARCH') this.#search(passes, search, pullBack);
        if (before === 'WATCH' && n === 0) this.#recorder.watchForSearch(passes.enter('search'));
      }
      recordStep((stage) => passes.enter(stage), isContinued);
      this.dispatchesPerStep = this.#dispatcher.dispatches - dispatches;
    }
    passes.end();
  }

  #search(passes: PassSequence, search: DeviceSearch, pullBack: PullBackRecorder | undefined): void {
    const pass = passes.enter('search');
    search.record(pass);
    this.#recorder.afterSearch(pass);
    pullBack?.afterSearch(pass);
  }

  /**
   * Submits recorded steps, with copies of the status block and, on request, of x and of the states that the last step
   * shows.
   *
   * @throws OUT_OF_DEVICE_MEMORY
   */
  async submit(encoder: Recording, steps: number, withPositions: boolean): Promise<Batch> {
    const { control, x, pieces } = this.#buffers;
    const stamped = this.#clock?.resolve(encoder);
    const slices = [sliceOf(control, CONTROL.bytes)];
    if (stamped) slices.push(stamped.slice);
    const withPieces = withPositions && steps > 0 && this.#showsPieces && pieces !== undefined;
    if (withPieces) slices.push(sliceOf(pieces, PIECE_BYTES * (PULL_BACK_PIECES - 1) * this.#vertexCount));
    if (withPositions) slices.push(sliceOf(x, PIECE_BYTES * this.#vertexCount));
    const reading = await this.#submissions.submit(encoder, slices);
    this.submittedSteps += steps;
    return { reading, steps, stamped, withPositions, withPieces, isFew: this.#isFew };
  }

  close(): void {
    this.#clock?.close();
  }
}
