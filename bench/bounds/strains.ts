import { findStrainedElements, roundingOf, STRAIN_TOLERANCE } from '../../src/jobs/strained-elements.js';
import { readStrainShapes } from '../../src/mesh/strain.js';
import { principalStrains } from '../../src/solver/strain/deformation.js';
import type { Random } from '../prove/scenes/random.js';
import type { Bound } from './climb.js';
import { largestOf, many, vector } from './draws.js';
import { toIntegers } from './exact.js';
import { dot, minus, vectorAt } from './exact-distance.js';

type Matrix = readonly (readonly bigint[])[];

/** Gram matrix of the edges from the first of some points, in the square of the unit of the points. */
function gramOf(points: readonly bigint[], size: number): Matrix {
  const edges = Array.from({ length: size }, (_, k) => minus(vectorAt(points, k + 1), vectorAt(points, 0)));
  return edges.map((a) => edges.map((b) => dot(a, b)));
}

/** Whether a symmetric matrix of one to three rows is positive definite. */
function isDefinite(m: Matrix): boolean {
  const [[a, b = 0n, c = 0n], [, d = 1n, e = 0n] = [], [, , g = 1n] = []] = m as unknown as bigint[][];
  if (!(a! > 0n)) return false;
  if (m.length > 1 && !(a! * d - b * b > 0n)) return false;
  return m.length < 3 || a! * (d * g - e * e) - b * (b * g - e * c) + c * (b * e - d * c) > 0n;
}

/** A number as an integer over a power of two. */
const scaled = (value: number): bigint => BigInt(Math.round(value * 2 ** 52 * 2 ** -exponentOf(value)));
const exponentOf = (value: number): number => Math.floor(Math.log2(value));

/** Whether all σ of det(Y − σ² R) = 0 are below, or above, a strain; R and Y in the units 2^{2 rest} and 2^{2 now}. */
function isBeyond(rest: Matrix, now: Matrix, strain: number, shift: number, isAbove: boolean): boolean {
  if (!(strain > 0)) return !isAbove;
  // σ² R 2^{2 shift} − Y, multiplied by a power of two that makes it whole
  const square = scaled(strain) ** 2n;
  const exponent = 2 * (exponentOf(strain) - 52 + shift);
  const [up, down] = [BigInt(Math.max(exponent, 0)), BigInt(Math.max(-exponent, 0))];
  const sign = isAbove ? 1n : -1n;
  return isDefinite(rest.map((row, i) => row.map((r, j) => sign * (((square * r) << up) - (now[i]![j]! << down)))));
}

/** How far a computed strain is from the exact one, up to `most`, by bisection. */
function errorOf(rest: Matrix, now: Matrix, shift: number, computed: number, isMost: boolean, most: number): number {
  // Above the largest, or below the least strain: all differences have one sign.
  const isOutside = (strain: number) => isBeyond(rest, now, strain, shift, isMost);
  const way = isMost === isOutside(computed) ? -1 : 1;
  let [low, high] = [0, most];
  for (let n = 0; n < 30; n++) {
    const middle = (low + high) / 2;
    if (isOutside(computed + way * middle) === isOutside(computed)) low = middle;
    else high = middle;
  }
  return low;
}

const IDENTITY: Matrix = [0, 1, 2].map((i) => [0, 1, 2].map((j) => (i === j ? 1n : 0n)));

/** F by columns, whose strains are of very different sizes. */
function drawGradient(random: Random): number[] {
  const sizes = [0, random.between(-9, 0), random.between(-16, 0)];
  const turned = many(3, () => 0).flatMap((_, k) => vector(random).map((value) => value * 10 ** sizes[k]!));
  const mix = many(9, () => random.between(-1, 1));
  return turned.map((_, k) =>
    [0, 1, 2].reduce((sum, c) => sum + turned[3 * c + (k % 3)]! * mix[3 * c + Math.floor(k / 3)]!, 0),
  );
}

/** Error of the least strain of a tetrahedron as a share of the largest. */
const LEAST_STRAIN = 2 ** -25;

const leastStrain: Bound = {
  name: 'error of the least strain of a tetrahedron',
  at: 'src/solver/strain/deformation.ts',
  numbers: Float64Array,
  draw: drawGradient,
  ratio: (input) => {
    const size = largestOf(input);
    if (!(size > 1e-6 && size < 1e6)) return Number.NaN;
    const { least, most } = principalStrains(Float64Array.from(input), false);
    const { values, unit } = toIntegers(input);
    const gram = gramOf([0n, 0n, 0n, ...values], 3);
    const bound = LEAST_STRAIN * most;
    return errorOf(IDENTITY, gram, -unit, Math.abs(least), false, 4 * bound) / bound;
  },
};

/** The rest shape of an element and its positions in an answer. */
function drawElement(corners: number) {
  return (random: Random): number[] => {
    const flat = [0, random.between(-5, 0), random.between(-5, 0)];
    const rest = many(3 * corners, () => random.between(-1, 1)).map((value, k) => value * 10 ** flat[k % 3]!);
    const far = 10 ** random.between(-2, 3);
    const shift = many(3, () => far * random.between(-1, 1));
    return [...rest, ...rest.map((value, k) => value * random.between(0.9, 1.1) + shift[k % 3]!)];
  };
}

/** An answer counts as within its limits up to a tolerance: by what share of it the measured strains are wrong. */
function reported(name: string, corners: 3 | 4): Bound {
  const ids = Uint32Array.from({ length: corners }, (_, v) => v);
  const [triangles, tetrahedra] = corners === 3 ? [ids, new Uint32Array(0)] : [new Uint32Array(0), ids];
  const frame = { origin: [0, 0, 0] as const, scale: 1 };
  return {
    name: `error of the strains of ${name} in a report, over their tolerance`,
    at: 'src/jobs/strained-elements.ts',
    numbers: Float64Array,
    draw: drawElement(corners),
    ratio: (input) => {
      const [rest, answer] = [input.slice(0, 3 * corners), Float32Array.from(input.subarray(3 * corners))];
      if (!(largestOf(input) < 1e6)) return Number.NaN;
      const limits = { vertexCount: corners, strainLimits: { rest: Float64Array.from(rest), min: 0.5, max: 2 } };
      let strain: ReturnType<typeof readStrainShapes>;
      try {
        strain = readStrainShapes(limits, triangles, tetrahedra);
      } catch {
        return Number.NaN;
      }
      const found = findStrainedElements({ strain, kinematic: new Uint8Array(corners) }, answer, frame);
      if (!found || !strain || !(Math.abs(found.min) < 1e6 && found.max < 1e6)) return Number.NaN;
      const tolerance = STRAIN_TOLERANCE + roundingOf(answer, ids, strain.gradients, frame);
      const [u, y] = [toIntegers(rest), toIntegers(answer)];
      const [before, after] = [gramOf(u.values, corners - 1), gramOf(y.values, corners - 1)];
      const shift = u.unit - y.unit;
      const over = errorOf(before, after, shift, found.max, true, 4 * tolerance);
      const under = errorOf(before, after, shift, Math.abs(found.min), false, 4 * tolerance);
      return Math.max(over, under) / tolerance;
    },
  };
}

export const STRAIN_BOUNDS: readonly Bound[] = [leastStrain, reported('a triangle', 3), reported('a tetrahedron', 4)];
