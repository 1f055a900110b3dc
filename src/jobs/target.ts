import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import { type Box, checkPositions } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import { type CutTarget, cutTo } from '../solver/cut-target.js';
import type { EnginePositions, ImpulseFigures, Resolution } from '../solver/engine.js';
import { type CoordinateFrame, FLOORS_PER_DELTA, type StateToMap } from '../solver/frame.js';
import type { Range } from '../solver/range.js';

/** A target that has passed its check. */
interface CheckedTarget {
  readonly box: Box;
  /** @returns float32[3·V], valid until the lane's next step @throws COORDINATE_RANGE */
  imageUnder(frame: CoordinateFrame): EnginePositions;
}

/** The frame that a target probably gets, and memory for its image under that frame. */
interface ExpectedFrame {
  readonly frame: CoordinateFrame;
  /** float32[3·V] */
  readonly image: EnginePositions;
}

/**
 * Checks a target and, where a frame is expected, maps it in the same pass. A session almost always keeps its frame, but
 * whether this step does is known only after the target has been checked.
 *
 * @throws SIZE_MISMATCH, NOT_FINITE
 */
export function checkTarget(
  target: Positions,
  vertexCount: number,
  expected: ExpectedFrame | undefined,
): CheckedTarget {
  if (!expected) {
    return {
      box: checkPositions(target, vertexCount, 'target'),
      imageUnder: (frame) => frame.toEngine(target, 'target'),
    };
  }
  const { image } = expected;
  const box = checkPositions(target, vertexCount, 'target', (positions) => expected.frame.mapInto(image, positions));
  return {
    box,
    imageUnder: (frame) => {
      if (frame !== expected.frame) return frame.toEngine(target, 'target');
      frame.refuseBeyondFloat32(box, image, 'target');
      return image;
    },
  };
}

/** The target that the engine gets, and how the engine's answer translates to the target that the caller requested. */
interface EngineTarget {
  /** float32[3·V] engine units */
  readonly positions: EnginePositions;
  /** Restates what the engine reports of its own target for the caller's target. @param epsilon ε */
  restate(resolution: Resolution, epsilon: number): Resolution;
  warnings(parameters: Parameters): readonly Warning[];
  /** whether the motion of a vertex is cut */
  isCut(v: number): boolean;
}

/** The image of the target. Motions of vertices that lie farther out than the floor covers are cut to that range. */
export function engineTargetOf(
  mesh: CollisionMesh,
  { cut, floor }: Range,
  { startEngine, targetEngine, target }: Pick<StateToMap, 'startEngine' | 'targetEngine' | 'target'>,
): EngineTarget {
  // Where a target is cut, the floor is δ/16 (rangeOf).
  const near = cut && cutTo(cut, mesh, startEngine, targetEngine, FLOORS_PER_DELTA * floor);
  if (!near || near.count === 0) {
    return { positions: targetEngine, restate: (resolution) => resolution, warnings: () => [], isCut: () => false };
  }
  return {
    positions: near.target,
    restate: (resolution, epsilon) => restate(resolution, near, epsilon),
    warnings: (parameters) => [warnOfCut(near, parameters, isDouble(target))],
    isCut: (v) => near.share[v]! < 1,
  };
}

/**
 * A vertex whose motion is cut to the share s, with the residual r on that part, has 1 − s(1 − r) of its motion left. If
 * impulses have made a share of all motions, the vertex with the smallest s has made the least.
 */
function restate(resolution: Resolution, { share }: CutTarget, epsilon: number): Resolution {
  const residuals = resolution.residuals.map((r, v) => (share[v] === 1 ? r : 1 - share[v]! * (1 - r)));
  let residual = 0;
  let unfinishedVertices = 0;
  for (const r of residuals) {
    residual = Math.max(residual, r);
    if (r >= epsilon) unfinishedVertices++;
  }
  const { status, impulses } = resolution;
  // The engine converged to the cut target, not to the caller's; more steps would not help.
  const isStalled = status === 'CONVERGED' && residual >= epsilon;
  const restated = {
    residuals,
    residual,
    unfinishedVertices,
    ...(impulses ? { impulses: cutShort(impulses, share) } : {}),
  };
  return { ...resolution, status: isStalled ? 'STALLED' : status, ...restated };
}

/** @param share of its motion that each vertex may make */
function cutShort(impulses: ImpulseFigures, share: CutTarget['share']): ImpulseFigures {
  const least = share.reduce((min, s) => Math.min(min, s), 1);
  const { motionShare, shares } = impulses;
  return { ...impulses, motionShare: least * motionShare, shares: shares.map((made) => least * made) };
}

function warnOfCut({ count, first }: CutTarget, parameters: Parameters, isDouble: boolean): Warning {
  const [vertices, targets] = count === 1 ? ['vertex was', 'target lies'] : ['vertices were', 'targets lie'];
  return {
    code: 'TARGET_OUT_OF_RANGE',
    message: `${count} ${vertices} moved only part of the way: where the ${targets}, ${explainRange(parameters, isDouble)}.`,
    element: { kind: 'vertex', index: first, vertices: [first] },
    count,
  };
}

/** For an answer that is an earlier state, because contacts pushed the engine's last state out of the range. */
export function warnOfEarlierState(parameters: Parameters, target: Positions): Warning {
  return {
    code: 'TARGET_OUT_OF_RANGE',
    message: `The answer is an earlier state: where the motion continued, ${explainRange(parameters, isDouble(target))}.`,
    count: 1,
  };
}

const isDouble = (positions: Positions): boolean => positions instanceof Float64Array;

function explainRange({ activationDistance }: Parameters, isDouble: boolean): string {
  // In doubles the next request starts from a new origin, amid all bodies: those that part do not come nearer to it.
  const remedy = isDouble
    ? 'send the same target again to continue if the whole mesh moves there'
    : 'send float64, or move the mesh closer to the origin';
  return (
    `coordinates are too coarse to keep elements apart at the activation distance of ${activationDistance}; ${remedy}, ` +
    'or ask for a larger activation distance'
  );
}
