import type { Positions } from '../../../src/contract/mesh.js';
import type { Answer, WireReport } from '../doors/door.js';
import { findTouching, leastDistance } from './distances.js';
import { judgeEdges, SUM_ROUNDING, stretchOf } from './edge-judge.js';
import { FLOOR_PER_DELTA, ulpOf } from './expectation.js';
import { measureInvariant } from './invariants.js';
import type { Find, Question } from './question.js';
import { findMeetings } from './state-judge.js';
import { distanceRange, type Surface } from './surface.js';

/** A fault in an answer: the name of the promise and the numbers. */
export interface Finding {
  readonly promise: string;
  readonly details: string;
}

/** The floor is at least δ/100, and the commit check leaves half of it; a tenth covers certified gaps and rounding. */
const KEPT_OF_FLOOR = 0.45;

/** The name of the promise, for an answer and for its path. */
export const KEPT_FLOOR = 'half of the floor is kept';

/** Judges an answer on the numbers that were sent, from the request and the answer alone. */
export function judgeAnswer(question: Question, { positions, report }: Answer): Finding[] {
  const { surface, start, target, invariants } = question;
  const findings: Finding[] = [];
  const find = (promise: string, details: string) => findings.push({ promise, details });
  const rules = { kinematicPairs: report.resolved?.kinematicPairs ?? 'SKIP' };
  const bad = positions.findIndex((p) => !Number.isFinite(p));
  if (bad !== -1) {
    find('finite positions', `vertex ${Math.floor(bad / 3)} is ${positions[bad]}`);
    return findings;
  }
  const meetings = findMeetings(surface, positions, rules);
  if (meetings.length > 0) {
    const { a, b } = meetings[0];
    find('no intersections in the answer', `${meetings.length} pairs, first ${a.join(',')} with ${b.join(',')}`);
  }
  for (const invariant of invariants) {
    const before = measureInvariant(invariant, start);
    const after = measureInvariant(invariant, positions);
    const changed = before.findIndex((value, k) => value !== after[k]);
    if (changed !== -1) {
      find('nothing tunnels', `${invariant.kind} number ${changed} was ${before[changed]}, is ${after[changed]}`);
    }
  }
  judgeReport(question, { positions, report }, find);
  judgeDistance(question, { positions, report }, find);
  judgeBits(question, positions, find);
  const isAtTarget = question.movesItself !== true && target.every((p, i) => p === start[i]);
  if (report.status === 'CONVERGED' && isAtTarget && !isEqual(positions, start)) {
    find('a target equal to the start moves nothing', 'some vertex moved');
  }
  return findings;
}

/** Distances near 0 lose digits to the cancellation of coordinates. */
const near = (a: number, b: number, size: number): boolean =>
  Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b)) + 64 * 2 ** -53 * size;

