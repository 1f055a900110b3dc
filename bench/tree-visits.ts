import type { ElementSet, SearchLayout, WalkPass } from '../gpu/search/layout.js';
import { LEAF_SIZE } from '../src/solver/constants.js';

/** What a query examines on the average in a walk: its share of the cost of a search that depends on the tree's order. */
export interface Visits {
  readonly nodes: number;
  /** elements in the leaves that it reaches */
  readonly elements: number;
  /** elements whose boxes meet its own, in any order of the tree */
  readonly found: number;
}

/** Queries of which the average is taken. */
const SAMPLES = 20_000;

type Box = readonly [Float32Array, Float32Array];

/**
 * Walks a tree as the device does, for a sample of the queries.
 *
 * @param x float32[3·V]
 * @param reach every box is this much larger on all sides, in the unit of x
 */
export function countVisits({ topology }: SearchLayout, walk: WalkPass, x: Float32Array, reach: number): Visits {
  const { own, other } = walk;
  const queries = boxesOf(topology, own, x, reach);
  const elements = own === other ? queries : boxesOf(topology, other, x, reach);
  const tree = treeOver(elements, other);
  const step = Math.max(1, Math.floor(own.count / SAMPLES));
  const sum = { nodes: 0, elements: 0, found: 0 };
  let sampled = 0;
  for (let q = 0; q < own.count; q += step) {
    sampled++;
    const waiting = [1];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      sum.nodes++;
      if (!meet(tree, node, queries, q)) continue;
      if (node < other.leaves) {
        waiting.push(2 * node, 2 * node + 1);
        continue;
      }
      const first = LEAF_SIZE * (node - other.leaves);
      for (let e = first; e < Math.min(first + LEAF_SIZE, other.count); e++) {
        sum.elements++;
        if (meet(elements, e, queries, q)) sum.found++;
      }
    }
  }
  return { nodes: sum.nodes / sampled, elements: sum.elements / sampled, found: sum.found / sampled };
}

function boxesOf(topology: Uint32Array, { vertices, size, count }: ElementSet, x: Float32Array, reach: number): Box {
  const low = new Float32Array(3 * count);
  const high = new Float32Array(3 * count);
  for (let k = 0; k < 3 * count; k++) {
    const e = Math.floor(k / 3);
    const corners = topology.subarray(vertices + size * e, vertices + size * (e + 1));
    const along = Array.from(corners, (v) => x[3 * v + (k % 3)]);
    low[k] = Math.min(...along) - reach;
    high[k] = Math.max(...along) + reach;
  }
  return [low, high];
}

/** Boxes of the nodes: node n has the children 2 n and 2 n + 1, and the leaves come last. */
function treeOver([low, high]: Box, { leaves, count }: ElementSet): Box {
  const lows = new Float32Array(6 * leaves).fill(Number.POSITIVE_INFINITY);
  const highs = new Float32Array(6 * leaves).fill(Number.NEGATIVE_INFINITY);
  const include = (node: number, c: number, l: number, h: number): void => {
    lows[3 * node + c] = Math.min(lows[3 * node + c], l);
    highs[3 * node + c] = Math.max(highs[3 * node + c], h);
  };
  for (let k = 0; k < 3 * count; k++) {
    include(leaves + Math.floor(k / 3 / LEAF_SIZE), k % 3, low[k], high[k]);
  }
  for (let node = 2 * leaves - 1; node > 1; node--) {
    for (let c = 0; c < 3; c++) include(node >> 1, c, lows[3 * node + c], highs[3 * node + c]);
  }
  return [lows, highs];
}

function meet([lowA, highA]: Box, a: number, [lowB, highB]: Box, b: number): boolean {
  for (let c = 0; c < 3; c++) {
    if (lowA[3 * a + c] > highB[3 * b + c] || lowB[3 * b + c] > highA[3 * a + c]) return false;
  }
  return true;
}
