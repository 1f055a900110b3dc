import type { MeshInput, Positions } from '../../../src/contract/mesh.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { type Answer, BUDGET_SECONDS, type Door, type Refusal, type Reply } from '../doors/door.js';
import type { DoorName } from '../doors/doors.js';
import { type Finding, judgeAnswer, KEPT_FLOOR, keptApart } from '../judge/answer-judge.js';
import { findTouching } from '../judge/distances.js';
import { mayLengthsMove } from '../judge/edge-judge.js';
import { ExcludedMemory } from '../judge/excluded.js';
import {
  defaultDelta,
  expectReply,
  FLOOR_PER_DELTA,
  floorAtMost,
  hasNoDefault,
  isWithinRounding,
  ulpOf,
} from '../judge/expectation.js';
import { judgeFree } from '../judge/free-judge.js';
import type { Invariant } from '../judge/invariants.js';
import { isAsNearAsCanBe, judgeNearness } from '../judge/nearness-judge.js';
import { findCollisions, findReturn } from '../judge/path-judge.js';
import type { Excused } from '../judge/promises.js';
import { judgeResting, type Resting } from '../judge/resting-judge.js';
import { findMeetings } from '../judge/state-judge.js';
import { judgeStrains, mayStrainsMove } from '../judge/strain-judge.js';
import { readSurface, type Surface } from '../judge/surface.js';
import type { ProveScene } from '../scenes/builder.js';
import { Random } from '../scenes/random.js';
import { withRestLengths } from '../scenes/rested.js';
import { withStrainLimits } from '../scenes/strained.js';
import { parametersOf, vary, withParts } from '../scenes/variation.js';
import type { Mode, ProveCase } from './cases.js';
import { type Judge, type JudgedStep, trySession } from './session-trial.js';
import { takeTrace } from './trace-files.js';

export interface Outcome {
  readonly findings: readonly Finding[];
  /** how it ended: a status, or the code of a justified refusal */
  readonly endings: Readonly<Record<string, number>>;
  readonly answers: number;
  readonly steps: number;
  readonly reused: number;
  /** linear pieces of paths that were judged */
  readonly pieces: number;
  /** answers during which pairs were excluded because they intersected */
  readonly ignoring: number;
  /** how often the service's own check was compared with the judge */
  readonly checks: number;
}

export interface Bench {
  readonly doors: Readonly<Record<DoorName, Door>>;
  /** frames of a session case, of a long one */
  readonly frames: number;
  readonly longFrames: number;
  /** ms of performance.now() after which no further frame is begun */
  readonly until: number;
  /** where the service writes the states of its paths */
  readonly traceFolder: string | undefined;
  /** asks for answers that the service has not verified, so that only the judge tests them */
  readonly isUnverified: boolean;
  /** ms that a session may be left alone in a rough session; absent = none expires or is parked here */
  readonly longestWait?: number;
}

/** Sessions of one case that take turns and share the frames of one session. */
const TURNING = 3;

/** The most pieces of a step of the pull-back; any other step is one. */
const PIECES_OF_PULL_BACK = 4;

/** Frames of sessions that are completed. */
const WHOLE_FRAMES = { WHOLE_SESSION: 240, ROUGH_SESSION: 40 };

function framesOf(mode: Mode, { frames, longFrames }: Bench): number {
  if (mode === 'TURNS') return Math.ceil(frames / TURNING);
  return mode === 'LONG_SESSION' ? longFrames : frames;
}

export class Tally {
  readonly findings: Finding[] = [];
  readonly endings: Record<string, number> = {};
  answers = 0;
  steps = 0;
  reused = 0;
  pieces = 0;
  ignoring = 0;
  checks = 0;

  end(how: string): void {
    this.endings[how] = (this.endings[how] ?? 0) + 1;
  }

  find(promise: string, details: string): void {
    this.findings.push({ promise, details });
  }
}

