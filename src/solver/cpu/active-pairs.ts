import { allocate, release } from '../../threads/arrays.js';
import { team } from '../../threads/here.js';
import { defineStage, type NoNumbers } from '../../threads/stage.js';
import { closeGaps } from './lists.js';
import type { PairSet } from './pair-set.js';

/** Pairs are gathered vertex by vertex while at most one in this many vertices moves. */
const GATHERED_SHARE = 32;

/** Building the incidence list of P costs as much as this many scans. */
export const SCANS_PER_INCIDENCE = 8;

/** Pairs of a chunk, and nanoseconds of one. */
const CHUNK = 8192;
const COST = 4;

interface ScanArrays {
  readonly vertex: Int32Array;
  readonly moving: Uint8Array;
  readonly list: Uint32Array;
  readonly counts: Int32Array;
}

const SCAN = defineStage(import.meta.url, 'scan', scanPairs);

function scanPairs({ vertex, moving, list, counts }: ScanArrays, _: NoNumbers, from: number, to: number): void {
  let end = from;
  for (let p = from; p < to; p++) {
    const q = 4 * p;
    // Unused slots hold −1: reading moving[−1] gives undefined, which is falsy like 0.
    if (moving[vertex[q]] || moving[vertex[q + 1]] || moving[vertex[q + 2]] || moving[vertex[q + 3]]) list[end++] = p;
  }
  counts[from / CHUNK] = end - from;
}

/**
 * The pairs that a step works on: those with a moving vertex. While many vertices move, P is scanned; once few do, the
 * pairs of each moving vertex are gathered through an incidence list, built for a revision of P that has been scanned
 * often enough. Both give the same pairs in the same, ascending order.
 */
export class ActivePairs {
  /** uint32[count] indices into P, ascending */
  list: Uint32Array = new Uint32Array(0);
  count = 0;

  /** revision of P that the incidence list belongs to; 0 = none */
  #revision = 0;
  /** revision of P that was scanned last although few vertices moved, and how often */
  #scanned = 0;
  #scans = 0;
  #offsets = new Uint32Array(0);
  #incident: Uint32Array = new Uint32Array(0);
  #marked: Uint8Array = new Uint8Array(0);
  #counts: Int32Array = new Int32Array(0);

  get bytes(): number {
    return (
      this.list.byteLength +
      this.#offsets.byteLength +
      this.#incident.byteLength +
      this.#marked.byteLength +
      this.#counts.byteLength
    );
  }

  free(): void {
    release(this.list, this.#counts, this.#incident, this.#marked);
    this.#counts = new Int32Array(0);
    this.list = new Uint32Array(0);
    this.count = 0;
    this.#revision = 0;
    this.#scanned = 0;
    this.#offsets = new Uint32Array(0);
    this.#incident = new Uint32Array(0);
    this.#marked = new Uint8Array(0);
  }

  /** Fills `list`. @param moving uint8[V] 1 = the vertex moves @param movingCount number of ones in `moving` */
  gather(pairs: PairSet, moving: Uint8Array, movingCount: number): void {
    if (this.list.length < pairs.count) {
      release(this.list);
      this.list = allocate(Uint32Array, pairs.kind.length);
    }
    this.count = 0;
    // The threshold affects only speed.
    if (movingCount * GATHERED_SHARE > moving.length || !this.#isIncidenceWorth(pairs)) this.#scan(pairs, moving);
    else this.#collect(pairs, moving);
  }

  #isIncidenceWorth({ revision }: PairSet): boolean {
    if (this.#revision === revision) return true;
    if (this.#scanned !== revision) {
      this.#scanned = revision;
      this.#scans = 0;
    }
    return this.#scans++ >= SCANS_PER_INCIDENCE;
  }

  #scan(pairs: PairSet, moving: Uint8Array): void {
    const { list } = this;
    const chunks = Math.ceil(pairs.count / CHUNK);
    if (this.#counts.length < chunks) {
      release(this.#counts);
      this.#counts = allocate(Int32Array, chunks);
    }
    const arrays = { vertex: pairs.vertex, moving, list, counts: this.#counts };
    team.run({ stage: SCAN, arrays, numbers: {}, count: pairs.count, chunk: CHUNK, cost: COST });
    this.count = closeGaps(list, this.#counts, pairs.count, CHUNK);
  }

  #collect(pairs: PairSet, moving: Uint8Array): void {
    const offsets = this.#incidence(pairs, moving.length);
    if (this.#marked.length < pairs.count) {
      release(this.#marked);
      this.#marked = allocate(Uint8Array, pairs.kind.length).fill(0);
    }
    const marked = this.#marked;
    let count = 0;
    for (let v = 0; v < moving.length; v++) {
      if (!moving[v]) continue;
      for (let n = offsets[v]; n < offsets[v + 1]; n++) {
        const p = this.#incident[n];
        if (marked[p]) continue;
        marked[p] = 1;
        this.list[count++] = p;
      }
    }
    for (let n = 0; n < count; n++) marked[this.list[n]] = 0;
    this.list.subarray(0, count).sort();
    this.count = count;
  }

  #incidence(pairs: PairSet, vertexCount: number): Uint32Array {
    if (this.#revision === pairs.revision) return this.#offsets;
    const offsets = new Uint32Array(vertexCount + 1);
    const { vertex, count } = pairs;
    for (let s = 0; s < 4 * count; s++) if (vertex[s] >= 0) offsets[vertex[s] + 1]++;
    for (let v = 0; v < vertexCount; v++) offsets[v + 1] += offsets[v];
    if (this.#incident.length < offsets[vertexCount]) {
      release(this.#incident);
      this.#incident = allocate(Uint32Array, offsets[vertexCount]);
    }
    const fill = offsets.slice();
    for (let s = 0; s < 4 * count; s++) if (vertex[s] >= 0) this.#incident[fill[vertex[s]]++] = s >> 2;
    this.#offsets = offsets;
    this.#revision = pairs.revision;
    return offsets;
  }
}
