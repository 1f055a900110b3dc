import { EDGE_EDGE, type PairCode, VERTEX_TRIANGLE } from '../../src/verify/pair-kinds.js';
import {
  COPLANARITY_ROUNDING,
  determinant,
  PathMeeting,
  PLANE_ROUNDING,
  TURNING_ROUNDING,
} from '../../src/verify/path-pair.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { largestOf, many, unitVector } from './draws.js';
import { exactly, inSmallest, ratioOf, toIntegers } from './exact.js';
import { cross, dot, minus, vectorAt } from './exact-distance.js';

/** Coordinates between which a pair is neither scaled nor outside of the range of the test. */
const [SMALLEST, LARGEST] = [2 ** -90, 2 ** 90];

/** Times are multiples of 2⁻³², so that 1 − t is exact. */
const TIMES = 32;

const timeOf = (value: number): bigint => BigInt(Math.floor((Math.abs(value) % 1) * 2 ** TIMES));

const times = (t: bigint): number => Number(t) * 2 ** -TIMES;

/** Computes with the arithmetic of the test of a path. */
class OpenPath extends PathMeeting {
  /** @returns whether the numbers are in the range */
  open(code: PairCode, input: Float64Array): boolean {
    const size = largestOf(input);
    if (!(size >= SMALLEST && size <= LARGEST)) return false;
    return this.load(code, input.slice(0, 12), input.slice(12, 24));
  }

  /** S of the derivation */
  size(n: ArrayLike<number>): number {
    return this.sizeAlong(n[0]!, n[1]!, n[2]!);
  }

  /** f at the time t along n. */
  separation(t: number, n: ArrayLike<number>): number {
    this.interpolate(t, this.early);
    return this.separationAlong(this.early, n[0]!, n[1]!, n[2]!);
  }

  /** Twice the middle coefficient of a plane that turns from n0 to n1 between two times. */
  turning(from: number, to: number, n0: Float64Array, n1: Float64Array): number {
    this.interpolate(from, this.early);
    this.interpolate(to, this.late);
    return this.separationBetween(n0, n1);
  }

  /** The first two Bernstein coefficients of the determinant, the second three times, and M_x M_y M_z. */
  determinants(from: number, to: number) {
    this.interpolate(from, this.early);
    this.interpolate(to, this.late);
    const { early: p, late: q } = this;
    return {
      first: determinant(p, p, p),
      second: determinant(q, p, p) + determinant(p, q, p) + determinant(p, p, q),
      size: this.sizeX * this.sizeY * this.sizeZ,
    };
  }
}

/** The points of a pair at a time t 2⁻³², in 2⁻³² of the unit of `start` and `end`. */
function pointsAt(values: readonly bigint[], t: bigint): bigint[] {
  const rest = 2n ** BigInt(TIMES) - t;
  return values.slice(0, 12).map((start, k) => rest * start + t * values[12 + k]!);
}

/** Least n·(x − x_0) over side a minus the largest over side b. */
function exactSeparation(heights: readonly bigint[], cornersOfA: number): bigint {
  const least = heights.slice(0, cornersOfA).reduce((a, b) => (a < b ? a : b));
  return least - heights.slice(cornersOfA).reduce((a, b) => (a > b ? a : b));
}

const heightsOf = (n: readonly bigint[], points: readonly bigint[]): bigint[] =>
  [0, 1, 2, 3].map((k) => dot(vectorAt(n, 0), minus(vectorAt(points, k), vectorAt(points, 0))));

/** The error of a computed number, in bounds. @param unit of the exact one */
function inBounds(computed: number, exact: bigint, unit: number, bound: number): number {
  const error = exactly(computed) - inSmallest(exact, unit);
  return error === 0n ? 0 : ratioOf(error, exactly(bound));
}

function motion(random: Random): number[] {
  const size = 10 ** random.between(-6, 6);
  const far = random.next() < 0.5 ? 0 : size * 10 ** random.between(0, 3);
  const shift = many(3, () => far * random.between(-1, 1));
  return many(24, () => size * random.between(-1, 1)).map((value, k) => value + shift[k % 3]!);
}

