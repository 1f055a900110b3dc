import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Box, Scalar } from '../mesh/positions.js';
import type { MeshMeasures } from '../mesh/types.js';
import { UNIT_ROUNDOFF } from './constants.js';
import type { EnginePositions } from './engine.js';

/** Returns the length that becomes 1 to 2 engine units: the median edge, or its replacement. The caller's unit. */
export function frameLength(medianEdge: number, bounds: MeshMeasures['bounds']): number {
  const side = Math.max(bounds[3] - bounds[0], bounds[4] - bounds[1], bounds[5] - bounds[2]);
  return medianEdge > 0 ? medianEdge : side > 0 ? side : 1;
}

/**
 * The fixed map between the caller's coordinates and the engine's: x_e = fl32((x − o)·s).
 *
 * s is a power of two, so multiplying by it is exact: it only moves the exponent. It puts the median edge into [1, 2),
 * so that products of a few lengths neither overflow nor sink into the subnormals, whatever the caller's unit.
 *
 * o, per axis, for a float32 caller. Sterbenz: if a/2 ≤ b ≤ 2a, then a − b is a float32 number, exactly. When all start
 * coordinates of an axis have one sign and m = min|x|, max|x| ≤ 2m, every x and every o between min and max lie in [m,
 * 2m], so the lemma holds for each (x, o) and centring costs no bit. If the condition fails, |x − centre| is at most a
 * factor of four below max|x|, so centring would win less than two bits there but round some coordinates: o = 0, and
 * x·s is exact again. A float32 caller's start is therefore mapped without rounding (except for subnormal results, and
 * for resting vertices outside the bounds of the others, see resting.ts).
 *
 * A float64 caller's numbers are rounded in any case; for them o is the centre of the bounding box, the choice with the
 * smallest |x − o| and hence the smallest rounding.
 */
export class CoordinateFrame {
  /** the caller's unit, one value per axis */
  readonly origin: readonly [number, number, number];
  /** engine units per caller's unit, a power of two */
  readonly scale: number;
  /** X: largest |coordinate| of the bounds in engine units */
  readonly largestEngine: number;
  /** largest |coordinate| of the bounds in the caller's unit */
  readonly largestCaller: number;

  private constructor(origin: readonly [number, number, number], scale: number, bounds: MeshMeasures['bounds']) {
    this.origin = origin;
    this.scale = scale;
    let largestEngine = 0;
    let largestCaller = 0;
    // The map is monotone on each axis, so the bounds' images bound the image of every vertex between them.
    for (let k = 0; k < 6; k++) {
      largestEngine = Math.max(largestEngine, Math.abs(Math.fround((bounds[k]! - origin[k % 3]!) * scale)));
      largestCaller = Math.max(largestCaller, Math.abs(bounds[k]!));
    }
    this.largestEngine = largestEngine;
    this.largestCaller = largestCaller;
  }

  /** @param fields of a frame, as received from another thread */
  static of(fields: FrameFields): CoordinateFrame {
    const { origin, scale, largestEngine, largestCaller } = fields;
    const frame = Object.create(CoordinateFrame.prototype) as CoordinateFrame;
    return Object.assign(frame, { origin, scale, largestEngine, largestCaller } satisfies FrameFields);
  }

  /** Whether these are the fields of this frame. */
  isSame({ origin, scale, largestEngine, largestCaller }: FrameFields): boolean {
    return (
      this.origin.every((o, k) => o === origin[k]) &&
      this.scale === scale &&
      this.largestEngine === largestEngine &&
      this.largestCaller === largestCaller
    );
  }

