/** An undirected graph without loops. */
export interface Graph {
  readonly count: number;
  /** uint32[count + 1]: where the neighbours of a node begin */
  readonly starts: Uint32Array;
  readonly neighbours: Uint32Array;
}

/**
 * Makes the graph in which all nodes of a clique are neighbours.
 *
 * @param count number of nodes
 * @param cliques lists of nodes below `count`; a node may occur several times in a list
 * @throws Error if a node is not below `count`
 */
export function graphOf(count: number, cliques: readonly ArrayLike<number>[]): Graph {
  const cliquesOf = Array.from({ length: count }, (): number[] => []);
  cliques.forEach((clique, c) => {
    for (let i = 0; i < clique.length; i++) {
      const list = cliquesOf[clique[i]!];
      if (list === undefined) throw new Error(`Node ${clique[i]} of clique ${c} is not below ${count}.`);
      list.push(c);
    }
  });
  const starts = new Uint32Array(count + 1);
  const neighbours: number[] = [];
  const seenBy = new Int32Array(count).fill(-1);
  for (let node = 0; node < count; node++) {
    seenBy[node] = node;
    for (const c of cliquesOf[node]!) {
      const clique = cliques[c]!;
      for (let i = 0; i < clique.length; i++) {
        const other = clique[i]!;
        if (seenBy[other] === node) continue;
        seenBy[other] = node;
        neighbours.push(other);
      }
    }
    starts[node + 1] = neighbours.length;
  }
  return { count, starts, neighbours: Uint32Array.from(neighbours) };
}
