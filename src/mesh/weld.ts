import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { nameVertex } from './vertex-data.js';

/** The data that welding needs: the elements and positions of a mesh file. */
export interface Weldable {
  readonly vertexCount: number;
  readonly positions: Positions;
  readonly triangles: Uint32Array;
  readonly segments: Uint32Array;
  readonly particles: Uint32Array;
}

/**
 * uint32[V]: the first vertex with exactly the coordinates of each vertex. Formats that keep normals and texture
 * coordinates per vertex, as glTF does, store a vertex at a seam several times.
 */
export function findCoincident({ vertexCount, positions }: Weldable): Uint32Array {
  const first = new Map<string, number>();
  return Uint32Array.from({ length: vertexCount }, (_, vertex) => {
    // -0 and 0 are the same place and print in the same way.
    const key = `${positions[3 * vertex]},${positions[3 * vertex + 1]},${positions[3 * vertex + 2]}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, vertex);
    return known ?? vertex;
  });
}

/**
 * Returns the same mesh with elements that use only the first of coincident vertices. Vertices keep their ids; the
 * others no longer belong to any element.
 */
export function weldElements<T extends Weldable>(file: T, firstOf: Uint32Array): T {
  const weld = (ids: Uint32Array): Uint32Array => ids.map((vertex) => firstOf[vertex]!);
  return { ...file, triangles: weld(file.triangles), segments: weld(file.segments), particles: weld(file.particles) };
}

/** Vertices of elements that lie exactly where another vertex of an element lies. */
export function countCoincident({ triangles, segments, particles }: Weldable, firstOf: Uint32Array): number {
  const used = new Set([...[triangles, segments, particles].flatMap((ids) => [...new Set(ids)])]);
  return used.size - new Set([...used].map((vertex) => firstOf[vertex]!)).size;
}

/**
 * Checks that a target keeps welded vertices together.
 *
 * @throws IntersticeError INVALID_MESH, with the first pair that is separated
 */
export function assertStaysWelded(target: Positions, firstOf: Uint32Array): void {
  for (const [vertex, first] of firstOf.entries()) {
    if (first === vertex) continue;
    for (let axis = 0; axis < 3; axis++) {
      if (target[3 * vertex + axis] === target[3 * first + axis]) continue;
      throw new IntersticeError(
        'INVALID_MESH',
        `The vertices ${first} and ${vertex} are at one place in the start and apart in the target; they cannot be welded.`,
        {
          element: nameVertex(vertex),
          hint: 'Weld the mesh before both states are exported, or move both copies alike.',
        },
      );
    }
  }
}

/**
 * Marks kinematic vertices of a welded mesh: copies follow the first vertex at their place, so they are marked; so is
 * the first of a marked copy.
 *
 * @param marks uint8[V] is changed
 */
export function weldMarks(marks: Uint8Array, firstOf: Uint32Array): void {
  for (const [vertex, first] of firstOf.entries()) if (marks[vertex] === 1) marks[first] = 1;
  for (const [vertex, first] of firstOf.entries()) if (first !== vertex) marks[vertex] = 1;
}

/** Returns the answer for all vertices: welded ones follow the first at their place. */
export function followWelded<T extends Positions>(positions: T, firstOf: Uint32Array): T {
  const all = positions.slice() as T;
  for (const [vertex, first] of firstOf.entries()) {
    if (first !== vertex) for (let axis = 0; axis < 3; axis++) all[3 * vertex + axis] = positions[3 * first + axis]!;
  }
  return all;
}
