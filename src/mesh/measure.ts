import { orient2d } from 'robust-predicates';
import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { refer } from './elements.js';
import { findLargestDelta, findLargestDeltas } from './largest-delta.js';
import { distanceOf, lengthOf, medianLength, nearestDistances } from './lengths.js';
import { type Box, checkPositions, measureBox } from './positions.js';
import type { CollisionMesh, MeshMeasures } from './types.js';
import { findTypicalEdge } from './typical-edge.js';

/**
 * Measures lengths of one state of a mesh, in the unit of its positions, in double precision.
 *
 * Triangles are tested with exact predicates, so ZERO_AREA_TRIANGLE names exactly the triangles whose corners are
 * collinear (and those smaller than 1e-150, whose area is not representable as a double).
 *
 * @param positions [3·V]
 * @throws IntersticeError SIZE_MISMATCH, NOT_FINITE
 */
export function measureMesh(mesh: CollisionMesh, positions: Positions): MeshMeasures {
  checkPositions(positions, mesh.vertexCount, 'positions');
  const lengths = [mesh.edges, mesh.innerEdges].map((edges) => measureEdges(edges, positions));
  const { minHeight, warnings } = measureTriangles(mesh.triangles, positions);
  const medianEdge = findMedian(mesh, positions, lengths);
  const typicalEdge =
    mesh.edges.length > 0 && medianEdge > 0 ? findTypicalEdge(mesh, positions, medianEdge) : medianEdge;
  const largestDelta = findLargestDelta(mesh, typicalEdge);
  return {
    medianEdge,
    typicalEdge,
    largestDelta,
    largestDeltas: findLargestDeltas(mesh, positions, largestDelta),
    minHeight,
    bounds: findBounds(mesh, positions),
    warnings: [...warnOfZeroEdges(mesh, lengths), ...warnings],
  };
}

/** float64[E] */
function measureEdges(edges: Uint32Array, positions: Positions): Float64Array {
  const lengths = new Float64Array(edges.length / 2);
  for (let i = 0; i < lengths.length; i++) lengths[i] = distanceOf(positions, edges[2 * i]!, edges[2 * i + 1]!);
  return lengths;
}

function findMedian(mesh: CollisionMesh, positions: Positions, lengths: readonly Float64Array[]): number {
  const edgeArrays = [mesh.edges, mesh.innerEdges];
  const total = lengths.reduce((sum, array) => sum + array.length, 0);
  if (total === 0) return medianLength(nearestDistances(positions, mesh.particles));
  const chosen = new Float64Array(total);
  let end = 0;
  edgeArrays.forEach((edges, kind) => {
    for (let i = 0; i < edges.length / 2; i++) {
      if (mesh.kinematic[edges[2 * i]!] === 1 && mesh.kinematic[edges[2 * i + 1]!] === 1) continue;
      chosen[end++] = lengths[kind]![i]!;
    }
  });
  if (end > 0) return medianLength(chosen.subarray(0, end));
  lengths.forEach((array) => {
    chosen.set(array, end);
    end += array.length;
  });
  return medianLength(chosen);
}

/** Twice the area is the length of the normal, whose components are the doubled areas of the three projections. */
function measureTriangles(
  triangles: Uint32Array,
  positions: Positions,
): { minHeight: number; warnings: readonly Warning[] } {
  let minHeight = Number.POSITIVE_INFINITY;
  let zeroCount = 0;
  let firstZero = -1;
  for (let start = 0; start < triangles.length; start += 3) {
    const a = triangles[start]!;
    const b = triangles[start + 1]!;
    const c = triangles[start + 2]!;
    const doubledArea = lengthOf(
      projectedArea(positions, a, b, c, 1, 2),
      projectedArea(positions, a, b, c, 2, 0),
      projectedArea(positions, a, b, c, 0, 1),
    );
    if (doubledArea > 0) {
      const longest = Math.max(distanceOf(positions, a, b), distanceOf(positions, b, c), distanceOf(positions, c, a));
      minHeight = Math.min(minHeight, doubledArea / longest);
    } else {
      zeroCount++;
      if (firstZero < 0) firstZero = start / 3;
    }
  }
  if (zeroCount === 0) return { minHeight, warnings: [] };
  const element = refer('triangle', triangles, 3, firstZero);
  const which = `triangle ${firstZero} (${element.vertices.join(', ')})`;
  const message =
    zeroCount === 1
      ? `1 triangle has no area: ${which}.`
      : `${zeroCount} triangles have no area. The first is ${which}.`;
  return { minHeight, warnings: [{ code: 'ZERO_AREA_TRIANGLE', message, element, count: zeroCount }] };
}

/** Doubled signed area of the triangle's projection on two axes; exactly 0 only if that is its value. */
function projectedArea(positions: Positions, a: number, b: number, c: number, u: number, v: number): number {
  return orient2d(
    positions[3 * a + u]!,
    positions[3 * a + v]!,
    positions[3 * b + u]!,
    positions[3 * b + v]!,
    positions[3 * c + u]!,
    positions[3 * c + v]!,
  );
}

function warnOfZeroEdges(mesh: CollisionMesh, lengths: readonly Float64Array[]): Warning[] {
  let count = 0;
  for (const array of lengths) for (let i = 0; i < array.length; i++) if (array[i] === 0) count++;
  if (count === 0) return [];
  const kind = lengths[0]!.includes(0) ? 0 : 1;
  const index = lengths[kind]!.indexOf(0);
  const element = refer('edge', kind === 0 ? mesh.edges : mesh.innerEdges, 2, index);
  return [
    {
      code: 'ZERO_LENGTH_EDGE',
      message: `${count} edges have no length. The first joins vertices ${element.vertices.join(' and ')}, which are at the same place.`,
      element,
      count,
    },
  ];
}

/**
 * The box of the contact vertices and of those inside solids, which are all vertices that belong to an element.
 *
 * @param box of all positions, if it is known
 */
export function findBounds(mesh: CollisionMesh, positions: Positions, box?: Box): MeshMeasures['bounds'] {
  // Each is listed once, so a list of V vertices lists all of them.
  if (mesh.contactVertices.length === mesh.vertexCount) return box ?? measureBox(positions);
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const vertices of [mesh.contactVertices, mesh.tetrahedra]) {
    for (let i = 0; i < vertices.length; i++) {
      for (let axis = 0; axis < 3; axis++) {
        const value = positions[3 * vertices[i]! + axis]!;
        if (value < low[axis]!) low[axis] = value;
        if (value > high[axis]!) high[axis] = value;
      }
    }
  }
  return [low[0]!, low[1]!, low[2]!, high[0]!, high[1]!, high[2]!];
}
