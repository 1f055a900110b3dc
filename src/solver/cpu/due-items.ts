/**
 * The items that passes in alternating directions still have to visit, of a fixed number: the first pass goes forward and
 * visits all, each further one those that have been added since their last visit.
 */
export class DueItems {
  readonly #count: number;
  /** uint32[words] bits of the items that are due in this pass, and in the next one */
  #now: Uint32Array;
  #next: Uint32Array;
  #hasNext = false;
  #isForward = true;
  /** word of the last visited item */
  #word = 0;

  constructor(count: number) {
    const words = Math.ceil(count / 32);
    this.#count = count;
    this.#now = new Uint32Array(words);
    this.#next = new Uint32Array(words);
  }

  /** Begins the first pass. */
  begin(): void {
    this.#now.fill(ALL);
    const rest = this.#count % 32;
    if (rest > 0) this.#now[this.#now.length - 1] = 2 ** rest - 1;
    this.#next.fill(0);
    this.#hasNext = false;
    this.#isForward = true;
    this.#word = 0;
  }

  /** Begins a further pass, in the other direction, after the last one has ended. @returns false = no item is due */
  turn(): boolean {
    if (!this.#hasNext) return false;
    [this.#now, this.#next] = [this.#next, this.#now];
    this.#hasNext = false;
    this.#isForward = !this.#isForward;
    this.#word = this.#isForward ? 0 : this.#now.length - 1;
    return true;
  }

  /** @returns the next item of the pass; −1 = the pass has ended */
  take(): number {
    const now = this.#now;
    const by = this.#isForward ? 1 : -1;
    for (let w = this.#word; w >= 0 && w < now.length; w += by) {
      const bits = now[w];
      if (bits === 0) continue;
      const bit = 31 - Math.clz32(this.#isForward ? bits & -bits : bits);
      now[w] = bits & ~(1 << bit);
      this.#word = w;
      return 32 * w + bit;
    }
    return -1;
  }

  /** Adds an item during the visit of another one, or of itself: to this pass if its turn is still to come. */
  add(item: number, visited: number): void {
    const isAhead = this.#isForward ? item > visited : item < visited;
    const bits = isAhead ? this.#now : this.#next;
    bits[item >> 5] |= 1 << (item & 31);
    if (!isAhead) this.#hasNext = true;
  }
}

const ALL = 2 ** 32 - 1;
