import { createHash } from 'node:crypto';
import type { StateListener } from '../contract/call-context.js';
import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { StateOrigin } from '../contract/path.js';
import type { Verification } from '../contract/report.js';
import { hasOnlyFinite, isEqual } from '../mesh/positions.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { EnginePositions } from '../solver/engine.js';
import { isCovered } from '../solver/range.js';
import type { PathFindings, StateFindings } from '../verify/types.js';
import { isCheckStopped, unlessOver } from './deadline.js';
import type { Problem } from './finding.js';
import type { PreparedStep } from './prepare-step.js';
import { NAMED_PAIRS, testState, type Verifier } from './verifier.js';

/** Which pairs are tested on every piece of the path; undefined = none. */
export type PathScope = 'all' | 'codimensional' | undefined;

/**
 * An edge-triangle test cannot find anything if only rods and particles collide, so a state of such elements does not
 * show how they got there. Their pieces are therefore tested under STATE already.
 */
export function pathScopeOf(mesh: CollisionMesh, verify: Verification['performed']): PathScope {
  if (verify === 'PATH') return 'all';
  const isCodimensional = mesh.edges.length / 2 > mesh.rodStart || mesh.particles.length > 0;
  return verify === 'STATE' && isCodimensional ? 'codimensional' : undefined;
}

/** An accepted state to fall back to. */
interface Kept {
  readonly engine: EnginePositions;
  /** its index in the path */
  readonly at: number;
}

/** A state that can be the answer. */
export interface Candidate extends Kept {
  readonly positions: Positions;
}

/**
 * How many accepted states are kept as fallbacks, each of which ends a step. A finding is a fault of the service, and the last
 * states before it probably verify; more states would only cost memory (12 bytes per vertex each).
 */
const KEPT_STATES = 4;

/**
 * Follows the path of one step: tests each piece as it is produced, reports the states to the caller, and keeps the last few.
 *
 * Pieces are tested between the states as the caller sees them, in the answer's scalar: the reported path consists of these
 * numbers (a trace holds them), and mapping back from the engine's coordinates may have rounded them.
 */
export class StateTrail {
  private kept: Kept[] = [];
  /** the start or the newest of those kept */
  private lastEngine: EnginePositions;
  /** the last state as the caller sees it; maintained only if something needs it */
  private last: Positions;
  /** the state with which the reported path begins; undefined without a listener */
  private first: Positions | undefined;
  /**
   * digests of the reported states, by index in the path, while all of them are of phases that keep no best state;
   * undefined = a state of the pull-back followed, which reports nothing after its best state
   */
  private digests: string[] | undefined = [];
  private accepted = 0;
  private found: Problem | undefined;
  private isStopped = false;
  private stepOfLast = 0;

  /**
   * @param onState receives every state in the answer's scalar, start first; the start keeps its own scalar if that is wider.
   * The arrays are not written to afterwards
   */
  constructor(
    private readonly step: PreparedStep,
    private readonly verifier: Verifier,
    private readonly scope: PathScope,
    private readonly onState: StateListener | undefined,
  ) {
    const { start, startEngine } = step.images;
    this.lastEngine = startEngine;
    // The path begins at the caller's own start, whose scalar may be wider than the answer's.
    this.last = start;
    if (!onState) return;
    // A float64 start is reported as it is. Rounded to a narrower answer it would be another state, and the piece between the
    // two would be missing from the reported path.
    this.first = start instanceof Float64Array ? start : this.map(startEngine);
    this.digests = [digestOf(this.first)];
    onState(this.first, 0, { phase: 'START', step: 0 });
  }

  /** The first piece that failed; no state is accepted after it. */
  get problem(): Problem | undefined {
    return this.found;
  }

  /** The test of a piece was stopped (the caller went away or the budget ended); no state is accepted after it. */
  get wasStopped(): boolean {
    return this.isStopped;
  }

  /** The step that ended in the last state; 0 = not known. */
  get lastStep(): number {
    return this.stepOfLast;
  }

  get statesAccepted(): number {
    return this.accepted;
  }

