import {
  appendFileSync,
  closeSync,
  existsSync,
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
import { makeFolder } from '../../../src/folders.js';
import { type State, startOf } from '../src/integrator.js';
import type { Model } from '../src/model.js';
import { lineOf, type RunFacts, type StepRecord } from './records.js';

/** Number of frames from one sample to the next. */
const EVERY = 10;

/** Thrown if the saved frames were played by another version, with other parameters or with another scene. */
export class MixedRunError extends Error {}

/**
 * The folder of a scene: `frames.f32` with the positions of every frame, 12 bytes per vertex, `steps.jsonl` with their
 * records, `state` with the data on which the next step depends, and `run.json` with the facts that all frames share.
 * The state is written last and determines the number of frames: anything after it that an interruption has left is cut
 * off.
 */
export class FrameCache {
  readonly #frames: string;
  readonly #steps: string;
  readonly #state: string;
  readonly #facts: string;

  /** @param begin state before the first frame; default: the start of the scene */
  constructor(
    readonly folder: string,
    private readonly model: Model,
    readonly begin: State = startOf(model),
  ) {
    this.#frames = join(folder, 'frames.f32');
    this.#steps = join(folder, 'steps.jsonl');
    this.#state = join(folder, 'state');
    this.#facts = join(folder, 'run.json');
  }

  /** Opens the saved run of the same scene; undefined if there is none, and then the folder is empty. */
  open(): { readonly saved: State; readonly records: StepRecord[] } | undefined {
    makeFolder(this.folder);
    const saved = existsSync(this.#state) ? (deserialize(readFileSync(this.#state)) as State) : undefined;
    if (saved?.x.length !== 3 * this.model.vertexCount || saved.frame < this.begin.frame) {
      for (const file of [this.#frames, this.#steps, this.#state, this.#facts]) rmSync(file, { force: true });
      return undefined;
    }
    const count = saved.frame - this.begin.frame;
    truncateSync(this.#frames, count * this.#frameBytes);
    const lines = readFileSync(this.#steps, 'utf8').split('\n').slice(0, count);
    writeFileSync(this.#steps, lines.map((line) => `${line}\n`).join(''));
    return { saved, records: lines.map((line) => JSON.parse(line) as StepRecord) };
  }

  /**
   * Records the facts that all following frames share, or compares them with those of the previous frames.
   * @throws MixedRunError
   */
  agree(facts: RunFacts): void {
    const text = `${JSON.stringify(facts, null, 1)}\n`;
    if (!existsSync(this.#state)) writeFileSync(this.#facts, text);
    const before = existsSync(this.#facts) ? readFileSync(this.#facts, 'utf8') : 'nothing is known of them\n';
    if (before === text) return;
    throw new MixedRunError(
      `The frames in ${this.folder} are of another run, and are not mixed with those of this one (--again begins anew).\n` +
        `There: ${before}Here: ${text}`,
    );
  }

  append(record: StepRecord, state: State): void {
    const { frame, x, velocity, contacts } = state;
    appendFileSync(this.#frames, Buffer.from(Float32Array.from(x).buffer));
    appendFileSync(this.#steps, `${lineOf(record)}\n`);
    writeFileSync(`${this.#state}.new`, serialize({ frame, x, velocity, contacts }));
    renameSync(`${this.#state}.new`, this.#state);
  }

  /** Number of frames after the initial one. */
  get frameCount(): number {
    return existsSync(this.#frames) ? Math.floor(statSync(this.#frames).size / this.#frameBytes) : 0;
  }

  /**
   * Returns every tenth frame and the last one, as arguments of `read`: those in which knots and piles are examined.
   */
  sample(): number[] {
    const { frameCount } = this;
    return Array.from({ length: Math.ceil(frameCount / EVERY) }, (_, i) => Math.min(frameCount, EVERY * (i + 1)));
  }

  /** @param index from 1 to frameCount; 0 is the initial state @returns float64[3·V] */
  read(index: number): Float64Array {
    if (index === 0) return Float64Array.from(Float32Array.from(this.begin.x));
    const bytes = new Uint8Array(this.#frameBytes);
    const file = openSync(this.#frames, 'r');
    readSync(file, bytes, 0, bytes.length, (index - 1) * this.#frameBytes);
    closeSync(file);
    return Float64Array.from(new Float32Array(bytes.buffer));
  }

  get #frameBytes(): number {
    return 12 * this.model.vertexCount;
  }
}
