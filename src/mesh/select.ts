/** Visits of numbers, for each number of the input, after which the rest is sorted, so that no order is slow. */
const MOST_VISITS = 12;

/**
 * Reorders numbers (float64, without NaN) in place so that the k-th smallest, counted from 0, is at index k, none
 * greater precedes it and none smaller follows.
 *
 * @param visits of numbers before what is left is sorted; for tests
 */
export function selectSmallest(numbers: Float64Array, k: number, visits = MOST_VISITS * numbers.length): number {
  let first = 0;
  let last = numbers.length - 1;
  let left = visits;
  while (first < last) {
    left -= last - first + 1;
    if (left < 0) {
      numbers.subarray(first, last + 1).sort();
      break;
    }
    const pivot = middleOfThree(numbers[first]!, numbers[(first + last) >>> 1]!, numbers[last]!);
    let i = first;
    let j = last;
    while (i <= j) {
      while (numbers[i]! < pivot) i++;
      while (numbers[j]! > pivot) j--;
      if (i > j) break;
      const other = numbers[i]!;
      numbers[i++] = numbers[j]!;
      numbers[j--] = other;
    }
    // Up to j nothing is greater than the pivot, from i on nothing smaller; what lies between is equal to it.
    if (k <= j) last = j;
    else if (k >= i) first = i;
    else break;
  }
  return numbers[k]!;
}

const middleOfThree = (a: number, b: number, c: number): number =>
  Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));

/** The median of numbers (reordered in place), the mean of the middle two for an even count; 0 if there are none. */
export function selectMedian(numbers: Float64Array): number {
  const count = numbers.length;
  if (count === 0) return 0;
  const upper = selectSmallest(numbers, count >>> 1);
  if (count % 2 === 1) return upper;
  let lower = numbers[0]!;
  for (let n = 1; n < count >>> 1; n++) lower = Math.max(lower, numbers[n]!);
  return (lower + upper) / 2;
}
