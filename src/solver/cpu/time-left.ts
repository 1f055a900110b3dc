import type { StepInput } from '../engine.js';
import { StepAbandoned } from '../step-abandoned.js';

/** The time of one request, as its stages query it. */
export interface TimeLeft {
  /** milliseconds */
  readonly timeLeft: () => number;
  /** throws StepAbandoned if no time is left */
  readonly pulse: () => void;
  /** the same within a search, which may have more time (StepInput.searchTimeLeft) */
  readonly searchTimeLeft: () => number;
  readonly searchPulse: () => void;
}

export function timeLeftOf({ timeLeft = () => Number.POSITIVE_INFINITY, ...input }: StepInput): TimeLeft {
  const { searchTimeLeft = timeLeft } = input;
  const throwing = (left: () => number) => (): void => {
    if (left() <= 0) throw new StepAbandoned();
  };
  return { timeLeft, pulse: throwing(timeLeft), searchTimeLeft, searchPulse: throwing(searchTimeLeft) };
}

/** Whether the first step may begin with a search although there is no time for the step: its result is kept. */
export function mayOnlySearch({ searchTimeLeft }: StepInput, steps: number, isSearchDue: boolean): boolean {
  return steps === 0 && isSearchDue && searchTimeLeft !== undefined && searchTimeLeft() > 0;
}