function plane(name: string, code: PairCode, cornersOfA: number): Bound {
  const path = new OpenPath();
  return {
    name: `height of ${name} over a plane, on a path`,
    at: 'src/verify/path-pair.ts',
    numbers: Float64Array,
    draw: (random) => [...motion(random), ...unitVector(random), random.next()],
    ratio: (input) => {
      const n = input.slice(24, 27);
      if (!(largestOf(n) <= 1 && largestOf(n) > 0.1) || !path.open(code, Float64Array.from(input))) return Number.NaN;
      const t = timeOf(input[27]!);
      const [points, normal] = [toIntegers(input.subarray(0, 24)), toIntegers(n)];
      const exact = exactSeparation(heightsOf(normal.values, pointsAt(points.values, t)), cornersOfA);
      return inBounds(
        path.separation(times(t), n),
        exact,
        points.unit + normal.unit - TIMES,
        PLANE_ROUNDING * path.size(n),
      );
    },
  };
}

const turningPlane: Bound = {
  name: 'the same of two edges over a plane that turns',
  at: 'src/verify/path-pair.ts',
  numbers: Float64Array,
  draw: (random) => [...motion(random), ...unitVector(random), ...unitVector(random), random.next(), random.next()],
  ratio: (input) => {
    const [n0, n1] = [Float64Array.from(input.slice(24, 27)), Float64Array.from(input.slice(27, 30))];
    const isOut = [n0, n1].some((n) => !(largestOf(n) <= 1 && largestOf(n) > 0.1));
    if (isOut || !turningPath.open(EDGE_EDGE, Float64Array.from(input))) return Number.NaN;
    const [from, to] = [timeOf(input[30]!), timeOf(input[31]!)];
    const [points, normals] = [toIntegers(input.subarray(0, 24)), toIntegers(input.subarray(24, 30))];
    const [early, late] = [pointsAt(points.values, from), pointsAt(points.values, to)];
    const other = heightsOf(normals.values.slice(3), early);
    const heights = heightsOf(normals.values.slice(0, 3), late).map((height, k) => height + other[k]!);
    return inBounds(
      turningPath.turning(times(from), times(to), n0, n1),
      exactSeparation(heights, 2),
      points.unit + normals.unit - TIMES,
      TURNING_ROUNDING * (turningPath.size(n0) + turningPath.size(n1)),
    );
  },
};

const turningPath = new OpenPath();

function coplanarity(name: string, isSum: boolean): Bound {
  const path = new OpenPath();
  return {
    name,
    at: 'src/verify/path-pair.ts',
    numbers: Float64Array,
    draw: (random) => [...motion(random), random.next(), random.next()],
    ratio: (input) => {
      if (!path.open(VERTEX_TRIANGLE, Float64Array.from(input))) return Number.NaN;
      const [from, to] = [timeOf(input[24]!), timeOf(input[25]!)];
      const { values, unit } = toIntegers(input.subarray(0, 24));
      const [p, q] = [pointsAt(values, from), pointsAt(values, to)];
      const at = (points: readonly bigint[], k: number) => minus(vectorAt(points, k), vectorAt(points, 0));
      const exact = (a: readonly bigint[], b: readonly bigint[], c: readonly bigint[]): bigint =>
        dot(at(a, 1), cross(at(b, 2), at(c, 3)));
      const { first, second, size } = path.determinants(times(from), times(to));
      const bound = COPLANARITY_ROUNDING * size;
      if (!(bound > 0)) return Number.NaN;
      const cubed = 3 * (unit - TIMES);
      return isSum
        ? inBounds(second, exact(q, p, p) + exact(p, q, p) + exact(p, p, q), cubed, bound)
        : inBounds(first, exact(p, p, p), cubed, bound);
    },
  };
}

export const PATH_BOUNDS: readonly Bound[] = [
  plane('a vertex and a triangle', VERTEX_TRIANGLE, 1),
  plane('two edges', EDGE_EDGE, 2),
  turningPlane,
  coplanarity('determinant of four points at a time', false),
  coplanarity('sum of the determinants of two times', true),
];
