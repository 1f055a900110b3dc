import type { Indirect } from './dispatch.js';
import type { Bindings, Kernel } from './kernel.js';
import type { Place } from './place.js';

/** A dispatch of one scene. */
export interface Launch {
  readonly kernel: Kernel;
  readonly bindings: Bindings;
  /** workgroups in two dimensions, or the place where the device finds these numbers */
  readonly size: readonly [x: number, y: number] | Indirect;
  /** largest possible number of workgroups, as far as the host knows; this affects speed only */
  readonly most: number;
}

/** Dispatches of a scene, for a submission that it shares with others. */
export class SharedPass {
  readonly launches: Launch[] = [];

  add(launch: Launch): void {
    this.launches.push(launch);
  }

  /** Exists as in GPUComputePassEncoder: a scene's passes follow each other, and only their order matters. */
  end(): void {}
}

/** What a scene records for a submission that it shares with others: copies, followed by dispatches. */
export class SharedRecording {
  readonly copies: ((encoder: GPUCommandEncoder) => void)[] = [];
  readonly pass = new SharedPass();

  beginComputePass(): SharedPass {
    return this.pass;
  }
}

/**
 * Dispatches after which a scene's own recording submits what it has, for the first time; each of the next parts has
 * twice as many. A card takes about as long for a dispatch as the host takes to record it, so that it runs one part
 * while the next one is recorded, and a recording of any length has few parts.
 */
const FIRST_PART = 64;

/** A pass of a scene's own recording. It continues in the next part when a part is full. */
export class OwnPass {
  readonly #recording: OwnRecording;
  readonly #begin: () => GPUComputePassEncoder;
  /** undefined = no dispatch is recorded yet */
  #pass: GPUComputePassEncoder | undefined;

  /** @param begin begins a pass in the part that is being recorded */
  constructor(recording: OwnRecording, begin: () => GPUComputePassEncoder) {
    this.#recording = recording;
    this.#begin = begin;
  }

  /** Counts a dispatch, and returns the pass that it is to be recorded in. */
  count(): GPUComputePassEncoder {
    if (this.#recording.isPartFull) {
      this.end();
      this.#recording.submitPart();
    }
    this.#recording.dispatches++;
    this.#pass ??= this.#begin();
    return this.#pass;
  }

  end(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}

/** What a scene records for submissions of its own. Its parts run in order, as one submission would. */
export class OwnRecording {
  readonly #device: GPUDevice;
  #encoder: GPUCommandEncoder;
  #most: number;
  /** dispatches of the part that is being recorded */
  dispatches = 0;

  /** @param firstPart dispatches of the first part */
  constructor(device: GPUDevice, firstPart = FIRST_PART) {
    this.#most = firstPart;
    this.#device = device;
    this.#encoder = device.createCommandEncoder();
  }

  /** The encoder of the part that is being recorded; not to be kept. */
  get encoder(): GPUCommandEncoder {
    return this.#encoder;
  }

  get isPartFull(): boolean {
    return this.dispatches >= this.#most;
  }

  /** @param describe the descriptor of the pass in each part that it spans */
  beginComputePass(describe?: () => GPUComputePassDescriptor | undefined): OwnPass {
    return new OwnPass(this, () => this.#encoder.beginComputePass(describe?.()));
  }

  /** Submits what is recorded since the last part; no pass may be open. */
  submitPart(): void {
    this.#device.queue.submit([this.#encoder.finish()]);
    this.#encoder = this.#device.createCommandEncoder();
    this.#most *= 2;
    this.dispatches = 0;
  }
}

/** Where a scene records: its own submission, or its part of a shared one. */
export type Recording = OwnRecording | SharedRecording;
export type Pass = GPUComputePassEncoder | OwnPass | SharedPass;

/**
 * Records a copy of the first bytes of a place to another buffer. In a shared submission copies precede all dispatches.
 */
export function copy(recording: Recording, from: Place, to: Place, bytes: number): void {
  const record = (encoder: GPUCommandEncoder): void => {
    encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, bytes);
  };
  if (!(recording instanceof SharedRecording)) record(recording.encoder);
  else if (recording.pass.launches.length > 0) throw new Error('A copy is recorded behind dispatches.');
  else recording.copies.push(record);
}
