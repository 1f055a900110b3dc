import type { Warning } from '../contract/errors.js';
import type { Resolution } from '../solver/engine.js';

/**
 * Warns that volume-preserving impulses have failed: the answer is the last state without collisions, or an earlier one.
 * A run that has not failed may have the status STALLED too, if an earlier state is sent; no pair remains then.
 */
export function warnOfRemaining({ impulses, status }: Pick<Resolution, 'impulses' | 'status'>): Warning[] {
  if (!impulses || status !== 'STALLED' || impulses.remainingPairs === 0) return [];
  const { motionShare, remainingPairs, hasMore, rounds } = impulses;
  const collide = remainingPairs === 1 ? 'pair still collides' : 'pairs still collide';
  const way = motionShare === 0 ? 'none of the motion' : `${(100 * motionShare).toPrecision(3)} % of the motion`;
  return [
    {
      code: 'COLLISIONS_REMAIN',
      message: `Volume-preserving impulses failed: after ${rounds} rounds ${hasMore ? 'at least ' : ''}${remainingPairs} ${collide} in the shortest piece that was tried, so the answer has made ${way}. Use method TWO_WAY, or smaller steps.`,
      count: remainingPairs,
    },
  ];
}
