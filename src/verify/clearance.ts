import type { Positions } from '../contract/mesh.js';
import type { CollisionMesh } from '../mesh/types.js';
import type { Relation } from './elements.js';
import type { PairCode } from './pair-kinds.js';

/**
 * What is known of one state if all of it may have moved since: every pair of elements is farther apart than `within`,
 * or listed.
 *
 * Let every vertex of a pair have moved by at most d since then, apart from a shift t that all vertices have in common
 * (it changes no distance). A point of an element is a convex combination of its corners, so it has moved by at most d,
 * and a pair that is not listed is still farther apart than within − 2d. Call a vertex calm if d ≤ c for some c ≤
 * within/2: pairs of two calm elements that are not listed are farther apart than within − 2c ≥ 0. Only the listed
 * pairs and pairs with an element that is not calm remain. Of the listed pairs only those matter whose gaps were at
 * most 2c.
 */
export interface Clearance {
  /** [3·V] the state, in its own scalar */
  readonly x: Positions;
  /** the unit of the state, above 0 */
  readonly within: number;
  /** whether pairs of two kinematic elements are listed, too */
  readonly hasKinematic: boolean;
  readonly list: PairList;
}

/** Pairs in the order of their gaps. */
export interface PairList {
  /** uint8[n] code of the relation */
  readonly codes: Uint8Array;
  /** uint32[2·n] element of a, element of b */
  readonly pairs: Uint32Array;
  /** float32[n] lower bounds of the distances of the pairs, the unit of the state, ascending */
  readonly gaps: Float32Array;
}

/** The number of pairs of a list with gaps of at most `gap`, which come first. */
export function countWithin({ gaps }: PairList, gap: number): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (gaps[middle] <= gap) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of vertices from which the common shift is estimated. */
const SHIFT_SAMPLES = 63;

/**
 * u = 2^-53. A component of (x − k) − t has an error of 2u (|x − k| + |t|), the length of three such components of less
 * than twice the sum of these, plus its own rounding by 4u of itself. 2^-48 = 32u of all of them covers both.
 */
const ROUNDING = 2 ** -48;

/**
 * How far the vertices of a state have moved since another one, without their common shift.
 *
 * @param x float64[3·V], finite
 * @param known [3·V] another state of the same mesh
 * @returns float64[V] upper bounds of the lengths
 */
export function measureMotion(x: Float64Array, known: Positions): Float64Array {
  const [tx, ty, tz] = commonShift(x, known);
  const shift = Math.abs(tx) + Math.abs(ty) + Math.abs(tz);
  const lengths = new Float64Array(x.length / 3);
  for (let v = 0, k = 0; v < lengths.length; v++, k += 3) {
    const dx = x[k] - known[k];
    const dy = x[k + 1] - known[k + 1];
    const dz = x[k + 2] - known[k + 2];
    const ux = dx - tx;
    const uy = dy - ty;
    const uz = dz - tz;
    const length = Math.sqrt(ux * ux + uy * uy + uz * uz);
    lengths[v] = length + ROUNDING * (length + Math.abs(dx) + Math.abs(dy) + Math.abs(dz) + shift);
  }
  return lengths;
}

/** Number of vertices that {@link usualMotion} reads, and the share of them that move no farther. */
const MOTION_SAMPLES = 512;
const USUAL_SHARE = 0.98;

/** The length that nearly all lengths do not exceed. @param lengths of {@link measureMotion} */
export function usualMotion(lengths: Float64Array): number {
  const count = Math.min(MOTION_SAMPLES, lengths.length);
  const sample = new Float64Array(count);
  for (let n = 0; n < count; n++) sample[n] = lengths[Math.floor((n * lengths.length) / count)];
  return sample.sort()[Math.floor(USUAL_SHARE * (count - 1))] ?? 0;
}

/** Any shift is valid; the median of some vertices is close to that of most vertices. */
function commonShift(x: Float64Array, known: Positions): [number, number, number] {
  const vertexCount = x.length / 3;
  const count = Math.min(SHIFT_SAMPLES, vertexCount);
  const medianOf = (axis: number): number => {
    const moves = new Float64Array(count);
    for (let n = 0; n < count; n++) {
      const k = 3 * Math.floor((n * vertexCount) / count) + axis;
      moves[n] = x[k] - known[k];
    }
    return moves.sort()[count >> 1] ?? 0;
  };
  return [medianOf(0), medianOf(1), medianOf(2)];
}

/** Keeps a strict inequality strict, because the bounds above and c are rounded. */
const STRICT = 1 - 2 ** -20;

