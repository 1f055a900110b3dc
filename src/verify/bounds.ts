import type { SharedArrays } from './shared-arrays.js';

/**
 * Boxes of elements, exact: min and max do not round. A box over both ends of a straight path contains the path, because
 * every (1-t)·start + t·end lies between its ends.
 *
 * @param corners uint32[3·N] vertices of the elements
 * @param lows float64[3·V] smallest coordinates that a vertex has in the states in question
 * @param highs float64[3·V] largest
 * @returns float64[6·N] min xyz, max xyz
 */
export function boundCorners(corners: Uint32Array, lows: Float64Array, highs: Float64Array): Float64Array {
  const boxes = new Float64Array(2 * corners.length);
  for (let k = 0; k < corners.length; k += 3) boundRange(corners, k, 3, lows, highs, boxes, 2 * k);
  return boxes;
}

/** The box of ids[from …]; like {@link boundCorners}. @param at offset in `boxes` */
export function boundRange(
  ids: Uint32Array,
  from: number,
  count: number,
  lows: Float64Array,
  highs: Float64Array,
  boxes: Float64Array,
  at: number,
): void {
  let lowX = Infinity;
  let lowY = Infinity;
  let lowZ = Infinity;
  let highX = -Infinity;
  let highY = -Infinity;
  let highZ = -Infinity;
  for (let n = from; n < from + count; n++) {
    const k = 3 * ids[n];
    if (lows[k] < lowX) lowX = lows[k];
    if (lows[k + 1] < lowY) lowY = lows[k + 1];
    if (lows[k + 2] < lowZ) lowZ = lows[k + 2];
    if (highs[k] > highX) highX = highs[k];
    if (highs[k + 1] > highY) highY = highs[k + 1];
    if (highs[k + 2] > highZ) highZ = highs[k + 2];
  }
  boxes[at] = lowX;
  boxes[at + 1] = lowY;
  boxes[at + 2] = lowZ;
  boxes[at + 3] = highX;
  boxes[at + 4] = highY;
  boxes[at + 5] = highZ;
}

/** The box around boxes[a …] and boxes[b …]. */
export function joinBoxes(boxes: Float64Array, a: number, b: number, to: number): void {
  for (let k = 0; k < 3; k++) {
    boxes[to + k] = boxes[a + k] < boxes[b + k] ? boxes[a + k] : boxes[b + k];
    boxes[to + 3 + k] = boxes[a + 3 + k] > boxes[b + 3 + k] ? boxes[a + 3 + k] : boxes[b + 3 + k];
  }
}

/**
 * Smallest and largest coordinates of every vertex over some states.
 *
 * @param states each float64[3·V], at least one
 * @param shared if other threads are to read them; the states must then be shared, too
 */
export function spanStates(
  states: readonly Float64Array[],
  shared?: SharedArrays,
): {
  readonly lows: Float64Array;
  readonly highs: Float64Array;
} {
  const [first, ...others] = states;
  if (others.length === 0) return { lows: first, highs: first };
  const lows = shared ? shared.make(Float64Array, first.length) : new Float64Array(first.length);
  const highs = shared ? shared.make(Float64Array, first.length) : new Float64Array(first.length);
  lows.set(first);
  highs.set(first);
  for (const x of others) {
    for (let k = 0; k < x.length; k++) {
      if (x[k] < lows[k]) lows[k] = x[k];
      if (x[k] > highs[k]) highs[k] = x[k];
    }
  }
  return { lows, highs };
}
