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
export function mergeSequences<T>(sequences: readonly (readonly T[])[], keyOf: (item: T) => string): T[][] {
  const tracks = sequences.map((items) => new Track(items, items.map(keyOf)));
  const merged: T[][] = [];
  for (;;) {
    const heads = new Set(tracks.flatMap(({ head }) => (head === undefined ? [] : [head])));
    let best: { readonly key: string; readonly awaited: number } | undefined;
    for (const key of heads) {
      let awaited = 0;
      for (const track of tracks) if (track.head !== key) awaited += track.countOf(key);
      if (!best || awaited < best.awaited) best = { key, awaited };
    }
    if (!best) return merged;
    const { key } = best;
    merged.push(tracks.filter(({ head }) => head === key).map((track) => track.take()));
  }
}

/** The remaining dispatches of a scene. */
class Track<T> {
  #at = 0;
  readonly #left = new Map<string, number>();

  constructor(
    readonly items: readonly T[],
    readonly keys: readonly string[],
  ) {
    for (const key of keys) this.#left.set(key, this.countOf(key) + 1);
  }

  get head(): string | undefined {
    return this.keys[this.#at];
  }

  countOf(key: string): number {
    return this.#left.get(key) ?? 0;
  }

  take(): T {
    const key = this.keys[this.#at]!;
    this.#left.set(key, this.countOf(key) - 1);
    return this.items[this.#at++]!;
  }
}
