import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import { signOfVolume } from './exact-meeting.js';

/** The strains in a report. */
export interface WireStrain {
  readonly violated: number | string;
  readonly inverted: number | string;
  readonly min: number;
  readonly max: number;
}

/** The contract counts elements over their limits by more than 0.001; within half of that both are correct. */
const COUNTED = 1e-3;
const EITHER = 5e-4;
/** Strains that are computed in two ways agree within this; thin elements and float32 answers need most of it. */
const AGREEMENT = 1e-4;
/** Spacing of float32 numbers just above 1. */
const FLOAT32 = 2 ** -23;
/**
 * Changes of a strain by rounding do not count either. The engine's position of a corner and the one that is sent
 * differ by at most three spacings per coordinate, two corners by 6 √3 of them; each of an element's (at most four)
 * shape functions turns that into at most this much over the least height of its rest shape.
 */
const ROUNDINGS = 4 * 6 * Math.sqrt(3);

interface StrainsFound {
  readonly least: number;
  readonly most: number;
  /** elements out of their limits, the smallest and the largest correct number, and the largest excess of one */
  readonly fewest: number;
  readonly many: number;
  readonly excess: number;
  readonly inverted: number;
}

/**
 * With G = DᵀD and G_0 that of the rest shape, σ² are the eigenvalues of G_0⁻¹ G, the roots of their characteristic
 * polynomial: no deformation gradient, no iteration. Undefined if no element can change.
 */
function findStrains(
  { triangles, tetrahedra, kinematic, strainLimits }: MeshInput,
  positions: Positions,
): StrainsFound | undefined {
  if (!strainLimits) return undefined;
  const { rest, min = 0, max = Number.POSITIVE_INFINITY } = strainLimits;
  let [least, most, fewest, many, inverted] = [Number.POSITIVE_INFINITY, 0, 0, 0, 0];
  let worst = Number.NEGATIVE_INFINITY;
  const spacing = FLOAT32 * (positions instanceof Float32Array ? farthestOf(positions) : extentOf(positions));
  for (const [ids, size] of [
    [triangles, 3],
    [tetrahedra, 4],
  ] as const) {
    for (let k = 0; k < (ids?.length ?? 0); k += size) {
      const own = [...ids!.subarray(k, k + size)];
      if (own.every((v) => kinematic?.[v])) continue;
      const now = edgesOf(positions, own);
      const before = edgesOf(rest, own);
      const squares = ratios(gramOf(before), gramOf(now)).map((square) => Math.max(0, square));
      const isTurned = size === 4 && signOfVolume(positions, own) * signOfVolume(rest, own) < 0;
      const smallest = Math.sqrt(Math.min(...squares)) * (isTurned ? -1 : 1);
      const largest = Math.sqrt(Math.max(...squares));
      least = Math.min(least, smallest);
      most = Math.max(most, largest);
      if (isTurned) inverted++;
      const excess = Math.max(largest - max, min > 0 ? min - smallest : 0);
      worst = Math.max(worst, excess);
      const rounding = (ROUNDINGS * spacing) / leastHeightOf(gramOf(before));
      if (excess > COUNTED + EITHER + rounding) fewest++;
      if (excess > COUNTED - EITHER) many++;
    }
  }
  return least > most ? undefined : { least, most, fewest, many, excess: worst, inverted };
}

/** Whether strain limits may move a mesh at its target: an element exceeds them, or is too near to them to decide. */
export function mayStrainsMove(mesh: MeshInput, positions: Positions): boolean {
  const found = findStrains(mesh, positions);
  return found !== undefined && (found.inverted > 0 || found.excess > -AGREEMENT);
}

/**
 * Compares a report with the strains of the answer, from the request alone.
 *
 * @param keeps whether nothing prevents the limits: no element may exceed them
 */
