/**
 * How many pairs a proximity set may have, and how the boxes shrink to stay within that. Both engines follow this policy;
 * it costs or saves time and never affects safety.
 */

/**
 * Pairs per contact vertex up to which a long leap is worth its pairs; beyond it the leap is halved. A search that ends for its
 * budget was in vain, and where layers lie close it is the reach, not the leap, that makes the pairs: at 64 twelve folded sheets
 * took twice as many searches, half of them aborted.
 */
const PAIRS_PER_VERTEX = 160;

/** Small meshes may have this many pairs whatever their vertex count. */
const MIN_COMFORTABLE_PAIRS = 1 << 16;

/** Pairs that one scene may hold. On the CPU a pair takes 29 bytes, and 40 to 101 more during a request: 3 GiB in all. */
export const PAIR_LIMIT = 24_000_000;

/** The reach never shrinks below this share of δ. */
export const MIN_REACH_SHARE = 1 / 8;

/** Pairs up to which boxes need not shrink. @param limit pairs that the engine can hold */
export function comfortablePairs(contactVertexCount: number, limit: number): number {
  return Math.min(limit, Math.max(MIN_COMFORTABLE_PAIRS, PAIRS_PER_VERTEX * contactVertexCount));
}

/** The next shorter leap, engine units; 0 follows on δ. */
export function shorterLeap(leap: number, delta: number): number {
  return leap > delta ? leap / 2 : 0;
}
