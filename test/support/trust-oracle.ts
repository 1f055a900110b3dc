import type { CollisionMesh } from '../../src/mesh/types.js';
import type { PairSet } from '../../src/solver/cpu/pair-set.js';
import { CORNERS, EE, SIDE_A, VE, VT, VV } from '../../src/solver/pair-kinds.js';
import { forEachDistancePair } from '../verify/oracle.js';

/** A pair of elements of a mesh that share no vertex. */
export interface MeshPair {
  readonly kind: number;
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly key: string;
}

const KIND_OF: Readonly<Record<string, number>> = {
  VERTEX_TRIANGLE: VT,
  EDGE_EDGE: EE,
  VERTEX_EDGE: VE,
  VERTEX_VERTEX: VV,
};

const known = new WeakMap<CollisionMesh, MeshPair[]>();

/** Every pair that can collide, by brute force. */
export function allPairs(mesh: CollisionMesh): MeshPair[] {
  const listed = known.get(mesh);
  if (listed) return listed;
  const list: MeshPair[] = [];
  forEachDistancePair(mesh, (name, a, b) => {
    const kind = KIND_OF[name];
    list.push({ kind, a, b, key: keyOf(kind, a, b) });
  });
  known.set(mesh, list);
  return list;
}

/** The same key for both orders of a pair's sides. */
export function keyOf(kind: number, a: readonly number[], b: readonly number[]): string {
  const sides = [a, b].map((side) => [...side].sort((p, q) => p - q).join(','));
  if (kind === EE || kind === VV) sides.sort();
  return `${kind}: ${sides.join(' | ')}`;
}

/** Keys of the pairs in P, in the order of P. */
export function keysOf(pairs: PairSet): string[] {
  return Array.from({ length: pairs.count }, (_, p) => {
    const ids = [...pairs.vertex.subarray(4 * p, 4 * p + CORNERS[pairs.kind[p]])];
    const side = SIDE_A[pairs.kind[p]];
    return keyOf(pairs.kind[p], ids.slice(0, side), ids.slice(side));
  });
}

/** float32[6·V] lo xyz, hi xyz */
type Boxes = ArrayLike<number>;

/** Largest distance on one axis between the bounds of both sides' boxes; negative where they overlap on all axes. */
export function boundsApart(box: Boxes, { a, b }: MeshPair): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let c = 0; c < 3; c++) {
    most = Math.max(most, lowest(box, a, c) - highest(box, b, c), lowest(box, b, c) - highest(box, a, c));
  }
  return most;
}

function lowest(box: Boxes, side: readonly number[], axis: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const v of side) least = Math.min(least, box[6 * v + axis]);
  return least;
}

function highest(box: Boxes, side: readonly number[], axis: number): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const v of side) most = Math.max(most, box[6 * v + 3 + axis]);
  return most;
}

/**
 * How close the elements can come while every vertex is somewhere in its box. For given weights of the closest points
 * each axis of their difference is free within an interval, so the distance is that of the interval from 0: convex in
 * the weights, which nested ternary search over both sides' simplices minimises.
 */
export function leastDistance(box: Boxes, { a, b }: MeshPair): number {
  const at = (wa: readonly number[], wb: readonly number[]): number => {
    let sum = 0;
    for (let c = 0; c < 3; c++) {
      let lo = 0;
      let hi = 0;
      a.forEach((v, k) => {
        lo += wa[k] * box[6 * v + c];
        hi += wa[k] * box[6 * v + 3 + c];
      });
      b.forEach((v, k) => {
        lo -= wb[k] * box[6 * v + 3 + c];
        hi -= wb[k] * box[6 * v + c];
      });
      sum += Math.max(0, lo, -hi) ** 2;
    }
    return sum;
  };
  const weights = (corners: number, visit: (w: readonly number[]) => number): number => {
    if (corners === 1) return visit([1]);
    if (corners === 2) return minimise((s) => visit([1 - s, s]));
    return minimise((s) => minimise((r) => visit([1 - s, s * (1 - r), s * r])));
  };
  return Math.sqrt(weights(a.length, (wa) => weights(b.length, (wb) => at(wa, wb))));
}

/** Minimum over [0, 1] of a convex function; 24 thirds leave 6e-5 of the interval, and the minimum is flat. */
function minimise(f: (s: number) => number): number {
  let low = 0;
  let high = 1;
  let best = Math.min(f(0), f(1));
  for (let n = 0; n < 24; n++) {
    const s = low + (high - low) / 3;
    const t = high - (high - low) / 3;
    const fs = f(s);
    const ft = f(t);
    best = Math.min(best, fs, ft);
    if (fs <= ft) high = t;
    else low = s;
  }
  return best;
}
