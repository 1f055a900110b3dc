/** The kinds of chunks in a run of sweeps (sweep-run.ts). */
export const PART = {
  /** momentum of the touched vertices of a range */
  MOMENTUM: 0,
  /** whether the momentum continues; its range consists of the chunks with the momentum */
  DECIDE: 1,
  /** undoes the momentum of the touched vertices of a range, if that was decided */
  STAY: 2,
  /** extrapolates multipliers of the acting edges, strained elements or contacts of a range */
  PUSHES: 3,
  STRAIN_PUSHES: 4,
  LAMBDAS: 5,
  /** projects edges, strained elements or contacts of a range: all, or those that act */
  EDGES: 6,
  STRAINS: 7,
  CONTACTS: 8,
} as const;

export type Part = (typeof PART)[keyof typeof PART];

/** The kinds of chunks that project. */
export type SweptPart = typeof PART.EDGES | typeof PART.STRAINS | typeof PART.CONTACTS;

/**
 * Touched vertices of a chunk. Momenta are summed by chunk, so a change of this number changes the rounding of that
 * sum, and with it the bytes of answers.
 */
export const MOMENTUM_CHUNK = 1024;

/** Edges or contacts whose multipliers a thread extrapolates at a time, and strained elements: these have more. */
const MULTIPLIER_CHUNK = 2048;
const STRAIN_MULTIPLIER_CHUNK = 512;

/**
 * The least number of items of a colour in a chunk: they take some microseconds, many times as long as waiting for the
 * previous group.
 */
const LEAST_ITEMS = { [PART.EDGES]: 256, [PART.STRAINS]: 64, [PART.CONTACTS]: 64 } as const;

/** Nanoseconds per item; of strained elements those of a triangle that pushes. */
const COST = {
  [PART.MOMENTUM]: 10,
  [PART.DECIDE]: 0,
  [PART.STAY]: 0,
  [PART.PUSHES]: 8,
  [PART.STRAIN_PUSHES]: 50,
  [PART.LAMBDAS]: 4,
  [PART.EDGES]: 15,
  [PART.STRAINS]: 350,
  [PART.CONTACTS]: 50,
} as const;

/**
 * Items in sweep order: those of one colour share no vertex that can move, so they can be swept in any order or at the
 * same time.
 */
export interface Coloured {
  /** items of colour c: offsets[c] … offsets[c + 1] − 1 */
  readonly offsets: ArrayLike<number>;
  readonly colours: number;
}

/**
 * The chunks of a run of sweeps. They are parts of groups: a chunk begins when all chunks of the groups before its own
 * have ended.
 */
export class SweepPlan {
  /** three numbers per chunk: its kind, its first item, and the end of its items */
  readonly parts: number[] = [];
  /** in the form that a run takes: the first chunk of the group of each chunk */
  readonly after: number[] = [];
  /** nanoseconds of the work that several threads can do at the same time */
  sharedCost = 0;
  #cost = 0;

  get chunks(): number {
    return this.after.length;
  }

  /**
   * Adds a step of the momentum, before a sweep.
   *
   * @param touched number of touched vertices
   * @param edges, @param strains, @param contacts numbers of acting edges, strained elements and contacts
   */
  addMomentum(touched: number, edges: number, strains: number, contacts: number): void {
    const first = this.chunks;
    this.#begin();
    this.#add(PART.MOMENTUM, touched, MOMENTUM_CHUNK);
    this.#end();
    const last = this.chunks;
    this.#begin();
    this.#push(PART.DECIDE, first, last);
    this.#end();
    this.#begin();
    this.#add(PART.STAY, touched, MOMENTUM_CHUNK);
    this.#add(PART.PUSHES, edges, MULTIPLIER_CHUNK);
    this.#add(PART.STRAIN_PUSHES, strains, STRAIN_MULTIPLIER_CHUNK);
    this.#add(PART.LAMBDAS, contacts, MULTIPLIER_CHUNK);
    this.#end();
  }

  /**
   * Adds a sweep over coloured items, one colour after the other. A colour is divided into a power of two of equal
   * chunks, so that two, four or eight threads finish it at the same time. Consecutive colours that are too small to
   * divide form one chunk.
   */
  addColours(kind: SweptPart, { offsets, colours }: Coloured): void {
    let isSmall = false;
    for (let c = 0; c < colours; c++) {
      const size = offsets[c + 1] - offsets[c];
      const chunks = 2 ** Math.max(0, Math.floor(Math.log2(size / LEAST_ITEMS[kind])));
      if (chunks === 1 && isSmall) {
        this.parts[this.parts.length - 1] = offsets[c + 1];
        continue;
      }
      isSmall = chunks === 1;
      this.#begin();
      for (let n = 0; n < chunks; n++) {
        this.#push(
          kind,
          offsets[c] + Math.floor((n * size) / chunks),
          offsets[c] + Math.floor(((n + 1) * size) / chunks),
        );
      }
      this.#end();
    }
  }

  /** Repeats the chunks so far this many times, one after the other. */
  repeat(times: number): void {
    const { parts, after, chunks } = this;
    for (let n = 1; n < times; n++) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        const [kind, first, end] = [parts[3 * chunk], parts[3 * chunk + 1], parts[3 * chunk + 2]];
        const shift = kind === PART.DECIDE ? n * chunks : 0;
        parts.push(kind, first + shift, end + shift);
        after.push(after[chunk] + n * chunks);
      }
    }
    this.sharedCost *= times;
  }

  #first = 0;

  #begin(): void {
    this.#first = this.chunks;
    this.#cost = 0;
  }

  #end(): void {
    if (this.chunks > this.#first + 1) this.sharedCost += this.#cost;
  }

  #add(kind: Part, items: number, chunk: number): void {
    for (let n = 0; n < items; n += chunk) this.#push(kind, n, Math.min(items, n + chunk));
  }

  #push(kind: Part, first: number, end: number): void {
    this.parts.push(kind, first, end);
    this.after.push(this.#first);
    this.#cost += COST[kind] * (end - first);
  }
}

/** Offsets of the colours within an ascending list of positions that act. */
export function offsetsOf(active: Uint32Array, count: number, { offsets, colours }: Coloured): Coloured {
  const found = new Uint32Array(colours + 1);
  for (let c = 0, a = 0; c <= colours; c++) {
    let [low, high] = [a, count];
    while (low < high) {
      const half = (low + high) >> 1;
      if (active[half] < offsets[c]) low = half + 1;
      else high = half;
    }
    a = low;
    found[c] = a;
  }
  return { offsets: found, colours };
}
