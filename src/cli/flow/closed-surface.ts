import { IntersticeError } from '../../contract/errors.js';
import type { Positions } from '../../contract/mesh.js';

const hint =
  'A flow needs a closed surface: each edge between two triangles that are oriented alike. Close holes first.';

/**
 * Refuses a surface that has no inside: every directed edge a → b must belong to one triangle, and b → a to another.
 *
 * @param triangles uint32[3·T]
 * @throws INVALID_MESH that names the triangle and the edge
 */
export function assertClosedSurface(triangles: Uint32Array, vertexCount: number): void {
  if (triangles.length === 0) throw new IntersticeError('INVALID_MESH', 'The mesh has no triangles.', { hint });
  // Below 2^53 for every mesh that can be read.
  const keyOf = (a: number, b: number): number => a * vertexCount + b;
  const directed = new Set<number>();
  eachEdge(triangles, (a, b, triangle) => {
    if (!directed.has(keyOf(a, b))) directed.add(keyOf(a, b));
    else {
      const what = `Two triangles run from vertex ${a} to vertex ${b}: they are oriented differently, or three and more meet there.`;
      throw refusal(what, triangles, triangle);
    }
  });
  eachEdge(triangles, (a, b, triangle) => {
    if (directed.has(keyOf(b, a))) return;
    throw refusal(
      `The surface is open: the edge between vertices ${a} and ${b} has one triangle.`,
      triangles,
      triangle,
    );
  });
}

function eachEdge(triangles: Uint32Array, visit: (a: number, b: number, triangle: number) => void): void {
  for (let corner = 0; corner < triangles.length; corner++) {
    const first = corner - (corner % 3);
    visit(triangles[corner]!, triangles[first + ((corner + 1) % 3)]!, first / 3);
  }
}

function refusal(message: string, triangles: Uint32Array, triangle: number): IntersticeError {
  const vertices = [...triangles.subarray(3 * triangle, 3 * triangle + 3)];
  return new IntersticeError('INVALID_MESH', message, {
    hint,
    element: { kind: 'triangle', index: triangle, vertices },
  });
}

/**
 * Volume that a closed surface encloses; negative if its triangles are oriented inwards. A hollow counts as negative if
 * its triangles are oriented towards it, as in the surface of a solid body.
 *
 * Sums the tetrahedra between the triangles and the first vertex, because a distant origin would cost digits.
 */
export function enclosedVolume(triangles: Uint32Array, positions: Positions): number {
  const origin = 3 * triangles[0]!;
  const at = (corner: number, axis: number): number =>
    positions[3 * triangles[corner]! + axis]! - positions[origin + axis]!;
  let sixfold = 0;
  for (let c = 0; c < triangles.length; c += 3) {
    for (let axis = 0; axis < 3; axis++) {
      const [next, last] = [(axis + 1) % 3, (axis + 2) % 3];
      sixfold += at(c, axis) * (at(c + 1, next) * at(c + 2, last) - at(c + 1, last) * at(c + 2, next));
    }
  }
  return sixfold / 6;
}
