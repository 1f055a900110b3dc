import { IntersticeError } from '../errors.js';
import type { CollisionMesh, Positions } from '../mesh/types.js';
import type { Verification } from '../session/types.js';
import type { EnginePositions, Parameters } from '../solver/types.js';
import type { PairRules, StateFindings } from '../verify/types.js';
import type { Problem } from './finding.js';
import { isEqual, type StateTrail } from './state-trail.js';
import { testState, type Verifier } from './verifier.js';

export interface ChosenAnswer {
  readonly positions: Positions;
  /** the same state as the engine had it */
  readonly engine: EnginePositions;
  readonly verification: Verification;
  /** of the exact test of these positions; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** the first thing that was wrong with the engine's answer */
  readonly problem: Problem | undefined;
}

/**
 * The newest state that verifies, in the numbers that will be sent. Normally the engine's last; an earlier one only after
 * a finding, at worst the start, which was tested before anything moved.
 *
 * Codimensional pairs need no distance test of their own: "no common point" is decided exactly, and is distance > 0.
 */
export async function chooseAnswer(input: {
  readonly mesh: CollisionMesh;
  readonly start: Positions;
  readonly startFindings: StateFindings;
  readonly trail: StateTrail;
  readonly parameters: Parameters;
  readonly rules: PairRules;
  readonly verifier: Verifier;
}): Promise<ChosenAnswer> {
  const { mesh, start, startFindings, trail, parameters, rules, verifier } = input;
  const isTested = parameters.verify !== 'NONE';
  let problem = trail.problem;
  for (const { positions, engine } of trail.candidates()) {
    // The same numbers need no second test.
    const isStart = isEqual(positions, start);
    const findings = !isTested ? UNTESTED : isStart ? startFindings : await testState(verifier, mesh, positions, rules);
    if (findings.intersectionCount === 0) {
      const verification = {
        performed: parameters.verify,
        pairsTested: findings.pairsTested,
        doubtfulPairs: findings.doubtfulPairs,
        intersections: 0,
        fellBack: problem !== undefined,
      };
      return { positions, engine, verification, findings: isTested ? findings : undefined, problem };
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
