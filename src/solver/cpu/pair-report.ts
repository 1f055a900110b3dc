import type { ElementPair, PairKind } from '../../contract/elements.js';
import type { PairCounts } from '../../contract/report.js';
import { CORNERS, EE, type PairSet, SIDE_A, VE, VT, VV } from './pairs.js';

/** How many pairs a report names as holding the worst vertices. */
const LIMITING_PAIRS = 8;

const KIND_NAMES: readonly PairKind[] = ['VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'];

/** Pairs of P by kind. */
export function countPairs({
  byKind,
}: PairSet): Pick<PairCounts, 'vertexTriangle' | 'edgeEdge' | 'vertexEdge' | 'vertexVertex'> {
  return { vertexTriangle: byKind[VT], edgeEdge: byKind[EE], vertexEdge: byKind[VE], vertexVertex: byKind[VV] };
}

/**
 * The pairs that bounded the vertices with the largest residuals in the last step.
 *
 * @param residual float32[V]
 * @param limiter int32[V] the pair that bounded a vertex, −1 = none
 */
export function nameLimitingPairs(
  pairs: PairSet,
  residual: Float32Array,
  limiter: Int32Array,
  epsilon: number,
): ElementPair[] {
  const worst: number[] = [];
  for (let i = 0; i < residual.length; i++) {
    if (residual[i] < epsilon || limiter[i] < 0) continue;
    let n = worst.length;
    while (n > 0 && residual[worst[n - 1]] < residual[i]) n--;
    if (n < LIMITING_PAIRS) worst.splice(n, 0, i);
    if (worst.length > LIMITING_PAIRS) worst.pop();
  }
  const named = new Set(worst.map((i) => limiter[i]).filter((p) => p < pairs.count));
  return [...named].map((p) => {
    const kind = pairs.kind[p];
    const ids = [...pairs.vertex.subarray(4 * p, 4 * p + CORNERS[kind])];
    return {
      kind: KIND_NAMES[kind],
      a: ids.slice(0, SIDE_A[kind]),
      b: ids.slice(SIDE_A[kind]),
      distance: pairs.distance[p],
      normal: [pairs.normal[3 * p], pairs.normal[3 * p + 1], pairs.normal[3 * p + 2]],
    };
  });
}
