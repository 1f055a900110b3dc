import type { Status } from '../contract/report.js';
import { MOST_RESERVED_STEPS, MOST_SHORTENING_STEPS, RESERVED_SHARE, SHORTENING_SHARE, WINDOW } from './constants.js';
import type { Settings } from './settings.js';

/**
 * The steps of a step limit L that Algorithm 1 leaves to the pull-back, where one follows.
 *
 * Where something blocks kinematic vertices, Algorithm 1 continues for hundreds of steps, and leaves the mesh stretched
 * and far from y*. Without steps for the pull-back, a request that reaches its limit would answer with that state. Within
 * the first WINDOW steps kinematic vertices that nothing blocks mostly arrive: nothing is taken from those.
 */
export function reservedStepsOf(stepLimit: number): number {
  return Math.max(0, Math.min(Math.floor(RESERVED_SHARE * stepLimit), MOST_RESERVED_STEPS, stepLimit - WINDOW));
}

/**
 * The steps of a step limit L that the pull-back leaves to its last steps. A state on the way to y* exceeds edge limits,
 * because only the last steps make sure of them.
 */
export function shorteningStepsOf(stepLimit: number): number {
  return Math.min(Math.floor(SHORTENING_SHARE * stepLimit), MOST_SHORTENING_STEPS);
}

/** Part of a run that has a step limit of its own: Algorithm 1, the steps of the pull-back towards y*, its last steps. */
export type StepPhase = 'ADVANCE' | 'PULL' | 'SHORTEN';

/** The steps of L that a phase leaves to the phases that may follow it. */
export function stepsAfter(phase: StepPhase, { pullBack }: Pick<Settings, 'pullBack'>): number {
  if (!pullBack || phase === 'SHORTEN') return 0;
  return phase === 'ADVANCE' ? pullBack.reservedSteps : pullBack.shorteningSteps;
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
 * @param wasCut whether its step limit has ended Algorithm 1, which may also end by itself in its last step
 */
export function statusAfterPullBack(ended: Status, unfinished: number, wasCut: boolean): Status {
  if (unfinished === 0 || (ended !== 'CONVERGED' && ended !== 'STALLED')) return ended;
  return wasCut ? 'STEP_LIMIT' : 'STALLED';
}
