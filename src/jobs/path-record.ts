import type { StateListener } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { PATH_PHASES, type Path, type StateOrigin } from '../contract/path.js';

/** Where the memory that a job keeps besides its engine is counted. */
export interface JobMemory {
  /** @throws a refusal if the job does not fit beside others */
  take(bytes: number): void;
  give(bytes: number): void;
}

export interface PathRecordOptions {
  readonly start: Positions;
  readonly target: Positions;
  /** bytes that the positions of a path may take; absent = any */
  readonly maxBytes?: number | undefined;
  readonly memory?: JobMemory | undefined;
}

interface RecordedState {
  readonly positions: Positions;
  readonly origin: StateOrigin;
}

/** Keeps the states of a path for the answer. Nothing is left out: a path that does not fit is refused. */
export class PathRecord {
  readonly #options: PathRecordOptions;
  /** of one state, in the scalar of the path */
  readonly #stateBytes: number;
  readonly #states: RecordedState[] = [];
  #taken = 0;

  constructor(options: PathRecordOptions) {
    this.#options = options;
    const { start, target } = options;
    // A float64 start is part of the path as it is, and every float32 number is a double: nothing is rounded.
    this.#isDouble = start instanceof Float64Array || target instanceof Float64Array;
    this.#stateBytes = target.length * (this.#isDouble ? 8 : 4);
  }

  readonly #isDouble: boolean;

  /** Receives the states. @throws TOO_LARGE, and what the memory of the job refuses */
  readonly add: StateListener = (positions, at, origin) => {
    // A state that is named again keeps its origin.
    const known = this.#states[at]?.origin;
    for (const { positions: discarded } of this.#states.splice(at)) this.#give(discarded.byteLength);
    this.#assertRoom(at + 1);
    this.#take(positions.byteLength);
    this.#states.push({ positions, origin: origin ?? known ?? { phase: 'FORWARD', step: 0 } });
  };

  /** The path; nothing may be added afterwards. */
  finish(): Path {
    const states = this.#states;
    this.#take(states.length * this.#stateBytes);
    const { length } = this.#options.target;
    const positions = this.#isDouble
      ? new Float64Array(states.length * length)
      : new Float32Array(states.length * length);
    for (const [n, state] of states.entries()) positions.set(state.positions, n * length);
    return {
      phases: Uint8Array.from(states, ({ origin }) => PATH_PHASES.indexOf(origin.phase)),
      steps: Uint32Array.from(states, ({ origin }) => origin.step),
      positions,
    };
  }

  /** Releases the memory: the path now belongs to the answer, or was dropped. */
  free(): void {
    this.#give(this.#taken);
    this.#states.length = 0;
  }

  #give(bytes: number): void {
    this.#options.memory?.give(bytes);
    this.#taken -= bytes;
  }

  #take(bytes: number): void {
    this.#options.memory?.take(bytes);
    this.#taken += bytes;
  }

  #assertRoom(states: number): void {
    const { maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    if (states * this.#stateBytes <= maxBytes) return;
    throw new IntersticeError(
      'TOO_LARGE',
      `The path of this answer has ${states} states or more of ${this.#stateBytes} bytes each; an answer may take ${maxBytes} bytes.`,
      {
        hint: 'Allow fewer steps (stepLimit), resolve in several steps of a session, leave include.path unset, or raise INTERSTICE_MAX_MESSAGE_BYTES. Nothing changed.',
      },
    );
  }
}