/** Sends one case and judges every answer. */
export async function tryCase(prove: ProveCase, scene: ProveScene, bench: Bench): Promise<Outcome> {
  const random = new Random(prove.seed ^ 0x5bd1e995);
  // An exact scene must not be scaled.
  const placed = scene.isExact ? { ...prove.variation, scale: 1, offset: 0 } : prove.variation;
  // Only the two-way method keeps limits of strains and of edge lengths.
  const hasLimits = scene.mesh.strainLimits !== undefined || scene.mesh.restLengths !== undefined;
  const isTwoWay = !hasVolumes(scene.mesh) || hasLimits || placed.hasStrainLimits;
  const variation = isTwoWay ? { ...placed, method: 'TWO_WAY' as const } : placed;
  const { start, target } = vary(scene, variation, random);
  const whole = readSurface(scene.mesh);
  const parametersFrom = (opening: Positions): ParametersInput => {
    const asked = parametersOf(variation, defaultDelta(whole, opening));
    return bench.isUnverified ? { ...asked, verify: 'NONE' } : asked;
  };
  const isPlain = prove.mode === 'RESOLVE' && !variation.hasPartDistances && !variation.isIgnoringParts;
  const { scale } = variation;
  const strained = withStrainLimits(scene, { scale, wantsLimits: variation.hasStrainLimits === true });
  const limited = withRestLengths(strained, scale);
  const mesh = isPlain ? limited : withParts(limited, variation, random);
  const tally = new Tally();
  const trial = new Trial(prove, scene, mesh, bench, parametersFrom, parametersFrom(start), tally);
  if (prove.mode === 'RESOLVE') await trial.resolve(start, target);
  else if (prove.mode === 'TURNS') await trial.sessionsByTurns(start, target, prove.seed);
  else await trial.session(start, target, random);
  return tally;
}

/** Whether every pair of elements has four vertices, as volume-preserving impulses need. */
function hasVolumes({ particles, segments }: MeshInput): boolean {
  const count = particles?.length ?? 0;
  return count === 0 || (count === 1 && (segments?.length ?? 0) === 0);
}

class Trial implements Judge {
  readonly #surface: Surface;
  readonly #isIgnoring: boolean;
  readonly #door: Door;
  readonly #invariants: readonly Invariant[];
  readonly #verify: 'STATE' | 'PATH' | 'NONE';
  readonly #rules: { readonly kinematicPairs: 'SKIP' | 'PROTECT' };
  readonly #keepsStrains: boolean;
  readonly #keepsLengths: boolean;
  readonly #resting: Resting | undefined;
  readonly #free: readonly number[] | undefined;
  #requests = 0;

  constructor(
    private readonly prove: ProveCase,
    private readonly scene: ProveScene,
    private readonly mesh: MeshInput,
    private readonly bench: Bench,
    private readonly parametersFrom: (opening: Positions) => ParametersInput,
    /** from the start */
    private readonly parameters: ParametersInput,
    private readonly tally: Tally,
  ) {
    this.#surface = readSurface(mesh);
    const { extreme, corner } = prove.variation;
    const isAsItIs = prove.mode === 'RESOLVE' && extreme === 'NONE' && corner === 'DEFAULT';
    const { hasPartDistances, isIgnoringParts, method, offset } = prove.variation;
    // Far from the origin coordinates are coarser than contact offsets.
    const isOther = hasPartDistances || isIgnoringParts || method === 'VOLUME_IMPULSES' || offset > 1;
    this.#resting = isAsItIs && !isOther ? scene.resting : undefined;
    // Limits of strains may keep a shape from its target.
    this.#free = isAsItIs && !isOther && mesh.strainLimits === undefined ? scene.free : undefined;
    this.#keepsStrains = scene.keepsStrains === true && isAsItIs;
    // Strain limits that a case adds replace those of edges.
    this.#keepsLengths = scene.keepsLengths === true && isAsItIs && mesh.strainLimits === undefined;
    this.#isIgnoring = parameters.onIntersectingStart === 'IGNORE_PAIRS';
    this.#door = bench.doors[prove.door];
    // Ignored parts may pass through anything.
    this.#invariants = mesh.ignoredPartPairs ? [] : scene.invariants;
    this.#verify = (parameters.verify as 'PATH' | 'NONE' | undefined) ?? 'STATE';
    this.#rules = { kinematicPairs: parameters.kinematicPairs ?? 'SKIP' };
  }

