import type { Graph } from './graph.js';

/** The structure of a Cholesky factor by supernodes: consecutive columns whose rows below them are the same. */
export interface Structure {
  /** uint32[count]: the node of every column; a postorder of the elimination tree, children first */
  readonly nodes: Uint32Array;
  /** uint32[count]: the column of every node */
  readonly columns: Uint32Array;
  /** uint32[S + 1]: the first column of every supernode */
  readonly firsts: Uint32Array;
  /** uint32[S + 1]: where the rows of a supernode begin in `rows` */
  readonly starts: Uint32Array;
  /** the columns that correspond to the rows below a supernode, ascending */
  readonly rows: Uint32Array;
  /** int32[S]: the supernode in which the first row below lies; −1 for a root */
  readonly parents: Int32Array;
}

/** A supernode takes in the columns behind it while at most this share of its entries are zeros ... */
const MAX_ZEROS = 0.15;
/** ... or while it has at most this number of columns: the work of smaller ones is mostly administration. */
const SMALL = 4;

/** Analyses the Cholesky factor of a matrix with this graph. @param order uint32[count]: an order of elimination */
export function analyse(graph: Graph, order: Uint32Array): Structure {
  const nodes = postorder(treeOf(graph, order), order);
  const columns = new Uint32Array(graph.count);
  nodes.forEach((node, column) => {
    columns[node] = column;
  });
  const below = structureOf(graph, nodes, columns);
  return { nodes, columns, ...merge(below) };
}

/** The parent of every position in the elimination tree, −1 for a root (Liu 1990, with path compression). */
function treeOf({ starts, neighbours }: Graph, order: Uint32Array): Int32Array {
  const positions = new Uint32Array(order.length);
  order.forEach((node, i) => {
    positions[node] = i;
  });
  const parents = new Int32Array(order.length).fill(-1);
  const ancestors = new Int32Array(order.length).fill(-1);
  for (let i = 0; i < order.length; i++) {
    const node = order[i]!;
    for (let k = starts[node]!; k < starts[node + 1]!; k++) {
      let at = positions[neighbours[k]!]!;
      while (at < i) {
        const next = ancestors[at]!;
        ancestors[at] = i;
        if (next === -1) parents[at] = i;
        at = next === -1 ? i : next;
      }
    }
  }
  return parents;
}

/** The nodes in a postorder of the tree. */
function postorder(parents: Int32Array, order: Uint32Array): Uint32Array {
  const children = Array.from({ length: order.length }, (): number[] => []);
  const roots: number[] = [];
  parents.forEach((parent, i) => {
    (parent === -1 ? roots : children[parent]!).push(i);
  });
  // Visited from the end: a parent, then its last child with everything below it.
  const nodes = new Uint32Array(order.length);
  const waiting = roots;
  for (let next = order.length - 1; waiting.length > 0; next--) {
    const i = waiting.pop()!;
    nodes[next] = order[i]!;
    waiting.push(...children[i]!);
  }
  return nodes;
}

/** The rows below the diagonal of every column of the factor, ascending. */
function structureOf({ starts, neighbours }: Graph, nodes: Uint32Array, columns: Uint32Array): Uint32Array[] {
  const below: Uint32Array[] = [];
  const children = Array.from({ length: nodes.length }, (): number[] => []);
  const markedBy = new Int32Array(nodes.length).fill(-1);
  for (let column = 0; column < nodes.length; column++) {
    const rows: number[] = [];
    const add = (row: number): void => {
      if (row <= column || markedBy[row] === column) return;
      markedBy[row] = column;
      rows.push(row);
    };
    const node = nodes[column]!;
    for (let k = starts[node]!; k < starts[node + 1]!; k++) add(columns[neighbours[k]!]!);
    for (const child of children[column]!) below[child]!.forEach(add);
    below.push(Uint32Array.from(rows).sort());
    if (rows.length > 0) children[below[column]![0]!]!.push(column);
  }
  return below;
}

function merge(below: readonly Uint32Array[]): Omit<Structure, 'nodes' | 'columns'> {
  const supernodes: { first: number; width: number; zeros: number; rows: Uint32Array }[] = [];
  below.forEach((rows, column) => {
    let merged = { first: column, width: 1, zeros: 0, rows };
    for (let last = supernodes.at(-1); last?.rows[0] === merged.first; last = supernodes.at(-1)) {
      const width = last.width + merged.width;
      const zeros = last.zeros + merged.zeros + last.width * (merged.width + merged.rows.length - last.rows.length);
      const entries = (width * (width + 1)) / 2 + width * merged.rows.length;
      if (zeros > MAX_ZEROS * entries && width > SMALL) break;
      supernodes.pop();
      merged = { first: last.first, width, zeros, rows: merged.rows };
    }
    supernodes.push(merged);
  });
  const firsts = Uint32Array.from([...supernodes.map(({ first }) => first), below.length]);
  const starts = new Uint32Array(supernodes.length + 1);
  supernodes.forEach(({ rows }, s) => {
    starts[s + 1] = starts[s]! + rows.length;
  });
  const rows = new Uint32Array(starts.at(-1)!);
  supernodes.forEach((supernode, s) => {
    rows.set(supernode.rows, starts[s]!);
  });
  const owners = new Int32Array(below.length);
  supernodes.forEach(({ first, width }, s) => {
    owners.fill(s, first, first + width);
  });
  const parents = Int32Array.from(supernodes, (supernode) =>
    supernode.rows.length === 0 ? -1 : owners[supernode.rows[0]!]!,
  );
  return { firsts, starts, rows, parents };
}