export interface Calm {
  /** uint8[V] 1 = the vertex has moved by at most c */
  readonly marks: Uint8Array;
  /** number of vertices that have moved farther */
  readonly moved: number;
  /** c, the unit of the state */
  readonly most: number;
}

/**
 * Finds the vertices so calm that unlisted pairs of them are now farther apart than `distance`.
 *
 * @param lengths of {@link measureMotion} since that state
 * @param distance ≥ 0, the unit of the state
 */
export function findCalm(lengths: Float64Array, { within }: Clearance, distance: number): Calm {
  const limit = (STRICT * (STRICT * within - distance)) / 2;
  const marks = new Uint8Array(lengths.length);
  let moved = 0;
  let most = 0;
  for (let v = 0; v < lengths.length; v++) {
    const length = lengths[v];
    if (!(length <= limit)) {
      moved++;
      continue;
    }
    marks[v] = 1;
    if (length > most) most = length;
  }
  return { marks, moved, most };
}

/** Pairs of calm elements with larger gaps are apart: 2c, with room for rounding. */
export const reachOf = ({ most }: Calm): number => (2 * most) / STRICT;

/** Share of the vertices that may have moved too far: if more have, a list saves little. */
export const MOST_RESTLESS = 1 / 4;

/** Number of motions that must be known before a list is made. */
export const COMPARED = 2;
/** Number of motions like the last ones for which a list should remain valid, and the least for which it must. */
const LASTS = 8;
const LASTS_AT_LEAST = 1.1;
/** In edges: within a larger distance, an element has too many neighbours in its own surface. */
const WIDEST = 1 / 2;
/** Pairs that a list may have per element, 12 bytes each. */
const MOST_PAIRS_PER_ELEMENT = 4;
/** Searches without a list after a list that was not worth its cost, at first and at most. */
const FIRST_PAUSE = 4;
const LONGEST_PAUSE = 64;
/** A list that has served this many tests was worth its cost. */
const PAYS_AFTER = 2;

/**
 * Distances that a list may cover, the unit of the state. It keeps its gaps in float32: beyond 2¹²⁸ they would be infinite, and
 * their pairs count as apart for ever.
 */
const SMALLEST_LISTED = 2 ** -100;
export const LARGEST_LISTED = 2 ** 100;

/** What a list should cover beyond the distance for pairs at rest, and the least that it must; unit of the state. */
export interface Room {
  readonly room: number;
  readonly least: number;
}

/** Number of edges that {@link usualEdge} reads. */
const EDGE_SAMPLES = 255;

/** The median length of some edges; 0 = none has a length. */
function usualEdge({ edges }: CollisionMesh, x: Float64Array): number {
  const count = Math.min(EDGE_SAMPLES, edges.length / 2);
  const lengths = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    const e = 2 * Math.floor((n * edges.length) / 2 / count);
    const [p, q] = [3 * edges[e], 3 * edges[e + 1]];
    lengths[n] = Math.hypot(x[p] - x[q], x[p + 1] - x[q + 1], x[p + 2] - x[q + 2]);
  }
  return lengths.sort()[count >> 1] ?? 0;
}

/**
 * Decides whether a complete search makes a list, and for how large a distance. A list costs about as much as a search,
 * so it must serve several states: it is made when two states in a row have been compared with their predecessors, and
 * covers {@link LASTS} such motions. The choice has no effect on any finding.
 */
export class ClearancePlan {
  #pause = 0;
  #nextPause = FIRST_PAUSE;
  #served = PAYS_AFTER;

  /** Notes that a list has served a test. */
  noteServed(): void {
    if (++this.#served === PAYS_AFTER) this.#nextPause = FIRST_PAUSE;
  }

  /**
   * Begins a complete search.
   *
   * @param motions usual ones between the last three states, the unit of the state; fewer if fewer were compared
   * @param x float64[3·V] the state
   * @returns undefined = the search makes no list
   */
  begin(motions: readonly number[], mesh: CollisionMesh, x: Float64Array): Room | undefined {
    if (this.#served < PAYS_AFTER) this.#giveUp();
    this.#served = PAYS_AFTER;
    if (this.#pause > 0) {
      this.#pause--;
      return undefined;
    }
    if (motions.length < COMPARED) return undefined;
    const motion = 2 * Math.max(...motions);
    const room = Math.min(LASTS * motion, WIDEST * usualEdge(mesh, x));
    if (room < LASTS_AT_LEAST * motion) return undefined;
    if (!(room >= SMALLEST_LISTED && room <= LARGEST_LISTED)) return undefined;
    // A search that is ended early has made no list, and the next search must not try again at once.
    this.#served = 0;
    return { room, least: LASTS_AT_LEAST * motion };
  }

  /** @param isMade a list has been made; false = too many pairs are near */
  noteMade(isMade: boolean): void {
    if (!isMade) this.#giveUp();
  }

  #giveUp(): void {
    this.#pause = this.#nextPause;
    this.#nextPause = Math.min(LONGEST_PAUSE, 2 * this.#nextPause);
    this.#served = PAYS_AFTER;
  }
}

/** Factor that makes a float32 smaller than the number that it is rounded from, from the smallest normal number on. */
const BELOW = 1 - 2 ** -22;
const SMALLEST_NORMAL = 2 ** -126;

/** Number of gaps in the sample that determines which gaps are the largest. */
const GAP_SAMPLES = 4096;

/** Range of the index in a key that is sorted as a double; 31 bits are left for those of a float32 above 0. */
const INDEX_RANGE = 2 ** 22;

/** Collects the pairs of a list; if there are too many, the list covers a smaller distance. */
export class ListMaker {
  readonly #least: number;
  readonly #codes: Uint8Array;
  readonly #pairs: Uint32Array;
  readonly #gaps: Float32Array;
  #width: number;
  #count = 0;

