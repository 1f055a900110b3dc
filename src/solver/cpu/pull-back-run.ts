import type { Status } from '../../contract/report.js';
import type { StepInput } from '../engine.js';
import type { StepPhase } from '../step-shares.js';
import type { HoldRecord } from './hold-record.js';

/** One request at the beginning of the pull-back. */
export interface PullBackRun {
  /** float32[3·V] the state, moved in place; at the end the best one */
  readonly x: Float32Array;
  /** float32[3·V] overwritten */
  readonly y: Float32Array;
  readonly start: Float32Array;
  /** float32[3·V] y* */
  readonly target: Float32Array;
  /** whether P is valid for x and this target */
  readonly isSearched: boolean;
  /** Replaces P: all of it, or the pairs of the marked vertices. */
  readonly search: (wanted: Uint8Array | undefined) => void;
  /**
   * Begins a step of a phase. @returns its number, which seeds the orders of its sweeps; or why the phase has no further
   * step
   */
  readonly nextStep: (phase: StepPhase) => number | Extract<Status, 'STEP_LIMIT' | 'DEADLINE'>;
  /** @returns the number of a further piece of the step, which stamps the geometry of pairs */
  readonly nextPiece: () => number;
  /** Called at short intervals within a step; may throw StepAbandoned, which ends the step before its next piece. */
  readonly pulse: () => void;
  /** @returns the number of the present step, as the report counts steps */
  readonly stepNumber: () => number;
  /** Ends a step in which this many vertices wanted to move. */
  readonly onStep: (moving: number) => void;
  /** Reports a state of the answer's path. */
  readonly onState: NonNullable<StepInput['onState']>;
  /** whether the path is wanted, and not only its best states */
  readonly isPathWanted: boolean;
  /** undefined = not requested */
  readonly holds: HoldRecord | undefined;
  /** Contacts and colours of the rows of a step. */
  readonly onRows: (contacts: number, colours: number) => void;
}
