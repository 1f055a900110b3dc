import { IntersticeError } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { Verification } from '../contract/report.js';
import { findBounds } from '../mesh/measure.js';
import type { CollisionMesh } from '../mesh/types.js';
import { isWithin, type Range } from '../solver/range.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import { unlessOver } from './deadline.js';
import type { Problem } from './finding.js';
import { type Candidate, isEqual, type StateTrail } from './state-trail.js';
import { testState, type Verifier } from './verifier.js';

export interface ChosenAnswer {
  readonly state: Candidate;
  readonly verification: Verification;
  /** of the exact test of these positions; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** the first thing that was wrong with the engine's answer */
  readonly problem: Problem | undefined;
  /** the budget ended a test on the way: what the engine had reached is not known to be safe, and the start is the answer */
  readonly isCutShort: boolean;
  /** the engine's last state lies where its rounding may not be covered, and an earlier one is the answer */
  readonly isCutBack: boolean;
  /** a state was tested, if not to the end: the time says how long that takes */
  readonly wasTested: boolean;
}

/**
 * The newest state that verifies, in the numbers that will be sent. Normally the engine's last; an earlier one only after
 * a finding, at worst the start, which was tested before anything moved. The start as well where the budget ends a test: one
 * state less would take as long again.
 *
 * States that lie beyond the range in which the floor covers their rounding are passed over: that is nobody's fault.
 *
 * Codimensional pairs need no distance test of their own: "no common point" is decided exactly, and is distance > 0.
 */
export async function chooseAnswer(input: {
  readonly mesh: CollisionMesh;
  readonly start: Positions;
  readonly startFindings: StateFindings;
  readonly trail: StateTrail;
  readonly range: Range;
  readonly parameters: Parameters;
  readonly rules: PairRules;
  readonly verifier: Verifier;
}): Promise<ChosenAnswer> {
  const { mesh, start, startFindings, trail, range, parameters, rules, verifier } = input;
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
    if (range.safe && !trail.isStart(state) && !isWithin(findBounds(mesh, state.engine), range.safe)) {
      isCutBack = true;
      continue;
    }
    const findings = !isTested
      ? UNTESTED
      : isStart
        ? startFindings
        : await unlessOver(() => testState(verifier, mesh, positions, rules));
    if (!findings) {
      const begin = trail.startCandidate();
      // In a narrower scalar the start has passed the test of the piece that leads there (checkNarrowing), and no other.
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
      message: `${findings.intersectionCount} pairs of elements intersect in the answer`,
      statesAccepted: trail.statesAccepted,
      after: positions,
      state: findings,
    };
  }
  // The start was tested, in the answer's scalar too, before the engine was opened: the loop ends there at the latest.
  throw new IntersticeError('INTERNAL', 'the start was free at first and is not any more');
}

const UNTESTED: StateFindings = {
  intersectionCount: 0,
  intersections: [],
  kinematicIntersectionCount: 0,
  pairsTested: 0,
  doubtfulPairs: 0,
};