  /**
   * @param start only its scalar matters; the coordinates come from `bounds`
   * @param medianEdge the caller's unit; if it is 0, it is replaced by the largest side of the bounds, or else by 1
   * @param bounds min xyz, max xyz of the vertices that count (scene-frame.ts in src/jobs)
   * @throws COORDINATE_RANGE if the edges are so short or long that the scale exceeds the exponents of doubles
   */
  static fit(start: Positions, medianEdge: number, bounds: MeshMeasures['bounds']): CoordinateFrame {
    const length = frameLength(medianEdge, bounds);
    const exponent = exponentOf(length);
    if (Math.abs(exponent) > MAX_EXPONENT) {
      throw new IntersticeError(
        'COORDINATE_RANGE',
        `The median edge is ${length}, which is outside 2^-${MAX_EXPONENT} to 2^${MAX_EXPONENT}.`,
        { hint: 'Choose a unit in which edges have an ordinary length.' },
      );
    }
    const isSingle = start instanceof Float32Array;
    const axis = (k: 0 | 1 | 2) => originOf(bounds[k], bounds[k + 3]!, isSingle);
    return new CoordinateFrame([axis(0), axis(1), axis(2)], 2 ** -exponent, bounds);
  }

  /**
   * The same map with the largest coordinates of another state. {@link floorOf} needs it once a session's state differs
   * from the one to which the frame was fitted.
   *
   * @param bounds min xyz, max xyz of the vertices that belong to an element
   */
  over(bounds: MeshMeasures['bounds']): CoordinateFrame {
    return new CoordinateFrame(this.origin, this.scale, bounds);
  }

  /**
   * @param positions [3·V], the caller's unit
   * @param name of these positions in the message
   * @returns float32[3·V], engine units; no subnormals and no −0
   * @throws COORDINATE_RANGE with the first vertex that float32 cannot hold
   */
  toEngine(positions: Positions, name = 'positions'): EnginePositions {
    const engine = new Float32Array(positions.length);
    this.refuseBeyondFloat32(this.mapInto(engine, positions), engine, name);
    return engine;
  }

