import type { StageTimings } from '../../src/contract/report.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Slice } from '../device/readback.js';
import type { Stage } from './recorder.js';

/** Passes of one submission whose time is taken; more are recorded all the same, but not timed. */
const PASSES = 64;
const STAMP_BYTES = 8;

/** Which stage each pass of a submission belongs to, and where its stamps are copied from. */
export interface StampedPasses {
  readonly stages: readonly Stage[];
  readonly slice: Slice;
}

/**
 * Takes the device's own time of every stage: a pass per stage, a stamp at both ends, resolved at the end of each
 * submission and read with its status block. Submissions run one after the other, so that one set of queries serves all.
 */
export class StageClock {
  readonly #memory: DeviceMemory;
  readonly #queries: GPUQuerySet;
  readonly #stamps: GPUBuffer;
  #stages: Stage[] = [];

  private constructor(memory: DeviceMemory) {
    const count = 2 * PASSES;
    this.#memory = memory;
    this.#queries = memory.device.createQuerySet({ label: 'stages', type: 'timestamp', count });
    this.#stamps = memory.allocate('stamps', STAMP_BYTES * count, BUFFER_USAGE.QUERY_RESOLVE | BUFFER_USAGE.COPY_SRC);
  }

  /** undefined where the device has no timestamps. */
  static open(memory: DeviceMemory): StageClock | undefined {
    return memory.device.features.has('timestamp-query') ? new StageClock(memory) : undefined;
  }

  /** Opens a pass whose time counts as that of a stage. */
  beginPass(encoder: GPUCommandEncoder, stage: Stage): GPUComputePassEncoder {
    const n = this.#stages.length;
    if (n >= PASSES) return encoder.beginComputePass();
    this.#stages.push(stage);
    return encoder.beginComputePass({
      timestampWrites: { querySet: this.#queries, beginningOfPassWriteIndex: 2 * n, endOfPassWriteIndex: 2 * n + 1 },
    });
  }

  /** Ends what is recorded for one submission: its stamps, to be copied behind everything else in it. */
  resolve(encoder: GPUCommandEncoder): StampedPasses {
    const stages = this.#stages;
    this.#stages = [];
    if (stages.length > 0) encoder.resolveQuerySet(this.#queries, 0, 2 * stages.length, this.#stamps, 0);
    return { stages, slice: { buffer: this.#stamps, bytes: 2 * STAMP_BYTES * stages.length } };
  }

  close(): void {
    this.#queries.destroy();
    this.#memory.free(this.#stamps);
  }
}

/** Adds the microseconds between each pass's two stamps, in nanoseconds, to its stage. */
export function addStamps(timings: StageTimings, stages: readonly Stage[], bytes: ArrayBuffer): void {
  const stamps = new BigUint64Array(bytes);
  stages.forEach((stage, n) => {
    // A clock that was set back between two stamps (the standard allows it) tells nothing.
    const spent = stamps[2 * n + 1] - stamps[2 * n];
    if (spent > 0n) timings[stage] += Number(spent) / 1000;
  });
}
