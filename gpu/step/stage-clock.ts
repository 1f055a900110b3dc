import type { StageTimings } from '../../src/contract/report.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { DeviceMemory } from '../device/memory.js';
import type { Slice } from '../device/readback.js';
import { type Pass, type Recording, SharedRecording } from '../device/recording.js';

/** Stages of a step, for timing. */
export type Stage = keyof StageTimings;

/**
 * Passes of one recording that can be timed; later ones would run untimed. There are fewer: the opening of a request has
 * 2, each of up to MAX_BATCH_STEPS steps (batch.ts) changes its stage at most 6 times, a search included, and a pass
 * begins anew in each part of the recording, of which there are at most 10 with 65,000 dispatches.
 */
const MAX_PASSES = 64;
const STAMP_BYTES = 8;

/** The stage of each timed pass of a submission, and the slice from which the stamps are read. */
export interface StampedPasses {
  readonly stages: readonly Stage[];
  readonly slice: Slice;
}

/**
 * Takes the device's own time of every stage: one pass per stage with a stamp at both ends, resolved at the end of each
 * recording and read with its status block. Recordings run one after the other, so one set of queries is enough for
 * all.
 */
export class StageClock {
  readonly #memory: DeviceMemory;
  readonly #queries: GPUQuerySet;
  readonly #stamps: GPUBuffer;
  #stages: Stage[] = [];

  private constructor(memory: DeviceMemory) {
    const count = 2 * MAX_PASSES;
    this.#memory = memory;
    this.#queries = memory.device.createQuerySet({ label: 'stages', type: 'timestamp', count });
    this.#stamps = memory.allocate('stamps', STAMP_BYTES * count, BUFFER_USAGE.QUERY_RESOLVE | BUFFER_USAGE.COPY_SRC);
  }

  /** undefined if the device has no time stamps */
  static open(memory: DeviceMemory): StageClock | undefined {
    return memory.device.features.has('timestamp-query') ? new StageClock(memory) : undefined;
  }

  /** Begins a request: passes that a failed request has recorded and not submitted do not belong to it. */
  begin(): void {
    this.#stages = [];
  }

  /** Begins a pass whose time counts as that of a stage. */
  beginPass(encoder: Recording, stage: Stage): Pass {
    if (encoder instanceof SharedRecording) return encoder.beginComputePass();
    return encoder.beginComputePass(() => {
      const n = this.#stages.length;
      if (n >= MAX_PASSES) return undefined;
      this.#stages.push(stage);
      const writes = { querySet: this.#queries, beginningOfPassWriteIndex: 2 * n, endOfPassWriteIndex: 2 * n + 1 };
      return { timestampWrites: writes };
    });
  }

  /** Ends a recording; its stamps must be copied after everything else in it. */
  resolve(encoder: Recording): StampedPasses {
    const stages = this.#stages;
    this.#stages = [];
    if (stages.length > 0 && !(encoder instanceof SharedRecording))
      encoder.encoder.resolveQuerySet(this.#queries, 0, 2 * stages.length, this.#stamps, 0);
    return { stages, slice: { buffer: this.#stamps, bytes: 2 * STAMP_BYTES * stages.length } };
  }

  close(): void {
    this.#queries.destroy();
    this.#memory.free(this.#stamps);
  }
}

/** The passes of one recording: a single one, or one per stage if stages are timed. */
export class PassSequence {
  readonly #encoder: Recording;
  readonly #clock: StageClock | undefined;
  #pass: Pass | undefined;
  #stage: Stage | undefined;

  constructor(encoder: Recording, clock: StageClock | undefined) {
    this.#encoder = encoder;
    this.#clock = clock;
  }

  enter(stage: Stage): Pass {
    if (this.#pass && (this.#clock === undefined || stage === this.#stage)) return this.#pass;
    this.#pass?.end();
    this.#stage = stage;
    this.#pass = this.#clock ? this.#clock.beginPass(this.#encoder, stage) : this.#encoder.beginComputePass();
    return this.#pass;
  }

  end(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}

/** Adds the microseconds between the two stamps of each pass, which are in nanoseconds, to its stage. */
export function addStamps(timings: StageTimings, stages: readonly Stage[], bytes: ArrayBuffer): void {
  const stamps = new BigUint64Array(bytes);
  stages.forEach((stage, n) => {
    // The standard allows a clock to be set back between two stamps: such a pair shows nothing.
    const spent = stamps[2 * n + 1] - stamps[2 * n];
    if (spent > 0n) timings[stage] += Number(spent) / 1000;
  });
}
