import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { StateToMap } from '../solver/frame.js';
import { type CutTarget, cutTo, type Range } from '../solver/range.js';
import type { EnginePositions, Resolution } from '../solver/types.js';

/** Where an engine is sent, and what its answer means for the target that was asked for. */
export interface Goal {
  /** float32[3·V] engine units */
  readonly target: EnginePositions;
  /** The engine's word on its own target, as a word on the caller's. @param epsilon ε */
  restate(resolution: Resolution, epsilon: number): Resolution;
  warnings(parameters: Parameters): readonly Warning[];
}

/** The target's image; or, where parts of it lie too far out for the floor, as much of the way there as is covered. */
export function goalOf(
  mesh: CollisionMesh,
  { cut }: Range,
  { startEngine, targetEngine, target }: Pick<StateToMap, 'startEngine' | 'targetEngine' | 'target'>,
): Goal {
  const near = cut && cutTo(cut, mesh, startEngine, targetEngine);
  if (!near || near.count === 0) {
    return { target: targetEngine, restate: (resolution) => resolution, warnings: () => [] };
  }
  return {
    target: near.target,
    restate: (resolution, epsilon) => restate(resolution, near, epsilon),
    warnings: (parameters) => [beyondRange(near, parameters, isDouble(target))],
  };
}

/** Of a vertex that was sent a share s of its way, and left r of that, 1 − s(1 − r) of the whole way is left. */
function restate(resolution: Resolution, { share }: CutTarget, epsilon: number): Resolution {
  const residuals = resolution.residuals.map((r, v) => (share[v] === 1 ? r : 1 - share[v]! * (1 - r)));
  let residual = 0;
  let unfinishedVertices = 0;
  for (const r of residuals) {
    residual = Math.max(residual, r);
    if (r >= epsilon) unfinishedVertices++;
  }
  const { status } = resolution;
  // What went where it was sent has not come where it was wanted; nothing would be gained by more steps.
  const isStalled = status === 'CONVERGED' && residual >= epsilon;
  return { ...resolution, status: isStalled ? 'STALLED' : status, residuals, residual, unfinishedVertices };
}

function beyondRange({ count, first }: CutTarget, parameters: Parameters, isDouble: boolean): Warning {
  const [vertices, targets] = count === 1 ? ['vertex was', 'target lies'] : ['vertices were', 'targets lie'];
  return {
    code: 'TARGET_OUT_OF_RANGE',
    message: `${count} ${vertices} sent only part of the way: where the ${targets}, ${reasonAndRemedy(parameters, isDouble)}`,
    element: { kind: 'vertex', index: first, vertices: [first] },
    count,
  };
}

/** Of an answer that is not the engine's last state, since contacts had pushed that beyond the range. */
export function leftRange(parameters: Parameters, target: Positions): Warning {
  return {
    code: 'TARGET_OUT_OF_RANGE',
    message: `the answer is an earlier state: where the motion went on to, ${reasonAndRemedy(parameters, isDouble(target))}`,
    count: 1,
  };
}

const isDouble = (positions: Positions): boolean => positions instanceof Float64Array;

function reasonAndRemedy({ activationDistance }: Parameters, isDouble: boolean): string {
  // In doubles the engine goes on from a new origin with the next request.
  const remedy = isDouble
    ? 'send the same target again to go on'
    : 'send float64, or move the mesh closer to the origin';
  return (
    `coordinates are too coarse to keep elements apart at the activation distance of ${activationDistance}; ${remedy}, ` +
    'or ask for a larger activation distance'
  );
}
