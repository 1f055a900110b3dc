import { defineStage } from '../../threads/stage.js';

interface HullArrays {
  /** uint32[size·N] vertices of the elements */
  readonly corners: Uint32Array;
  /** float32[6·V] trust boxes, and uint8[V] masks */
  readonly ofVertex: Float32Array;
  readonly maskOfVertex: Uint8Array;
  /** float32[V] δ by vertex; empty = the growth of all */
  readonly distances: Float32Array;
  /** uint8[V] 1 = the box of the vertex has changed since the hulls were filled; empty = all have */
  readonly isChanged: Uint8Array;
  /** float32[6·N] grown hulls, and uint8[N] masks */
  readonly box: Float32Array;
  readonly mask: Uint8Array;
  /** uint32[N] elements whose hulls are new, of each chunk from its first item on; int32[chunks] their number */
  readonly changed: Uint32Array;
  readonly counts: Int32Array;
}

interface HullNumbers {
  readonly size: number;
  readonly growth: number;
}

/** Elements of a chunk, and nanoseconds per element. */
export const HULL_CHUNK = 4096;
export const HULL_COST = 20;

/** Computes the hulls of elements with a changed corner, and the masks of all: the bits that all corners have. */
export const HULLS = defineStage(import.meta.url, 'hulls', fillHulls);

function fillHulls(arrays: HullArrays, { size, growth }: HullNumbers, from: number, to: number): void {
  const { corners, ofVertex, maskOfVertex, distances, isChanged, box, mask, changed, counts } = arrays;
  const isUpdate = isChanged.length > 0;
  const hasDistances = distances.length > 0;
  let count = from;
  for (let e = from; e < to; e++) {
    const end = size * (e + 1);
    let bits = 0xff;
    let isOther = !isUpdate;
    for (let s = size * e; s < end; s++) {
      const v = corners[s];
      bits &= maskOfVertex[v];
      if (isUpdate && isChanged[v] === 1) isOther = true;
    }
    mask[e] = bits;
    if (!isOther) continue;
    changed[count++] = e;
    let q = 6 * corners[size * e];
    let lx = ofVertex[q];
    let ly = ofVertex[q + 1];
    let lz = ofVertex[q + 2];
    let hx = ofVertex[q + 3];
    let hy = ofVertex[q + 4];
    let hz = ofVertex[q + 5];
    let grow = hasDistances ? distances[corners[size * e]] / 2 : growth;
    for (let s = size * e + 1; s < end; s++) {
      const v = corners[s];
      if (hasDistances) grow = Math.max(grow, distances[v] / 2);
      q = 6 * v;
      if (ofVertex[q] < lx) lx = ofVertex[q];
      if (ofVertex[q + 1] < ly) ly = ofVertex[q + 1];
      if (ofVertex[q + 2] < lz) lz = ofVertex[q + 2];
      if (ofVertex[q + 3] > hx) hx = ofVertex[q + 3];
      if (ofVertex[q + 4] > hy) hy = ofVertex[q + 4];
      if (ofVertex[q + 5] > hz) hz = ofVertex[q + 5];
    }
    box[6 * e] = lx - grow;
    box[6 * e + 1] = ly - grow;
    box[6 * e + 2] = lz - grow;
    box[6 * e + 3] = hx + grow;
    box[6 * e + 4] = hy + grow;
    box[6 * e + 5] = hz + grow;
  }
  counts[from / HULL_CHUNK] = count - from;
}