  /**
   * @param base distance that the list must cover at rest, the unit of the state
   * @param room of {@link ClearancePlan.begin}: the distance that it covers beyond that
   * @param least the distance beyond `base` that it must cover in any case
   */
  constructor(relations: readonly Relation[], base: number, { room, least }: Room) {
    const sets = new Set(relations.flatMap(({ a, b }) => [a, b]));
    const elements = [...sets].reduce((sum, { count }) => sum + count, 0);
    const capacity = Math.min(MOST_PAIRS_PER_ELEMENT * elements, INDEX_RANGE);
    this.#codes = new Uint8Array(capacity);
    this.#pairs = new Uint32Array(2 * capacity);
    this.#gaps = new Float32Array(capacity);
    this.#width = base + room;
    this.#least = base + least;
  }

  /** The distance that the list covers. Pairs farther apart need not be added. */
  get width(): number {
    return this.#width;
  }

  /** Whether too many pairs are near, so that there will be no list. */
  get isGivenUp(): boolean {
    return this.#width < this.#least;
  }

  /** @param gap lower bound of the pair's distance, ≥ 0 */
  add(code: PairCode, i: number, j: number, gap: number): void {
    if (gap > this.#width || this.isGivenUp) return;
    if (this.#count === this.#gaps.length) {
      this.#shrink();
      if (gap > this.#width || this.isGivenUp) return;
    }
    const n = this.#count++;
    this.#codes[n] = code;
    this.#pairs[2 * n] = i;
    this.#pairs[2 * n + 1] = j;
    this.#gaps[n] = gap > SMALLEST_NORMAL ? BELOW * gap : 0;
  }

  /** Drops about the farthest quarter. */
  #shrink(): void {
    const gaps = this.#gaps;
    const sample = new Float32Array(Math.min(GAP_SAMPLES, gaps.length));
    for (let n = 0; n < sample.length; n++) sample[n] = gaps[Math.floor((n * gaps.length) / sample.length)];
    this.#width = sample.sort()[Math.floor((3 * sample.length) / 4)] ?? 0;
    let kept = 0;
    for (let n = 0; n < gaps.length; n++) {
      if (gaps[n] >= this.#width) continue;
      this.#codes[kept] = this.#codes[n];
      this.#pairs[2 * kept] = this.#pairs[2 * n];
      this.#pairs[2 * kept + 1] = this.#pairs[2 * n + 1];
      gaps[kept++] = gaps[n];
    }
    this.#count = kept;
  }

  /** @param x positions of the state, kept @returns undefined = there is no list */
  finish(x: Positions, hasKinematic: boolean): Clearance | undefined {
    if (this.isGivenUp) return undefined;
    const count = this.#count;
    // The bits of floats ≥ 0 are in the order of the numbers.
    const bits = new Uint32Array(this.#gaps.buffer);
    const keys = Float64Array.from({ length: count }, (_, n) => bits[n] * INDEX_RANGE + n).sort();
    const list = { codes: new Uint8Array(count), pairs: new Uint32Array(2 * count), gaps: new Float32Array(count) };
    for (let k = 0; k < count; k++) {
      const n = keys[k] % INDEX_RANGE;
      list.codes[k] = this.#codes[n];
      list.pairs[2 * k] = this.#pairs[2 * n];
      list.pairs[2 * k + 1] = this.#pairs[2 * n + 1];
      list.gaps[k] = this.#gaps[n];
    }
    return { x, within: this.#width, hasKinematic, list };
  }
}