  /**
   * Maps positions and measures their box in one pass, because a step reads its target only once.
   *
   * @param engine float32[3·V] receives the image; {@link refuseBeyondFloat32} checks that float32 can hold it
   * @param positions [3·V], the caller's unit
   * @returns the box of the positions, the caller's unit; without vertices: from +∞ to −∞
   */
  mapInto(engine: EnginePositions, positions: Positions): Box {
    const { scale } = this;
    const [ox, oy, oz] = this.origin;
    let [lowX, lowY, lowZ] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let [highX, highY, highZ] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < positions.length; i += 3) {
      const x = positions[i]!;
      const y = positions[i + 1]!;
      const z = positions[i + 2]!;
      lowX = Math.min(lowX, x);
      highX = Math.max(highX, x);
      lowY = Math.min(lowY, y);
      highY = Math.max(highY, y);
      lowZ = Math.min(lowZ, z);
      highZ = Math.max(highZ, z);
      engine[i] = toNormal((x - ox) * scale);
      engine[i + 1] = toNormal((y - oy) * scale);
      engine[i + 2] = toNormal((z - oz) * scale);
    }
    return [lowX, lowY, lowZ, highX, highY, highZ];
  }

  /**
   * @param box of the positions, by {@link mapInto}
   * @param engine their image
   * @param name of the positions in the message
   * @throws COORDINATE_RANGE with the first vertex that float32 cannot hold
   */
  refuseBeyondFloat32(box: Box, engine: EnginePositions, name: string): void {
    // Every operation of the map is monotone, including its roundings: if the ends of the box have finite images, all
    // positions have. Minimum and maximum propagate NaN. The box without positions has no ends.
    const isHeld = (end: number, k: number) => Number.isFinite(Math.fround((end - this.origin[k % 3]!) * this.scale));
    if (engine.length === 0 || box.every(isHeld)) return;
    const vertex = Math.floor(engine.findIndex((value) => !Number.isFinite(value)) / 3);
    throw new IntersticeError(
      'COORDINATE_RANGE',
      `Vertex ${vertex} of ${name} is so far from the mesh, compared with its median edge, that float32 cannot hold it.`,
      { element: { kind: 'vertex', index: vertex, vertices: [vertex] } },
    );
  }

  /** Whether `engine` is the image of `positions` bit for bit, as {@link toEngine} would compute it. */
  isImage(positions: Positions, engine: EnginePositions): boolean {
    const { scale } = this;
    const [ox, oy, oz] = this.origin;
    for (let i = 0; i < positions.length; i += 3) {
      if (
        !isSameNormal(engine[i]!, toNormal((positions[i]! - ox) * scale)) ||
        !isSameNormal(engine[i + 1]!, toNormal((positions[i + 1]! - oy) * scale)) ||
        !isSameNormal(engine[i + 2]!, toNormal((positions[i + 2]! - oz) * scale))
      ) {
        return false;
      }
    }
    return true;
  }

  /** Whether `engine` is the exact image of `positions`, that is, whether every (x − o)·s is a float32 number. */
  isExact(positions: Positions, engine: EnginePositions): boolean {
    for (let i = 0; i < positions.length; i++) {
      const x = positions[i]!;
      const o = this.origin[i % 3]!;
      const difference = x - o;
      // Knuth's TwoSum on (x, −o): the amount that the double subtraction itself has rounded away.
      const back = difference - x;
      const lost = x - (difference - back) + (-o - back);
      if (lost !== 0 || difference * this.scale !== engine[i]) return false;
    }
    return true;
  }

  /**
   * Whether the map is exact in both directions for all float32 numbers except subnormals, and the answer is in
   * float32. This holds if the map is only a multiplication by s, a power of two.
   *
   * @param scalar of target and answer
   */
  isExactFor(scalar: Scalar): boolean {
    return scalar === 'FLOAT32' && this.origin.every((o) => o === 0);
  }

  /** Distance between vertex v and its image, the caller's unit; exact to 2⁻⁵² of its coordinates minus the origin. */
  roundingAt(positions: Positions, v: number): number {
    const { scale, origin } = this;
    const error = (k: 0 | 1 | 2): number => {
      const exact = (positions[3 * v + k]! - origin[k]) * scale;
      return toNormal(exact) - exact;
    };
    return Math.hypot(error(0), error(1), error(2)) / scale;
  }

  /** o + x_e/s in double, [3·V]: an engine state in the caller's coordinates. */
  toDouble(engine: EnginePositions): Float64Array {
    const out = new Float64Array(engine.length);
    for (let i = 0; i < out.length; i++) out[i] = this.origin[i % 3]! + engine[i]! / this.scale;
    return out;
  }

  /**
   * Maps an engine state to the target's scalar, [3·V]. In this order:
   * - a vertex with the engine bits of the start has not moved: it gets the start's own bits (if its numbers exist in
   *   the target's scalar). This rule precedes the next one, because a float64 target may differ from the start by less
   *   than the engine can distinguish: staying in place is safe whatever the gap, an unchecked motion is not;
   * - a vertex with the engine bits of the target has arrived: it gets the target's own bits;
   * - all others get o + x_e/s, rounded to the target's scalar.
   */
  toCaller(state: StateToMap): Positions {
    const { engine, startEngine, targetEngine, start, target } = state;
    const out = target instanceof Float32Array ? new Float32Array(engine.length) : new Float64Array(engine.length);
    const isNarrowing = out instanceof Float32Array && start instanceof Float64Array;
    const [ox, oy, oz] = this.origin;
    for (let i = 0; i < out.length; i += 3) {
      if (
        isSameVertex(engine, startEngine, i) &&
        (!isNarrowing || (isSingle(start[i]!) && isSingle(start[i + 1]!) && isSingle(start[i + 2]!)))
      ) {
        out[i] = start[i]!;
        out[i + 1] = start[i + 1]!;
        out[i + 2] = start[i + 2]!;
      } else if (isSameVertex(engine, targetEngine, i)) {
        out[i] = target[i]!;
        out[i + 1] = target[i + 1]!;
        out[i + 2] = target[i + 2]!;
      } else {
        out[i] = ox + engine[i]! / this.scale;
        out[i + 1] = oy + engine[i + 1]! / this.scale;
        out[i + 2] = oz + engine[i + 2]! / this.scale;
      }
    }
    return out;
  }
}

/** A frame as plain data. */
export type FrameFields = Pick<CoordinateFrame, 'origin' | 'scale' | 'largestEngine' | 'largestCaller'>;

export interface StateToMap {
  /** float32[3·V] the state */
  readonly engine: EnginePositions;
  /** float32[3·V] images of start and target under the same frame */
  readonly startEngine: EnginePositions;
  readonly targetEngine: EnginePositions;
  /** [3·V] the caller's numbers; their scalars may differ */
  readonly start: Positions;
  readonly target: Positions;
}

