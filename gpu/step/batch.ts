import type { DeviceMemory } from '../device/memory.js';
import type { Reader, Reading } from '../device/readback.js';
import { CONTROL } from '../kernels/structs.js';
import type { DeviceSearch } from '../search/device-search.js';
import type { StepRecorder, StepShape } from './recorder.js';
import type { SceneBuffers } from './scene-buffers.js';
import { PassSequence, StageClock, type StampedPasses } from './stage-clock.js';

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
  readonly #recorder: StepRecorder;
  readonly #reader: Reader;
  readonly #clock: StageClock | undefined;
  readonly #vertexCount: number;

  /** @param isTimed the time of each stage is taken, where the device has time stamps */
  constructor(
    memory: DeviceMemory,
    buffers: SceneBuffers,
    recorder: StepRecorder,
    reader: Reader,
    vertexCount: number,
    isTimed: boolean,
  ) {
    this.#memory = memory;
    this.#buffers = buffers;
    this.#recorder = recorder;
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
    const passes = new PassSequence(encoder, this.#clock);
    for (let n = 0; n < count; n++) {
      const before = this.#recorder.dispatches;
      const isContinued = continuesStep && n === 0;
      if (search && !isContinued) {
        const pass = passes.enter('search');
        search.record(pass);
        this.#recorder.afterSearch(pass);
      }
      this.#recorder.step((stage) => passes.enter(stage), shape, isContinued);
      this.dispatchesPerStep = this.#recorder.dispatches - before + (search?.dispatches ?? 0);
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
