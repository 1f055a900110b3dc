/**
 * Joins the lists that chunks have written, each from its first item on.
 *
 * @param list uint32[items] changed in place
 * @param counts int32[chunks] entries of each chunk
 * @returns the number of entries
 */
export function closeGaps(list: Uint32Array, counts: Int32Array, items: number, chunk: number): number {
  let to = 0;
  for (let from = 0, c = 0; from < items; from += chunk, c++) {
    if (to !== from) list.copyWithin(to, from, from + counts[c]);
    to += counts[c];
  }
  return to;
}
