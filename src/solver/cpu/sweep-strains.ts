import { NO_CORNER } from '../../mesh/strain.js';
import { MAX_STRAIN_SLACK } from '../constants.js';
import { TETRAHEDRON } from './strain-tetrahedron.js';
import { TRIANGLE } from './strain-triangle.js';
import { projectElement } from './strain-turn.js';
import type { Coloured } from './sweep-plan.js';

/** Elements with strain limits in the order of their sweep (strain-limits.ts). */
export interface StrainArrays {
  /** uint32[4·N] corners; NO_CORNER instead of the fourth of a triangle; and float32[4·N] their inverse masses */
  readonly strainCorners: Uint32Array;
  readonly strainMasses: Float32Array;
  /** float32[9·N] b_1, b_2, b_3 per engine unit */
  readonly strainGradients: Float32Array;
  /** float32[4·N] s_min, s_max, κ and ℓ, as in StrainElements */
  readonly strainLimits: Float32Array;
  /** float32[9·N] R, by columns; all 0 = not yet known */
  readonly strainFrames: Float32Array;
  /** float32[18·N] Λ of A and of B, by columns, and both after the previous sweep */
  readonly strainPush: Float32Array;
  readonly lastStrainPush: Float32Array;
}

/** Elements to be swept. */
export interface StrainRows extends Coloured {
  readonly arrays: StrainArrays;
}

export const NO_STRAINS: StrainRows = {
  ...{ offsets: [0], colours: 0 },
  arrays: {
    strainCorners: new Uint32Array(0),
    strainMasses: new Float32Array(0),
    strainGradients: new Float32Array(0),
    strainLimits: new Float32Array(0),
    strainFrames: new Float32Array(0),
    strainPush: new Float32Array(0),
    lastStrainPush: new Float32Array(0),
  },
};

/** What the projection of an element reads and writes. */
export interface ElementArrays extends StrainArrays {
  readonly y: Float32Array;
}

interface StrainSweep extends ElementArrays {
  /** uint32[N] elements that act, ascending; a complete sweep fills it from the first element of each chunk on */
  readonly actingStrains: Uint32Array;
}

interface StrainNumbers {
  readonly isComplete: number;
  /**
   * shortens the range of every element at both ends, by the strain to which this length corresponds in its shortest
   * height; engine units
   */
  readonly slack: number;
}

/**
 * Projects the elements of a range one after the other, or only those that act.
 *
 * @returns after a visit of every element, the number of elements that act: those that push, have pushed, or are near a
 *   limit
 */
export function sweepStrains(arrays: StrainSweep, numbers: StrainNumbers, first: number, end: number): number {
  const { strainCorners, strainLimits, actingStrains } = arrays;
  const { slack } = numbers;
  const isComplete = numbers.isComplete === 1;
  let found = first;
  for (let k = first; k < end; k++) {
    const e = isComplete ? k : actingStrains[k];
    const q = 4 * e;
    const least = strainLimits[q];
    const most = strainLimits[q + 1];
    const short = Math.min(slack * Math.sqrt(strainLimits[q + 2]), MAX_STRAIN_SLACK * (Math.min(most, 2) - least));
    const kind = strainCorners[q + 3] === NO_CORNER ? TRIANGLE : TETRAHEDRON;
    const acts = projectElement(kind, arrays, e, least > 0 ? least + short : 0, most - short);
    if (isComplete && acts) actingStrains[found++] = e;
  }
  return found - first;
}