function judgeReport(question: Question, { positions, report }: Answer, find: Find): void {
  const { surface, target, verify, excluded } = question;
  const { verification, resolved } = report;
  if (verification.intersections !== '0') find('report: intersections 0', verification.intersections);
  if (verification.fellBack) find('the engine was never caught', 'fellBack is set');
  if (verification.performed !== verify) find('report: performed', `${verification.performed}, asked ${verify}`);
  let [max, kinematicMax, sum, dynamic, deflected, unreached] = [0, 0, 0, 0, 0, 0];
  let borderline = 0;
  const delta = resolved.activationDistance;
  for (let v = 0; v < surface.vertexCount; v++) {
    const away = Math.hypot(...[0, 1, 2].map((c) => positions[3 * v + c] - target[3 * v + c]));
    if (surface.kinematic[v]) kinematicMax = Math.max(kinematicMax, away);
    else {
      max = Math.max(max, away);
      sum += away * away;
      dynamic++;
    }
    if (away > delta) deflected++;
    if (Math.abs(away - delta) <= SUM_ROUNDING * delta) borderline++;
    if (surface.kinematic[v] && [0, 1, 2].some((c) => positions[3 * v + c] !== target[3 * v + c])) unreached++;
  }
  const rms = Math.sqrt(sum / Math.max(1, dynamic));
  const expect = (name: string, told: number, true_: number) => {
    if (Math.abs(told - true_) > SUM_ROUNDING * Math.abs(true_)) find(`report: ${name}`, `told ${told}, is ${true_}`);
  };
  expect('distanceToTargetMax', report.distanceToTargetMax, max);
  expect('distanceToTargetRms', report.distanceToTargetRms, rms);
  expect('kinematicDistanceMax', report.kinematicDistanceMax, kinematicMax);
  expect('unreachedKinematic', report.unreachedKinematic, unreached);
  if (Math.abs(report.deflectedVertices - deflected) > borderline) {
    find('report: deflectedVertices', `told ${report.deflectedVertices}, are ${deflected}`);
  }
  expect('maxStretch', report.maxStretch, stretchOf(surface, positions, target));
  judgeEdges(question, { positions, report }, find);
  if (report.steps > resolved.stepLimit) find('report: steps', `${report.steps} of ${resolved.stepLimit}`);
  const isDone = report.status === 'CONVERGED';
  if (isDone && (report.residual >= resolved.residualTolerance || report.unfinishedVertices !== 0)) {
    find('report: CONVERGED', `residual ${report.residual}, ${report.unfinishedVertices} unfinished vertices`);
  }
  // Also where time or the step limit has ended the steps that only shorten edges.
  if (!isDone && report.unfinishedVertices === 0) find(`report: ${report.status}`, 'no vertex is unfinished');
  if (report.status === 'STEP_LIMIT' && report.steps < fewestStepsAtLimit(resolved)) {
    find('report: STEP_LIMIT', `${report.steps} steps of ${resolved.stepLimit}`);
  }
  const { fewest, most } = excluded ?? { fewest: 0, most: 0 };
  const ignored = Number(report.ignoredPairCount);
  if (!(ignored >= fewest && ignored <= most)) {
    const are = fewest === most ? `${most}` : `between ${fewest} and ${most}`;
    find('report: ignoredPairCount', `told ${report.ignoredPairCount}, are ${are}`);
  }
  judgeIntersecting(question, { positions, report }, find);
  const { minDistance: told } = report;
  // Two edges may touch although neither pierces anything against which it is judged.
  const mayBeNone = told === 0 && findTouching(surface, positions, { kinematicPairs: resolved.kinematicPairs });
  if (told !== undefined && !(told > 0) && !(mayBeNone && mayBeNone.certain.length > 0)) {
    find('report: minDistance', `${told} between elements that do not meet`);
  }
}

/** Ignored pairs may intersect in the answer, and the report must say how many do, unless nothing was tested. */
function judgeIntersecting({ surface, verify }: Question, { positions, report }: Answer, find: Find): void {
  const told = report.intersectingPairCount;
  if (verify === 'NONE') {
    if (told !== undefined) find('report: intersectingPairCount', `told ${told} without a test`);
    return;
  }
  // A budget that ends before the test of the answer leaves it undecided.
  if (told === undefined && report.status === 'DEADLINE') return;
  const { excused: _, ...whole } = surface;
  const count = findMeetings(whole, positions, { kinematicPairs: report.resolved.kinematicPairs }).length;
  if (told !== String(count)) find('report: intersectingPairCount', `told ${told}, are ${count}`);
}

function judgeDistance(question: Question, { positions, report }: Answer, find: Find): void {
  const { surface } = question;
  const { resolved } = report;
  const delta = resolved.activationDistance;
  const { largest: widest } = distanceRange(surface, delta);
  const reach = resolved.preset === 'PAPER' ? resolved.searchRadiusMax : resolved.reach + widest;
  const rules = { kinematicPairs: resolved.kinematicPairs };
  const least = leastDistance(surface, positions, reach, rules);
  const told = report.minDistance;
  const isRight =
    least === undefined
      ? told === undefined || told >= 0.999 * reach
      : told === undefined
        ? least >= 0.999 * reach
        : near(least, told, largest(positions));
  if (!isRight && !(told === undefined && mayBeUnmeasured(report, question))) {
    const warned = report.warnings?.map(({ code }) => ` ${code}`).join('') ?? ' unknown';
    find('report: minDistance', `told ${told} with ${report.status}, warnings:${warned}; is ${least}`);
  }
  judgeFloor(question, positions, report, least, find);
}

