import type { Part } from './types.js';

/**
 * Lengths of pairs that follow from those of parts: activation distances δ and contact offsets. Every vertex has the length
 * of its part. A side of a pair has the largest length of its vertices, because an element may join two parts; the pair has
 * the mean of both sides.
 */

/** Lengths of parts without their own, in one unit. */
export interface UsualLengths {
  /** δ */
  readonly delta: number;
  /** contact offset over δ */
  readonly offsetShare: number;
  /** the unit of `delta` in that of the parts' lengths: a length of a part times this is in the unit of `delta` */
  readonly scale: number;
}

/**
 * Fills the contact offsets of parts in by vertex. A part without its own takes the usual share of its δ, which is the usual
 * one if it has none of its own.
 *
 * @param parts cover all vertices
 * @param offsets [V] is written, the unit of `usual`
 */
export function fillContactOffsets<T extends Float32Array | Float64Array>(
  parts: readonly Part[],
  { delta, offsetShare, scale }: UsualLengths,
  offsets: T,
): T {
  for (const { firstVertex, vertexCount, activationDistance, contactOffset } of parts) {
    const ownDelta = activationDistance === undefined ? delta : activationDistance * scale;
    const offset = contactOffset === undefined ? offsetShare * ownDelta : contactOffset * scale;
    offsets.fill(offset, firstVertex, firstVertex + vertexCount);
  }
  return offsets;
}

/**
 * The length of a pair of two elements, each a point, an edge or, on side b, a triangle.
 *
 * @param lengths [V] by vertex
 * @param sideA number of vertices on side a, 1 or 2; 2 = the pair is one of two edges
 * @param corners number of vertices on both sides, 2 to 4
 * @param v0 vertex ids, side a first; those beyond `corners` are ignored
 */
export function lengthOfPair(
  lengths: Float32Array | Float64Array,
  sideA: number,
  corners: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
): number {
  const d = lengths;
  if (sideA === 2) return (Math.max(d[v0], d[v1]) + Math.max(d[v2], d[v3])) / 2;
  let ofB = d[v1];
  if (corners > 2) ofB = Math.max(ofB, d[v2]);
  if (corners > 3) ofB = Math.max(ofB, d[v3]);
  return (d[v0] + ofB) / 2;
}
