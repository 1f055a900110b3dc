import type { PairArrays } from './pair-set.js';

/** The data of the listed pairs that the selection of contacts reads, and its marks. */
export interface ListedContacts extends Pick<PairArrays, 'distance'> {
  /** int32[4·n] of contact-keys.ts; the first entry of a pair that is dropped becomes {@link DROPPED} */
  readonly key: Int32Array;
  /** uint32[n] ascending, so that positions in it have the order of P */
  readonly list: Uint32Array;
  readonly inverseMass: Float32Array;
}

/** Replaces a vertex. */
export const DROPPED = -2;

/** Pairs that a thread takes at a time. */
export const SELECTION_CHUNK = 1024;

/** Whether an entry of a key is a vertex that can be moved. */
export function isMovable({ key, inverseMass }: ListedContacts, entry: number): boolean {
  return key[entry] >= 0 && inverseMass[key[entry]] > 0;
}

/** Whether an entry of the list is the farther of two pairs: by distance, then by index in P. */
export function isFarther({ distance, list }: ListedContacts, n: number, m: number): boolean {
  const difference = distance[list[n]] - distance[list[m]];
  return difference > 0 || (difference === 0 && n > m);
}
