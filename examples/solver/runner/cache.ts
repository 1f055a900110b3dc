import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { Model } from '../src/model.js';
import { lineOf, type Saved, type StepRecord } from './records.js';

/**
 * The folder of a scene: `frames.f32` with the positions of every frame, 12 bytes a vertex, `steps.jsonl` with its record, and
 * `state` with what the next step depends on. The state is written last, and decides how many frames there are: what an
 * interruption has left behind it is cut off.
 */
export class FrameCache {
  readonly #frames: string;
  readonly #steps: string;
  readonly #state: string;

  constructor(
    readonly folder: string,
    private readonly model: Model,
  ) {
    this.#frames = join(folder, 'frames.f32');
    this.#steps = join(folder, 'steps.jsonl');
    this.#state = join(folder, 'state');
  }

  /** What was saved of the same scene; undefined when there is nothing, and then the folder is empty. */
  open(): { readonly saved: Saved; readonly records: StepRecord[] } | undefined {
    mkdirSync(this.folder, { recursive: true });
    const saved = existsSync(this.#state) ? (deserialize(readFileSync(this.#state)) as Saved) : undefined;
    if (saved?.x.length !== 3 * this.model.vertexCount) {
      for (const file of [this.#frames, this.#steps, this.#state]) rmSync(file, { force: true });
      return undefined;
    }
    truncateSync(this.#frames, saved.frame * this.#frameBytes);
    const lines = readFileSync(this.#steps, 'utf8').split('\n').slice(0, saved.frame);
    writeFileSync(this.#steps, lines.map((line) => `${line}\n`).join(''));
    return { saved, records: lines.map((line) => JSON.parse(line) as StepRecord) };
  }

  append(record: StepRecord, state: Saved): void {
    const { frame, x, velocity, contacts } = state;
    appendFileSync(this.#frames, Buffer.from(Float32Array.from(x).buffer));
    appendFileSync(this.#steps, `${lineOf(record)}\n`);
    writeFileSync(`${this.#state}.new`, serialize({ frame, x, velocity, contacts }));
    renameSync(`${this.#state}.new`, this.#state);
  }

  /** Frames that there are, from 1 on; 0 is the start. */
  get frameCount(): number {
    return existsSync(this.#frames) ? Math.floor(statSync(this.#frames).size / this.#frameBytes) : 0;
  }

  /** float64[3·V] */
  read(frame: number): Float64Array {
    if (frame === 0) return Float64Array.from(Float32Array.from(this.model.start));
    const bytes = new Uint8Array(this.#frameBytes);
    const file = openSync(this.#frames, 'r');
    readSync(file, bytes, 0, bytes.length, (frame - 1) * this.#frameBytes);
    closeSync(file);
    return Float64Array.from(new Float32Array(bytes.buffer));
  }

  get #frameBytes(): number {
    return 12 * this.model.vertexCount;
  }
}
