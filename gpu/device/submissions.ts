import type { DeviceMemory } from './memory.js';
import { type Reader, type Reading, type Slice, totalOf } from './readback.js';
import { OwnRecording, type Recording, SharedRecording } from './recording.js';

/** Submits the work of a scene to the device. */
export interface Submissions {
  begin(): Recording;
  /**
   * Submits a recording, followed by copies of these slices.
   *
   * @throws OUT_OF_DEVICE_MEMORY if there is no room for the copies; the device may have run a part of the recording
   */
  submit(recording: Recording, slices: readonly Slice[]): Promise<Reading>;
}

/** Submits each recording on its own. */
export class OwnSubmissions implements Submissions {
  readonly #memory: DeviceMemory;
  readonly #reader: Reader;

  constructor(memory: DeviceMemory, reader: Reader) {
    this.#memory = memory;
    this.#reader = reader;
  }

  begin(): OwnRecording {
    return new OwnRecording(this.#memory.device);
  }

  async submit(recording: Recording, slices: readonly Slice[]): Promise<Reading> {
    if (recording instanceof SharedRecording) throw new Error('A part of a shared submission is submitted alone.');
    const bytes = totalOf(slices);
    for (let room = this.#reader.reserve(bytes); room; room = this.#reader.reserve(bytes)) await room;
    const reading = this.#reader.record(recording.encoder, slices);
    recording.submitPart();
    return reading;
  }
}
