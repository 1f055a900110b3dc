import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { StretchedEdge } from '../contract/report.js';
import { type EdgeList, edgesUnder } from '../mesh/limited-edges.js';
import { ownLength } from '../mesh/rest-lengths.js';
import type { CollisionMesh } from '../mesh/types.js';
import { LIMITING_PAIRS } from '../solver/constants.js';
import { rangeOfDistances } from '../solver/part-distances.js';

/** A vertex closer to its target than this share of δ has reached it: shorter motions are not made. */
const REACHED_SHARE = 0.02;

/** Cosine between a motion and what a contact or an edge forbids of it, below which the vertex could slide along. */
export const MIN_CLOSING = 0.05;

/** An edge holds a vertex from this share of its limit on, because steps of the pull-back end this near to it. */
const AT_LIMIT = 0.995;

/** The distance from its target up to which a vertex has reached it, in the caller's unit. */
export const nearTarget = (mesh: CollisionMesh, parameters: Parameters): number =>
  REACHED_SHARE * deltasOf(mesh, parameters).smallest;

/** Smallest and largest δ of a vertex, the caller's unit; those of parts have no effect under VOLUME_IMPULSES. */
export function deltasOf(
  mesh: CollisionMesh,
  { activationDistance, method }: Parameters,
): { readonly smallest: number; readonly largest: number } {
  if (method === 'VOLUME_IMPULSES') return { smallest: activationDistance, largest: activationDistance };
  return rangeOfDistances(mesh, activationDistance);
}

/** σ of the edges that hold vertices; 0 = none does. Volume-preserving impulses limit no lengths. */
export const holdingLimit = ({ stretchLimit, method }: Parameters): number =>
  method === 'VOLUME_IMPULSES' ? 0 : stretchLimit;

/** float64[4·V] direction to the target, a unit vector or 0, and the distance. */
export function waysOf(answer: Positions, target: Positions): Float64Array {
  const ways = new Float64Array((answer.length / 3) * 4);
  for (let i = 0, k = 0; i < answer.length; i += 3, k += 4) {
    const [x, y, z] = [target[i]! - answer[i]!, target[i + 1]! - answer[i + 1]!, target[i + 2]! - answer[i + 2]!];
    const length = Math.hypot(x, y, z);
    ways[k + 3] = length;
    if (length === 0) continue;
    ways[k] = x / length;
    ways[k + 1] = y / length;
    ways[k + 2] = z / length;
  }
  return ways;
}

/** For each vertex, what holds it most. */
export class HeldBy {
  /** int32[V]; −1 = nothing */
  readonly by: Int32Array;
  readonly #most: Float64Array;

  constructor(vertexCount: number) {
    this.by = new Int32Array(vertexCount).fill(-1);
    this.#most = new Float64Array(vertexCount);
  }

  offer(v: number, by: number, strength: number): void {
    if (!(strength > this.#most[v]!)) return;
    this.#most[v] = strength;
    this.by[v] = by;
  }
}

/**
 * Offers each dynamic vertex the edges at their limit that its way to the target would lengthen, identified by their
 * numbers over all lists. Edges do not hold kinematic vertices, whose inverse mass is 0 in every sweep.
 *
 * @param kinematic uint8[V]
 * @param ways of {@link waysOf}
 * @param sigma σ > 0
 */
export function offerEdges(
  held: HeldBy,
  { lists, kinematic }: { readonly lists: readonly EdgeList[]; readonly kinematic: Uint8Array },
  answer: Positions,
  target: Positions,
  ways: Float64Array,
  sigma: number,
): void {
  let first = 0;
  for (const { ends, rest: lengths } of lists) {
    for (let e = 0; e < ends.length; e += 2) {
      const a = ends[e]!;
      const b = ends[e + 1]!;
      const x = answer[3 * a]! - answer[3 * b]!;
      const y = answer[3 * a + 1]! - answer[3 * b + 1]!;
      const z = answer[3 * a + 2]! - answer[3 * b + 2]!;
      const length = Math.hypot(x, y, z);
      const rest = ownLength(lengths?.[e / 2]) ?? lengthOf(target, a, b);
      if (rest === 0 || length < AT_LIMIT * sigma * rest) continue;
      for (const [v, sign] of [
        [a, 1],
        [b, -1],
      ] as const) {
        if (kinematic[v]) continue;
        const along = (sign * (x * ways[4 * v]! + y * ways[4 * v + 1]! + z * ways[4 * v + 2]!)) / length;
        if (along > MIN_CLOSING) held.offer(v, first + e / 2, along);
      }
    }
    first += ends.length / 2;
  }
}

const lengthOf = (x: Positions, a: number, b: number): number =>
  Math.hypot(x[3 * a]! - x[3 * b]!, x[3 * a + 1]! - x[3 * b + 1]!, x[3 * a + 2]! - x[3 * b + 2]!);

/** The edge of a number over all lists. @returns its ends and its length at rest, if it has one */
export function edgeOf(
  lists: readonly EdgeList[],
  edge: number,
): { readonly a: number; readonly b: number; readonly rest: number | undefined } {
  let [list, e] = [0, edge];
  while (2 * e >= lists[list]!.ends.length) e -= lists[list++]!.ends.length / 2;
  const { ends, rest } = lists[list]!;
  return { a: ends[2 * e]!, b: ends[2 * e + 1]!, rest: ownLength(rest?.[e]) };
}

/**
 * The edges at their limit that hold the dynamic vertices that are farthest from their targets, the farthest first.
 * They follow from the positions alone, so they are the same for every engine and status.
 *
 * @param maxStretch of the answer by measureStretch: if it is below the limit, no edge needs a test
 * @returns up to LIMITING_PAIRS different edges
 */
export function findLimitingEdges(
  mesh: CollisionMesh,
  answer: Positions,
  target: Positions,
  parameters: Parameters,
  maxStretch: number,
): StretchedEdge[] {
  const sigma = holdingLimit(parameters);
  if (sigma === 0 || maxStretch < AT_LIMIT * sigma) return [];
  const lists = edgesUnder(parameters.quality, mesh);
  const ways = waysOf(answer, target);
  const held = new HeldBy(mesh.vertexCount);
  offerEdges(held, { lists, kinematic: mesh.kinematic }, answer, target, ways, sigma);
  const farthest = new FarthestEdges(nearTarget(mesh, parameters));
  for (let v = 0; v < mesh.vertexCount; v++) {
    if (held.by[v]! >= 0) farthest.offer(held.by[v]!, ways[4 * v + 3]!);
  }
  return farthest.edges.map((edge) => {
    const { a, b, rest } = edgeOf(lists, edge);
    return { a, b, stretch: lengthOf(answer, a, b) / (rest ?? lengthOf(target, a, b)) };
  });
}

/** The few edges that hold vertices farthest from their targets, longest way first. */
class FarthestEdges {
  readonly edges: number[] = [];
  readonly #ways: number[] = [];

  /** @param near ways up to this length do not count */
  constructor(private readonly near: number) {}

  offer(edge: number, way: number): void {
    if (way <= this.near) return;
    const known = this.edges.indexOf(edge);
    if (known >= 0) {
      if (this.#ways[known]! >= way) return;
      this.edges.splice(known, 1);
      this.#ways.splice(known, 1);
    }
    let n = this.edges.length;
    while (n > 0 && this.#ways[n - 1]! < way) n--;
    this.edges.splice(n, 0, edge);
    this.#ways.splice(n, 0, way);
    this.edges.length = Math.min(this.edges.length, LIMITING_PAIRS);
    this.#ways.length = this.edges.length;
  }
}
