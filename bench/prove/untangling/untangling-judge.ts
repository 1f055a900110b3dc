import type { Positions } from '../../../src/contract/mesh.js';
import type { Untangled } from '../doors/door.js';
import { findCollisions } from '../judge/path-judge.js';
import { nameOfPair, type Pair, type StateRules } from '../judge/promises.js';
import { findMeetings } from '../judge/state-judge.js';
import type { Surface } from '../judge/surface.js';
import { LeftOutPairs } from './left-out-pairs.js';
import type { TracedState } from './traced-path.js';

export const FREE_IS_EXACT = 'FREE: the answer is free of intersections';
export const COUNTED = 'an untangling counts what intersects';
export const NO_WORSE = 'an untangling ends no worse than it began';
export const NOTHING_ELSE_MET = 'nothing that was not left out met on the way';
export const WHOLE_PATH = 'the path of an untangling has all its states';
export const IN_LIMITS = 'an untangling keeps its limits';
export const TOLD = 'an untangling tells what it did';

/** Largest number of pairs of an answer that a report names. */
const NAMED = 64;
/** The contract's value for a vertex that was in no region. */
const NO_REGION = 0xffffffff;
/** Sums and lengths of float64 numbers, computed in another order, agree within this. */
const ROUNDING = 1e-9;

export interface UntangleQuestion {
  readonly surface: Surface;
  readonly start: Positions;
  readonly rules: StateRules;
  readonly maxDisplacement: number | undefined;
  /** float64[3·V] positions with the lengths of edges at rest; undefined = the start's */
  readonly rest: Positions | undefined;
}

type Find = (promise: string, details: string) => void;

/** Judges an answer by the request alone. @returns pairs that meet in the start and in the answer */
export function judgeUntangled(question: UntangleQuestion, answer: Untangled, find: Find) {
  const { surface, start, rules, maxDisplacement } = question;
  const { positions, report } = answer;
  const before = findMeetings(surface, start, rules);
  const after = findMeetings(surface, positions, rules);
  const { status } = report;
  if (status === 'FREE' && after.length > 0) find(FREE_IS_EXACT, `${after.length} pairs intersect`);
  if (Number(report.piercesBefore) !== before.length)
    find(COUNTED, `told ${report.piercesBefore} before, are ${before.length}`);
  if (Number(report.piercesAfter) !== after.length)
    find(COUNTED, `told ${report.piercesAfter} after, are ${after.length}`);
  const isWhat = after.length === 0 ? 'FREE' : after.length < before.length ? 'PARTIAL' : 'UNRESOLVED';
  if (status !== isWhat) find(TOLD, `told ${status}, is ${isWhat}`);
  if (after.length > before.length) find(NO_WORSE, `${before.length} before, ${after.length} after`);
  const best = Math.min(...(report.piercesByIteration ?? []).map(Number));
  // A limit of displacements may forbid the best state.
  if (maxDisplacement === undefined && after.length > best)
    find(NO_WORSE, `${best} were left on the way, ${after.length} at the end`);
  const isStart = positions.every((p, i) => p === start[i]);
  if (status === 'UNRESOLVED' && !isStart) find(NO_WORSE, 'UNRESOLVED is not the start');
  judgeRemaining(answer, after, find);
  judgeMotion(question, answer, find);
  return { before, after };
}

function judgeRemaining({ report }: Untangled, after: readonly Pair[], find: Find): void {
  const named = report.remaining ?? [];
  const known = new Set(after.map(nameOfPair));
  const wrong = named.filter((pair) => !known.has(nameOfPair(pair)));
  if (wrong.length > 0) find(COUNTED, `${wrong.length} of the remaining pairs do not intersect`);
  if (named.length !== Math.min(NAMED, after.length))
    find(COUNTED, `${named.length} of ${after.length} pairs are named`);
}

