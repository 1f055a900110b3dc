import type { Warning } from '../contract/errors.js';
import type { Resolution } from '../solver/engine.js';

/** Warns that volume-preserving impulses have failed: the answer is the last state without collisions. */
export function warnOfRemaining({ impulses, status }: Pick<Resolution, 'impulses' | 'status'>): Warning[] {
  if (!impulses || status !== 'STALLED' || impulses.motionShare === 1) return [];
  const { motionShare, remainingPairs, rounds } = impulses;
  const way = motionShare === 0 ? 'none of the motion' : `${(100 * motionShare).toPrecision(3)} % of the motion`;
  return [
    {
      code: 'COLLISIONS_REMAIN',
      message: `Volume-preserving impulses failed: after ${rounds} rounds ${remainingPairs} pairs still collide in the shortest piece that was tried, so the answer has made ${way}. Use method TWO_WAY, or smaller steps.`,
      count: remainingPairs,
    },
  ];
}
