import type { Positions } from '../../src/contract/mesh.js';

/** The coordinates of a state for the filter's kernels, and a bound on their error. */
export interface FilterPositions {
  /** float32[3·V] s·(x − c), each at most 1 in size and none subnormal; c = 0 for numbers that are float32 */
  readonly values: Float32Array<ArrayBuffer>;
  /** bound on the error of each component of a difference beyond its own rounding, with a margin (filter/signs.wgsl) */
  readonly slack: number;
}

const SMALLEST_NORMAL = 2 ** -126;
/** Beyond these sizes the scaling over- or underflows in double precision; the host tests such states. */
const LARGEST = 2 ** 900;
const SMALLEST = 2 ** -900;
/** Error of the difference x − c and of its product with s in double, relative to the result. */
const DOUBLE_ERROR = 2 ** -52;
/** 2e for the two ends of a difference, times 1.25. */
const ENDS_WITH_MARGIN = 2.5;
/** More than the 1.25 · 4 · 2^-126 that differences of the smallest numbers may lose. */
const LEAST_SLACK = 2 ** -120;

/**
 * Moves and scales a state so that float32 represents it as well as possible. Every coordinate of an axis goes through
 * the same non-decreasing function (each of subtract, multiply, round and flush is one), so boxes that overlap or touch
 * still do: the search needs no margin, whatever the rounding. The signs of volumes need a margin: `slack`.
 *
 * @param positions [3·V], finite
 * @returns undefined if the coordinates are too large or too small to be scaled
 */
export function toFilterPositions(positions: Positions): FilterPositions | undefined {
  const isSingle = positions instanceof Float32Array || positions.every((value) => Math.fround(value) === value);
  const bounds = boundAxes(positions);
  const centre = isSingle ? [0, 0, 0] : bounds.map(([low, high]) => low / 2 + high / 2);
  const size = Math.max(...bounds.map(([low, high], axis) => Math.max(high - centre[axis], centre[axis] - low)));
  if (size > LARGEST || (size > 0 && size < SMALLEST)) return undefined;
  const scale = size === 0 ? 1 : 2 ** -exponentAbove(size);
  const values = new Float32Array(positions.length);
  let error = 0;
  for (let k = 0; k < positions.length; k++) {
    const exact = (positions[k] - centre[k % 3]) * scale;
    const rounded = Math.fround(exact);
    // Adding 0 turns −0 into 0.
    values[k] = Math.abs(rounded) < SMALLEST_NORMAL ? 0 : rounded + 0;
    if (isSingle && values[k] === exact) continue;
    const lost = Math.abs(values[k] - exact) + Math.abs(exact) * (isSingle ? 0 : DOUBLE_ERROR);
    if (lost > error) error = lost;
  }
  return { values, slack: ENDS_WITH_MARGIN * error + LEAST_SLACK };
}

function boundAxes(positions: Positions): [number, number][] {
  return [0, 1, 2].map((axis) => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let k = axis; k < positions.length; k += 3) {
      if (positions[k] < low) low = positions[k];
      if (positions[k] > high) high = positions[k];
    }
    return [low, high];
  });
}

/** Returns the smallest integer e with 2^e > size, or one more, because the logarithm may round up. */
function exponentAbove(size: number): number {
  return Math.floor(Math.log2(size)) + 1;
}
