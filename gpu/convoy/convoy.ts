import type { ConvoyCounts } from '../../src/solver/engine.js';
import type { DeviceMemory } from '../device/memory.js';
import { Reader, type Reading, type Slice, totalOf } from '../device/readback.js';
import { type Recording, SharedRecording } from '../device/recording.js';
import type { Submissions } from '../device/submissions.js';
import { MOST_SCENES } from './address.js';
import { Arena } from './arena.js';
import { DispatchEncoder, type EncodePlan } from './encode.js';

export interface ConvoySettings {
  /** largest number of scenes in one submission, at most {@link MOST_SCENES} */
  readonly scenes: number;
  /** ms that the first scene of a submission waits for others at most */
  readonly delay: number;
}

/** The recorded work of a scene, kept until the status of its submission has been read. */
interface Part {
  readonly recording: SharedRecording;
  readonly slices: readonly Slice[];
  /** ms, when it was recorded */
  readonly since: number;
  /** @param copies of the slices, one after the other */
  resolve(copies: ArrayBuffer): void;
  reject(thrown: unknown): void;
}

/**
 * Submits the work of several scenes of one device together: one submission, one reading, and one dispatch for each
 * kernel that they share. Scenes with a running request are expected: a submission leaves when all of them have
 * recorded their next work, when it is full, or when the first one has waited for too long. At most one submission is
 * on the device, because a second one would only wait there, with fewer scenes.
 */
