import { boundCorners } from './bounds.js';
import type { ElementSet } from './elements.js';
import type { Members } from './mesh-tree.js';

/** The elements of one set as a search reads them: leaf by leaf, with their vertices and boxes beside each other. */
export interface LeafElements {
  /** uint32[N] element by place */
  readonly order: Uint32Array;
  /** uint32[L + 1] first place of a leaf */
  readonly start: Uint32Array;
  /** uint32[3·N] vertices by place; those with fewer than three repeat the last one */
  readonly corners: Uint32Array;
  /** float64[6·N] boxes by place: min xyz, max xyz */
  readonly boxes: Float64Array;
}

/**
 * @param lows float64[3·V] smallest coordinates that a vertex has in the states in question
 * @param highs float64[3·V] largest
 */
export function placeElements(
  { size, count, vertices }: ElementSet,
  { order, start }: Members,
  lows: Float64Array,
  highs: Float64Array,
): LeafElements {
  const corners = new Uint32Array(3 * count);
  // Which corner of the element stands in the second and third place.
  const second = size > 1 ? 1 : 0;
  const third = size - 1;
  for (let place = 0, k = 0; place < count; place++, k += 3) {
    const from = size * order[place];
    corners[k] = vertices[from];
    corners[k + 1] = vertices[from + second];
    corners[k + 2] = vertices[from + third];
  }
  return { order, start, corners, boxes: boundCorners(corners, lows, highs) };
}
