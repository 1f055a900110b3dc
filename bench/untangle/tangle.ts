import type { MeshInput } from '../../src/contract/mesh.js';
import type { LayerHint } from '../../src/contract/untangle.js';

/** A generated start with intersections, whose right sides are known. */
export interface Tangle {
  readonly mesh: MeshInput;
  readonly positions: Float64Array;
  /** float64[3·V] true position of every vertex, if it is known; otherwise its position */
  readonly truth: Float64Array;
  readonly layers?: readonly LayerHint[];
  /** number of vertices that are on a wrong side in an answer; absent = either side is right */
  readonly countWrong?: (answer: ArrayLike<number>) => number;
}

export interface TangleGroup {
  readonly name: string;
  /** whether a hint or a body decides every contour, so that no side may be wrong */
  readonly isDecided: boolean;
  make(random: () => number): Tangle;
}

/** Everything is built with edges of length 1. */
export const SIZE = 16;
export const GRID = (SIZE + 1) ** 2;

export type Random = () => number;

export const between = (random: Random, low: number, high: number): number => low + random() * (high - low);

/** A bump of height 1 and radius r around a centre, flat at its rim. */
export const bump = (x: number, y: number, [cx, cy]: readonly [number, number], r: number): number => {
  const d = Math.hypot(x - cx, y - cy) / r;
  return d < 1 ? (1 - d * d) ** 2 : 0;
};

export const GAP = 0.3;

/** A random displacement of vertices within their plane, so that nothing is degenerate. */
export const shake = (random: Random): number => 0.1 * (random() - 0.5);
