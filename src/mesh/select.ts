/** Visits of items, for each item, after which the rest is sorted, so that no order is slow. */
const MOST_VISITS = 12;

/** Items in an order that may be changed, each with a number, which is not NaN. */
export interface Ranked {
  key(i: number): number;
  swap(i: number, j: number): void;
  /** Sorts items `first` to `last` by their keys. */
  sort(first: number, last: number): void;
}

/**
 * Reorders items `first` to `last` so that the one of this rank by its key is in its place, none greater precedes it and
 * none smaller follows: Hoare's selection with the median of three. Equal keys are swapped too, so that many of them
 * still split in half.
 *
 * @param visits of items before what is left is sorted; for tests
 */
export function selectRank(
  items: Ranked,
  first: number,
  last: number,
  rank: number,
  visits = MOST_VISITS * (last - first + 1),
): void {
  let low = first;
  let high = last;
  let left = visits;
  while (low < high) {
    left -= high - low + 1;
    if (left < 0) {
      items.sort(low, high);
      return;
    }
    const a = items.key(low);
    const b = items.key((low + high) >>> 1);
    const c = items.key(high);
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    let i = low;
    let j = high;
    while (i <= j) {
      while (items.key(i) < pivot) i++;
      while (items.key(j) > pivot) j--;
      if (i > j) break;
      items.swap(i++, j--);
    }
    // Up to j nothing is greater than the pivot, from i on nothing smaller; what lies between is equal to it.
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else return;
  }
}

/** Numbers that are their own keys. */
class Numbers implements Ranked {
  constructor(private readonly numbers: Float64Array) {}

  key(i: number): number {
    return this.numbers[i]!;
  }

  swap(i: number, j: number): void {
    const other = this.numbers[i]!;
    this.numbers[i] = this.numbers[j]!;
    this.numbers[j] = other;
  }

  sort(first: number, last: number): void {
    this.numbers.subarray(first, last + 1).sort();
  }
}

/**
 * The k-th smallest of numbers (without NaN, reordered in place), counted from 0, which is at index k afterwards.
 *
 * @param visits as in {@link selectRank}
 */
export function selectSmallest(numbers: Float64Array, k: number, visits?: number): number {
  selectRank(new Numbers(numbers), 0, numbers.length - 1, k, visits);
  return numbers[k]!;
}

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
