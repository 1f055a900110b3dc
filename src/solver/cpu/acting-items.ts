import { type Coloured, offsetsOf, type SweepPlan, type SweptPart } from './sweep-plan.js';

/** The edges, strained elements or contacts that act in the sweeps until the next complete one. */
export class ActingItems implements Coloured {
  /** uint32[n] their positions in the sweep order, ascending */
  readonly list: Uint32Array;
  count = 0;
  offsets: ArrayLike<number> = [0];
  colours = 0;

  /** @param list uint32[n] room for all positions */
  constructor(list: Uint32Array) {
    this.list = list;
  }

  /**
   * Collects the result of a complete sweep: every chunk has left the positions that act, beginning at its first one.
   *
   * @param counts int32[chunks] number of positions of each chunk
   * @param all the swept items
   */
  gather(kind: SweptPart, plan: SweepPlan, counts: Int32Array, all: Coloured): void {
    const { list } = this;
    const { parts, chunks } = plan;
    let count = 0;
    for (let chunk = 0; chunk < chunks; chunk++) {
      if (parts[3 * chunk] !== kind) continue;
      const first = parts[3 * chunk + 1];
      if (first !== count) list.copyWithin(count, first, first + counts[chunk]);
      count += counts[chunk];
    }
    this.count = count;
    const { offsets, colours } = offsetsOf(list, count, all);
    this.offsets = offsets;
    this.colours = colours;
  }
}
