import type { Positions } from '../../../src/contract/mesh.js';
import { leastDistance } from './distances.js';
import { distanceRange, type Surface } from './surface.js';

/** The only correct reply to a request, determined from the request alone. */
export type Expectation = 'ANSWER' | 'TOLERANCE_TOO_SMALL' | 'EITHER';

/**
 * δ must be 64 ulp of the caller's scalar at the largest coordinate (the floor is 4 of them and δ is 16 floors), and
 * the engine must be able to represent the mesh in float32. If the second may decide, both replies are correct.
 * Kinematic vertices that stay need not count: if they alone are too far out, both replies are correct, too.
 *
 * @param delta in the caller's unit; undefined = the default for this start
 * @param isSingle whether the target is float32, and so the answer
 */
export function expectReply(
  surface: Surface,
  start: Positions,
  delta: number | undefined,
  isSingle = start instanceof Float32Array,
  target: Positions = start,
): Expectation {
  const { smallest: chosen } = distanceRange(surface, delta ?? defaultDelta(surface, start));
  const all = surface.vertices.map(([v]) => v);
  const ofAll = expectOver(all, start, chosen, isSingle);
  if (ofAll === 'ANSWER') return ofAll;
  const stays = (v: number) => surface.kinematic[v] && [0, 1, 2].every((c) => start[3 * v + c] === target[3 * v + c]);
  const others = all.filter((v) => !stays(v));
  if (others.length === 0 || others.length === all.length) return ofAll;
  return expectOver(others, start, chosen, isSingle) === 'TOLERANCE_TOO_SMALL' ? ofAll : 'EITHER';
}

/** @param chosen δ, the caller's unit */
function expectOver(vertices: readonly number[], start: Positions, chosen: number, isSingle: boolean): Expectation {
  let largest = 0;
  let extent = 0;
  for (let c = 0; c < 3; c++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const v of vertices) {
      low = Math.min(low, start[3 * v + c]);
      high = Math.max(high, start[3 * v + c]);
    }
    largest = Math.max(largest, Math.abs(low), Math.abs(high));
    // If an axis cannot be centred exactly, the engine's numbers are as large as the caller's.
    const isCentred = start instanceof Float64Array || (low > 0 && high <= 2 * low) || (high < 0 && low >= 2 * high);
    extent = Math.max(extent, isCentred ? high - low : Math.max(Math.abs(low), Math.abs(high)));
  }
  const digits = isSingle ? 23 : 52;
  const ulp = largest === 0 ? 0 : 2 ** (Math.floor(Math.log2(largest)) - digits);
  if (ulp > (chosen / 64) * (1 + SLACK)) return 'TOLERANCE_TOO_SMALL';
  if (ulp > (chosen / 64) * (1 - SLACK)) return 'EITHER';
  const engineUlp = extent * 2 ** -23;
  return chosen > 16 * 8 * Math.sqrt(3) * engineUlp * 1.01 ? 'ANSWER' : 'EITHER';
}

/**
 * Whether some pair is so close that float32 coordinates, relative to the middle of the mesh, may not distinguish its
 * sides, or that those of a float32 answer may not: then TOLERANCE_TOO_SMALL is as correct as an answer.
 */
export function isWithinRounding(
  surface: Surface,
  start: Positions,
  kinematicPairs: 'SKIP' | 'PROTECT',
  isSingle = start instanceof Float32Array,
): boolean {
  let size = 0;
  for (let c = 0; c < 3; c++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const [v] of surface.vertices) {
      low = Math.min(low, start[3 * v + c]);
      high = Math.max(high, start[3 * v + c]);
    }
    // Then the numbers are rounded twice: to the engine's numbers and to the answer's.
    const isNarrowed = isSingle && start instanceof Float64Array;
    size = Math.max(size, high - low, ...(isNarrowed ? [1.5 * Math.abs(low), 1.5 * Math.abs(high)] : []));
  }
  return leastDistance(surface, start, 2 * Math.sqrt(3) * size * 2 ** -24, { kinematicPairs }) !== undefined;
}

/** Whether the default of δ is 0, because rounding reduced the edges to length 0: then INVALID_PARAMETER is correct. */
export function hasNoDefault(surface: Surface, start: Positions, delta: number | undefined): boolean {
  return delta === undefined && medianLength(surface, start) === 0;
}

/**
 * δ if none is requested, in a scene of one scale: a tenth of the median edge of the moving part, or of the grains'
 * spacing. In a session it stays as it was at its opening.
 */
export function defaultDelta(surface: Surface, opening: Positions): number {
  return 0.1 * medianLength(surface, opening);
}

/** Two medians of the same lengths, summed in another order, differ by rounding. */
const SLACK = 1e-6;

function medianLength(surface: Surface, x: Positions): number {
  const { lengths, kinematic } = surface;
  if (lengths.length === 0) return medianSpacing(surface, x);
  const dynamic = lengths.filter(([a, b]) => !kinematic[a] || !kinematic[b]);
  const measured = (dynamic.length > 0 ? dynamic : lengths)
    .map(([a, b]) => Math.hypot(...[0, 1, 2].map((c) => x[3 * a + c] - x[3 * b + c])))
    .sort((p, q) => p - q);
  return measured[Math.floor(measured.length / 2)] ?? 0;
}

/** Grains alone have no edges: the distance of each to the next one counts. */
function medianSpacing({ particles }: Surface, x: Positions): number {
  const apart = (a: number, b: number) => Math.hypot(...[0, 1, 2].map((c) => x[3 * a + c] - x[3 * b + c]));
  const nearest = particles
    .map(([v]) =>
      particles.reduce((least, [other]) => (other === v ? least : Math.min(least, apart(v, other))), Infinity),
    )
    .sort((p, q) => p - q);
  return nearest[Math.floor(nearest.length / 2)] ?? 0;
}

/** The floor is at least this share of the smallest δ. */
export const FLOOR_PER_DELTA = 0.01;

/** Distance of neighbouring numbers of a scalar at the largest coordinate. */
export function ulpOf(x: ArrayLike<number>, isSingle: boolean): number {
  let largest = 0;
  for (let i = 0; i < x.length; i++) largest = Math.max(largest, Math.abs(x[i]));
  return largest === 0 ? 0 : 2 ** (Math.floor(Math.log2(largest)) - (isSingle ? 23 : 52));
}

/**
 * An upper bound of the floor that a service uses: δ/100, or what rounding requires at the start and the target, 4 ulp
 * of the answer's scalar and 8√3 u X of the engine's coordinates, whose origin is not known here: X is taken as four
 * times the largest coordinate. It is never more than δ/16.
 *
 * @param delta of the parameters, the caller's unit
 */
export function floorAtMost(surface: Surface, start: Positions, target: Positions, delta: number): number {
  const { smallest } = distanceRange(surface, delta);
  const largest = (isSingle: boolean) => Math.max(ulpOf(start, isSingle), ulpOf(target, isSingle));
  const engine = 4 * 8 * Math.sqrt(3) * 2 * largest(true);
  const rounding = Math.max(4 * largest(target instanceof Float32Array), engine);
  return 1.001 * Math.max(FLOOR_PER_DELTA * smallest, Math.min(smallest / 16, rounding));
}
