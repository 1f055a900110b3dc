import type { Element, Relation } from './surface.js';

/**
 * Calls `visit` for every pair of a relation whose boxes over the states overlap; of a list with itself, each unordered pair once.
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

/** Axis-aligned boxes, float64[6·n]: min xyz, max xyz. Comparisons only, so nothing is rounded away. */
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

/** Calls `visit` for every pair of boxes, one of each list, that have a common point; lists that are the same object give each unordered pair once. */
export function sweepPairs(a: Boxes, b: Boxes, visit: (i: number, j: number) => void): void {
  const axis = bestAxis(a, b);
  const orderA = orderBy(a, axis);
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
  const orderB = orderBy(b, axis);
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

/** The axis on which a box covers the smallest share of the whole: only speed depends on it. */
function bestAxis(a: Boxes, b: Boxes): number {
  let best = 0;
  let bestShare = Number.POSITIVE_INFINITY;
  for (let c = 0; c < 3; c++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let sum = 0;
    for (const boxes of [a, b]) {
      for (let i = 0; i < boxes.length; i += 6) {
        low = Math.min(low, boxes[i + c]);
        high = Math.max(high, boxes[i + 3 + c]);
        sum += boxes[i + 3 + c] - boxes[i + c];
      }
    }
    const share = high > low ? sum / (high - low) : Number.MAX_VALUE;
    if (share < bestShare) {
      bestShare = share;
      best = c;
    }
  }
  return best;
}
