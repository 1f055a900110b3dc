import type { DeviceMemory } from './memory.js';
import type { Reader, Reading, Slice } from './readback.js';
import { type Recording, SharedRecording } from './recording.js';

/** How the work of a scene gets to the device. */
export interface Submissions {
  begin(): Recording;
  /** Submits what was recorded, with copies of these slices after it. */
  submit(recording: Recording, slices: readonly Slice[]): Reading;
}

/** Each recording is a submission of its own. */
export class OwnSubmissions implements Submissions {
  readonly #memory: DeviceMemory;
  readonly #reader: Reader;

  constructor(memory: DeviceMemory, reader: Reader) {
    this.#memory = memory;
    this.#reader = reader;
  }

  begin(): GPUCommandEncoder {
    return this.#memory.device.createCommandEncoder();
  }

  submit(recording: Recording, slices: readonly Slice[]): Reading {
    if (recording instanceof SharedRecording) throw new Error('A part of a shared submission is submitted alone.');
    const reading = this.#reader.record(recording, slices);
    this.#memory.device.queue.submit([recording.finish()]);
    return reading;
  }
}
