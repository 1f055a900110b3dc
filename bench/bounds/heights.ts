import { apartAlong, areBoxesApart, SEPARATION_ERROR } from '../../src/solver/cpu/box-separation.js';
import { corner, measureCorner } from '../../src/solver/cpu/certificate.js';
import { DOUBLE_ERROR, gapAlong } from '../../src/solver/flight/flight-pair.js';
import { EE, SIDE_A, VT } from '../../src/solver/pair-kinds.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { isUnit, many, unitVector } from './draws.js';
import { exactHeight, exactly, ONE, ratioOf, signedRatioOf } from './exact.js';

/** Spreads of heights in float32 and in double, engine units; between them the pair may be taken as either. */
const [SHORT, LONG] = [512, 513];

const spreadOf = (n: ArrayLike<number>, x: ArrayLike<number>, o: ArrayLike<number>): number =>
  [0, 1, 2].reduce((sum, c) => sum + Math.abs(n[c]! * (x[c]! - o[c]!)), 0);

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
      if (!isUnit(n) || !isIn(spreadOf(n, x, o))) return Number.NaN;
      measureCorner(x, 0, o, 0, n[0], n[1], n[2]);
      const error = exactly(corner.height) * ONE - exactHeight(n, x, o);
      return error === 0n ? 0 : 2 * ratioOf(error, exactly(corner.error) * ONE);
    },
  };
}

/** n, then the trust boxes of a vertex and of the corners of a triangle, by their centre and half of their size. */
const separation: Bound = {
  name: 'separation of trust boxes along a direction, in double',
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

/** Least n·(x − x_0) over side a minus the largest over side b, a multiple of 2⁻²¹⁴⁸. */
export function exactGap(n: ArrayLike<number>, x: Float32Array, kind: number): bigint {
  const own = Array.from({ length: 4 }, (_, v) => exactHeight(n, x.subarray(3 * v, 3 * v + 3), x));
  const least = own.slice(0, SIDE_A[kind]).reduce((a, b) => (a < b ? a : b));
  return least - own.slice(SIDE_A[kind]).reduce((a, b) => (a > b ? a : b));
}

/** What a gap of float32 positions, computed in double, gives away for its rounding. */
function flightGap(name: string, kind: number): Bound {
  return {
    name,
    at: 'src/solver/flight/flight-pair.ts',
    numbers: Float64Array,
    draw: (random) => {
      const size = 10 ** random.between(-3, 12);
      return [...unitVector(random), ...many(12, () => size * random.between(-1, 1))];
    },
    ratio: (input) => {
      const n = [input[0]!, input[1]!, input[2]!] as const;
      const x = Float32Array.from(input.subarray(3));
      const spread = Math.max(...[1, 2, 3].map((v) => spreadOf(n, x.subarray(3 * v), x)));
      if (!isUnit(n) || !(spread > 1e-30 && spread < 1e30)) return Number.NaN;
      const bound = exactly(2 * DOUBLE_ERROR * spread) * ONE;
      const over = exactly(gapAlong(n, x, kind, [0, 1, 2, 3])) * ONE - exactGap(n, x, kind) + bound;
      return signedRatioOf(over, bound);
    },
  };
}

/** Numbers near the smallest float32: products underflow. */
const TINY = (random: Random): number => 2 ** random.between(-140, -100);

export const HEIGHT_BOUNDS: readonly Bound[] = [
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
  flightGap('gap of a vertex and a triangle in a flight', VT),
  flightGap('gap of two edges in a flight', EE),
];
