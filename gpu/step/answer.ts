import type { ElementPair, PairKind } from '../../src/contract/elements.js';
import type { StageTimings, Status } from '../../src/contract/report.js';
import { CORNERS, SIDE_A } from '../../src/solver/cpu/pairs.js';
import type { Resolution } from '../../src/solver/types.js';
import { STATE } from './fields.js';

/** How many pairs a report names as holding the worst vertices. */
const LIMITING_PAIRS = 8;
const NO_PAIR = 0xffffffff;
const KIND_NAMES: readonly PairKind[] = ['VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'];

export type ControlBlock = Readonly<Record<string, number>>;

/** @param wasStopped the caller asked to stop while the run was still going */
export function statusOf(state: number, wasStopped: boolean): Status {
  if (state === STATE.CONVERGED) return 'CONVERGED';
  if (state === STATE.STALLED) return 'STALLED';
  if (state === STATE.AT_STEP_LIMIT) return 'STEP_LIMIT';
  if (wasStopped) return 'DEADLINE';
  throw new Error(`the run ended in state ${state}`);
}

/**
 * The pairs that bounded the vertices with the largest residuals in the last step: up to LIMITING_PAIRS indices into P.
 *
 * @param limiterOf the pair that bounded a vertex
 */
export function worstPairs(
  residuals: Float32Array,
  limiterOf: (vertex: number) => number,
  epsilon: number,
  pairCount: number,
): number[] {
  const worst: number[] = [];
  for (let i = 0; i < residuals.length; i++) {
    if (residuals[i] < epsilon || limiterOf(i) === NO_PAIR) continue;
    let n = worst.length;
    while (n > 0 && residuals[worst[n - 1]] < residuals[i]) n--;
    if (n < LIMITING_PAIRS) worst.splice(n, 0, i);
    if (worst.length > LIMITING_PAIRS) worst.pop();
  }
  return [...new Set(worst.map(limiterOf))].filter((p) => p < pairCount);
}

/** @param parts of one pair: 16 bytes of pairVertex, 4 of pairInfo, 16 of pairNormal, 4 its distance */
export function namePair(parts: readonly ArrayBuffer[]): ElementPair {
  const kind = new Uint32Array(parts[1])[0] & 3;
  const ids = [...new Int32Array(parts[0])].slice(0, CORNERS[kind]);
  const [nx, ny, nz] = new Float32Array(parts[2]);
  return {
    kind: KIND_NAMES[kind],
    a: ids.slice(0, SIDE_A[kind]),
    b: ids.slice(SIDE_A[kind]),
    distance: new Float32Array(parts[3])[0],
    normal: [nx, ny, nz],
  };
}

export interface AnswerParts {
  readonly control: ControlBlock;
  readonly positions: Float32Array;
  readonly residuals: Float32Array;
  readonly limitingPairs: readonly ElementPair[];
  readonly timings: StageTimings;
  readonly wasStopped: boolean;
}

export function toResolution(parts: AnswerParts): Resolution {
  const { control, positions, residuals, limitingPairs, timings, wasStopped } = parts;
  return {
    status: statusOf(control.state, wasStopped),
    positions,
    residuals,
    steps: control.steps,
    searches: control.searches,
    proximitySetReused: control.isReused === 1,
    residual: control.residual,
    unfinishedVertices: control.unfinished,
    pairs: {
      vertexTriangle: control.vertexTriangle,
      edgeEdge: control.edgeEdge,
      vertexEdge: control.vertexEdge,
      vertexVertex: control.vertexVertex,
      activeContacts: control.mostContacts,
      colours: control.mostRounds,
    },
    touchingPairs: control.touching,
    limitingPairs,
    timings,
  };
}