  /**
   * Returns to the start, because the engine repeats the run: the start is reported again, which withdraws the states that
   * were reported after it (StateListener), and the next piece is tested from the start.
   */
  beginAnew(): void {
    const { start, startEngine } = this.step.images;
    this.kept = [];
    this.lastEngine = startEngine;
    this.last = start;
    this.accepted = 0;
    this.found = undefined;
    this.isStopped = false;
    this.stepOfLast = 0;
    if (!this.first) return;
    this.digests = [digestOf(this.first)];
    this.onState?.(this.first, 0);
  }

  /**
   * @param x the next state; copied
   * @param from the origin of the state
   * @param isPassed whether it is no state to fall back to, because the engine would not end in it
   */
  accept(x: EnginePositions, from?: StateOrigin, isPassed = false): void {
    if (this.found || this.isStopped) return;
    if (!hasOnlyFinite(x)) {
      this.found = {
        kind: 'NOT_FINITE',
        message: 'The engine produced a coordinate that is not finite.',
        statesAccepted: this.accepted,
        after: x.slice(),
      };
      return;
    }
    if (this.scope !== undefined || this.onState !== undefined) {
      const state = this.map(x);
      if (!this.testPiece(state)) return;
      this.last = state;
      if (this.onState) this.report(state, this.onState, from);
    }
    this.accepted++;
    if (isPassed) return;
    this.stepOfLast = from?.step ?? 0;
    const engine = this.kept.length < KEPT_STATES ? new Float32Array(x.length) : this.kept.shift()!.engine;
    engine.set(x);
    this.kept.push({ engine, at: this.accepted });
    this.lastEngine = engine;
  }

  /** Accepts the engine's final state, unless the engine has reported it already. @param step the last one */
  finish(x: EnginePositions, step: number): void {
    if (!isEqual(x, this.lastEngine)) this.accept(x, { phase: 'FORWARD', step });
  }

  /** The possible answers, best first: the accepted states from the newest, then the start; in the answer's scalar. */
  *candidates(): Generator<Candidate> {
    for (const { engine, at } of this.kept.toReversed()) yield { positions: this.map(engine), engine, at };
    yield this.startCandidate();
  }

  /** The last of the candidates, which was tested before the engine ran. */
  startCandidate(): Candidate {
    const engine = this.step.images.startEngine;
    const positions = this.map(engine);
    // If a narrower scalar rounds the start, the result is a separate state, one piece away.
    return { positions, engine, at: this.first && !isEqual(positions, this.first) ? 1 : 0 };
  }

  isStart({ engine }: Candidate): boolean {
    return engine === this.step.images.startEngine;
  }

  /** Whether it is the state in which the engine has ended, and not an earlier one. */
  isLast({ engine }: Candidate): boolean {
    return this.found === undefined && !this.isStopped && engine === this.lastEngine;
  }

  /**
   * Ends the path at the answer: reports it again, which withdraws the states that were reported after it. Algorithm 1 keeps
   * no best state: it may push vertices aside, take all of them back to where they were, and end there. Such a path ends
   * where it first stood at the answer, because what follows does not lead to it.
   */
  endAt({ positions, engine, at: chosen }: Candidate): void {
    const first = this.onState ? (this.digests?.indexOf(digestOf(positions)) ?? -1) : -1;
    const at = first >= 0 && first < chosen ? first : chosen;
    const wasReportedLast = engine === this.lastEngine && at === this.accepted;
    if (wasReportedLast) return;
    const isRounded = engine === this.step.images.startEngine && at === 1;
    this.onState?.((at === 0 && this.first) || positions, at, isRounded ? { phase: 'ROUNDED', step: 0 } : undefined);
  }

  /** Reports the next state of the path. */
  private report(state: Positions, onState: StateListener, from: StateOrigin | undefined): void {
    const keepsBest = from?.phase === 'PULL_BACK' || from?.phase === 'SHORTENING';
    if (keepsBest) this.digests = undefined;
    this.digests?.push(digestOf(state));
    onState(state, this.accepted + 1, from);
  }

  private map(engine: EnginePositions): Positions {
    return this.step.chosen.frame.toCaller({ ...this.step.images, engine });
  }

  private testPiece(state: Positions): boolean {
    const { scope } = this;
    if (scope === undefined) return true;
    const path = this.findCollisions(state, scope);
    if (!path || path.pathFree) return path !== undefined;
    this.found = {
      kind: 'PATH',
      message: `${path.collisionCount} pairs may collide on piece ${this.accepted + 1} of the path.`,
      statesAccepted: this.accepted,
      // The last state may be the start, which the session's next answer overwrites.
      before: this.last.slice(),
      after: state,
      path,
    };
    return false;
  }

