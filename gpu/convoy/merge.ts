/**
 * Arranges the dispatches of several scenes in one order, in which those that can be one dispatch are adjacent. Each
 * scene's own dispatches keep their order; scenes are independent of each other, so any interleaving gives the same
 * result.
 *
 * Scenes rarely do the same throughout: one searches, another one does not, and their steps have different numbers of
 * sweeps. The next dispatch is the one that the fewest other scenes still have before them, so that a scene that is
 * ahead waits for the others.
 *
 * @param sequences by scene
 * @param keyOf equal keys can be one dispatch
 */
export function mergeSequences<T>(sequences: readonly (readonly T[])[], keyOf: (item: T) => unknown): T[][] {
  const numbers = new Map<unknown, number>();
  const numberOf = (item: T): number => {
    const key = keyOf(item);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  const tracks = sequences.map((items) => new Track(items, items.map(numberOf)));
  /** for each number, how often it is left in all tracks, and in those whose next it is */
  const left = new Int32Array(numbers.size);
  const leftOfHeads = new Int32Array(numbers.size);
  for (const track of tracks) track.count(left);
  const merged: T[][] = [];
  for (;;) {
    leftOfHeads.fill(0);
    for (const { head, headsLeft } of tracks) if (head !== undefined) leftOfHeads[head]! += headsLeft;
    let best: number | undefined;
    let awaited = Number.POSITIVE_INFINITY;
    for (const { head } of tracks) {
      if (head === undefined || left[head]! - leftOfHeads[head]! >= awaited) continue;
      best = head;
      awaited = left[head]! - leftOfHeads[head]!;
    }
    if (best === undefined) return merged;
    const taken: T[] = [];
    for (const track of tracks) if (track.head === best) taken.push(track.take());
    left[best]! -= taken.length;
    merged.push(taken);
  }
}

/** The remaining dispatches of a scene. */
class Track<T> {
  #at = 0;
  /** by number, how often it is left */
  readonly #left = new Map<number, number>();

  constructor(
    readonly items: readonly T[],
    readonly numbers: readonly number[],
  ) {
    for (const number of numbers) this.#left.set(number, (this.#left.get(number) ?? 0) + 1);
  }

  /** The number of the next dispatch; undefined = none is left. */
  get head(): number | undefined {
    return this.numbers[this.#at];
  }

  /** How often the number of the next dispatch is left. */
  get headsLeft(): number {
    return this.#left.get(this.numbers[this.#at]!) ?? 0;
  }

  /** Adds how often each number occurs. */
  count(sums: Int32Array): void {
    for (const number of this.numbers) sums[number]!++;
  }

  take(): T {
    const number = this.numbers[this.#at]!;
    this.#left.set(number, this.headsLeft - 1);
    return this.items[this.#at++]!;
  }
}