/**
 * d_floor, engine units: rounding alone never brings a pair below this gap (docs/method.md, S5). It is the largest of
 * - δ/100: without a floor gaps decay geometrically until any arithmetic intersects;
 * - 8·√3·u·X, u = 2⁻²³ (WGSL fixes no rounding direction), X = largest |engine coordinate|: the last sum of fl(x + αm),
 *   m = y − x, rounds by at most √3·u·X per vertex, hence twice that for two vertices of a pair. A factor of four is
 *   reserved for the rounding of m and of αm, 2u of the motion (the engine adds the terms that grow with a pair's own
 *   size, pair by pair);
 * - 4 ulp of the answer's scalar at the largest |coordinate|: un-centring rounds each coordinate by half an ulp, so two
 *   points approach by at most √3 ulp; the engine keeps half of the floor, 2 ulp, which is more;
 * - if resting vertices were left out of X and are rounded, 2.75 η, and 8 ulp instead of 4 (range.ts derives both), and
 *   δ/100 + 2 η, so that half of δ/100 also remains between the numbers that are sent.
 *
 * @param delta δ, the caller's unit
 * @param frame over the vertices that count
 * @param scalar of the answer
 * @param resting η of the resting vertices that were left out (resting.ts), the caller's unit
 * @throws TOLERANCE_TOO_SMALL if the floor exceeds δ/16, because rounding would then decide contact
 */
export function floorOf(delta: number, frame: CoordinateFrame, scalar: Scalar, resting = 0): number {
  const rounding = roundingOf(frame, scalar, resting);
  const floor = Math.max(delta / 100 + 2 * resting, rounding);
  if (isTooCoarse(floor, delta)) {
    const smallest = roundUpForReading(FLOORS_PER_DELTA * rounding);
    const isEngines = storageOf(frame) === rounding;
    const isSubnormal = frame.largestCaller < 2 ** (LEAST_EXPONENT[scalar] + MANTISSA_BITS[scalar]);
    const reason = isEngines
      ? 'the engine computes in float32, and the mesh is very large for it'
      : rounding === FLOOR_PER_RESTING * resting
        ? 'the engine computes in float32, which rounds the coordinates of resting vertices too much for it'
        : `the ${scalar.toLowerCase()} coordinates of the answer are ${isSubnormal ? 'subnormal numbers, which are coarse' : 'very large for it'}`;
    // The engine has centred the coordinates: wider numbers or another origin help only where the rounding is that of the
    // answer, and wider ones only a caller who does not send them.
    const wider = scalar === 'FLOAT32' && !isEngines ? ', send float64' : '';
    const nearer = isEngines
      ? ', or send a mesh of smaller extent'
      : isSubnormal
        ? ', or choose a smaller unit'
        : ', or move the mesh closer to the origin';
    throw new IntersticeError(
      'TOLERANCE_TOO_SMALL',
      `activationDistance ${delta} is smaller than rounding allows here (${reason}); it must be at least ${smallest}.`,
      {
        hint:
          `Ask for an activationDistance of at least ${smallest}${wider}${nearer}. ` +
          'Kinematic vertices that rest, with their start as their target, do not count.',
      },
    );
  }
  return floor * frame.scale;
}

/** Whether rounding would decide contact because too little of δ lies above the floor. */
function isTooCoarse(floor: number, delta: number): boolean {
  return floor > delta / FLOORS_PER_DELTA;
}

/**
 * Returns the part of the floor that follows from rounding, the caller's unit: the largest of all but the first term of
 * {@link floorOf}.
 */
export function roundingOf(frame: CoordinateFrame, scalar: Scalar, resting = 0): number {
  return Math.max(
    storageOf(frame),
    ulpsPerFloor(resting) * ulpAt(frame.largestCaller, scalar),
    FLOOR_PER_RESTING * resting,
  );
}

/**
 * The largest coordinates whose rounding a floor covers: the inverse of {@link roundingOf}.
 *
 * @param floor engine units, > 0
 * @param resting η, as for {@link floorOf}
 * @returns the largest coordinate in the caller's unit, and in engine units
 */
