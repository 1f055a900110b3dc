import type { ElementPair } from '../contract/elements.js';
import { elementsAt, listElements } from '../mesh/elements-by-vertex.js';
import type { Subject } from './subject.js';
import { TriangleTree } from './triangle-tree.js';

/** With more vertices, a patch counts as the surface itself, not as the piece that has passed through another one. */
const MOST_OF_PATCH = 20_000;

/** Vertices of a patch whose distance is measured. */
const SAMPLES = 500;

/**
 * Estimates how deep one side has passed through the other. The edges that pass a triangle cut the surface that they
 * belong to. Of the fully enclosed pieces on both sides of a cut, the smaller has passed through: the depth is the
 * largest distance of its vertices to the triangles around the cut, and to the rest of the component that was passed.
 * Without an enclosed piece, as at a border, the edge is pulled back the shorter way: the depth is the largest over the
 * pairs of the shorter distance of an edge's ends to the plane of the triangle.
 */
export function patchDepth(subject: Subject, pairs: readonly ElementPair[]): number {
  let depth = 0;
  for (const { a, b } of pairs) {
    if (a.length !== 2 || b.length !== 3) continue;
    const [from, to] = a.map((v) => Math.abs(distanceToPlane(subject.x, b, v)));
    depth = Math.max(depth, Math.min(from, to));
  }
  const patch = smallestPatch(subject, pairs);
  if (!patch) return depth;
  const passed = new Set(pairs.filter(({ b }) => b.length === 3).map(({ b }) => subject.componentOf[b[0]]));
  const own = subject.componentOf[patch[0]];
  const other = [...passed].find((rank) => rank !== own);
  // Within one component the patch is as near to itself as to the rest, so only the triangles that it passes count.
  const tree =
    other === undefined
      ? new TriangleTree(subject.x, ...cornersOf(pairs))
      : new TriangleTree(subject.x, subject.mesh.triangles, trianglesOf(subject, other));
  const stride = Math.max(1, Math.floor(patch.length / SAMPLES));
  for (let k = 0; k < patch.length; k += stride) {
    const v = patch[k];
    const { distance, triangle } = tree.nearest(subject.x[3 * v], subject.x[3 * v + 1], subject.x[3 * v + 2]);
    if (triangle >= 0) depth = Math.max(depth, distance);
  }
  return depth;
}

function cornersOf(pairs: readonly ElementPair[]): [Uint32Array, Uint32Array] {
  const corners = pairs.filter(({ b }) => b.length === 3).flatMap(({ b }) => [...b]);
  return [Uint32Array.from(corners), Uint32Array.from({ length: corners.length / 3 }, (_, t) => t)];
}

function trianglesOf({ mesh, componentOf }: Subject, rank: number): Uint32Array {
  const chosen: number[] = [];
  for (let t = 0; t < mesh.triangles.length / 3; t++) if (componentOf[mesh.triangles[3 * t]] === rank) chosen.push(t);
  return Uint32Array.from(chosen);
}

/** Vertices of the smallest piece that the cut edges separate from the rest of their surface; undefined = none. */
function smallestPatch({ mesh, surface }: Subject, pairs: readonly ElementPair[]): number[] | undefined {
  const isCut = new Set<number>();
  const keyOf = (a: number, b: number): number => Math.min(a, b) * mesh.vertexCount + Math.max(a, b);
  const seeds = new Set<number>();
  for (const { a, b } of pairs) {
    if (a.length !== 2 || b.length !== 3) continue;
    isCut.add(keyOf(a[0], a[1]));
    for (const v of a) seeds.add(v);
  }
  if (seeds.size === 0) return undefined;
  const { edges } = surface;
  const edgesByVertex = listElements(edges, 2, mesh.vertexCount);
  const reached = new Map<number, number>();
  let smallest: number[] | undefined;
  for (const seed of seeds) {
    if (reached.has(seed)) continue;
    const patch = [seed];
    const beyond: number[] = [];
    reached.set(seed, seed);
    let isWhole = true;
    for (let k = 0; k < patch.length && patch.length <= MOST_OF_PATCH; k++) {
      const v = patch[k];
      for (const e of elementsAt(edgesByVertex, v)) {
        const next = edges[2 * e] + edges[2 * e + 1] - v;
        if (isCut.has(keyOf(v, next))) {
          beyond.push(next);
          continue;
        }
        const from = reached.get(next);
        // Only a walk that was stopped early leaves vertices to meet, so this is the rest of its surface.
        if (from !== undefined && from !== seed) isWhole = false;
        if (from !== undefined) continue;
        reached.set(next, seed);
        patch.push(next);
      }
    }
    const isSeparate = beyond.some((v) => reached.get(v) !== seed);
    if (isWhole && isSeparate && patch.length <= (smallest?.length ?? MOST_OF_PATCH)) smallest = patch;
  }
  // The smaller piece has passed through the larger one.
  return smallest && smallest.length * 2 <= reached.size ? smallest : undefined;
}

function distanceToPlane(x: Float64Array, [a, b, c]: readonly number[], v: number): number {
  const d = (i: number, axis: number): number => x[3 * i + axis] - x[3 * a + axis];
  const nx = d(b, 1) * d(c, 2) - d(b, 2) * d(c, 1);
  const ny = d(b, 2) * d(c, 0) - d(b, 0) * d(c, 2);
  const nz = d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0);
  const length = Math.hypot(nx, ny, nz);
  return length > 0 ? (nx * d(v, 0) + ny * d(v, 1) + nz * d(v, 2)) / length : 0;
}
