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

/** Where a scene records: its own submission, or its part of a shared one. */
export type Recording = GPUCommandEncoder | SharedRecording;
export type Pass = GPUComputePassEncoder | SharedPass;

/**
 * Records a copy of the first bytes of a place to another buffer. In a shared submission copies precede all dispatches.
 */
export function copy(recording: Recording, from: Place, to: Place, bytes: number): void {
  const record = (encoder: GPUCommandEncoder): void => {
    encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, bytes);
  };
  if (!(recording instanceof SharedRecording)) record(recording);
  else if (recording.pass.launches.length > 0) throw new Error('A copy is recorded behind dispatches.');
  else recording.copies.push(record);
}
