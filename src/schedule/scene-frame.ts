import { IntersticeError } from '../errors.js';
import type { MeshMeasures, Positions } from '../mesh/types.js';
import { Frame, floorOf } from '../solver/frame.js';
import { scalarOf } from './include.js';

/** The frame of a session, with the scalar of the state that it was fitted to. */
export interface FittedFrame {
  readonly frame: Frame;
  readonly scalar: 'FLOAT32' | 'FLOAT64';
}

export interface ChosenFrame extends FittedFrame {
  /** d_floor for the present state, engine units */
  readonly floor: number;
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
 * The floor is that of the present state: rounding grows and shrinks with where the mesh is now.
 *
 * @param medianEdge of frame 0, the caller's unit
 * @param bounds of the start, min xyz, max xyz
 * @param delta δ, the caller's unit
 * @param answerScalar of what will be sent
 * @throws TOLERANCE_TOO_SMALL, COORDINATE_RANGE
 */
export function frameFor(
  fitted: FittedFrame | undefined,
  start: Positions,
  medianEdge: number,
  bounds: MeshMeasures['bounds'],
  delta: number,
  answerScalar: FittedFrame['scalar'],
): ChosenFrame {
  const kept = fitted && keepFrame(fitted, start, bounds, delta, answerScalar);
  if (kept) return kept;
  const frame = Frame.fit(start, medianEdge, bounds);
  return { frame, scalar: scalarOf(start), floor: floorOf(delta, frame, answerScalar) };
}

function keepFrame(
  fitted: FittedFrame,
  start: Positions,
  bounds: MeshMeasures['bounds'],
  delta: number,
  answerScalar: FittedFrame['scalar'],
): ChosenFrame | undefined {
  const { frame, scalar } = fitted;
  if (scalar !== scalarOf(start)) return undefined;
  const present = frame.over(bounds);
  const floor = floorOrNone(delta, present, answerScalar);
  if (floor === undefined) return undefined;
  if (present.largestEngine > WANDERED * frame.largestEngine) {
    if (floor > (floorOrNone(delta, frame, answerScalar) ?? 0)) return undefined;
    if (scalar === 'FLOAT32' && !frame.isExact(start, frame.toEngine(start, 'start'))) return undefined;
  }
  return { frame, scalar, floor };
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
