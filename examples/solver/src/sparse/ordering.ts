import type { Graph } from './graph.js';
import { coverEdges } from './vertex-cover.js';

/** Parts of so few nodes are not divided any further: a supernode is about as large. */
const LEAF = 6;
/** Where a sorted part may be divided, as shares of its nodes. */
const SHARES = [0.4, 0.5, 0.6];
/** A separator is the better, the smaller it is and the larger this power of the smaller side. */
const BALANCE = 0.5;

/**
 * Returns an order of elimination that causes little fill. First come nodes whose neighbours are all neighbours of each
 * other, because their elimination causes none. The others are ordered by nested dissection: the nodes of a part are
 * sorted by a key (a coordinate, or the distance in the graph from one end of the part) and divided into two sides near
 * the median. The separator is the smallest set of nodes that contains an end of every edge between the sides. Both
 * sides without it precede it. Of several keys and places the best separator is taken.
 *
 * @param positions float64[3·count], in any unit: neighbours should be near each other
 * @returns uint32[count]: nodes in the order of elimination
 */
export function orderForElimination(graph: Graph, positions: Float64Array): Uint32Array {
  const order = new Uint32Array(graph.count);
  const simplicial = findSimplicial(graph);
  let [first, last] = [0, graph.count];
  const rest: number[] = [];
  for (let node = 0; node < graph.count; node++) {
    if (simplicial[node]) order[first++] = node;
    else rest.push(node);
  }
  // A separator is written behind its sides, so parts are written from the end.
  const parts = [rest];
  const labels = new Int32Array(graph.count).fill(OUTSIDE);
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const cut = part.length > LEAF ? divide(graph, positions, part, labels) : undefined;
    const separator = cut?.separator ?? part;
    for (let i = separator.length - 1; i >= 0; i--) order[--last] = separator[i]!;
    if (cut) parts.push(...cut.sides);
  }
  return order;
}

/** uint8[count]: 1 if all neighbours of a node are neighbours of each other. */
function findSimplicial({ count, starts, neighbours }: Graph): Uint8Array {
  const simplicial = new Uint8Array(count);
  const markedBy = new Int32Array(count).fill(-1);
  for (let node = 0; node < count; node++) {
    const [from, to] = [starts[node]!, starts[node + 1]!];
    for (let i = from; i < to; i++) markedBy[neighbours[i]!] = node;
    let isClique = true;
    for (let i = from; i < to && isClique; i++) {
      const other = neighbours[i]!;
      let common = 0;
      for (let k = starts[other]!; k < starts[other + 1]!; k++) if (markedBy[neighbours[k]!] === node) common++;
      isClique = common === to - from - 1;
    }
    simplicial[node] = isClique ? 1 : 0;
  }
  return simplicial;
}

interface Cut {
  readonly separator: readonly number[];
  readonly sides: readonly [number[], number[]];
}

/** Labels of nodes during a division. */
const [OUTSIDE, LEFT, RIGHT, CUT] = [-1, 0, 1, 2];

/** @param labels int32[count], OUTSIDE everywhere before and after */
function divide(graph: Graph, positions: Float64Array, part: readonly number[], labels: Int32Array): Cut | undefined {
  let best: Cut | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of part) labels[node] = LEFT;
  for (const key of keysOf(graph, positions, part, labels)) {
    const sorted = part.slice().sort((a, b) => key(a) - key(b) || a - b);
    for (const share of SHARES) {
      const count = Math.round(share * part.length);
      sorted.forEach((node, i) => {
        labels[node] = i < count ? LEFT : RIGHT;
      });
      const separator = coverEdges(graph, sorted.slice(0, count), labels, RIGHT);
      const badness = separator.length / Math.min(share, 1 - share) ** BALANCE;
      if (badness >= least) continue;
      for (const node of separator) labels[node] = CUT;
      const sides: [number[], number[]] = [
        sorted.filter((node) => labels[node] === LEFT),
        sorted.filter((node) => labels[node] === RIGHT),
      ];
      if (sides[0].length > 0 && sides[1].length > 0) [best, least] = [{ separator, sides }, badness];
    }
  }
  for (const node of part) labels[node] = OUTSIDE;
  return best;
}

function keysOf(
  graph: Graph,
  positions: Float64Array,
  part: readonly number[],
  labels: Int32Array,
): ((node: number) => number)[] {
  const coordinates = [0, 1, 2].map(
    (axis) =>
      (node: number): number =>
        positions[3 * node + axis]!,
  );
  // The last node that a search reaches is at an end of the part.
  const end = [...distancesIn(graph, part[0]!, labels).keys()].at(-1)!;
  const distances = distancesIn(graph, end, labels);
  return [...coordinates, (node) => distances.get(node) ?? part.length];
}

/** Distances in the graph from a node, within the nodes whose label is not OUTSIDE. */
function distancesIn(graph: Graph, from: number, labels: Int32Array): Map<number, number> {
  const distances = new Map([[from, 0]]);
  for (const [node, distance] of distances) {
    for (let i = graph.starts[node]!; i < graph.starts[node + 1]!; i++) {
      const other = graph.neighbours[i]!;
      if (labels[other] !== OUTSIDE && !distances.has(other)) distances.set(other, distance + 1);
    }
  }
  return distances;
}
