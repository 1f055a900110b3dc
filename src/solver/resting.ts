import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { CoordinateFrame } from './frame.js';
import type { Bounds } from './range.js';

/**
 * Resting vertices: kinematic, with a target that equals the start as numbers. No engine ever writes one, and an answer
 * has the bits of its start. So their coordinates need no room for motion, however large they are: a ground plane of a
 * kilometre may lie under cloth with edges of a centimetre. Only the distance between such a vertex and its float32
 * image counts, because the engine keeps the others away from the image ({@link RestingVertices.roundingUnder}).
 */
export interface RestingVertices {
  /** uint8[V] 1 = rests */
  readonly marks: Uint8Array;
  /** of the start of the vertices of elements that do not rest, the caller's unit */
  readonly start: Bounds;
  /** of their target */
  readonly target: Bounds;
  /** η: the largest distance between a resting vertex and its image, the caller's unit; 0 if every image is exact */
  roundingUnder(frame: CoordinateFrame): number;
}

/**
 * @param start, target [3·V], the caller's unit
 * @returns undefined if no vertex of an element rests, or all do
 */
export function findResting(mesh: CollisionMesh, start: Positions, target: Positions): RestingVertices | undefined {
  const { kinematic, vertexCount } = mesh;
  const marks = new Uint8Array(vertexCount);
  let count = 0;
  for (let v = 0, k = 0; v < vertexCount; v++, k += 3) {
    if (kinematic[v] === 0) continue;
    if (start[k] !== target[k] || start[k + 1] !== target[k + 1] || start[k + 2] !== target[k + 2]) continue;
    marks[v] = 1;
    count++;
  }
  if (count === 0) return undefined;
  const bounds = boundsOfOthers(mesh, start, marks);
  if (!(bounds[0] <= bounds[3])) return undefined;
  return {
    marks,
    start: bounds,
    target: boundsOfOthers(mesh, target, marks),
    roundingUnder: (frame) => largestRounding(mesh, start, marks, frame),
  };
}

/** Box of the vertices of elements that are not marked; from +∞ to −∞ if all are. */
export function boundsOfOthers(mesh: CollisionMesh, positions: Positions, marks: Uint8Array): Bounds {
  const low: [number, number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high: [number, number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const vertices of [mesh.contactVertices, mesh.tetrahedra]) {
    for (let i = 0; i < vertices.length; i++) {
      const v = vertices[i]!;
      if (marks[v] === 1) continue;
      for (const axis of [0, 1, 2] as const) {
        const value = positions[3 * v + axis]!;
        if (value < low[axis]) low[axis] = value;
        if (value > high[axis]) high[axis] = value;
      }
    }
  }
  return [...low, ...high];
}

function largestRounding(mesh: CollisionMesh, start: Positions, marks: Uint8Array, frame: CoordinateFrame): number {
  let largest = 0;
  for (const v of mesh.contactVertices) {
    if (marks[v] === 1) largest = Math.max(largest, frame.roundingAt(start, v));
  }
  return largest;
}
