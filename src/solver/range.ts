import { findBounds } from '../mesh/measure.js';
import type { Scalar } from '../mesh/positions.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import type { EnginePositions } from './engine.js';
import { type CoordinateFrame, FLOORS_PER_DELTA, floorOf, largestWithin, roundingOf, storageOf } from './frame.js';
import { boundsOfOthers, type RestingVertices } from './resting.js';
import { reachOf } from './rigid/twist.js';

export type Bounds = MeshMeasures['bounds'];

/** The floor of one request, and the range of coordinates in which it holds. */
export interface Range {
  /** d_floor, engine units */
  readonly floor: number;
  /** engine units, min xyz max xyz: where the vertices of elements may lie in the answer; undefined = anywhere */
  readonly safe: Bounds | undefined;
  /** engine units: targets beyond it must be cut; undefined = none must be */
  readonly cut: Bounds | undefined;
  /** uint8[V] 1 = the vertex rests and may lie anywhere; undefined = all vertices were counted */
  readonly resting: Uint8Array | undefined;
}

/**
 * Rounding grows with the coordinates, and the floor must cover it wherever the answer may lie, not only at the start.
 * So the floor follows from start and target together. If δ/16 would not cover the target, the floor is δ/16, and the
 * target is cut halfway between the start and the end of the covered range.
 *
 * Why a state in `safe` can be sent. Let F be the floor. The engine keeps pairs F/2 apart, and pairs that began closer
 * do not get closer. Between the engine's state and the answer, a vertex moves
 * - by half an ulp of the answer's scalar per coordinate if it has not arrived; ulp ≤ F/4 within `safe` by
 *   {@link largestWithin};
 * - by half an ulp of float32 in engine units if it has arrived and gets the bits of its target. That ulp is at most
 *   u·X, and 8√3 u·X ≤ 2F within `safe`, hence u·X ≤ F/(4√3). Two vertices approach by at most √3 times the larger ulp,
 *   √3·F/4 < F/2 or F/4 < F/2, so they do not meet. Neither do they meet on the path between the two states, where they
 *   deviate by no more than at its ends.
 *
 * Resting vertices (resting.ts) that were left out of the bounds. They have the bits of the start in every answer, at a
 * distance of at most η from the image that the engine knows. The floor is then at least 2.75 η and 8 ulp, so that a
 * vertex that was not left out moves by at most √3/2 · F/8 < F/8 (not arrived) or √3/2 · u·X ≤ √3/2 · F/(4√3) = F/8
 * (with the bits of start or target), and a resting one by η ≤ F/2.75. Together this is less than 0.49 F < F/2. Two
 * resting vertices belong to pairs that are the same in start and answer.
 *
 * If the map between the caller's numbers and the engine's is exact in both directions, every state is safe. Subnormal
 * float32 numbers are the exception, but all of them round by half of one ulp, and the floor has four of these if the
 * start is subnormal; otherwise it has four larger ones.
 *
 * An engine leaves `safe` only if contacts push a vertex beyond start and target: by more than twice the coordinate, or
 * into the next power of two if the answer's ulp decides.
 *
 * @param delta the smallest δ, the caller's unit
 * @param frame of the request
 * @param start bounds of the start, the caller's unit, of the vertices that count
 * @param target of the target; undefined = no vertex has a motion
 * @param scalar of the answer
 * @param left the resting vertices that were left out of the bounds; undefined = none was
 * @throws TOLERANCE_TOO_SMALL like {@link floorOf} for the start
 */
export function rangeOf(
  delta: number,
  frame: CoordinateFrame,
  start: Bounds,
  target: Bounds | undefined,
  scalar: Scalar,
  left?: RestingVertices,
): Range {
  const present = frame.over(start);
  const resting = left?.marks;
  const eta = left?.roundingUnder(frame) ?? 0;
  const least = floorOf(delta, present, scalar, eta);
  const most = (delta / FLOORS_PER_DELTA) * frame.scale;
  if (frame.isExactFor(scalar) && eta === 0) {
    const floor = target ? exactFloor(least, most, frame.over(joined(start, target))) : least;
    return { floor, safe: undefined, cut: undefined, resting };
  }
  const needed = target ? roundingOf(frame.over(joined(start, target)), scalar, eta) * frame.scale : 0;
  const floor = Math.min(Math.max(least, needed), most);
  const { caller, engine } = largestWithin(floor, frame, scalar, eta);
  return {
    floor,
    resting,
    safe: boxAround(frame, caller, 2 * engine),
    cut:
      needed > most
        ? boxAround(frame, halfWay(present.largestCaller, caller), halfWay(present.largestEngine, engine))
        : undefined,
  };
}

/**
 * The floor where the map is exact: that of the start, unless the target lies beyond the coordinates to which bodies can move
 * as a whole with it ({@link reachOf}), and a floor within δ/16 covers its rounding. Otherwise a motion to a far target
 * would be made leap by leap. Any floor from that of the start to δ/16 is as safe.
 *
 * @param least of the start, engine units
 * @param most δ/16, engine units
 * @param both the frame over start and target
 */
function exactFloor(least: number, most: number, both: CoordinateFrame): number {
  const covering = storageOf(both) * both.scale;
  return both.largestEngine > reachOf(least) && covering <= most ? Math.max(least, covering) : least;
}

/** @param bounds engine units, of the vertices that belong to an element */
export function isWithin(bounds: Bounds, range: Bounds): boolean {
  return [0, 1, 2].every((k) => bounds[k]! >= range[k]! && bounds[k + 3]! <= range[k + 3]!);
}

/** Whether the floor covers the rounding of this state: whether the vertices that count lie in `safe`. */
export function isCovered(mesh: CollisionMesh, state: EnginePositions, { safe, resting }: Range): boolean {
  if (!safe) return true;
  return isWithin(resting ? boundsOfOthers(mesh, state, resting) : findBounds(mesh, state), safe);
}

function boxAround(frame: CoordinateFrame, caller: number, engine: number): Bounds {
  const end = (k: number, side: number) => {
    const ofCaller = (side * caller - frame.origin[k]!) * frame.scale;
    return side > 0 ? Math.min(engine, ofCaller) : Math.max(-engine, ofCaller);
  };
  return [end(0, -1), end(1, -1), end(2, -1), end(0, 1), end(1, 1), end(2, 1)];
}

const halfWay = (near: number, far: number): number => near / 2 + far / 2;

function joined(a: Bounds, b: Bounds): Bounds {
  return [
    Math.min(a[0], b[0]),
    Math.min(a[1], b[1]),
    Math.min(a[2], b[2]),
    Math.max(a[3], b[3]),
    Math.max(a[4], b[4]),
    Math.max(a[5], b[5]),
  ];
}
