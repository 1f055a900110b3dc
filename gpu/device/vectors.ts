/*
 * Kernels that read vectors of scattered vertices bind four words a vertex, because a device reads those at once; the
 * host has three.
 */

/** Bytes of a vector of four words. */
export const VECTOR_BYTES = 16;

/** Returns float32[4·V] for float32[3·V]; the fourth component is 0. */
export function toFours(vectors: Float32Array): Float32Array<ArrayBuffer> {
  const count = vectors.length / 3;
  const fours = new Float32Array(4 * count);
  for (let v = 0; v < count; v++) {
    for (let c = 0; c < 3; c++) fours[4 * v + c] = vectors[3 * v + c];
  }
  return fours;
}

/** Returns float32[3·V] for float32[4·V], without the fourth components. */
export function toThrees(fours: Float32Array): Float32Array<ArrayBuffer> {
  const count = fours.length / 4;
  const vectors = new Float32Array(3 * count);
  for (let v = 0; v < count; v++) {
    for (let c = 0; c < 3; c++) vectors[3 * v + c] = fours[4 * v + c];
  }
  return vectors;
}
