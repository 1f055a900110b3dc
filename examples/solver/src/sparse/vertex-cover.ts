import type { Graph } from './graph.js';

/**
 * Returns the smallest set of nodes that contains an end of every edge between two sides of a graph (Kőnig: it is as
 * large as a maximum matching of these edges).
 *
 * @param left nodes of one side
 * @param labels int32[count]: the nodes of the other side have the label `right`, those of the first another one
 */
export function coverEdges(
  { starts, neighbours }: Graph,
  left: readonly number[],
  labels: Int32Array,
  right: number,
): number[] {
  const partners = new Map<number, number>();
  const across = new Map<number, number[]>();
  for (const node of left) {
    const others: number[] = [];
    for (let i = starts[node]!; i < starts[node + 1]!; i++) {
      if (labels[neighbours[i]!] === right) others.push(neighbours[i]!);
    }
    if (others.length > 0) across.set(node, others);
  }
  /** Nodes of both sides that the current search, or the last one, has reached. */
  let reached = new Set<number>();
  // An augmenting path alternates between edges outside and inside the matching.
  const augment = (node: number): boolean => {
    reached.add(node);
    for (const other of across.get(node)!) {
      if (reached.has(other)) continue;
      reached.add(other);
      const partner = partners.get(other);
      if (partner !== undefined && !augment(partner)) continue;
      partners.set(other, node);
      partners.set(node, other);
      return true;
    }
    return false;
  };
  for (const [node, others] of across) {
    const free = others.find((other) => !partners.has(other));
    if (free === undefined) continue;
    partners.set(node, free);
    partners.set(free, node);
  }
  for (const node of across.keys()) {
    if (partners.has(node)) continue;
    reached = new Set();
    augment(node);
  }
  reached = new Set();
  for (const node of across.keys()) if (!partners.has(node)) augment(node);
  const cover: number[] = [];
  for (const [node, others] of across) {
    if (!reached.has(node)) cover.push(node);
    for (const other of others) if (reached.delete(other)) cover.push(other);
  }
  return cover;
}
