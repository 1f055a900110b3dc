import type { Settings } from '../settings.js';
import type { Run } from './run.js';
import type { TimeLeft } from './time-left.js';
import { PairBudgetExceeded } from './walk.js';

/** Returns the pulse of the next search of a run; under BOXES its first one may be shortened. */
export function pulseOfSearch(run: Run, { guard, leap }: Settings): () => void {
  const isFirst = run.searches === 0 && !run.isReused;
  return isFirst && guard === 'BOXES' && leap > 0 ? shortenOnce(run) : run.searchPulse;
}

/**
 * Returns a pulse for the first search, which has the longest leap: once half of the remaining time has passed, it
 * declares the pairs too many, and the search restarts with half the leap. The rest of a first step costs as much as
 * its search, so that step would have been abandoned; half the leap has a third to a tenth of the pairs. A search that
 * may take more time than a step is one whose result is kept for the next request, so it is not shortened.
 */
function shortenOnce({ timeLeft, searchTimeLeft, searchPulse: pulse }: TimeLeft): () => void {
  // In this order, because time passes between the two calls.
  const forStep = timeLeft();
  const all = searchTimeLeft();
  if (all > forStep) return pulse;
  const least = all / 2;
  let isShort = false;
  return () => {
    pulse();
    if (isShort || !(searchTimeLeft() < least)) return;
    isShort = true;
    throw new PairBudgetExceeded();
  };
}
