import type { LeafElements } from './leaf-elements.js';
import type { MeshTree } from './mesh-tree.js';

/** The fields of a tree that a join reads. */
export interface JoinedTree {
  readonly nodes: Pick<MeshTree['nodes'], 'right' | 'size'>;
  /** uint8[M] properties of everything below a node: {@link ALL_KINEMATIC} | {@link ALL_RESTING} */
  readonly quiet: Uint8Array;
  /** float64[M] of {@link slackOf}, where pairs are looked for by their computed distances; absent = by their boxes */
  readonly slack?: Float64Array | undefined;
}

/** Bits of {@link JoinedTree.quiet}. */
export const ALL_KINEMATIC = 1;
export const ALL_RESTING = 2;

/** The fields of elements that a join reads. */
export type JoinedElements = Pick<LeafElements, 'start' | 'corners' | 'boxes'>;

/** The largest distance along an axis of two boxes that are visited. A visitor may reduce it while the join runs. */
export interface Reach {
  gap: number;
}

/**
 * How much the computed distance of a pair may be below the gap of its boxes, as a share of their sizes. A join that looks
 * for distances therefore adds the slack of both boxes to its reach.
 *
 * Let d be the computed distance, g the largest gap along an axis, e and f the largest sides of the two boxes, M the largest
 * difference of a coordinate between two corners of the pair, and u = 2^-53. The closest points are convex combinations of the
 * corners but for the rounding of weights that sum to 1, and their difference is computed to within 40u·M in all, so
 * d ≥ g − 40u·M. Along every axis corners differ by at most e + f + max(g, 0). Hence
 *
 *   g ≤ (d + 40u (e + f)) / (1 − 40u).
 *
 * DISTANCE_ERROR = 128u leaves two thirds for the rounding of e, f and the products. REACH_ROUNDING covers the
 * quotient, and the rounding of g and of the sums, a few u each. Where a product underflows, 40u (e + f) is less than
 * half of the smallest double, so that d, which is rounded to a multiple of it as g is, is no less than g.
 *
 * The box of a node contains those below it, so that its gaps are smaller and its sides larger, also as computed, since
 * rounding is monotone. A pair of nodes out of reach therefore holds no pair of elements within it.
 */
export const DISTANCE_ERROR = 2 ** -46;

const REACH_ROUNDING = 1 + 2 ** -40;

/** The gap of boxes, less the slack of both, up to which pairs are visited to find those whose computed distance is at most this. */
export function reachTo(distance: number): number {
  return REACH_ROUNDING * distance;
}

/** The slack of each box ({@link DISTANCE_ERROR}). @param boxes float64[6·M] @returns float64[M] */
export function slackOf(boxes: Float64Array): Float64Array {
  const slack = new Float64Array(boxes.length / 6);
  for (let n = 0, k = 0; n < slack.length; n++, k += 6) {
    slack[n] =
      DISTANCE_ERROR * Math.max(boxes[k + 3] - boxes[k], boxes[k + 4] - boxes[k + 1], boxes[k + 5] - boxes[k + 2]);
  }
  return slack;
}

const roomOf = (slack: Float64Array | undefined, n: number, m: number): number =>
  slack === undefined ? 0 : slack[n] + slack[m];

/**
 * Visits all pairs of leaves, and each leaf with itself, whose closed boxes are within reach of each other, each once.
 *
 * @param boxes float64[6·M] of the tree's nodes
 * @param skipped bits of `quiet`: pairs of leaves that both have one of them are not visited
 * @param visit also receives the slack of both leaves, 0 without slack
 * @param first node, together with `second`, below which to join; default the root with itself
 */
export function joinLeaves(
  { nodes, quiet, slack }: JoinedTree,
  boxes: Float64Array,
  reach: Reach,
  skipped: number,
  visit: (n: number, m: number, room: number) => void,
  first = 0,
  second = 0,
): void {
  const { right, size } = nodes;
  let stack = new Uint32Array(256);
  stack[0] = first;
  stack[1] = second;
  let top = 2;
  while (top > 0) {
    if (top + 6 > stack.length) stack = grow(stack);
    const m = stack[--top];
    const n = stack[--top];
    if ((quiet[n] & quiet[m] & skipped) !== 0) continue;
    const rightN = right[n];
    const rightM = right[m];
    if (n === m) {
      if (rightN === 0) {
        visit(n, n, roomOf(slack, n, n));
        continue;
      }
      stack[top++] = rightN;
      stack[top++] = rightN;
      stack[top++] = n + 1;
      stack[top++] = n + 1;
      // Neighbours come first, so that a visitor reduces the reach before distant pairs are expanded.
      stack[top++] = n + 1;
      stack[top++] = rightN;
      continue;
    }
    // The visitor may have reduced the reach since the pair was pushed.
    const room = roomOf(slack, n, m);
    if (!isWithin(boxes, n, boxes, m, reach.gap + room)) continue;
    if (rightN === 0 && rightM === 0) {
      visit(n, m, room);
    } else if (rightM === 0 || (rightN !== 0 && size[n] >= size[m])) {
      stack[top++] = rightN;
      stack[top++] = m;
      stack[top++] = n + 1;
      stack[top++] = m;
    } else {
      stack[top++] = n;
      stack[top++] = rightM;
      stack[top++] = n;
      stack[top++] = m + 1;
    }
  }
}

