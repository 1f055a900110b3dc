import { WRITE_ERROR } from '../../src/solver/cpu/bound.js';
import { SEPARATION_ERROR } from '../../src/solver/cpu/box-separation.js';
import { Forward, type ForwardInput } from '../../src/solver/cpu/forward.js';
import { PairSet } from '../../src/solver/cpu/pair-set.js';
import { STORAGE_PER_UNIT } from '../../src/solver/frame.js';
import { EE, VT } from '../../src/solver/pair-kinds.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { isUnit, LEAST_FLOOR, largestOf, many, unitVector, vector } from './draws.js';
import { exactly, ONE, ratioOf, signedRatioOf } from './exact.js';
import { exactGap } from './heights.js';

const f = Math.fround;

/** Numbers of the last step that a pair's geometry was measured in, and of the step that is made. */
const [BEFORE, NOW] = [1, 2];

/** All vertices are moving where they are not at their target, and one pair, if there is one, is active. */
function inputOf(
  pairs: PairSet,
  x: Float32Array,
  y: Float32Array,
  numbers: Pick<ForwardInput, 'gamma' | 'floor' | 'delta' | 'radius'>,
): ForwardInput {
  const moving = new Uint8Array(x.length / 3);
  for (let k = 0; k < x.length; k++) if (x[k] !== y[k]) moving[Math.floor(k / 3)] = 1;
  const active = Uint32Array.from({ length: pairs.count }, (_, p) => p);
  return {
    x,
    y,
    pairs,
    active,
    activeCount: pairs.count,
    moving,
    step: NOW,
    rule: 'PLANAR',
    box: undefined,
    ...numbers,
  };
}

const NO_PAIRS = new PairSet();
const lone = new Forward(1);

/** x and y of a vertex, and the length to which a step limits its motion. */
const written: Bound = {
  name: 'error of a written position',
  at: 'src/solver/cpu/bound.ts',
  numbers: Float32Array,
  draw: (random) => {
    const size = 10 ** random.between(-3, 6);
    return [
      ...many(3, () => size * random.between(-1, 1)),
      ...vector(random).map((v) => v * size),
      random.next() * size,
    ];
  },
  ratio: (input) => {
    const [from, y] = [Float32Array.from(input.subarray(0, 3)), Float32Array.from(input.subarray(3, 6))];
    const radius = Math.abs(input[6]!);
    if (!(largestOf(input) < 1e12 && largestOf(input) > 1e-12)) return Number.NaN;
    const x = from.slice();
    lone.advance(inputOf(NO_PAIRS, x, y, { gamma: 1, floor: 0, delta: 1, radius }));
    const alpha = lone.alpha[0]!;
    let farthest = 0;
    let squared = 0n;
    for (let c = 0; c < 3; c++) {
      farthest = Math.max(farthest, Math.abs(from[c]!) + alpha * Math.abs(y[c]! - from[c]!));
      const exact = exactly(from[c]!) * ONE + exactly(alpha) * (exactly(y[c]!) - exactly(from[c]!));
      squared += (exactly(x[c]!) * ONE - exact) ** 2n;
    }
    if (squared === 0n) return 0;
    return Math.sqrt(ratioOf(squared, (exactly((WRITE_ERROR / 2) * farthest) * ONE) ** 2n));
  },
};

/** Two elements that a plane nearly or hardly separates, and where they want to go. */
function drawPair(random: Random): number[] {
  const normal = unitVector(random);
  const size = 10 ** random.between(-1, 2);
  const gap = 10 ** random.between(-5, -1);
  const centre = many(3, () => 10 ** random.between(-1, 3) * random.between(-1, 1));
  const press = size * 10 ** random.between(-5, 0);
  const points = many(12, () => size * random.between(-1, 1));
  const onPlane = points.map((value, k) => {
    const v = 3 * Math.floor(k / 3);
    const height = [0, 1, 2].reduce((sum, c) => sum + normal[c]! * points[v + c]!, 0);
    return value - height * normal[k % 3]! + centre[k % 3]!;
  });
  return [...onPlane, ...many(12, () => press * random.between(-1, 1)), ...normal, gap, random.between(0, 1)];
}

