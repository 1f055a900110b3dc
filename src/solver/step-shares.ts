import type { Status } from '../contract/report.js';
import { MOST_RESERVED_STEPS, RESERVED_SHARE, SHORTENING_SHARE } from './constants.js';
import type { Settings } from './settings.js';

/**
 * The steps of a step limit L that Algorithm 1 leaves to the pull-back, where one follows.
 *
 * Where something blocks kinematic vertices, Algorithm 1 presses on for hundreds of steps, and leaves the mesh stretched
 * and far from y*. Without steps for the pull-back, a request that reaches its limit would answer with that state.
 */
export function reservedStepsOf(stepLimit: number): number {
  return Math.min(Math.floor(RESERVED_SHARE * stepLimit), MOST_RESERVED_STEPS);
}

/** Part of a run that has a step limit of its own: Algorithm 1, the steps of the pull-back towards y*, its last steps. */
export type StepPhase = 'ADVANCE' | 'PULL' | 'SHORTEN';

/** The steps of L that a phase leaves to the phases that may follow it. */
export function stepsAfter(phase: StepPhase, { pullBack }: Pick<Settings, 'pullBack'>): number {
  if (!pullBack || phase === 'SHORTEN') return 0;
  return phase === 'ADVANCE' ? pullBack.reservedSteps : Math.floor(SHORTENING_SHARE * pullBack.reservedSteps);
}

/** The step limit of a phase. It is 0 if motions before the first step have used up more than its share. */
export function stepLimitOf(phase: StepPhase, settings: Pick<Settings, 'stepLimit' | 'pullBack'>): number {
  return Math.max(0, settings.stepLimit - stepsAfter(phase, settings));
}

/**
 * The status of a run whose pull-back has ended. If kinematic vertices have not arrived, the pull-back cannot make the
 * run converge; if that is because Algorithm 1 had no more steps, further steps might.
 *
 * @param ended how the pull-back has ended
 * @param unfinished number of vertices with motion left, kinematic ones included
 * @param wasCut whether Algorithm 1 has used up its step limit
 */
export function statusAfterPullBack(ended: Status, unfinished: number, wasCut: boolean): Status {
  if (unfinished === 0 || (ended !== 'CONVERGED' && ended !== 'STALLED')) return ended;
  return wasCut ? 'STEP_LIMIT' : 'STALLED';
}
