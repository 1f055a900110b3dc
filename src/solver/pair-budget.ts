import { IntersticeError } from '../contract/errors.js';

/**
 * The number of pairs that a proximity set may have, and how the boxes shrink to stay within it. Both engines follow
 * this policy; it costs or saves time and never affects safety.
 */

/**
 * Pairs per contact vertex up to which a long leap is worth its pairs; beyond it the leap is halved. A search that ends
 * because of its budget is wasted, and between close layers the pairs come from the reach, not from the leap: a much
 * smaller number would make searches of folded sheets be abandoned and repeated.
 */
const PAIRS_PER_VERTEX = 160;

/** Small meshes may have this many pairs, whatever their vertex count. */
const MIN_COMFORTABLE_PAIRS = 1 << 16;

/** Largest number of pairs of one scene, whatever the memory: 4 GiB in all. */
const MOST_PAIRS = 24_000_000;

/**
 * Largest number of bytes of a request for each pair of its proximity set: on the CPU 44 for the pair and its normal
 * (29, and spare room for half as many), 60 for its geometry, 28 for the search that found it, 21 for the lists of
 * active and incident pairs, 37 for its use as a candidate and in the forward step. In addition, rows take 164 bytes
 * for each contact, of which a vertex has at most 24. A device takes less than 100 bytes per pair, and counts every
 * buffer against its own limit.
 */
export const BYTES_PER_PAIR = 192;

/**
 * Pairs that a scene may hold.
 *
 * @param bytes that the pairs of one request may take; undefined or 0 = as many as the engine can count
 */
export function pairLimit(bytes: number | undefined): number {
  return bytes ? Math.max(1, Math.min(MOST_PAIRS, Math.floor(bytes / BYTES_PER_PAIR))) : MOST_PAIRS;
}

/**
 * Returns the refusal of a proximity set that exceeds its limit even with the smallest boxes.
 *
 * @param found least number of pairs
 */
export function tooManyPairs(found: number, limit: number): IntersticeError {
  return new IntersticeError(
    'TOO_LARGE',
    `The proximity set has ${found} pairs or more, which need ${found * BYTES_PER_PAIR} bytes; this engine holds ${limit} pairs of one request, in ${limit * BYTES_PER_PAIR} bytes.`,
    {
      hint: 'Use a smaller activationDistance, or send fewer elements that lie on top of each other. The owner of the server can raise INTERSTICE_MAX_PAIR_BYTES.',
    },
  );
}

/** The reach never shrinks below this share of δ. */
export const MIN_REACH_SHARE = 1 / 8;

/** Pairs up to which boxes need not shrink. @param limit pairs that the engine can hold */
export function comfortablePairs(contactVertexCount: number, limit: number): number {
  return Math.min(limit, Math.max(MIN_COMFORTABLE_PAIRS, PAIRS_PER_VERTEX * contactVertexCount));
}

/**
 * Pairs up to which a step of the pull-back counts as cheap: twice the comfortable number, whatever the memory. Only a
 * mesh that contracts to a heap has more, because there even boxes without a leap overlap; the time of a step grows
 * with them.
 */
export function cheapPairsOf(contactVertexCount: number): number {
  return 2 * comfortablePairs(contactVertexCount, MOST_PAIRS);
}

/** Returns the next shorter leap, engine units; the one after δ is 0. */
export function shorterLeap(leap: number, delta: number): number {
  return leap > delta ? leap / 2 : 0;
}
