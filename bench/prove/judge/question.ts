import type { Positions } from '../../../src/contract/mesh.js';
import type { Excluded } from './excluded.js';
import type { Invariant } from './invariants.js';
import type { Surface } from './surface.js';

/** The data by which an answer is judged, besides the answer itself. */
export interface Question {
  readonly surface: Surface;
  readonly start: Positions;
  readonly target: Positions;
  readonly invariants: readonly Invariant[];
  /** the requested level of verification */
  readonly verify: 'STATE' | 'PATH' | 'NONE';
  /** under IGNORE_PAIRS; the surface then has these as excused */
  readonly excluded?: Excluded | undefined;
  /** absent = it has no time budget */
  readonly budgetSeconds?: number;
  /** whether its own limits may move the start, whatever its target */
  readonly movesItself?: boolean;
  /** whether nothing prevents it from keeping its limits of edge lengths, which hold it far from its target */
  readonly keepsLengths?: boolean;
}

/** Receives a fault of an answer. */
export type Find = (promise: string, details: string) => void;