/** Corners of a pair at x and y: side a is raised by a gap along a normal. */
function readPair(input: ArrayLike<number>, cornersOfA: number) {
  const all = Array.from(input);
  const normal = all.slice(24, 27);
  const x = Float32Array.from(all.slice(0, 12), (value, k) =>
    k < 3 * cornersOfA ? value + all[27]! * normal[k % 3]! : value,
  );
  const y = x.map((value, k) => value + all[12 + k]!);
  return { normal: Float32Array.from(normal), x, y };
}

/**
 * Steps of a pair, whose bound alone would let it go much farther than it may, so that the check decides.
 *
 * @param name of the pair
 */
function keptGap(name: string, kind: number, cornersOfA: number): Bound {
  const pairs = new PairSet();
  pairs.push(kind, 0, 1, 2, 3, 0, 0, 0);
  const forward = new Forward(4);
  return {
    name: `floor/2 or the gap of ${name}, over what a step leaves`,
    at: 'src/solver/cpu/forward.ts',
    numbers: Float64Array,
    draw: drawPair,
    ratio: (input) => {
      const { x, y, normal } = readPair(input, cornersOfA);
      if (!isUnit(normal) || !(largestOf(x) < 1e4 && largestOf(y) < 1e4)) return Number.NaN;
      const floor = f(Math.max(LEAST_FLOOR, STORAGE_PER_UNIT * Math.max(largestOf(x), largestOf(y))));
      pairs.normal.set(normal);
      pairs.stamp[0] = BEFORE;
      const before = x.slice();
      const gamma = f(1 + 4 * Math.abs(input[28]!));
      forward.advance(inputOf(pairs, x, y, { gamma, floor, delta: f(1e6), radius: 1e30 }));
      // Vertices that stay keep their gap, bit for bit.
      if (!(forward.largestMove > 0)) return Number.NaN;
      const [from, to] = [exactGap(pairs.normal, before, kind), exactGap(pairs.normal, x, kind)];
      if (to <= 0n) return Number.POSITIVE_INFINITY;
      const half = exactly(floor / 2) * ONE;
      return ratioOf(from < half ? from : half, to);
    },
  };
}

/** Pairs that are skipped: how much of the margin rounding takes, at the end of the step. */
function skipped(name: string, kind: number, cornersOfA: number): Bound {
  const pairs = new PairSet();
  pairs.push(kind, 0, 1, 2, 3, 0, 0, 0);
  const forward = new Forward(4);
  const DELTA = f(0.1);
  return {
    name: `margin that rounding takes from ${name} that a step skips`,
    at: 'src/solver/cpu/bound.ts',
    numbers: Float64Array,
    draw: (random) => {
      const drawn = drawPair(random);
      drawn[27] = 0.1 + 10 ** random.between(-4, 0);
      return drawn;
    },
    ratio: (input) => {
      const { x, y, normal } = readPair(input, cornersOfA);
      if (!isUnit(normal) || !(largestOf(x) < 1e5 && largestOf(y) < 1e5)) return Number.NaN;
      pairs.normal.set(normal);
      pairs.stamp[0] = BEFORE;
      const radius = 1 + 10 * Math.abs(input[28]!);
      forward.advance(inputOf(pairs, x, y, { gamma: f(0.9), floor: LEAST_FLOOR, delta: DELTA, radius }));
      // A pair that is not skipped is measured.
      if (pairs.stamp[0] === NOW) return Number.NaN;
      const farthest = Math.max(largestOf(x), largestOf(y));
      const margin = Math.max(DELTA, DELTA / 2 + WRITE_ERROR * farthest);
      const lost = exactly(margin) * ONE - exactGap(normal, x, kind);
      const bound = exactly((WRITE_ERROR + SEPARATION_ERROR) * farthest) * ONE;
      return signedRatioOf(lost, bound);
    },
  };
}

export const STEP_BOUNDS: readonly Bound[] = [
  written,
  keptGap('a vertex and a triangle', VT, 1),
  keptGap('two edges', EE, 2),
  skipped('a vertex and a triangle', VT, 1),
  skipped('two edges', EE, 2),
];
