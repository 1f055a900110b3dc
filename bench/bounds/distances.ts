import { CLOSEST_POINTS, closest } from '../../src/solver/cpu/closest.js';
import { STORAGE_PER_UNIT } from '../../src/solver/frame.js';
import { EE, VT } from '../../src/solver/pair-kinds.js';
import { DISTANCE_ERROR, reachTo, slackOf } from '../../src/verify/box-join.js';
import { measureMotion } from '../../src/verify/clearance.js';
import { ClosestPoints, DISTANCE_EXCESS } from '../../src/verify/closest.js';
import { EDGE_EDGE, type PairCode, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import { MARGIN, Separation } from '../../src/verify/separation.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { largestOf, many, unitVector } from './draws.js';
import { exactly, ratioOf } from './exact.js';
import { exactDistance } from './exact-distance.js';

/** Gap of boxes in a state of size 1, from which a shortfall is measured: below, doubles hardly resolve it. */
const LEAST_GAP = 1e-9;
/** Sizes between which no square of a double underflows or overflows. */
const [SMALLEST, LARGEST] = [1e-30, 1e30];

const isMiddling = (values: ArrayLike<number>): boolean => {
  const size = largestOf(values);
  return size >= SMALLEST && size <= LARGEST;
};

/** The corners of two elements: some of all sizes, some slivers or edges that are nearly parallel and hardly apart. */
function corners(random: Random): number[] {
  const size = 10 ** random.between(-3, 3);
  const thin = 10 ** random.between(-9, 0);
  const drawn = many(12, () => size * random.between(-1, 1));
  if (random.next() < 0.3) return drawn;
  const apart = thin * 10 ** random.between(-6, 0);
  return turned(
    random,
    drawn.map((value, k) => value * [1, thin, apart][k % 3]!),
  );
}

/** Points in a frame of random directions. */
function turned(random: Random, points: readonly number[]): number[] {
  const [a, b] = [unitVector(random), unitVector(random)];
  const along = a.reduce((sum, value, c) => sum + value * b[c]!, 0);
  const across = b.map((value, c) => value - along * a[c]!);
  const length = Math.hypot(...across);
  const second = across.map((value) => value / length);
  const third = [0, 1, 2].map((c) => a[(c + 1) % 3]! * second[(c + 2) % 3]! - a[(c + 2) % 3]! * second[(c + 1) % 3]!);
  return points.map((_, k) => {
    const v = k - (k % 3);
    return points[v]! * a[k % 3]! + points[v + 1]! * second[k % 3]! + points[v + 2]! * third[k % 3]!;
  });
}

/** The corners of two elements of sizes far above their distance. */
function reach(name: string, code: PairCode, cornersOfA: number): Bound {
  const points = new ClosestPoints();
  return {
    name,
    at: 'src/verify/box-join.ts',
    numbers: Float64Array,
    draw: (random) => {
      const apart = 10 ** random.between(-9, 0);
      return many(12, () => (random.next() < 0.6 ? 1 : 10 ** random.between(-5, 3)) * random.between(-1, 1)).map(
        (value, k) => (k % 3 < 2 ? value : k < 3 * cornersOfA ? apart : 0),
      );
    },
    ratio: (input) => {
      const x = Float64Array.from(input);
      const side = (from: number, to: number, axis: number) =>
        Array.from({ length: to - from }, (_, k) => x[3 * (from + k) + axis]!);
      let gap = 0;
      const boxes = new Float64Array(12);
      for (const axis of [0, 1, 2]) {
        const [a, b] = [side(0, cornersOfA, axis), side(cornersOfA, 4, axis)];
        [boxes[axis], boxes[axis + 3]] = [Math.min(...a), Math.max(...a)];
        [boxes[axis + 6], boxes[axis + 9]] = [Math.min(...b), Math.max(...b)];
        gap = Math.max(gap, Math.min(...a) - Math.max(...b), Math.min(...b) - Math.max(...a));
      }
      if (!(gap > LEAST_GAP)) return Number.NaN;
      points.find(code, x);
      // How much of the room beyond the distance is used up.
      const [slackA, slackB] = slackOf(boxes);
      const room = reachTo(points.distance) + slackA! + slackB! - points.distance;
      return Math.max(0, gap - points.distance) / room;
    },
  };
}

/** Two vertices, and where they were. */
const motion: Bound = {
  name: 'motion of two vertices without their common shift',
  at: 'src/verify/clearance.ts',
  numbers: Float64Array,
  draw: (random) => {
    const s = 10 ** random.between(-8, 8);
    return many(12, () => s * random.between(-1, 1));
  },
  ratio: (input) => {
    const [x, known] = [Float64Array.from(input.subarray(0, 6)), Float64Array.from(input.subarray(6))];
    const isOut = (value: number): boolean =>
      value !== 0 && !(Math.abs(value) >= SMALLEST && Math.abs(value) <= LARGEST);
    if (input.some(isOut)) return Number.NaN;
    const lengths = measureMotion(x, known);
    // Any common shift will do: the exact motion between the two is bounded by the sum of both.
    let squared = 0n;
    for (let c = 0; c < 3; c++) {
      const difference = exactly(x[c]!) - exactly(known[c]!) - exactly(x[3 + c]!) + exactly(known[3 + c]!);
      squared += difference * difference;
    }
    if (squared === 0n) return 0;
    return Math.sqrt(ratioOf(squared, (exactly(lengths[0]!) + exactly(lengths[1]!)) ** 2n));
  },
};

/**
 * How far a computed distance is from the true one.
 *
 * @param sign −1 = below it, 1 = above it
 * @param share of the extent that it may be off
 */
function distanceError(name: string, at: string, code: PairCode, sign: -1 | 1, share: number): Bound {
  const points = new ClosestPoints();
  return {
    name,
    at,
    numbers: Float64Array,
    draw: corners,
    ratio: (input) => {
      if (!isMiddling(input)) return Number.NaN;
      const x = Float64Array.from(input);
      points.find(code, x);
      return (sign * (points.distance - exactDistance(code, x))) / (share * extentOf(x));
    },
  };
}

const shortfall = (name: string, code: PairCode): Bound =>
  distanceError(`distance of ${name} below the true one`, 'src/verify/box-join.ts', code, -1, DISTANCE_ERROR);

const excess = (name: string, code: PairCode): Bound =>
  distanceError(`distance of ${name} above the true one`, 'src/verify/closest.ts', code, 1, DISTANCE_EXCESS);

/** The shift between the closest points that a solver finds and the true ones, as a share of a tenth of the floor. */
function guiding(name: string, kind: number, code: PairCode): Bound {
  return {
    name: `shift of the closest points of ${name} in the engine`,
    at: 'src/solver/cpu/closest.ts',
    numbers: Float32Array,
    draw: corners,
    ratio: (input) => {
      if (!isMiddling(input)) return Number.NaN;
      const x = Float32Array.from(input);
      CLOSEST_POINTS[kind](x, 0, 1, 2, 3);
      const distance = exactDistance(code, x);
      return Math.sqrt(Math.max(0, closest.squared - distance * distance)) / (0.1 * STORAGE_PER_UNIT * largestOf(x));
    },
  };
}

/** The largest coordinate relative to the first corner. */
function extentOf(x: Float64Array): number {
  return largestOf(x.map((value, k) => value - x[k % 3]!));
}

/** A gap that a plane proves must not exceed the distance. */
function provenGap(name: string, code: PairCode, cornersOfA: number): Bound {
  const ids = Uint32Array.of(0, 1, 2, 3);
  return {
    name: `proven gap of ${name}`,
    at: 'src/verify/separation.ts',
    numbers: Float64Array,
    draw: corners,
    ratio: (input) => {
      if (!isMiddling(input)) return Number.NaN;
      const x = Float64Array.from(input);
      const separation = new Separation(x);
      const gap = separation.gapOf(ids, 0, cornersOfA, ids, cornersOfA, 4 - cornersOfA, Number.POSITIVE_INFINITY);
      if (!(gap >= 0)) return Number.NaN;
      const margin = MARGIN * extentOf(x);
      return (gap - exactDistance(code, x) + margin) / margin;
    },
  };
}

export const DISTANCE_BOUNDS: readonly Bound[] = [
  reach('shortfall of the distance of a vertex and a triangle', VERTEX_TRIANGLE, 1),
  reach('shortfall of the distance of two edges', EDGE_EDGE, 2),
  shortfall('a vertex and a triangle', VERTEX_TRIANGLE),
  shortfall('two edges', EDGE_EDGE),
  excess('a vertex and a triangle', VERTEX_TRIANGLE),
  excess('two edges', EDGE_EDGE),
  guiding('a vertex and a triangle', VT, VERTEX_TRIANGLE),
  guiding('two edges', EE, EDGE_EDGE),
  provenGap('a vertex and a triangle', VERTEX_TRIANGLE, 1),
  provenGap('two edges', EDGE_EDGE, 2),
  motion,
];
