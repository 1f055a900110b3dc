import type { Positions } from '../../contract/mesh.js';

/** Entries to begin with; it doubles from there, so what a file claims to hold never decides what is allocated. */
const FIRST_CAPACITY = 1024;

type Growable = Uint32Array | Float32Array | Float64Array;

/** A typed array that grows as entries arrive. */
class Growing<A extends Growable> {
  length = 0;

  constructor(
    private entries: A,
    private readonly make: (capacity: number) => A,
  ) {}

  push(value: number): void {
    if (this.length === this.entries.length) {
      const larger = this.make(2 * this.length);
      larger.set(this.entries);
      this.entries = larger;
    }
    this.entries[this.length++] = value;
  }

  /** A copy of exactly the entries so far. */
  take(): A {
    const exact = this.make(this.length);
    exact.set(this.entries.subarray(0, this.length));
    return exact;
  }
}

export class GrowingIds extends Growing<Uint32Array> {
  constructor() {
    super(new Uint32Array(FIRST_CAPACITY), (capacity) => new Uint32Array(capacity));
  }
}

export class GrowingPositions extends Growing<Positions> {
  constructor(scalar: 'FLOAT32' | 'FLOAT64') {
    const make = (capacity: number): Positions =>
      scalar === 'FLOAT32' ? new Float32Array(capacity) : new Float64Array(capacity);
    super(make(FIRST_CAPACITY), make);
  }
}
