import type { ConvoyCounts } from '../../src/solver/engine.js';
import type { DeviceMemory } from '../device/memory.js';
import { Reader, type Reading, type Slice, totalOf } from '../device/readback.js';
import { type Recording, SharedRecording } from '../device/recording.js';
import type { Submissions } from '../device/submissions.js';
import { MOST_SCENES } from './address.js';
import { Arena } from './arena.js';
import { DispatchEncoder, type EncodePlan } from './encode.js';

export interface ConvoySettings {
  /** scenes in one submission, at most {@link MOST_SCENES} */
  readonly scenes: number;
  /** ms that the first scene of a submission waits for others, at most */
  readonly delay: number;
}

/** What a scene has recorded, until its submission has been read. */
interface Part {
  readonly recording: SharedRecording;
  readonly slices: readonly Slice[];
  /** ms, when it was recorded */
  readonly since: number;
  /** @param copies of the slices, one behind the other */
  resolve(copies: ArrayBuffer): void;
  reject(thrown: unknown): void;
}

/**
 * Submits the work of several scenes of one device together: one submission, one reading, and one dispatch for what all of them do. Scenes
 * within a request are expected; a submission leaves when all of them have recorded their next work, when it is full, or when the first one has
 * waited for long. Meanwhile at most one is on the device: what would be submitted behind it would only wait there, in smaller groups.
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

  /** @param memory an account of its own, for what belongs to no scene */
  constructor(memory: DeviceMemory, isSoftware: boolean, settings: ConvoySettings) {
    this.#memory = memory;
    this.#settings = { ...settings, scenes: Math.min(settings.scenes, MOST_SCENES) };
    this.#reader = new Reader(memory);
    this.#encoder = new DispatchEncoder(memory, isSoftware);
    this.arena = new Arena(memory.fork(), () => this.#encoder.forget());
  }

  get counts(): ConvoyCounts {
    const { dispatches, launches } = this.#encoder;
    const sizes = [...this.#sizes];
    return { submissions: this.#submissions, parts: this.#parts, dispatches, launches, waited: this.#waited, sizes };
  }

  /** Runs a request of a scene, whose submissions others wait for meanwhile. */
  async during<T>(request: () => Promise<T>): Promise<T> {
    this.#expected++;
    try {
      return await request();
    } finally {
      this.#expected--;
      this.#consider();
    }
  }

  /** How a scene submits: one recording at a time, and the next one when that was read. */
  readonly seat: Submissions = {
    begin: () => new SharedRecording(),
    submit: async (recording, slices) => this.#join(recording, slices),
  };

  #join(recording: Recording, slices: readonly Slice[]): Reading {
    if (!(recording instanceof SharedRecording)) throw new Error('A scene of a convoy submits alone.');
    const read = new Promise<ArrayBuffer>((resolve, reject) => {
      this.#waiting.push({ recording, slices, since: performance.now(), resolve, reject });
    });
    // Where nobody waits any more, a loss of the device is told to those that do.
    read.catch(() => undefined);
    this.#consider();
    const offsets = startsOf(slices);
    const inspect: Reading['inspect'] = async (use) => use(await read, offsets);
    const wait = () => inspect((range) => slices.map(({ bytes }, n) => range.slice(offsets[n], offsets[n]! + bytes)));
    return { wait, inspect, discard: () => undefined };
  }

  /** Looks whether it is time, once all that goes on in this turn has recorded its work: it leaves together. */
  #consider(): void {
    if (this.#isConsidering) return;
    this.#isConsidering = true;
    setImmediate(() => {
      this.#isConsidering = false;
      this.#decide();
    });
  }

  /** Submits what waits, if it is time. */
  #decide(): void {
    if (this.#isUnderway || this.#waiting.length === 0) return;
    const { scenes, delay } = this.#settings;
    if (this.#waiting.length >= Math.min(this.#expected, scenes)) {
      void this.#leave();
      return;
    }
    // From when the first one was recorded, which may have been while another submission was on the device.
    const left = leftOf(delay, this.#waiting[0]!.since, performance.now());
    this.#timer ??= setTimeout(() => void this.#leave(), left);
  }

  /** Bytes on the device that belong to no scene. */
  get sharedBytes(): number {
    return this.#memory.bytes + this.arena.freeBytes;
  }

  /** Frees all memory, that of the scenes as well: nothing is submitted any more. */
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
   * Submits these parts together, or in halves where they cannot be: what one of them asks too much for, or what the device has no memory for
   * at a time, is refused to as few as possible.
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

  /** @throws Error, OUT_OF_DEVICE_MEMORY, and nothing was submitted */
  async #submit(parts: readonly Part[]): Promise<Reading> {
    const { device } = this.#memory;
    const slices = parts.flatMap((part) => part.slices);
    // Planned anew after every pause: meanwhile the arena may have moved what the dispatches bind.
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

/** What is left of a delay that began at a time. All in ms. */
export const leftOf = (delay: number, since: number, now: number): number => Math.max(0, delay - (now - since));

function startsOf(slices: readonly Slice[]): number[] {
  let at = 0;
  return slices.map(({ bytes }) => {
    at += bytes;
    return at - bytes;
  });
}