  async resolve(start: Positions, target: Positions): Promise<void> {
    const requestId = this.nameRequest();
    const surface = this.#surface;
    const reply = await this.#door.resolve(this.mesh, start, target, this.parameters, { requestId });
    if (this.isRefusedRightly(surface, start, reply, target)) return;
    const memory = new ExcludedMemory();
    const answer = this.judge({ surface, start, target, reply, requestIds: [requestId], memory });
    if (answer && 'answer' in reply) await this.#sendAgain(start, target, reply.answer, memory.excused);
    // If all vertices end in one point, or move far, nearly every pair meets, and counting them takes minutes.
    const isCountable = ['NONE', 'SAME', 'NOISE'].includes(this.prove.variation.extreme);
    if (answer && isCountable) await this.#compareChecks(answer, target);
  }

  /** Sends the target again from an answer that is as near as it can be, with the lengths that its start had as defaults. */
  async #sendAgain(
    start: Positions,
    target: Positions,
    { positions, report }: Answer,
    excused: Excused,
  ): Promise<void> {
    const surface = this.#surface;
    if (!isAsNearAsCanBe(surface, start, target, report)) return;
    const { activationDistance, reach, leap } = report.resolved;
    const parameters = { ...this.parameters, activationDistance, reach, leap };
    const requestId = this.nameRequest();
    const reply = await this.#door.resolve(this.mesh, positions, target, parameters, { requestId });
    if (this.isRefusedRightly(surface, positions, reply, target)) return;
    const memory = new ExcludedMemory();
    this.judge({ surface, start: positions, target, reply, requestIds: [requestId], memory });
    if (!('answer' in reply)) return;
    const again = { report: reply.answer.report, excused: memory.excused };
    judgeNearness({ report, excused }, again, (promise, details) => this.find(promise, details));
  }

  /** Sessions of one engine beside each other, each with its targets. @throws the first failure, when all have ended */
  async sessionsByTurns(start: Positions, target: Positions, seed: number): Promise<void> {
    const streams = Array.from({ length: TURNING }, (_, k) => new Random((seed + 0x2545f491 * (k + 1)) >>> 0));
    const ends = await Promise.allSettled(streams.map((random) => this.session(start, target, random)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async session(start: Positions, target: Positions, random: Random): Promise<void> {
    const { bench, parametersFrom, mesh, prove, scene } = this;
    const { mode } = prove;
    const isRough = mode === 'ROUGH_SESSION';
    const isWhole = mode === 'WHOLE_SESSION' || isRough;
    const until = isWhole ? Number.POSITIVE_INFINITY : bench.until;
    const frames = isWhole ? WHOLE_FRAMES[mode] : framesOf(mode, bench);
    const longestWait = bench.longestWait ?? 0;
    const sent = { door: this.#door, mesh, surface: this.#surface, start, target, ways: scene.ways, parametersFrom };
    await trySession({ ...sent, frames, until, random, isRough, longestWait }, this);
    if (mode === 'WHOLE_SESSION' && this.tally.reused === 0)
      this.find('proximity sets are used again', `in none of ${this.tally.answers} answers of one session`);
  }

  nameRequest(): string {
    return `${this.prove.id}-${this.prove.seed}-${this.#requests++}`;
  }

  find(promise: string, details: string): void {
    this.tally.find(promise, details);
  }

  end(how: string): void {
    this.tally.end(how);
  }

  isRefusedRightly(
    surface: Surface,
    start: Positions,
    reply: Reply | { readonly refusal: Refusal },
    target: Positions = start,
    opening: Positions = start,
  ): boolean {
    const { tally } = this;
    const isSingle = target instanceof Float32Array;
    const delta = this.#deltaAsked() ?? defaultDelta(this.#surface, opening);
    const expected = expectReply(surface, start, delta, isSingle, target);
    // Then nothing is counted: a coarse scalar may have put all vertices in one place, where nearly every pair meets.
    const isTooCoarse = expected === 'TOLERANCE_TOO_SMALL';
    const { fewest, most } = isTooCoarse ? { fewest: 0, most: 0 } : this.#refusable(surface, start);
    if (!('refusal' in reply)) {
      if (fewest > 0) tally.find('an intersecting start is refused', `${fewest} pairs meet in it`);
      if (isTooCoarse) tally.find('TOLERANCE_TOO_SMALL where the scalar is too coarse', 'it was answered');
      return false;
    }
    const { code, message, pairCount } = reply.refusal;
    tally.end(code);
    if (isTooCoarse && code === expected) return true;
    // Excluded pairs may be at any distance.
    const excused = this.#isIgnoring
      ? new ExcludedMemory().settle(surface, start, this.#rules, 0, this.#verify === 'PATH').excused
      : undefined;
    const judged: Surface = excused ? { ...surface, excused } : surface;
    const isTolerance =
      code === 'TOLERANCE_TOO_SMALL' &&
      (expected !== 'ANSWER' || isWithinRounding(judged, start, this.#rules.kinematicPairs, isSingle));
    const isMeeting = code === 'INTERSECTING_START' && most > 0;
    if (isMeeting && !(pairCount >= fewest && pairCount <= most)) {
      const are = fewest === most ? `${most}` : `between ${fewest} and ${most}`;
      tally.find('INTERSECTING_START counts the pairs', `told ${pairCount}, are ${are}`);
    }
    const isInvalid = code === 'INVALID_PARAMETER' && hasNoDefault(this.#surface, opening, this.#deltaAsked());
    if (!isTolerance && !isMeeting && !isInvalid) tally.find('a right request is answered', `${code}: ${message}`);
    return true;
  }

  /**
   * The number of pairs for which a start must be refused: those that meet or, if there are none and paths are tested,
   * those that touch; pairs within rounding may be refused or not.
   */
  #refusable(surface: Surface, start: Positions): { readonly fewest: number; readonly most: number } {
    if (this.#isIgnoring) return { fewest: 0, most: 0 };
    const meetings = findMeetings(surface, start, this.#rules).length;
    if (meetings > 0 || this.#verify !== 'PATH') return { fewest: meetings, most: meetings };
    const { certain, possible } = findTouching(surface, start, this.#rules);
    return { fewest: certain.length, most: certain.length + possible.length };
  }

  #deltaAsked(): number | undefined {
    const { activationDistance, preset, metresPerUnit } = this.parameters;
    // PAPER's default is a physical length: a millimetre.
    return activationDistance ?? (preset === 'PAPER' ? 0.001 / (metresPerUnit ?? 1) : undefined);
  }

  /** @returns the positions of the answer, if there was one */
  judge({ surface: whole, start, target, reply, requestIds = [], memory }: JudgedStep): Positions | undefined {
    const { tally, bench } = this;
    if ('refusal' in reply) {
      tally.end(reply.refusal.code);
      tally.find('a right request is answered', `${reply.refusal.code}: ${reply.refusal.message}`);
      return undefined;
    }
    const { positions, report } = reply.answer;
    const floor = floorAtMost(whole, start, target, report.resolved.activationDistance);
    const excluded = this.#isIgnoring
      ? (memory ?? new ExcludedMemory()).settle(whole, start, this.#rules, floor, this.#verify === 'PATH')
      : undefined;
    const surface: Surface = excluded ? { ...whole, excused: excluded.excused } : whole;
    const moving = { ...this.mesh, kinematic: whole.kinematic };
    const movesItself = mayStrainsMove(moving, start) || mayLengthsMove(surface, start, report.resolved.stretchLimit);
    const question = {
      surface,
      start,
      target,
      invariants: this.#invariants,
      verify: this.#verify,
      budgetSeconds: BUDGET_SECONDS,
      excluded,
      movesItself,
      keepsLengths: this.#keepsLengths,
    };
    tally.findings.push(...judgeAnswer(question, reply.answer));
    const keeps = this.#keepsStrains && report.status === 'CONVERGED' && report.resolved.quality !== 'FAST';
    judgeStrains(moving, positions, report.strain, keeps, (promise, details) => this.find(promise, details));
    const { contactOffset: asked } = this.parameters;
    if (this.#resting && asked !== undefined && report.status === 'CONVERGED' && report.resolved.quality !== 'FAST') {
      judgeResting(this.#resting, positions, asked, report.resolved.activationDistance, (promise, details) =>
        this.find(promise, details),
      );
    }
    if (this.#free && report.status === 'CONVERGED' && report.resolved.quality !== 'FAST') {
      judgeFree(this.#free, positions, target, report.resolved.activationDistance, (promise, details) =>
        this.find(promise, details),
      );
    }
    tally.answers++;
    tally.steps += report.steps;
    if (report.proximitySetReused) tally.reused++;
    if (excluded && excluded.most > 0) tally.ignoring++;
    tally.end(report.status);
    const { traceFolder } = bench;
    // The path of a frame whose first sender hung up may be under the first request's id.
    const traces = traceFolder ? requestIds.map((id) => takeTrace(traceFolder, id)) : [];
    const states = traces.findLast((trace) => trace !== undefined);
    if (states) this.#judgePath(surface, states, start, reply.answer);
    return positions;
  }

  #judgePath(
    surface: Surface,
    states: readonly Positions[],
    start: Positions,
    { positions: answer, report }: Answer,
  ): void {
    const { tally } = this;
    const [first] = states;
    const same = (a: Positions, b: Positions) => a.length === b.length && a.every((p, i) => p === b[i]);
    // If the answer's scalar is narrower, the path begins with the piece that rounds the start to it.
    const isNarrowed = start instanceof Float64Array && first instanceof Float32Array;
    const isNear = (p: number, i: number) => Math.abs(p - start[i]) <= 2 * ulpOf(start, true);
    if (isNarrowed ? !first.every(isNear) : !same(first, start))
      tally.find('a path begins at the start', 'the first state of the trace is another');
    if (!same(states[states.length - 1], answer))
      tally.find('a path ends at the answer', 'the last state of the trace is another');
    // The engine proves so many pieces a step. One more would lead from a state that is not part of the path to one that
    // is. Without a step the answer is the start, which a narrower scalar rounds: that piece is not a step.
    const isRounding =
      report.steps === 0 && states.length === 2 && !(answer instanceof Float64Array) && answer.every(isNear);
    const most = report.steps + (PIECES_OF_PULL_BACK - 1) * (report.pullBack?.steps ?? 0);
    if (states.length - 1 > most && !isRounding)
      tally.find('a path has no more pieces than its steps', `${states.length - 1} pieces, at most ${most}`);
    const left = findReturn(states, FLOOR_PER_DELTA * report.resolved.activationDistance);
    if (left !== undefined)
      tally.find('a path does not leave its answer again', `state ${left} of ${states.length - 1} is the answer, too`);
    const path = isNarrowed ? [start, ...states] : states;
    const apart = keptApart(surface, start, states[0], report.resolved);
    for (let k = 1; k < path.length; k++) {
      const collisions = findCollisions(surface, path[k - 1], path[k], this.#rules, apart);
      tally.pieces++;
      if (collisions.length === 0) continue;
      const worst = collisions.find(({ meets }) => meets) ?? collisions[0];
      const pair = `${worst.a.join(',')} with ${worst.b.join(',')} from t = ${worst.time}`;
      tally.find(
        worst.meets ? 'no collisions on the path' : KEPT_FLOOR,
        `piece ${k} of ${path.length - 1}: ${collisions.length} pairs${worst.meets ? '' : ` nearer than ${apart}`}, first ${pair}`,
      );
      return;
    }
  }

  /** Compares the service's check of a state, and of a path, with the judge. */
  async #compareChecks(answer: Positions, target: Positions): Promise<void> {
    const { tally } = this;
    if (this.#rules.kinematicPairs !== 'SKIP') return;
    const meetings = findMeetings(this.#surface, target, this.#rules);
    const { count, pathFree } = await this.#door.check(this.mesh, target, answer);
    tally.checks++;
    if (count !== meetings.length) tally.find('check counts the pairs', `told ${count}, are ${meetings.length}`);
    if (pathFree === true && meetings.length > 0) tally.find('check: a path is free', 'it begins with an intersection');
  }
}