export function judgeStrains(
  mesh: MeshInput,
  positions: Positions,
  told: WireStrain | undefined,
  keeps: boolean,
  find: (promise: string, details: string) => void,
): void {
  const found = findStrains(mesh, positions);
  if (!found) return;
  const { least, most, fewest, many, inverted } = found;
  const is = JSON.stringify({ violated: [fewest, many], inverted, min: least, max: most });
  const violated = Number(told?.violated ?? -1);
  const isNear = (a: number | undefined, b: number) =>
    Math.abs((a ?? Number.NaN) - b) <= AGREEMENT * Math.max(1, Math.abs(b));
  const isTold =
    told !== undefined &&
    violated >= fewest &&
    violated <= many &&
    Number(told.inverted) === inverted &&
    isNear(told.min, least) &&
    isNear(told.max, most);
  if (!isTold) find('report: strain', `told ${JSON.stringify(told)}, is ${is}`);
  if (keeps && fewest > 0) find('strains are kept where nothing is in the way', is);
}

function farthestOf(x: Positions): number {
  let farthest = 0;
  for (const coordinate of x) farthest = Math.max(farthest, Math.abs(coordinate));
  return farthest;
}

function extentOf(x: Positions): number {
  let extent = 0;
  for (let c = 0; c < 3; c++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let k = c; k < x.length; k += 3) [low, high] = [Math.min(low, x[k]), Math.max(high, x[k])];
    extent = Math.max(extent, high - low);
  }
  return extent;
}

/** A lower bound of the least height: volume over the product of the longest edges. @param gram of edges at a corner */
function leastHeightOf(gram: readonly number[][]): number {
  const longest = Math.sqrt(
    Math.max(
      ...gram.flatMap((row, a) => row.map((_, b) => gram[a][a] + gram[b][b] - (a === b ? gram[a][a] : 2 * gram[a][b]))),
    ),
  );
  return Math.sqrt(Math.max(0, determinantOf(gram))) / longest ** (gram.length - 1);
}

function determinantOf(g: readonly number[][]): number {
  if (g.length === 2) return g[0][0] * g[1][1] - g[0][1] * g[1][0];
  return (
    g[0][0] * (g[1][1] * g[2][2] - g[1][2] * g[2][1]) -
    g[0][1] * (g[1][0] * g[2][2] - g[1][2] * g[2][0]) +
    g[0][2] * (g[1][0] * g[2][1] - g[1][1] * g[2][0])
  );
}

function edgesOf(x: Positions, ids: readonly number[]): number[][] {
  return ids.slice(1).map((v) => [0, 1, 2].map((c) => x[3 * v + c] - x[3 * ids[0] + c]));
}

const gramOf = (edges: readonly number[][]): number[][] =>
  edges.map((a) => edges.map((b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));

/** The eigenvalues of A⁻¹ B, A and B symmetric, A positive definite, 2×2 or 3×3. */
function ratios(a: number[][], b: number[][]): number[] {
  if (a.length === 2) {
    const det = a[0][0] * a[1][1] - a[0][1] ** 2;
    const half = (a[1][1] * b[0][0] - 2 * a[0][1] * b[0][1] + a[0][0] * b[1][1]) / (2 * det);
    const product = (b[0][0] * b[1][1] - b[0][1] ** 2) / det;
    const root = Math.sqrt(Math.max(0, half * half - product));
    return [half + root, product / (half + root)];
  }
  const adjugate = (m: number[][]) =>
    [0, 1, 2].map((i) =>
      [0, 1, 2].map((j) => {
        const [p, q, r, s] = [(j + 1) % 3, (j + 2) % 3, (i + 1) % 3, (i + 2) % 3];
        return m[p][r] * m[q][s] - m[p][s] * m[q][r];
      }),
    );
  const inner = (m: number[][], n: number[][]) => m.flat().reduce((sum, value, k) => sum + value * n.flat()[k], 0);
  const [toA, toB] = [adjugate(a), adjugate(b)];
  const det = inner(toA, a) / 3;
  // λ³ − p λ² + q λ − r, with three real roots (Viète).
  const [p, q, r] = [inner(toA, b) / det, inner(toB, a) / det, inner(toB, b) / (3 * det)];
  const spread = Math.sqrt(Math.max(0, p * p - 3 * q));
  const cosine = spread > 0 ? (2 * p ** 3 - 9 * p * q + 27 * r) / (2 * spread ** 3) : 1;
  const angle = Math.acos(Math.max(-1, Math.min(1, cosine)));
  return [0, 1, 2].map((k) => (p + 2 * spread * Math.cos((angle + 2 * Math.PI * k) / 3)) / 3);
}