export class Convoy {
  readonly arena: Arena;
  readonly #memory: DeviceMemory;
  readonly #reader: Reader;
  readonly #encoder: DispatchEncoder;
  readonly #settings: ConvoySettings;
  #waiting: Part[] = [];
  #submissions = 0;
  #parts = 0;
  #waited = 0;
  readonly #sizes: number[] = new Array(Math.ceil(Math.log2(MOST_SCENES)) + 1).fill(0);
  #expected = 0;
  #isUnderway = false;
  #isConsidering = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param memory a separate account, for buffers that belong to no scene */
  constructor(memory: DeviceMemory, isSoftware: boolean, settings: ConvoySettings) {
    this.#memory = memory;
    this.#settings = { ...settings, scenes: Math.min(settings.scenes, MOST_SCENES) };
    this.#reader = new Reader(memory);
    this.#encoder = new DispatchEncoder(memory, isSoftware);
    this.arena = new Arena(memory.fork(), () => this.#encoder.forget());
  }

  get counts(): Omit<ConvoyCounts, 'alone'> {
    const { dispatches, launches } = this.#encoder;
    const sizes = [...this.#sizes];
    return { submissions: this.#submissions, parts: this.#parts, dispatches, launches, waited: this.#waited, sizes };
  }

  /** Runs a request of a scene; other scenes wait for its submissions meanwhile. */
  async during<T>(request: () => Promise<T>): Promise<T> {
    this.#expected++;
    try {
      return await request();
    } finally {
      this.#expected--;
      this.#consider();
    }
  }

  /** The interface through which a scene submits: one recording at a time, and the next one after the status of the last was read. */
  readonly seat: Submissions = {
    begin: () => new SharedRecording(),
    submit: async (recording, slices) => this.#join(recording, slices),
  };

  #join(recording: Recording, slices: readonly Slice[]): Reading {
    if (!(recording instanceof SharedRecording)) throw new Error('A scene of a convoy submits alone.');
    const read = new Promise<ArrayBuffer>((resolve, reject) => {
      this.#waiting.push({ recording, slices, since: performance.now(), resolve, reject });
    });
    // If this scene no longer waits, the loss of the device is reported to the scenes that do.
    read.catch(() => undefined);
    this.#consider();
    const offsets = startsOf(slices);
    const inspect: Reading['inspect'] = async (use) => use(await read, offsets);
    const wait = () => inspect((range) => slices.map(({ bytes }, n) => range.slice(offsets[n], offsets[n]! + bytes)));
    return { wait, inspect, discard: () => undefined };
  }

  /** Checks whether to submit once all scenes that continue in this turn of the event loop have recorded, so that their work leaves together. */
  #consider(): void {
    if (this.#isConsidering) return;
    this.#isConsidering = true;
    setImmediate(() => {
      this.#isConsidering = false;
      this.#decide();
    });
  }

  /** Submits the waiting recordings, if it is time. */
  #decide(): void {
    if (this.#isUnderway || this.#waiting.length === 0) return;
    const { scenes, delay } = this.#settings;
    if (this.#waiting.length >= Math.min(this.#expected, scenes)) {
      void this.#leave();
      return;
    }
    // The delay counts from the first recording, which may have been made while another submission was on the device.
    const left = leftOf(delay, this.#waiting[0]!.since, performance.now());
    this.#timer ??= setTimeout(() => void this.#leave(), left);
  }

  /** Bytes on the device that belong to no scene. */
  get sharedBytes(): number {
    return this.#memory.bytes + this.arena.freeBytes;
  }

  /** Frees all memory, that of the scenes included; nothing can be submitted afterwards. */
  close(): void {
    clearTimeout(this.#timer);
    this.#reader.close();
    this.#encoder.close();
    this.arena.close();
  }

  async #leave(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const parts = this.#waiting.splice(0, this.#settings.scenes);
    if (parts.length === 0) return;
    this.#isUnderway = true;
    const now = performance.now();
    for (const { since } of parts) this.#waited += now - since;
    try {
      await this.#carry(parts);
    } finally {
      this.#isUnderway = false;
      this.#consider();
    }
  }

  /**
   * Submits these parts together, or in halves if that fails, so that a part that asks for too much, or a lack of
   * device memory, causes as few refusals as possible.
   */
  async #carry(parts: readonly Part[]): Promise<void> {
    let reading: Reading;
    try {
      reading = await this.#submit(parts);
    } catch (thrown) {
      const [only, ...others] = parts;
      if (others.length === 0) {
        only?.reject(thrown);
        return;
      }
      const half = Math.ceil(parts.length / 2);
      await this.#carry(parts.slice(0, half));
      await this.#carry(parts.slice(half));
      return;
    }
    this.#submissions++;
    this.#parts += parts.length;
    this.#sizes[Math.ceil(Math.log2(parts.length))]!++;
    try {
      await reading.inspect((range, offsets) => {
        let at = 0;
        for (const { slices, resolve } of parts) {
          const begin = offsets[at] ?? 0;
          const bytes = slices.reduce((sum, slice) => sum + slice.bytes, 0);
          resolve(range.slice(begin, begin + bytes));
          at += slices.length;
        }
      });
    } catch (thrown) {
      for (const { reject } of parts) reject(thrown);
    }
  }

  /** @throws Error, OUT_OF_DEVICE_MEMORY; nothing was submitted then */
  async #submit(parts: readonly Part[]): Promise<Reading> {
    const { device } = this.#memory;
    const slices = parts.flatMap((part) => part.slices);
    // The plan is made again after every pause, because the arena may have moved the buffers that the dispatches bind.
    let plan: EncodePlan;
    for (;;) {
      plan = this.#encoder.plan(parts.map(({ recording }) => recording.pass.launches));
      const room = this.#encoder.reserve(plan) ?? this.#reader.reserve(totalOf(slices));
      if (!room) break;
      await room;
    }
    const encoder = device.createCommandEncoder({ label: 'convoy' });
    for (const { recording } of parts) for (const copy of recording.copies) copy(encoder);
    this.#encoder.encode(encoder, plan);
    const reading = this.#reader.record(encoder, slices);
    device.queue.submit([encoder.finish()]);
    return reading;
  }
}

/** The remainder of a delay that began at the given time. All in ms. */
export const leftOf = (delay: number, since: number, now: number): number => Math.max(0, delay - (now - since));

function startsOf(slices: readonly Slice[]): number[] {
  let at = 0;
  return slices.map(({ bytes }) => {
    at += bytes;
    return at - bytes;
  });
}
