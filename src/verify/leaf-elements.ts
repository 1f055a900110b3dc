import { team } from '../threads/here.js';
import { defineStage } from '../threads/stage.js';
import { boundRange } from './bounds.js';
import type { ElementSet } from './elements.js';
import type { SharedArrays } from './shared-arrays.js';

/** The elements of one set in the order of the leaves. */
export interface Members {
  /** uint32[N] element by position */
  readonly order: Uint32Array;
  /** uint32[L + 1] first position of a leaf */
  readonly start: Uint32Array;
}

/** The elements of one set as a search reads them: leaf by leaf, with their vertices and boxes beside each other. */
export interface LeafElements {
  /** uint32[N] element by position */
  readonly order: Uint32Array;
  /** uint32[L + 1] first position of a leaf */
  readonly start: Uint32Array;
  /** uint32[3·N] vertices by place; those with fewer than three repeat the last one */
  readonly corners: Uint32Array;
  /** float64[6·N] boxes by place: min xyz, max xyz */
  readonly boxes: Float64Array;
  /** Fills in corners and boxes of one leaf, unless that has been done. */
  prepare(leaf: number): void;
}

/**
 * @param lows float64[3·V] smallest coordinates that a vertex has in the states in question
 * @param highs float64[3·V] largest
 * @param isLazy corners and boxes of a leaf are filled in when it is first prepared, for searches that visit few leaves
 */
export function placeElements(
  { size, count, vertices }: ElementSet,
  { order, start }: Members,
  lows: Float64Array,
  highs: Float64Array,
  isLazy = false,
): LeafElements {
  const corners = new Uint32Array(3 * count);
  const boxes = new Float64Array(6 * count);
  const arrays = { order, vertices, lows, highs, corners, boxes };
  if (!isLazy) fillPlaces(arrays, { size }, 0, count);
  const isReady = new Uint8Array(isLazy ? start.length : 0);
  const prepare = (leaf: number): void => {
    if (!isLazy || isReady[leaf] === 1) return;
    isReady[leaf] = 1;
    fillPlaces(arrays, { size }, start[leaf], start[leaf + 1]);
  };
  return { order, start, corners, boxes, prepare };
}

interface PlaceArrays {
  readonly order: Uint32Array;
  readonly vertices: Uint32Array;
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  readonly corners: Uint32Array;
  readonly boxes: Float64Array;
}

interface PlaceNumbers {
  /** vertices of an element */
  readonly size: number;
}

const CHUNK = 4096;
/** Nanoseconds per element. */
const COST = 40;

const FILL = defineStage(import.meta.url, 'place elements', fillPlaces);

function fillPlaces(arrays: PlaceArrays, { size }: PlaceNumbers, from: number, to: number): void {
  const { order, vertices, lows, highs, corners, boxes } = arrays;
  // The corners of the element in the second and third place.
  const second = size > 1 ? 1 : 0;
  const third = size - 1;
  for (let place = from, k = 3 * from; place < to; place++, k += 3) {
    const at = size * order[place];
    corners[k] = vertices[at];
    corners[k + 1] = vertices[at + second];
    corners[k + 2] = vertices[at + third];
    boundRange(corners, k, 3, lows, highs, boxes, 2 * k);
  }
}

/** The same for all elements, by several threads and readable by them; the result lives as long as `shared`. */
export function shareElements(
  { size, count, vertices }: ElementSet,
  members: Members,
  lows: Float64Array,
  highs: Float64Array,
  shared: SharedArrays,
): LeafElements {
  const order = shared.share(members.order);
  const start = shared.share(members.start);
  const corners = shared.make(Uint32Array, 3 * count);
  const boxes = shared.make(Float64Array, 6 * count);
  const arrays = { order, vertices: shared.share(vertices), lows, highs, corners, boxes };
  team.run({ stage: FILL, arrays, numbers: { size }, count, chunk: CHUNK, cost: COST });
  return { order, start, corners, boxes, prepare: () => undefined };
}

/** The largest number of elements in a leaf. */
export function mostInLeaf({ start }: Pick<LeafElements, 'start'>): number {
  let most = 0;
  for (let n = 0; n + 1 < start.length; n++) most = Math.max(most, start[n + 1] - start[n]);
  return most;
}
