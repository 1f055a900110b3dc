import { team } from '../../threads/here.js';
import { defineStage } from '../../threads/stage.js';
import {
  addMomentum,
  decideMomentum,
  extrapolateLambdas,
  extrapolatePushes,
  extrapolateStrainPushes,
  type MomentumArrays,
  stay,
} from './momentum.js';
import { type EdgeArrays, sweepEdges } from './sweep-edges.js';
import { PART, type SweepPlan } from './sweep-plan.js';
import { type SweepArrays, sweepContacts } from './sweep-rows.js';
import { type StrainArrays, sweepStrains } from './sweep-strains.js';
import type { Scratch } from './workspace.js';

/** The arrays of sweeps, in memory that threads share. */
export interface SweptArrays extends MomentumArrays, EdgeArrays, StrainArrays, SweepArrays {
  readonly x: Float32Array;
  /** float32[n] λ after the previous sweep */
  readonly lastLambda: Float32Array;
  /** uint32[n] edges, strained elements or contacts that act, ascending */
  readonly actingEdges: Uint32Array;
  readonly actingStrains: Uint32Array;
  readonly acting: Uint32Array;
}

interface RunArrays extends SweptArrays {
  /** of the plan */
  readonly parts: Int32Array;
  readonly after: Uint32Array;
  /** int32[chunks] number of acting items, by chunk: written by a complete sweep */
  readonly counts: Int32Array;
}

/** How rows are swept. */
export interface SweepNumbers {
  /** 1 = every row is visited, and those that act are determined */
  readonly isComplete: number;
  /** a contact with a value below this takes part even if it does not push, engine units */
  readonly near: number;
  /** shortens every limit, engine units */
  readonly slack: number;
}

/** Chunks between two calls of a pulse: less than a millisecond. */
const CHUNKS_PER_PULSE = 64;

/** Sweeps and the momentum between them; its items are the chunks of a plan, in order. */
const SWEEPS = defineStage(import.meta.url, 'sweeps', sweepParts);

function sweepParts(arrays: RunArrays, numbers: SweepNumbers, from: number, to: number): void {
  const { parts, counts } = arrays;
  for (let chunk = from; chunk < to; chunk++) {
    const kind = parts[3 * chunk];
    const first = parts[3 * chunk + 1];
    const end = parts[3 * chunk + 2];
    if (kind === PART.CONTACTS) counts[chunk] = sweepContacts(arrays, numbers, first, end);
    else if (kind === PART.EDGES) counts[chunk] = sweepEdges(arrays, numbers, first, end);
    else if (kind === PART.STRAINS) counts[chunk] = sweepStrains(arrays, numbers, first, end);
    else if (kind === PART.MOMENTUM) addMomentum(arrays, chunk, first, end);
    else if (kind === PART.DECIDE) decideMomentum(arrays, first, end);
    else if (kind === PART.STAY) stay(arrays, first, end);
    else if (kind === PART.PUSHES) extrapolatePushes(arrays, first, end);
    else if (kind === PART.STRAIN_PUSHES) extrapolateStrainPushes(arrays, first, end);
    else extrapolateLambdas(arrays, first, end);
  }
}

/**
 * Runs a plan to its end.
 *
 * @param pulse called at short intervals; may throw
 * @returns int32[chunks] number of acting items, by chunk, valid until the next run with this scratch memory
 */
export function runSweeps(
  plan: SweepPlan,
  swept: Omit<SweptArrays, 'sums'>,
  numbers: SweepNumbers,
  scratch: Scratch,
  pulse: () => void,
): Int32Array {
  const { chunks, sharedCost } = plan;
  const parts = scratch.int32('chunks of sweeps', 3 * chunks);
  const after = scratch.uint32('turns of sweeps', chunks);
  const counts = scratch.int32('what acts by chunk', chunks);
  const sums = scratch.float64('momenta by chunk', chunks);
  parts.set(plan.parts);
  after.set(plan.after);
  let calls = 0;
  team.run({
    stage: SWEEPS,
    arrays: { ...swept, parts, after, counts, sums },
    numbers,
    // Work that threads must do one after the other is not worth sharing.
    ...{ count: chunks, chunk: 1, cost: sharedCost / Math.max(1, chunks), after },
    pulse: () => {
      if (calls++ % CHUNKS_PER_PULSE === 0) pulse();
    },
  });
  return counts;
}