/**
 * Pairs of nodes that together cover the join of the tree with itself, those of a node with itself first.
 *
 * @param gap reach of the join @param skipped like in {@link joinLeaves} @param wanted number of pairs; a small tree
 *   has fewer
 * @returns uint32[2·n]
 */
export function expandPairs(
  { nodes, quiet, slack }: JoinedTree,
  boxes: Float64Array,
  gap: number,
  skipped: number,
  wanted: number,
): Uint32Array {
  const { right, size } = nodes;
  let pairs: number[] = [0, 0];
  for (let isExpanded = true; isExpanded && pairs.length < 2 * wanted; ) {
    isExpanded = false;
    const same: number[] = [];
    const others: number[] = [];
    const add = (n: number, m: number): void => {
      if ((quiet[n] & quiet[m] & skipped) !== 0) return;
      if (n === m) same.push(n, n);
      else if (isWithin(boxes, n, boxes, m, gap + roomOf(slack, n, m))) others.push(n, m);
    };
    for (let k = 0; k < pairs.length; k += 2) {
      const n = pairs[k];
      const m = pairs[k + 1];
      if (right[n] === 0 && right[m] === 0) {
        add(n, m);
        continue;
      }
      isExpanded = true;
      if (n === m) {
        add(n + 1, n + 1);
        add(right[n], right[n]);
        add(n + 1, right[n]);
      } else if (right[m] === 0 || (right[n] !== 0 && size[n] >= size[m])) {
        add(n + 1, m);
        add(right[n], m);
      } else {
        add(n, m + 1);
        add(n, right[m]);
      }
    }
    pairs = [...same, ...others];
  }
  return Uint32Array.from(pairs);
}

/**
 * Collects the pairs (position in a, position in b) of elements of two leaves whose closed boxes are within the gap of each
 * other, except pairs that share a vertex.
 *
 * @param p leaf of a
 * @param q leaf of b
 * @param node index of q's box in `nodeBoxes`
 * @param out uint32, room for all pairs of the two leaves
 * @returns number of entries written, two per pair
 */
export function pairLeaves(
  a: JoinedElements,
  p: number,
  b: JoinedElements,
  q: number,
  nodeBoxes: Float64Array,
  node: number,
  gap: number,
  out: Uint32Array,
): number {
  const { boxes: boxesA, corners: cornersA } = a;
  const { boxes: boxesB, corners: cornersB } = b;
  const endA = a.start[p + 1];
  const startB = b.start[q];
  const endB = b.start[q + 1];
  const isSelf = a === b && p === q;
  const nodeLowX = nodeBoxes[6 * node];
  const nodeLowY = nodeBoxes[6 * node + 1];
  const nodeLowZ = nodeBoxes[6 * node + 2];
  const nodeHighX = nodeBoxes[6 * node + 3];
  const nodeHighY = nodeBoxes[6 * node + 4];
  const nodeHighZ = nodeBoxes[6 * node + 5];
  let end = 0;
  for (let i = a.start[p]; i < endA; i++) {
    const lowX = boxesA[6 * i];
    const highX = boxesA[6 * i + 3];
    if (lowX - nodeHighX > gap || nodeLowX - highX > gap) continue;
    const lowY = boxesA[6 * i + 1];
    const highY = boxesA[6 * i + 4];
    if (lowY - nodeHighY > gap || nodeLowY - highY > gap) continue;
    const lowZ = boxesA[6 * i + 2];
    const highZ = boxesA[6 * i + 5];
    if (lowZ - nodeHighZ > gap || nodeLowZ - highZ > gap) continue;
    const s = cornersA[3 * i];
    const t = cornersA[3 * i + 1];
    const u = cornersA[3 * i + 2];
    for (let j = isSelf ? i + 1 : startB; j < endB; j++) {
      const at = 6 * j;
      // With a gap of 0 this is exact: a rounded difference of two doubles is positive only if the difference is.
      if (lowX - boxesB[at + 3] > gap || boxesB[at] - highX > gap) continue;
      if (lowY - boxesB[at + 4] > gap || boxesB[at + 1] - highY > gap) continue;
      if (lowZ - boxesB[at + 5] > gap || boxesB[at + 2] - highZ > gap) continue;
      const v = cornersB[3 * j];
      const w = cornersB[3 * j + 1];
      const x = cornersB[3 * j + 2];
      // Most pairs of boxes that overlap are neighbours.
      if (s === v || s === w || s === x || t === v || t === w || t === x || u === v || u === w || u === x) continue;
      out[end++] = i;
      out[end++] = j;
    }
  }
  return end;
}

function isWithin(a: Float64Array, i: number, b: Float64Array, j: number, gap: number): boolean {
  const n = 6 * i;
  const m = 6 * j;
  return (
    a[n] - b[m + 3] <= gap &&
    b[m] - a[n + 3] <= gap &&
    a[n + 1] - b[m + 4] <= gap &&
    b[m + 1] - a[n + 4] <= gap &&
    a[n + 2] - b[m + 5] <= gap &&
    b[m + 2] - a[n + 5] <= gap
  );
}

function grow(stack: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * stack.length);
  larger.set(stack);
  return larger;
}
