/**
 * What steps find out about pairs and the next request has no use for, 36 bytes a pair: lent to one set at a time, of
 * whichever scene of an engine is at work.
 */
export class PairWork {
  /** of the set that it was about last; 0 = none */
  revision = 0;
  delta = new Float32Array(0);
  stamp = new Int32Array(0);
  weight = new Float32Array(0);
  distance = new Float32Array(0);
  gap = new Float32Array(0);
  error = new Float32Array(0);

  /** in pairs */
  get room(): number {
    return this.stamp.length;
  }

  get bytes(): number {
    const { delta, stamp, weight, distance, gap, error } = this;
    return [delta, stamp, weight, distance, gap, error].reduce((sum, array) => sum + array.byteLength, 0);
  }

  /** New arrays, with nothing in them. */
  makeRoom(pairs: number): void {
    this.revision = 0;
    this.delta = new Float32Array(pairs);
    this.stamp = new Int32Array(pairs);
    this.weight = new Float32Array(4 * pairs);
    this.distance = new Float32Array(pairs);
    this.gap = new Float32Array(pairs);
    this.error = new Float32Array(pairs);
  }
}
