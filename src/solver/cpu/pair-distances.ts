import { EE, VE, VV } from './pairs.js';

/** δ of a pair: the mean of its sides, a side's being the largest of its vertices. @param distances float32[V] */
export function distanceOfPair(
  distances: Float32Array,
  kind: number,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
): number {
  const d = distances;
  if (kind === EE) return (Math.max(d[v0], d[v1]) + Math.max(d[v2], d[v3])) / 2;
  if (kind === VV) return (d[v0] + d[v1]) / 2;
  return (d[v0] + (kind === VE ? Math.max(d[v1], d[v2]) : Math.max(d[v1], d[v2], d[v3]))) / 2;
}