  /**
   * Tests the piece between the last state and this one; undefined = stopped. The engine is running, so a stopped test
   * does not throw here: the engine is told to stop, as after a problem.
   */
  private findCollisions(state: Positions, scope: 'all' | 'codimensional'): PathFindings | undefined {
    const { mesh, rules } = this.step;
    try {
      return this.verifier.testPath(mesh, this.last, state, { ...rules, maxPairs: NAMED_PAIRS }, scope);
    } catch (thrown) {
      if (!isCheckStopped(thrown)) throw thrown;
      this.isStopped = true;
      return undefined;
    }
  }
}

/** Identifies the numbers of a state. */
function digestOf(state: Positions): string {
  return createHash('sha256').update(state).digest('base64');
}

export interface ChosenAnswer {
  readonly state: Candidate;
  readonly verification: Verification;
  /** of the exact test of these positions; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** the first fault that was found in what the engine produced */
  readonly problem: Problem | undefined;
  /** the budget ended a test: the engine's states are not known to be safe, and the start is the answer */
  readonly isCutShort: boolean;
  /** the rounding of the engine's last state may not be covered, and an earlier state is the answer */
  readonly isCutBack: boolean;
  /** a state was tested, completely or not, so the measured time says how long such a test takes */
  readonly wasTested: boolean;
}

/**
 * Chooses the newest state that verifies, in the numbers that will be sent. Normally this is the engine's last state.
 * After a finding it is an earlier one, at worst the start, which was tested before the engine ran. If the budget ends
 * a test, it is also the start, because the test of an earlier state would take as long again.
 *
 * States beyond the range in which the floor covers their rounding are skipped; they are not a fault of the engine.
 *
 * Codimensional pairs need no distance test of their own: the exact test decides whether they have a common point, and
 * without one their distance is > 0.
 */
export async function chooseAnswer(step: PreparedStep, trail: StateTrail, verifier: Verifier): Promise<ChosenAnswer> {
  const { mesh, images, startFindings, parameters, rules, memory } = step;
  const { start } = images;
  const { range } = step.chosen;
  const isTested = parameters.verify !== 'NONE';
  let problem = trail.problem;
  const verificationBy = (findings: StateFindings): Verification => ({
    performed: parameters.verify,
    pairsTested: findings.pairsTested,
    doubtfulPairs: findings.doubtfulPairs,
    intersections: 0,
    fellBack: problem !== undefined,
  });
  let isCutBack = false;
  for (const state of trail.candidates()) {
    const { positions } = state;
    // The same numbers need no second test.
    const isStart = isEqual(positions, start);
    if (!trail.isStart(state) && !isCovered(mesh, state.engine, range)) {
      isCutBack = true;
      continue;
    }
    const findings = !isTested
      ? UNTESTED
      : isStart
        ? startFindings
        : await unlessOver(() => testState(verifier, mesh, positions, rules, memory));
    if (!findings) {
      const begin = trail.startCandidate();
      // In a narrower scalar only the piece that leads to the start was tested (checkNarrowing).
      const known = isEqual(begin.positions, start) ? startFindings : undefined;
      return {
        state: begin,
        verification: verificationBy(startFindings),
        findings: known,
        problem,
        isCutShort: true,
        isCutBack,
        wasTested: true,
      };
    }
    if (findings.intersectionCount === 0) {
      const tested = isTested ? findings : undefined;
      const verification = verificationBy(findings);
      const wasTested = isTested && !isStart;
      return { state, verification, findings: tested, problem, isCutShort: trail.wasStopped, isCutBack, wasTested };
    }
    problem ??= {
      kind: 'STATE',
      message: `${findings.intersectionCount} pairs of elements intersect in the answer.`,
      statesAccepted: trail.statesAccepted,
      after: positions,
      state: findings,
    };
  }
  // The start was tested, in the answer's scalar too, before the engine ran: the loop ends there at the latest.
  throw new IntersticeError('INTERNAL', 'The start was free of intersections when it was checked, but no longer is.');
}

const UNTESTED: StateFindings = {
  intersectionCount: 0,
  intersections: [],
  kinematicIntersectionCount: 0,
  pairsTested: 0,
  doubtfulPairs: 0,
};
