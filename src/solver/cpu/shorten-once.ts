import { PairBudgetExceeded } from './walk.js';

/**
 * A pulse for the first search, which has the longest leap: once half of the remaining time has passed, it declares the
 * pairs too many, and the search restarts with half the leap. The rest of a first step costs as much as its search, so that
 * step would have been abandoned; half the leap has a third to a tenth of the pairs.
 */
export function shortenOnce(timeLeft: () => number, pulse: () => void): () => void {
  const half = timeLeft() / 2;
  let isShort = false;
  return () => {
    pulse();
    if (isShort || !(timeLeft() < half)) return;
    isShort = true;
    throw new PairBudgetExceeded();
  };
}