function judgeMotion(
  { surface, start, maxDisplacement, rest }: UntangleQuestion,
  { positions, regions, report }: Untangled,
  find: Find,
) {
  const distance = (x: Positions, a: number, y: Positions, b: number) =>
    Math.hypot(x[3 * a] - y[3 * b], x[3 * a + 1] - y[3 * b + 1], x[3 * a + 2] - y[3 * b + 2]);
  let largest = 0;
  let moved = 0;
  for (let v = 0; v < surface.vertexCount; v++) {
    const own = distance(positions, v, start, v);
    largest = Math.max(largest, own);
    if (surface.kinematic[v] && own > 0) moved++;
  }
  if (moved > 0) find(IN_LIMITS, `${moved} kinematic vertices have moved`);
  if (maxDisplacement !== undefined && largest > maxDisplacement * (1 + ROUNDING))
    find(IN_LIMITS, `a vertex has moved by ${largest}, allowed are ${maxDisplacement}`);
  const isNear = (told: number, is: number) => Math.abs(told - is) <= ROUNDING * Math.max(is, Number.MIN_VALUE);
  const toldLargest = Math.max(report.regions.max, report.outside.max);
  if (!isNear(toldLargest, largest)) find(TOLD, `moved by ${toldLargest} at most, is ${largest}`);
  if (report.regions.vertices + report.outside.vertices !== surface.vertexCount)
    find(TOLD, 'regions and what is outside are not all vertices');
  const inRegions = regions.filter((contour) => contour !== NO_REGION).length;
  if (regions.length !== surface.vertexCount || Number(report.leftOutVertices) !== inRegions)
    find(TOLD, `${report.leftOutVertices} vertices left out, regions have ${inRegions}`);
  const lengths = rest ?? start;
  let [longest, shortest] = [0, Number.POSITIVE_INFINITY];
  for (const [a, b] of surface.lengths) {
    const atRest = distance(lengths, a, lengths, b);
    if (atRest === 0 || (surface.kinematic[a] && surface.kinematic[b])) continue;
    const stretch = distance(positions, a, positions, b) / atRest;
    longest = Math.max(longest, stretch);
    shortest = Math.min(shortest, stretch);
  }
  if (!isNear(report.maxStretch, longest)) find(TOLD, `maxStretch ${report.maxStretch}, is ${longest}`);
  if (!isNear(report.minStretch, shortest)) find(TOLD, `minStretch ${report.minStretch}, is ${shortest}`);
}

/**
 * Judges the path from the start to the answer: on no piece may a pair meet that its iteration does not leave out.
 *
 * @returns number of pieces
 */
export function judgeUntangledPath(
  { surface, start, rules }: UntangleQuestion,
  { positions: answer, report }: Untangled,
  path: readonly TracedState[],
  find: Find,
): number {
  const same = (a: Positions, b: Positions) => a.length === b.length && a.every((p, i) => p === b[i]);
  const [first, second] = path;
  if (!first || !same(first.positions, start)) {
    find(WHOLE_PATH, 'it does not begin at the start');
    return 0;
  }
  // The engine computes in its own numbers; the answer is one of its states, rounded to the caller's numbers.
  const coarseness = largestOf(start) * COARSENESS;
  const isNear = ({ positions }: TracedState) => answer.every((p, i) => Math.abs(p - positions[i]) <= coarseness);
  if (report.status !== 'UNRESOLVED') {
    if (!isNear(path.at(-1)!)) find(WHOLE_PATH, 'it does not end at the answer');
  } else if (path.length > 1) {
    // The answer is the start, so the path may lead only to a state that is no better in the numbers that are sent.
    const end = answer instanceof Float32Array ? Float32Array.from(path.at(-1)!.positions) : path.at(-1)!.positions;
    const [left, before] = [end, start].map((x) => findMeetings(surface, x, rules).length);
    if (left < before) find(WHOLE_PATH, `it leads to ${left} pairs, and the answer is the start with ${before}`);
  }
  // The pairs that intersect at the beginning of an iteration; for the first one in the caller's own numbers.
  const beginnings = new Map<number, Pair[]>();
  const hasImage = second !== undefined && second.iteration === 0 && path.length > 2;
  let pieces = 0;
  for (let k = 1; k < path.length; k++) {
    const { iteration, leftOut, positions } = path[k];
    const from = path[k - 1].positions;
    const begins = iteration > 0 && !beginnings.has(iteration);
    if (begins) {
      const meetings = findMeetings(surface, iteration === 1 ? start : from, rules);
      beginnings.set(iteration, meetings);
      const told = Number(report.piercesByIteration?.[iteration - 1] ?? -1);
      if (told !== meetings.length)
        find(WHOLE_PATH, `iteration ${iteration}: told ${told} pairs, are ${meetings.length} where it begins`);
    }
    // The piece from the caller's numbers to the engine's is part of the first iteration.
    const isImage = k === 1 && hasImage && path[2].iteration === 1;
    const meetings = isImage ? findMeetings(surface, start, rules) : (beginnings.get(iteration) ?? []);
    const excused = new LeftOutPairs(meetings, isImage ? path[2].leftOut : leftOut);
    const collisions = findCollisions({ ...surface, excused }, from, positions, rules);
    pieces++;
    if (collisions.length === 0) continue;
    const { a, b, time } = collisions[0];
    const where = iteration > 0 ? `iteration ${iteration}` : isImage ? 'the engine’s numbers' : 'the pull-back';
    find(
      NOTHING_ELSE_MET,
      `piece ${k} of ${path.length - 1}, ${where}: ${collisions.length} pairs, first ${a.join(',')} with ${b.join(',')} from t = ${time}`,
    );
    return pieces;
  }
  return pieces;
}

/** The engine's numbers are float32 about a centre: within this share of the largest coordinate of the caller's. */
const COARSENESS = 2 ** -22;

function largestOf(x: Positions): number {
  let largest = 0;
  for (const p of x) largest = Math.max(largest, Math.abs(p));
  return largest;
}
