import type { DeviceMemory } from '../device/memory.js';
import type { Reader, Reading } from '../device/readback.js';
import { CONTROL } from '../kernels/structs.js';
import type { DeviceSearch } from '../search/device-search.js';
import type { Dispatcher } from './dispatcher.js';
import type { PullBackRecorder, PullBackShape } from './pull-back-recorder.js';
import type { StepRecorder, StepShape } from './recorder.js';
import type { SceneBuffers } from './scene-buffers.js';
import { PassSequence, type Stage, StageClock, type StampedPasses } from './stage-clock.js';

/** Steps recorded between two readings of the status block. */
export const MAX_BATCH_STEPS = 8;

/** Sweeps recorded between two readings, where a step has fewer: with many sweeps per step, deadlines need more readings. */
const MAX_BATCH_SWEEPS = 32;

export const stepsPerBatch = (sweeps: number): number =>
  Math.max(1, Math.min(MAX_BATCH_STEPS, Math.floor(MAX_BATCH_SWEEPS / sweeps)));

/** Submitted steps, and what is to be read of them. */
export interface Batch {
  readonly reading: Reading;
  /** how many */
  readonly steps: number;
  readonly stamped: StampedPasses | undefined;
  readonly withPositions: boolean;
}

/** Records steps, each with the search that may precede it, and submits them with copies of what the host reads. */
export class BatchRecorder {
  /** dispatches of the step recorded last, with those of a search */
  dispatchesPerStep = 0;
  /** steps submitted since the scene was opened, including those in which the device found nothing to do */
  submittedSteps = 0;

  readonly #memory: DeviceMemory;
  readonly #buffers: SceneBuffers;
  readonly #dispatcher: Dispatcher;
  readonly #recorder: StepRecorder;
  readonly #pullBack: PullBackRecorder;
  readonly #reader: Reader;
  readonly #clock: StageClock | undefined;
  readonly #vertexCount: number;

  /** @param isTimed the time of each stage is taken, where the device has time stamps */
  constructor(
    memory: DeviceMemory,
    buffers: SceneBuffers,
    recorders: { readonly dispatcher: Dispatcher; readonly steps: StepRecorder; readonly pullBack: PullBackRecorder },
    reader: Reader,
    vertexCount: number,
    isTimed: boolean,
  ) {
    this.#memory = memory;
    this.#buffers = buffers;
    this.#dispatcher = recorders.dispatcher;
    this.#recorder = recorders.steps;
    this.#pullBack = recorders.pullBack;
    this.#reader = reader;
    this.#vertexCount = vertexCount;
    this.#clock = isTimed ? StageClock.open(memory) : undefined;
  }

  /** Time stamps tell how the device's time divides into stages. */
  get isTimed(): boolean {
    return this.#clock !== undefined;
  }

  /** Records what precedes the first step of a request. */
  recordOpening(encoder: GPUCommandEncoder): void {
    const passes = new PassSequence(encoder, this.#clock);
    this.#recorder.begin((stage) => passes.enter(stage), this.#vertexCount);
    passes.end();
  }

  /**
   * Records steps of Algorithm 1.
   *
   * @param search undefined where the host searches
   * @param continuesStep the first of these steps has begun already (StepRecorder.step); no search precedes it
   */
  record(
    encoder: GPUCommandEncoder,
    count: number,
    shape: StepShape,
    search: DeviceSearch | undefined,
    continuesStep: boolean,
  ): void {
    this.#recordEach(encoder, count, search, continuesStep, undefined, (enter, isContinued) => {
      this.#recorder.step(enter, shape, isContinued);
    });
  }

  /**
   * Records steps of the pull-back.
   *
   * @param hasAim the sweeps of the first of these steps are done (PullBackRecorder.step)
   * @param continuesStep they had no room for their candidates
   */
  recordPullBack(
    encoder: GPUCommandEncoder,
    count: number,
    shape: PullBackShape,
    search: DeviceSearch | undefined,
    { hasAim, continuesStep }: { readonly hasAim: boolean; readonly continuesStep: boolean },
  ): void {
    let isAimed = hasAim;
    const afterSearch = (pass: GPUComputePassEncoder): void => this.#pullBack.afterSearch(pass);
    this.#recordEach(encoder, count, search, continuesStep, afterSearch, (enter, isContinued) => {
      this.#pullBack.step(enter, shape, { hasAim: isAimed, isContinued });
      isAimed = true;
    });
  }

  /** Records the last step of kinematic vertices. */
  recordArrival(encoder: GPUCommandEncoder): void {
    const passes = new PassSequence(encoder, this.#clock);
    this.#recorder.arrive(passes.enter('forward'));
    passes.end();
  }

  #recordEach(
    encoder: GPUCommandEncoder,
    count: number,
    search: DeviceSearch | undefined,
    continuesStep: boolean,
    afterSearch: ((pass: GPUComputePassEncoder) => void) | undefined,
    recordStep: (enter: (stage: Stage) => GPUComputePassEncoder, isContinued: boolean) => void,
  ): void {
    const passes = new PassSequence(encoder, this.#clock);
    for (let n = 0; n < count; n++) {
      const before = this.#dispatcher.dispatches;
      const isContinued = continuesStep && n === 0;
      if (search && !isContinued) {
        const pass = passes.enter('search');
        search.record(pass);
        this.#recorder.afterSearch(pass);
        afterSearch?.(pass);
      }
      recordStep((stage) => passes.enter(stage), isContinued);
      this.dispatchesPerStep = this.#dispatcher.dispatches - before + (search?.dispatches ?? 0);
    }
    passes.end();
  }

  /** Submits recorded steps, with copies of the status block and, on demand, of x. */
  submit(encoder: GPUCommandEncoder, steps: number, withPositions: boolean): Batch {
    const { control, x } = this.#buffers;
    const stamped = this.#clock?.resolve(encoder);
    const slices = [{ buffer: control, bytes: CONTROL.bytes }];
    if (stamped) slices.push(stamped.slice);
    if (withPositions) slices.push({ buffer: x, bytes: 12 * this.#vertexCount });
    const reading = this.#reader.record(encoder, slices);
    this.#memory.device.queue.submit([encoder.finish()]);
    this.submittedSteps += steps;
    return { reading, steps, stamped, withPositions };
  }

  close(): void {
    this.#clock?.close();
  }
}
