import type { Warning } from '../contract/errors.js';
import type { Resolution } from '../solver/engine.js';

/**
 * Warns of touching pairs: no plane certifies their gap, so that the last step did not move their vertices
 * (docs/method.md, S2). The status does not show it: further steps would change little, because they would not move
 * these vertices either.
 */
export function warnOfTouching({ touchingPairs: count }: Pick<Resolution, 'touchingPairs'>): Warning[] {
  if (count === 0) return [];
  const pairs = count === 1 ? '1 pair has' : `${count} pairs have`;
  return [
    {
      code: 'TOUCHING_PAIRS',
      message: `${pairs} no gap that single precision can certify, because the elements touch or because one is very long, so their vertices stayed where they were in the last step. Move such elements apart; replace elements of hundreds of thousands of edges by smaller ones, or by a plane that an axis is normal to.`,
      count,
    },
  ];
}
