import type { DeviceMemory } from './memory.js';
import { type Reader, type Reading, type Slice, totalOf } from './readback.js';
import { type Recording, SharedRecording } from './recording.js';

/** How the work of a scene gets to the device. */
export interface Submissions {
  begin(): Recording;
  /**
   * Submits what was recorded, with copies of these slices after it.
   *
   * @throws OUT_OF_DEVICE_MEMORY where there is no room for the copies, and nothing was submitted
   */
  submit(recording: Recording, slices: readonly Slice[]): Promise<Reading>;
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

  async submit(recording: Recording, slices: readonly Slice[]): Promise<Reading> {
    if (recording instanceof SharedRecording) throw new Error('A part of a shared submission is submitted alone.');
    const bytes = totalOf(slices);
    for (let room = this.#reader.reserve(bytes); room; room = this.#reader.reserve(bytes)) await room;
    const reading = this.#reader.record(recording, slices);
    this.#memory.device.queue.submit([recording.finish()]);
    return reading;
  }
}
