import { apartAlong, areBoxesApart, SEPARATION_ERROR } from '../../src/solver/cpu/box-separation.js';
import { corner, measureCorner } from '../../src/solver/cpu/certificate.js';
import { VT } from '../../src/solver/pair-kinds.js';
import { reachTo, shortfallOf } from '../../src/verify/box-join.js';
import { measureMotion } from '../../src/verify/clearance.js';
import { ClosestPoints } from '../../src/verify/closest.js';
import { EDGE_EDGE, type PairCode, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { exactHeight, exactly, ONE, ratioOf } from './exact.js';

/** How far a direction may be from a unit vector while its numbers are varied, as a share. */
const UNIT_SLACK = 1e-3;
/** Gap of boxes in a state of size 1, from which a shortfall is measured: below, doubles hardly resolve it. */
const LEAST_GAP = 1e-9;
/** Sizes between which no square of a double underflows or overflows. */
const [SMALLEST, LARGEST] = [1e-30, 1e30];
/** Spreads of heights in float32 and in double, engine units; between them the pair may be taken as either. */
const [SHORT, LONG] = [512, 513];

const isUnit = (n: ArrayLike<number>): boolean => Math.abs(Math.hypot(n[0]!, n[1]!, n[2]!) - 1) <= UNIT_SLACK;

const many = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

function unitVector(random: Random): number[] {
  const n = many(3, () => random.between(-1, 1) * (random.next() < 0.5 ? 1 : 10 ** random.between(-7, 0)));
  const length = Math.hypot(...n);
  return n.map((value) => value / length);
}

/** A normal, the first corner and another one. @param isIn whether the spread Σ_c |n_c (x_c − o_c)| is of the domain */
function heights(name: string, size: (random: Random) => number, isIn: (spread: number) => boolean): Bound {
  return {
    name,
    at: 'src/solver/cpu/certificate.ts',
    numbers: Float32Array,
    draw: (random) => {
      const s = size(random);
      return [...unitVector(random), ...many(6, () => s * random.between(-1, 1))];
    },
    // The check needs twice the error.
    ratio: (input) => {
      const [n, o, x] = [input.subarray(0, 3), input.subarray(3, 6), input.subarray(6)] as Float32Array[];
      const spread = Math.abs(n[0] * (x[0] - o[0])) + Math.abs(n[1] * (x[1] - o[1])) + Math.abs(n[2] * (x[2] - o[2]));
      if (!isUnit(n) || !isIn(spread)) return Number.NaN;
      measureCorner(x, 0, o, 0, n[0], n[1], n[2]);
      const error = exactly(corner.height) * ONE - exactHeight(n, x, o);
      return error === 0n ? 0 : 2 * ratioOf(error, exactly(corner.error) * ONE);
    },
  };
}

/** n, then the trust boxes of a vertex and of the corners of a triangle, by their centre and half of their size. */
const separation: Bound = {
  name: 'separation of trust boxes of float32 along a direction, in double',
  at: 'src/solver/cpu/box-separation.ts',
  numbers: Float32Array,
  draw: (random) => {
    const s = 10 ** random.between(0, 20);
    return [
      ...unitVector(random),
      ...many(12, () => s * random.between(-1, 1)),
      ...many(4, () => random.between(0, 2)),
    ];
  },
  ratio: (input) => {
    const n = input.subarray(0, 3);
    const x = Float32Array.from(input.subarray(3, 15));
    if (!isUnit(n)) return Number.NaN;
    const box = new Float32Array(24);
    for (let v = 0; v < 4; v++) {
      for (let c = 0; c < 3; c++) {
        const half = Math.abs(input[15 + v]!);
        box[6 * v + c] = x[3 * v + c]! - half;
        box[6 * v + 3 + c] = x[3 * v + c]! + half;
      }
    }
    const bound = SEPARATION_ERROR * box.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    if (!(bound > 0 && bound < Number.POSITIVE_INFINITY)) return Number.NaN;
    Object.assign(apartAlong, { x: n[0], y: n[1], z: n[2] });
    // The box corner of each vertex with the least height, or with the greatest one.
    const height = (v: number, sign: number): bigint => {
      const at = [0, 1, 2].map((c) => box[6 * v + (n[c]! * sign > 0 ? 3 : 0) + c]!);
      return exactHeight(n, at, [0, 0, 0]);
    };
    const highest = [1, 2, 3].map((v) => height(v, 1)).reduce((a, b) => (a > b ? a : b));
    const exact = height(0, -1) - highest;
    const about = Number((exact << 64n) / (ONE * ONE)) * 2 ** -64;
    let [low, high] = [about - 2 * bound, about + 2 * bound];
    for (let halvings = 0; halvings < 40; halvings++) {
      apartAlong.by = (low + high) / 2;
      if (areBoxesApart(box, x, VT, 0, 1, 2, 3)) low = apartAlong.by;
      else high = apartAlong.by;
    }
    return ratioOf(exactly(low) * ONE - exact, exactly(bound) * ONE);
  },
};

/** The corners of two elements of sizes far above their distance. */
function reach(name: string, code: PairCode, cornersOfA: number): Bound {
  const closest = new ClosestPoints();
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
      for (const axis of [0, 1, 2]) {
        const [a, b] = [side(0, cornersOfA, axis), side(cornersOfA, 4, axis)];
        gap = Math.max(gap, Math.min(...a) - Math.max(...b), Math.min(...b) - Math.max(...a));
      }
      if (!(gap > LEAST_GAP)) return Number.NaN;
      closest.find(code, x);
      // How much of the room beyond the distance is used up.
      const room = reachTo(closest.distance, shortfallOf(x)) - closest.distance;
      return Math.max(0, gap - closest.distance) / room;
    },
  };
}

/** Two vertices, and where they were. */
const motion: Bound = {
  name: 'motion of two vertices without their common shift, over its upper bound',
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

/** Numbers near the smallest float32: products underflow. */
const TINY = (random: Random): number => 2 ** random.between(-140, -100);

export const BOUNDS: readonly Bound[] = [
  heights(
    'twice the error of a height in float32, over e',
    (random) => 10 ** random.between(-6, 2.7),
    (spread) => spread > 1e-6 && spread <= SHORT,
  ),
  heights('the same near the smallest float32', TINY, (spread) => spread < 1e-25),
  heights(
    'the same for a long pair, in double',
    (random) => 10 ** random.between(2.8, 8),
    (spread) => spread > LONG && spread < 1e12,
  ),
  separation,
  reach('shortfall of the distance of a vertex and a triangle', VERTEX_TRIANGLE, 1),
  reach('shortfall of the distance of two edges', EDGE_EDGE, 2),
  motion,
];
