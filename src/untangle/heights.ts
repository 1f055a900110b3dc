import type { TriangleTree } from '../diagnose/triangle-tree.js';
import { normalOf } from './sides.js';
import type { Topology } from './topology.js';

/**
 * A vertex lies over a sheet if the cosine between the normal and the direction to the nearest point is at least this.
 */
const OVER = 0.7;

/**
 * Vertices between two pulses in a loop that finds a nearest triangle for each vertex, which takes some ten
 * microseconds.
 */
export const NEAREST_PER_PULSE = 64;

/** Height over the nearest (consistently oriented) triangle; undefined if the vertex does not lie over one. */
export function heightOver(
  topology: Topology,
  x: Float64Array,
  tree: TriangleTree,
  v: number,
  reach: number,
): number | undefined {
  const near = tree.nearest(x[3 * v], x[3 * v + 1], x[3 * v + 2], reach);
  if (near.triangle < 0) return undefined;
  const n = normalOf(topology, x, near.triangle);
  const height = n[0] * (x[3 * v] - near.x) + n[1] * (x[3 * v + 1] - near.y) + n[2] * (x[3 * v + 2] - near.z);
  return Math.abs(height) >= OVER * near.distance ? height : undefined;
}
