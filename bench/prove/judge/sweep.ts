import type { Element, Relation } from './surface.js';

/**
 * Calls `visit` for every pair of a relation whose boxes over the states overlap; for a list with itself, each
 * unordered pair once.
 *
 * @param grow added to the boxes on every side, for distances
 */
export function forEachNear(
  relations: readonly Relation[],
  states: readonly ArrayLike<number>[],
  grow: number,
  visit: (a: Element, b: Element) => void,
): void {
  for (const [first, second] of relations) {
    if (first.length === 0 || second.length === 0) continue;
    const boxes = boxesOf(first, states, grow);
    const others = first === second ? boxes : boxesOf(second, states, grow);
    sweepPairs(boxes, others, (i, j) => visit(first[i], second[j]));
  }
}

/** Axis-aligned boxes, float64[6·n]: min xyz, max xyz. They are only compared, so nothing is rounded. */
export type Boxes = Float64Array;

/**
 * Boxes of elements over one or more states: the box of a linear piece is that of its two ends.
 *
 * @param grow added on every side, for distances
 */
export function boxesOf(elements: readonly Element[], states: readonly ArrayLike<number>[], grow = 0): Boxes {
  const boxes = new Float64Array(6 * elements.length);
  elements.forEach((element, i) => {
    for (let c = 0; c < 3; c++) {
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      for (const x of states) {
        for (const v of element) {
          low = Math.min(low, x[3 * v + c]);
          high = Math.max(high, x[3 * v + c]);
        }
      }
      boxes[6 * i + c] = low - grow;
      boxes[6 * i + 3 + c] = high + grow;
    }
  });
  return boxes;
}

/**
 * Calls `visit` for every pair of boxes, one of each list, that have a common point; lists that are the same object
 * give each unordered pair once.
 *
 * The space is cut into slices along one axis, and each slice is swept along another one. The intersection of two boxes
 * begins where the later one begins, so a pair is visited once, in the slice that contains this beginning. The slice of
 * a value never decreases as the value grows, whatever is rounded.
 */
export function sweepPairs(a: Boxes, b: Boxes, visit: (i: number, j: number) => void): void {
  const [axis, across] = axesByOverlaps(a, b);
  const sliceOf = makeSlices(a, b, across);
  const slicesA = sliceUp(a, axis, across, sliceOf);
  const slicesB = a === b ? slicesA : sliceUp(b, axis, across, sliceOf);
  slicesA.forEach((own, slice) => {
    sweepSlice(a, b, own, slicesB[slice] ?? [], axis, (i, j) => {
      if (sliceOf(Math.max(a[6 * i + across], b[6 * j + across])) === slice) visit(i, j);
    });
  });
}

/** @param orderA, orderB boxes in the order in which they begin */
function sweepSlice(
  a: Boxes,
  b: Boxes,
  orderA: readonly number[],
  orderB: readonly number[],
  axis: number,
  visit: (i: number, j: number) => void,
): void {
  if (a === b) {
    for (let m = 0; m < orderA.length; m++) {
      const i = orderA[m];
      const end = a[6 * i + 3 + axis];
      for (let n = m + 1; n < orderA.length && a[6 * orderA[n] + axis] <= end; n++) {
        const j = orderA[n];
        if (overlap(a, i, a, j)) visit(Math.min(i, j), Math.max(i, j));
      }
    }
    return;
  }
  let m = 0;
  let n = 0;
  // The box that begins first meets exactly those of the other list that begin before it ends.
  while (m < orderA.length && n < orderB.length) {
    if (a[6 * orderA[m] + axis] <= b[6 * orderB[n] + axis]) {
      const i = orderA[m++];
      const end = a[6 * i + 3 + axis];
      for (let k = n; k < orderB.length && b[6 * orderB[k] + axis] <= end; k++) {
        if (overlap(a, i, b, orderB[k])) visit(i, orderB[k]);
      }
    } else {
      const j = orderB[n++];
      const end = b[6 * j + 3 + axis];
      for (let k = m; k < orderA.length && a[6 * orderA[k] + axis] <= end; k++) {
        if (overlap(a, orderA[k], b, j)) visit(orderA[k], j);
      }
    }
  }
}

/** Slices are at least this many mean boxes thick, so that most boxes are in one or two. */
const THICKNESS = 2;
const MOST_SLICES = 256;

/** The slice of a value along an axis; it never decreases as the value grows. */
function makeSlices(a: Boxes, b: Boxes, axis: number): (value: number) => number {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const boxes of [a, b]) {
    for (let i = 0; i < boxes.length; i += 6) {
      low = Math.min(low, boxes[i + axis]);
      high = Math.max(high, boxes[i + 3 + axis]);
      sum += boxes[i + 3 + axis] - boxes[i + axis];
    }
  }
  const mean = (6 * sum) / (a.length + b.length);
  const count = Math.min(MOST_SLICES, Math.floor((high - low) / (THICKNESS * mean)));
  if (!(count > 1)) return () => 0;
  const scale = count / (high - low);
  return (value) => Math.max(0, Math.min(count - 1, Math.floor((value - low) * scale)));
}

/** For every slice the boxes that extend into it, in the order in which they begin along the axis of the sweep. */
function sliceUp(boxes: Boxes, axis: number, across: number, sliceOf: (value: number) => number): number[][] {
  const slices: number[][] = [];
  for (const i of orderBy(boxes, axis)) {
    const last = sliceOf(boxes[6 * i + 3 + across]);
    for (let slice = sliceOf(boxes[6 * i + across]); slice <= last; slice++) (slices[slice] ??= []).push(i);
  }
  return slices;
}

function overlap(a: Boxes, i: number, b: Boxes, j: number): boolean {
  for (let c = 0; c < 3; c++) {
    if (a[6 * i + c] > b[6 * j + 3 + c] || b[6 * j + c] > a[6 * i + 3 + c]) return false;
  }
  return true;
}

function orderBy(boxes: Boxes, axis: number): Uint32Array {
  const order = Uint32Array.from({ length: boxes.length / 6 }, (_, i) => i);
  return order.sort((i, j) => boxes[6 * i + axis] - boxes[6 * j + axis]);
}

/** Axes, the one along which fewest pairs of boxes overlap first; this affects speed only. */
function axesByOverlaps(a: Boxes, b: Boxes): number[] {
  const apart = [0, 1, 2].map((axis) => {
    const [beginA, endA] = [sidesOf(a, axis), sidesOf(a, axis + 3)];
    const [beginB, endB] = a === b ? [beginA, endA] : [sidesOf(b, axis), sidesOf(b, axis + 3)];
    return countBefore(endA, beginB) + countBefore(endB, beginA);
  });
  return [0, 1, 2].sort((p, q) => apart[q] - apart[p]);
}

/** For every box the lower (0 to 2) or upper (3 to 5) side along an axis, ascending. */
function sidesOf(boxes: Boxes, side: number): Float64Array {
  const sides = new Float64Array(boxes.length / 6);
  for (let i = 0; i < sides.length; i++) sides[i] = boxes[6 * i + side];
  return sides.sort();
}

/** Number of pairs in which one box ends before the other begins. Both lists ascend. */
function countBefore(ends: Float64Array, begins: Float64Array): number {
  let [count, ended] = [0, 0];
  for (const begin of begins) {
    while (ended < ends.length && ends[ended] < begin) ended++;
    count += ended;
  }
  return count;
}
