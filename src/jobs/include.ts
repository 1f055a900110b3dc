import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { IncludeInput } from '../contract/requests.js';

/** 2 δ: what touches, and what is about to */
const CONTACT_DISTANCE_PER_DELTA = 2;

/**
 * How far contacts are listed, the caller's unit; undefined = they are not asked for.
 *
 * @param delta δ, the caller's unit
 * @throws INVALID_PARAMETER
 */
export function contactDistanceOf(include: IncludeInput | undefined, delta: number): number | undefined {
  if (!include?.contacts) return undefined;
  const distance = include.contactDistance ?? CONTACT_DISTANCE_PER_DELTA * delta;
  if (distance > 0 && distance < Infinity) return distance;
  throw new IntersticeError(
    'INVALID_PARAMETER',
    `include.contactDistance is ${distance}; it must be greater than 0 and finite`,
  );
}

export function scalarOf(positions: Positions): 'FLOAT32' | 'FLOAT64' {
  return positions instanceof Float32Array ? 'FLOAT32' : 'FLOAT64';
}