/** A run that has ended by itself leaves no time for the least distance only if it took this share of the budget. */
const SPENT_SHARE = 0.5;

/** Whether a budget that is spent explains a missing least distance; a list of warnings, if there is one, must say so. */
function mayBeUnmeasured(
  { status, warnings, timings = {} }: WireReport,
  { budgetSeconds = Infinity }: Question,
): boolean {
  const isTold = warnings?.some(({ code }) => code === 'MIN_DISTANCE_NOT_MEASURED');
  if (status === 'DEADLINE') return isTold ?? true;
  const spent = Object.values(timings).reduce((sum, microseconds) => sum + microseconds, 0);
  return isTold === true && spent >= SPENT_SHARE * 1e6 * budgetSeconds;
}

/** @param least the least distance within the engine's reach; undefined = none is as near */
function judgeFloor(
  { surface, start }: Question,
  positions: Positions,
  { resolved }: Answer['report'],
  least: number | undefined,
  find: Find,
): void {
  const floor = leastFloor(surface, resolved);
  if (least === undefined || least >= KEPT_OF_FLOOR * floor) return;
  if (least < keptApart(surface, start, positions, resolved)) {
    const before = leastDistance(surface, start, floor, { kinematicPairs: resolved.kinematicPairs });
    find(KEPT_FLOOR, `least distance ${least}, floor at least ${floor}, start ${before ?? 'above it'}`);
  }
}

const leastFloor = (surface: Surface, { activationDistance }: Answer['report']['resolved']): number =>
  FLOOR_PER_DELTA * distanceRange(surface, activationDistance).smallest;

/**
 * The distance below which no two elements come on the whole path, the caller's unit: nearly half of the floor, or of
 * the least distance in the start, which may be closer but must not get closer still.
 *
 * @param positions of a state of the path, or of the answer
 */
export function keptApart(
  surface: Surface,
  start: Positions,
  positions: Positions,
  resolved: Answer['report']['resolved'],
): number {
  const floor = leastFloor(surface, resolved);
  const before = leastDistance(surface, start, floor, { kinematicPairs: resolved.kinematicPairs });
  // States in a narrower scalar than the start's are rounded to it, whatever the engine did.
  const isNarrowed = start instanceof Float64Array && positions instanceof Float32Array;
  const rounding = isNarrowed ? 2 * Math.sqrt(3) * ulpOf(positions, true) : 0;
  return Math.max(0, KEPT_OF_FLOOR * (before ?? floor) - rounding);
}

/** A vertex that did not move has the start's bits, one that arrived has the target's: there is nothing to round. */
function judgeBits({ surface, start, target }: Question, positions: Positions, find: Find): void {
  for (let v = 0; v < surface.vertexCount; v++) {
    const axes = [0, 1, 2].map((c) => 3 * v + c);
    const wantsNothing = axes.every((i) => start[i] === target[i]);
    // Only a kinematic vertex is never pushed aside.
    if (wantsNothing && surface.kinematic[v] && axes.some((i) => positions[i] !== start[i])) {
      find('a kinematic vertex at its target stays', `vertex ${v}`);
      return;
    }
  }
}

function largest(x: Positions): number {
  let most = 0;
  for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(x[i]));
  return most;
}

function isEqual(a: Positions, b: Positions): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The steps after which a run may end by its step limit L. Without a pull-back it makes all of them. With one, Algorithm 1
 * leaves a quarter of L to what follows, at most 128 steps and none of the first 32, and steps towards the target leave a
 * sixteenth, at most 32; the parts that follow may need fewer.
 */
function fewestStepsAtLimit({ stepLimit, quality, method }: Answer['report']['resolved']): number {
  if (quality === 'FAST' || method === 'VOLUME_IMPULSES') return stepLimit;
  const ofPullBack = Math.max(0, Math.min(Math.floor(stepLimit / 4), 128, stepLimit - 32));
  const ofLastSteps = Math.min(Math.floor(stepLimit / 16), 32);
  return stepLimit - Math.max(ofPullBack, ofLastSteps);
}
