import type { CollisionMesh } from '../../src/mesh/types.js';

/** Measures of an answer relative to its target. */
export interface AnswerMeasures {
  /** rms distance to the target in median edges, over dynamic vertices */
  readonly rms: number;
  /** the longest edge over its length in the target */
  readonly stretch: number;
  /**
   * share of the momentum exchanged by collisions that was lost: |Σ m (x' − y)| / Σ m |x' − y| over dynamic vertices
   */
  readonly momentum: number;
}

/** @param edge median edge, the unit of x and y */
export function measureAnswer(mesh: CollisionMesh, x: Float32Array, y: Float32Array, edge: number): AnswerMeasures {
  let [squares, exchanged, dynamic, stretch] = [0, 0, 0, 0];
  const change = [0, 0, 0];
  for (let v = 0; v < mesh.vertexCount; v++) {
    if (mesh.inverseMasses[v] === 0) continue;
    const d = [0, 1, 2].map((c) => x[3 * v + c] - y[3 * v + c]);
    for (let c = 0; c < 3; c++) change[c] += d[c] / mesh.inverseMasses[v];
    exchanged += Math.hypot(...d) / mesh.inverseMasses[v];
    squares += Math.hypot(...d) ** 2;
    dynamic++;
  }
  const lengthOf = (of: Float32Array, e: number) =>
    Math.hypot(...[0, 1, 2].map((c) => of[3 * mesh.edges[e] + c] - of[3 * mesh.edges[e + 1] + c]));
  for (let e = 0; e < mesh.edges.length; e += 2) {
    const rest = lengthOf(y, e);
    if (rest > 0) stretch = Math.max(stretch, lengthOf(x, e) / rest);
  }
  const rms = Math.sqrt(squares / Math.max(1, dynamic)) / edge;
  return { rms, stretch, momentum: exchanged > 0 ? Math.hypot(...change) / exchanged : 0 };
}
