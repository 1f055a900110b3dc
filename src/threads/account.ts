/** The memory of the accounts of a process and of one thread; plain data, sent to the thread when it starts. */
export interface AccountLink {
  /** int64: LIMIT, TOTAL of the process */
  readonly common: SharedArrayBuffer;
  /** int64: bytes of the thread */
  readonly own: SharedArrayBuffer;
}

const LIMIT = 0;
const TOTAL = 1;

/** Stands for no limit: more than any machine has, and sums with it stay exact. */
const NO_LIMIT = 2 ** 50;

/** A demand that exceeds the common limit of all threads now. The same demand may succeed later. */
export class MemoryShort extends Error {
  constructor(
    /** bytes */
    readonly demand: number,
    /** bytes that all threads hold */
    readonly taken: number,
    /** bytes that all threads may hold */
    readonly limit: number,
  ) {
    super(`${demand} more bytes are needed; ${taken} of the ${limit} that all requests together may take are in use.`);
    this.name = 'MemoryShort';
  }
}

/**
 * The common limit of all threads of a process for one kind of memory. A thread that computes does not return to its
 * event loop, so a grant by messages would have to cover, before a job begins, the most that the job could need. A
 * counter in shared memory is charged when memory is needed, with the amount that is needed. Every thread also counts
 * its own bytes, so that they can be returned when it dies.
 */
export class ProcessAccount {
  readonly #common: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  /** @param limit bytes; 0 = no limit */
  constructor(limit = 0) {
    this.#common = new SharedArrayBuffer(16);
    this.#words = new BigInt64Array(this.#common);
    this.#words[LIMIT] = BigInt(limit > 0 ? Math.min(limit, NO_LIMIT) : NO_LIMIT);
  }

  /** Bytes that all threads hold. */
  get total(): number {
    return Number(Atomics.load(this.#words, TOTAL));
  }

  /** @returns the data that a thread needs, and a function to call when it has ended */
  connect(): { readonly link: AccountLink; readonly forget: () => void } {
    const own = new SharedArrayBuffer(8);
    const forget = (): void => {
      const left = Atomics.exchange(new BigInt64Array(own), 0, 0n);
      Atomics.sub(this.#words, TOTAL, left);
    };
    return { link: { common: this.#common, own }, forget };
  }
}

/** The bytes of one thread, counted against the limit of its process. */
export class ByteAccount {
  readonly #common: BigInt64Array;
  readonly #own: BigInt64Array;

  /** @param link default: an account of this thread alone @param limit bytes, for an account of this thread alone */
  constructor(link?: AccountLink, limit = NO_LIMIT) {
    this.#common = new BigInt64Array(link?.common ?? new SharedArrayBuffer(16));
    this.#own = new BigInt64Array(link?.own ?? new SharedArrayBuffer(8));
    if (!link) this.#common[LIMIT] = BigInt(Math.min(limit, NO_LIMIT));
  }

  /** Bytes that all threads may hold; Infinity = no limit. */
  get limit(): number {
    const limit = Number(Atomics.load(this.#common, LIMIT));
    return limit >= NO_LIMIT ? Number.POSITIVE_INFINITY : limit;
  }

  /** Bytes that all threads hold. */
  get total(): number {
    return Number(Atomics.load(this.#common, TOTAL));
  }

  /** Bytes that this thread holds. */
  get own(): number {
    return Number(Atomics.load(this.#own, 0));
  }

  /** Counts more bytes. @returns false = they exceed the limit, and are not counted */
  charge(bytes: number): boolean {
    const before = Number(Atomics.add(this.#common, TOTAL, BigInt(bytes)));
    // Another thread that charges meanwhile may see more than is held, and be refused; it never sees less.
    if (before + bytes > this.limit) {
      Atomics.sub(this.#common, TOTAL, BigInt(bytes));
      return false;
    }
    Atomics.add(this.#own, 0, BigInt(bytes));
    return true;
  }

  refund(bytes: number): void {
    Atomics.sub(this.#own, 0, BigInt(bytes));
    Atomics.sub(this.#common, TOTAL, BigInt(bytes));
  }

  /** The error that refuses a demand. */
  shortOf(bytes: number): MemoryShort {
    return new MemoryShort(bytes, this.total, this.limit);
  }
}
