import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import { CoordinateFrame, floorOf } from '../solver/frame.js';
import { type Bounds, type Range, rangeOf } from '../solver/range.js';
import { scalarOf } from './include.js';

/** The frame of a session, with the scalar of the state that it was fitted to. */
export interface FittedFrame {
  readonly frame: CoordinateFrame;
  readonly scalar: 'FLOAT32' | 'FLOAT64';
}

export interface ChosenFrame extends FittedFrame {
  /** of the present state and its target */
  readonly range: Range;
}

/** A state whose largest engine coordinate is at most this many times that of the fit keeps its frame: less than one bit of
 *  float32 has gone since, and a new frame would win back nothing that is worth a search. */
const WANDERED = 2;

/**
 * The frame and the floor for one step of a session. A frame is kept for as long as it serves, because engine coordinates
 * mean nothing under another one, and the proximity set goes with it. It is fitted anew
 * - when the start has another scalar than the state it was fitted to: exactness is a matter of the scalar;
 * - when the start lies more than {@link WANDERED} times as far out and that costs something: a higher floor than at the
 *   fit, or, for a float32 start, whose image is exact under a frame of its own, an image that is rounded (moving
 *   towards 0, away from a far origin) and would have to be checked at every step;
 * - when δ is too small for it, which a nearer origin may cure.
 * All of this depends on the session's own numbers only, so the same history gives the same bytes. The scale never changes:
 * it follows from the median edge of frame 0.
 *
 * The floor is that of the present state and its target: rounding grows and shrinks with where the mesh is and goes.
 *
 * @param medianEdge of frame 0, the caller's unit
 * @param bounds of the start, min xyz, max xyz
 * @param target bounds of the target; undefined = nothing wants to move
 * @param delta δ, the caller's unit
 * @param answerScalar of what will be sent
 * @throws TOLERANCE_TOO_SMALL, COORDINATE_RANGE
 */
export function frameFor(
  fitted: FittedFrame | undefined,
  start: Positions,
  medianEdge: number,
  bounds: Bounds,
  target: Bounds | undefined,
  delta: number,
  answerScalar: FittedFrame['scalar'],
): ChosenFrame {
  const isKept = fitted !== undefined && serves(fitted, start, bounds, delta, answerScalar);
  const { frame, scalar } = isKept
    ? fitted
    : { frame: CoordinateFrame.fit(start, medianEdge, bounds), scalar: scalarOf(start) };
  return { frame, scalar, range: rangeOf(delta, frame, bounds, target, answerScalar) };
}

function serves(
  { frame, scalar }: FittedFrame,
  start: Positions,
  bounds: Bounds,
  delta: number,
  answerScalar: FittedFrame['scalar'],
): boolean {
  if (scalar !== scalarOf(start)) return false;
  const present = frame.over(bounds);
  const floor = floorOrNone(delta, present, answerScalar);
  if (floor === undefined) return false;
  if (present.largestEngine <= WANDERED * frame.largestEngine) return true;
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
