import type { Positions } from '../../../src/contract/mesh.js';
import type { Excluded } from './excluded.js';
import type { Invariant } from './invariants.js';
import type { Surface } from './surface.js';

/** What an answer is judged by besides itself. */
export interface Question {
  readonly surface: Surface;
  readonly start: Positions;
  readonly target: Positions;
  readonly invariants: readonly Invariant[];
  /** the level of verification that was asked for */
  readonly verify: 'STATE' | 'PATH' | 'NONE';
  /** under IGNORE_PAIRS; the surface then has these as excused */
  readonly excluded?: Excluded | undefined;
  /** its own limits may move the start, whatever its target */
  readonly movesItself?: boolean;
  /** nothing is in the way of its limits of edge lengths, which hold it far from its target */
  readonly keepsLengths?: boolean;
}

/** Told what is wrong with an answer. */
export type Find = (promise: string, details: string) => void;
