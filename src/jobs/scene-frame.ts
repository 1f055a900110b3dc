import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { type Scalar, scalarOf } from '../mesh/positions.js';
import { CoordinateFrame, floorOf, roundingOf } from '../solver/frame.js';
import { type Bounds, type Range, rangeOf } from '../solver/range.js';
import type { RestingVertices } from '../solver/resting.js';

/** The coordinate frame of a session, with the scalar of the state that it was fitted to. */
export interface FittedFrame {
  readonly frame: CoordinateFrame;
  readonly scalar: Scalar;
}

export interface ChosenFrame extends FittedFrame {
  /** of the present state and its target */
  readonly range: Range;
}

/**
 * A frame is kept as long as the largest engine coordinate is at most this many times that of the fit, and the floor at most
 * this many times that of a new fit: float32 has lost no more than one bit, and a new frame would not recover enough to
 * justify a search.
 */
const MAX_GROWTH = 2;

/** Where a step takes place; bounds are min xyz, max xyz of vertices that belong to an element, in the caller's unit. */
export interface Extent {
  readonly start: Bounds;
  /** undefined = no vertex is to move */
  readonly target: Bounds | undefined;
  /** the vertices at rest, if there are any; called only when needed, because it reads every vertex */
  readonly findResting?: () => RestingVertices | undefined;
}

/**
 * The coordinate frame and the floor for one step of a session. A frame is kept as long as it is suitable, because
 * engine coordinates and the proximity set are valid under one frame only. It is fitted again
 * - if the start has another scalar than the state that the frame was fitted to: exactness depends on the scalar;
 * - if the start lies more than {@link MAX_GROWTH} times as far out and that costs something: a higher floor than at the
 *   fit or, for a float32 start, whose image is exact under a frame of its own, an image that is rounded (when it moves
 *   towards 0, away from a far origin) and would have to be checked at every step;
 * - if the floor is more than {@link MAX_GROWTH} times what it would be under a new fit: the frame was fitted while a
 *   part of the mesh was far away, and its origin lies between;
 * - if δ is too small for the frame, which a nearer origin may cure.
 * All of this depends only on the numbers of the session, so the same history gives the same bytes. The scale never changes:
 * it follows from the median edge of frame 0.
 *
 * The floor is that of the present state and its target, because rounding depends on the place and the motion of the
 * mesh.
 *
 * All vertices count as long as that costs nothing, because origin and floor then do not depend on which vertices rest.
 * If the floor of all would exceed δ/100, resting vertices are left out (solver/resting.ts), step by step: a vertex
 * that rests in one step and moves in the next counts in the next, whose floor rises or which is refused.
 *
 * @param medianEdge of frame 0, the caller's unit
 * @param delta δ, the caller's unit
 * @param answerScalar of the answer
 * @throws TOLERANCE_TOO_SMALL, COORDINATE_RANGE
 */
export function frameFor(
  fitted: FittedFrame | undefined,
  start: Positions,
  medianEdge: number,
  extent: Extent,
  delta: number,
  answerScalar: Scalar,
): ChosenFrame {
  const frameOver = (bounds: Bounds): FittedFrame => {
    const fresh = CoordinateFrame.fit(start, medianEdge, bounds);
    return fitted !== undefined && serves(fitted, fresh, start, bounds, delta, answerScalar)
      ? fitted
      : { frame: fresh, scalar: scalarOf(start) };
  };
  const { frame, scalar } = frameOver(extent.start);
  const isFree = roundingOf(frame.over(extent.start), answerScalar) <= delta / 100;
  const resting = isFree ? undefined : extent.findResting?.();
  if (!resting) return { frame, scalar, range: rangeOf(delta, frame, extent.start, extent.target, answerScalar) };
  const nearer = frameOver(resting.start);
  const range = rangeOf(delta, nearer.frame, resting.start, resting.target, answerScalar, resting);
  return { frame: nearer.frame, scalar: nearer.scalar, range };
}

function serves(
  { frame, scalar }: FittedFrame,
  fresh: CoordinateFrame,
  start: Positions,
  bounds: Bounds,
  delta: number,
  answerScalar: Scalar,
): boolean {
  if (scalar !== scalarOf(start)) return false;
  const present = frame.over(bounds);
  const floor = floorOrNone(delta, present, answerScalar);
  if (floor === undefined || floor > MAX_GROWTH * (floorOrNone(delta, fresh, answerScalar) ?? floor)) return false;
  if (present.largestEngine <= MAX_GROWTH * frame.largestEngine) return true;
  if (floor > (floorOrNone(delta, frame, answerScalar) ?? 0)) return false;
  return scalar !== 'FLOAT32' || frame.isExact(start, frame.toEngine(start, 'start'));
}

/** undefined = δ is too small for this frame */
function floorOrNone(...[delta, frame, scalar]: Parameters<typeof floorOf>): number | undefined {
  try {
    return floorOf(delta, frame, scalar);
  } catch (thrown) {
    if (thrown instanceof IntersticeError && thrown.code === 'TOLERANCE_TOO_SMALL') return undefined;
    throw thrown;
  }
}