export function largestWithin(
  floor: number,
  { scale }: CoordinateFrame,
  scalar: Scalar,
  resting = 0,
): { readonly caller: number; readonly engine: number } {
  // The ulp is constant below a power of two, down to half of it.
  const exponent = exponentOf(floor / scale / ulpsPerFloor(resting)) + MANTISSA_BITS[scalar];
  return { caller: 2 ** (exponent + 1), engine: floor / STORAGE_PER_UNIT };
}

/** Returns 8√3 u X, the part of the floor that covers the rounding of the engine's numbers, the caller's unit. */
export function storageOf({ largestEngine, scale }: CoordinateFrame): number {
  return (STORAGE_PER_UNIT * largestEngine) / scale;
}

const MANTISSA_BITS = { FLOAT32: 23, FLOAT64: 52 } as const;

/** exponent of the smallest number above 0, which is the ulp of every subnormal */
const LEAST_EXPONENT = { FLOAT32: -149, FLOAT64: -1074 } as const;

/** The ulp of the numbers of a scalar up to a power of two; 0 of 0. */
function ulpAt(largest: number, scalar: Scalar): number {
  return largest === 0 ? 0 : 2 ** Math.max(exponentOf(largest) - MANTISSA_BITS[scalar], LEAST_EXPONENT[scalar]);
}

/** least number of ulps of the answer's scalar in a floor; more if resting vertices take a share of the floor */
const ulpsPerFloor = (resting: number): number => (resting > 0 ? 8 : 4);

/** Floor over η: above 8/3 (range.ts) by the possible error of η, which is measured in double. */
const FLOOR_PER_RESTING = 2.75;

/** 8√3 u */
export const STORAGE_PER_UNIT = 8 * Math.sqrt(3) * UNIT_ROUNDOFF;

/** δ must be at least this many floors; otherwise rounding would decide contact */
export const FLOORS_PER_DELTA = 16;

/** smallest normal float32 */
const SMALLEST_NORMAL = 2 ** -126;

/**
 * Rounds to float32. WGSL lets devices flush subnormals, so they are flushed here for all engines. The same comparison
 * turns −0 into +0, so that numbers are equal inside the engines if and only if their bits are.
 */
function toNormal(x: number): number {
  const value = Math.fround(x);
  return Math.abs(value) < SMALLEST_NORMAL ? 0 : value;
}

/** Whether the bits are equal, for an image without −0. The comparison alone would accept −0 for +0. */
function isSameNormal(value: number, image: number): boolean {
  return value === image && (value !== 0 || Object.is(value, 0));
}

/**
 * 2^±900 leaves room in double's exponents (−1074 … 1023) for a float32 number scaled either way, subnormal bits
 * included
 */
const MAX_EXPONENT = 900;

const bits = new DataView(new ArrayBuffer(8));

/** floor(log2(x)), exactly, for finite x > 0 */
function exponentOf(x: number): number {
  bits.setFloat64(0, x);
  const biased = (bits.getUint32(0) >>> 20) & 0x7ff;
  return biased === 0 ? exponentOf(x * 2 ** 54) - 54 : biased - 1023;
}

function originOf(min: number, max: number, isSingleCaller: boolean): number {
  const centre = min / 2 + max / 2;
  if (!isSingleCaller) return centre;
  const isOneSided = (min > 0 && max <= 2 * min) || (max < 0 && -min <= -2 * max);
  // Rounding is monotone and min, max are float32 numbers, so the rounded centre still lies between them.
  return isOneSided ? Math.fround(centre) : 0;
}

function isSameVertex(a: EnginePositions, b: EnginePositions, i: number): boolean {
  return a[i] === b[i] && a[i + 1] === b[i + 1] && a[i + 2] === b[i + 2];
}

function isSingle(x: number): boolean {
  return Math.fround(x) === x;
}

/** Rounds up to three digits, so that a number copied from the message is accepted. */
function roundUpForReading(x: number): number {
  const rounded = Number(x.toPrecision(3));
  return rounded >= x ? rounded : Number((x * 1.01).toPrecision(3));
}
