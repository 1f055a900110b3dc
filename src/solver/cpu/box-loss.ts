import { BOX_LOSS } from '../constants.js';
import { boxBound } from './boxes.js';

/**
 * Whether the trust boxes would cut so much off the motions y − x that a search before the step is worth its cost.
 * Without it the step would end at the faces, and a search would follow anyway. The criterion is Σ (1 − α_box) >
 * BOX_LOSS · n over the n vertices that want to move.
 *
 * @param box float32[6·V]
 * @param wanted uint8[V] set: 1 = wants to move, and should get a new box
 */
export function losesToBoxes(box: Float32Array, x: Float32Array, y: Float32Array, wanted: Uint8Array): boolean {
  let lost = 0;
  let moving = 0;
  for (let i = 0, k = 0; i < wanted.length; i++, k += 3) {
    wanted[i] = x[k] === y[k] && x[k + 1] === y[k + 1] && x[k + 2] === y[k + 2] ? 0 : 1;
    if (wanted[i] === 0) continue;
    moving++;
    lost += 1 - boxBound(box, i, x, y);
  }
  return lost > BOX_LOSS * moving;
}
