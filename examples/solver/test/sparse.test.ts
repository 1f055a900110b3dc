import t from 'tap';
import { BlockCholesky, NotPositiveDefinite } from '../src/sparse/cholesky.js';
import { type Graph, graphOf } from '../src/sparse/graph.js';
import { orderForElimination } from '../src/sparse/ordering.js';
import { coverEdges } from '../src/sparse/vertex-cover.js';
import { makeRandom, randomVector, seedOfTest } from './support.js';

/**
 * Backward error of a Cholesky solution in doubles, relative to n |A| |x|: theory bounds it by a few roundoffs (1.1e-16)
 * for each of the n steps of a product; errors are usually far smaller.
 */
const BACKWARD = 1e-15;

/** A dense symmetric matrix by rows. */
type Dense = Float64Array[];

/**
 * Fills a matrix with the sum of a multiple of the identity and, for every edge and node, a random Bᵀ B of rank three
 * with a random scale.
 */
function fill(graph: Graph, matrix: BlockCholesky, decades: number, random: () => number): Dense {
  const dense = Array.from({ length: 3 * graph.count }, (_, i) =>
    Float64Array.from({ length: 3 * graph.count }, (__, j) => (i === j ? 1 : 0)),
  );
  for (let node = 0; node < graph.count; node++) {
    for (let k = graph.starts[node]!; k < graph.starts[node + 1]!; k++) {
      const columns = [node, graph.neighbours[k]!].flatMap((v) => [3 * v, 3 * v + 1, 3 * v + 2]);
      const scale = 10 ** (decades * random());
      const rows = Array.from({ length: 3 }, () => randomVector(6, random));
      columns.forEach((i, a) => {
        columns.forEach((j, b) => {
          dense[i]![j]! += scale * rows.reduce((sum, row) => sum + row[a]! * row[b]!, 0);
        });
      });
    }
  }
  store(graph, dense, matrix);
  return dense;
}

function store(graph: Graph, dense: Dense, matrix: BlockCholesky): void {
  const put = (a: number, b: number): void => {
    const [row, column] = matrix.columns[a]! > matrix.columns[b]! ? [a, b] : [b, a];
    const slot = matrix.slotOf(row, column);
    for (let k = 0; k < 9; k++) {
      matrix.values[slot + k] = dense[3 * row + Math.floor(k / 3)]![3 * column + (k % 3)]!;
    }
  };
  for (let node = 0; node < graph.count; node++) {
    put(node, node);
    for (let k = graph.starts[node]!; k < graph.starts[node + 1]!; k++) put(node, graph.neighbours[k]!);
  }
}

/** Solves A x = b by elimination without pivots, which a positive definite matrix does not need. */
function solveDense(a: Dense, b: Float64Array): Float64Array {
  const rows = a.map((row, i) => Float64Array.from([...row, b[i]!]));
  const n = b.length;
  for (let k = 0; k < n; k++) {
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i]![k]! / rows[k]![k]!;
      for (let j = k; j <= n; j++) rows[i]![j]! -= factor * rows[k]![j]!;
    }
  }
  const x = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let sum = rows[i]![n]!;
    for (let j = i + 1; j < n; j++) sum -= rows[i]![j]! * x[j]!;
    x[i] = sum / rows[i]![i]!;
  }
  return x;
}

const largest = (v: Iterable<number>): number => [...v].reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const timesDense = (a: Dense, x: Float64Array): Float64Array =>
  Float64Array.from(a, (row) => row.reduce((sum, value, j) => sum + value * x[j]!, 0));
const normOf = (a: Dense): number => Math.max(...a.map((row) => row.reduce((sum, value) => sum + Math.abs(value), 0)));

/** Some nodes in the unit cube, each a neighbour of a few others; often in several components. */
function randomGraph(random: () => number): { graph: Graph; positions: Float64Array } {
  const count = 1 + Math.floor(60 * random());
  const cliques = Array.from({ length: Math.floor(1.5 * count * random()) }, () =>
    Array.from({ length: 1 + Math.floor(4 * random()) }, () => Math.floor(count * random())),
  );
  return { graph: graphOf(count, cliques), positions: randomVector(3 * count, random) };
}

t.test('random systems are solved as by dense elimination', async (t) => {
  const seed = seedOfTest();
  t.comment(`seed ${seed}`);
  const random = makeRandom(seed);
  for (let trial = 0; trial < 60; trial++) {
    const { graph, positions } = randomGraph(random);
    const matrix = new BlockCholesky(graph, positions);
    // The same structure twice: nothing is left of the first matrix.
    for (const decades of [0, 3]) {
      const dense = fill(graph, matrix, decades, random);
      const b = randomVector(3 * graph.count, random);
      const x = new Float64Array(b.length);
      matrix.factor();
      matrix.solve(b, x);
      const limit = BACKWARD * b.length * normOf(dense);
      const residual = timesDense(dense, x).map((value, i) => value - b[i]!);
      t.ok(largest(residual) <= limit * largest(x), `trial ${trial}: residual ${largest(residual)}`);
      // Eigenvalues are at least 1, so the backward errors of both solutions are at least as large as their difference.
      const other = solveDense(dense, b);
      const difference = largest(x.map((value, i) => value - other[i]!));
      t.ok(difference <= 2 * Math.sqrt(b.length) * limit * largest(x), `trial ${trial}: difference ${difference}`);
      matrix.solve(b, b);
      t.same(b, x, `trial ${trial}: in place`);
    }
  }
});

/** A square grid whose nodes are neighbours if they are in the same square of 2 × 2 nodes. */
function gridGraph(side: number): { graph: Graph; positions: Float64Array } {
  const positions = Float64Array.from({ length: 3 * side * side }, (_, i) => {
    const node = Math.floor(i / 3);
    return [node % side, Math.floor(node / side), 0][i % 3]!;
  });
  const cliques: number[][] = [];
  for (let y = 0; y + 1 < side; y++) {
    for (let x = 0; x + 1 < side; x++) {
      cliques.push(Array.from({ length: 4 }, (_, i) => side * (y + (i >> 1)) + x + (i & 1)));
    }
  }
  return { graph: graphOf(side * side, cliques), positions };
}

t.test('large systems of a surface, with stiff and soft parts, have small residuals and little fill', async (t) => {
  const seed = seedOfTest();
  t.comment(`seed ${seed}`);
  const random = makeRandom(seed);
  const side = 100;
  const { graph, positions } = gridGraph(side);
  const matrix = new BlockCholesky(graph, positions);
  // Row by row, the columns of the factor would reach over a row of nodes.
  const banded = 9 * side * side * side;
  t.ok(matrix.factorSize < banded / 2, `${matrix.factorSize} numbers, and ${banded} in order of rows`);
  for (let node = 0; node < graph.count; node++) {
    const own = matrix.slotOf(node, node);
    for (let k = 0; k < 9; k += 4) matrix.values[own + k]! += 1;
    for (let k = graph.starts[node]!; k < graph.starts[node + 1]!; k++) {
      const other = graph.neighbours[k]!;
      const stiffness = 10 ** (5 * random());
      for (let i = 0; i < 9; i += 4) {
        matrix.values[own + i]! += stiffness;
        matrix.values[matrix.slotOf(other, other) + i]! += stiffness;
        matrix.values[matrix.slotOf(node, other) + i]! -= stiffness;
      }
    }
  }
  const b = randomVector(3 * graph.count, random);
  const [x, product] = [new Float64Array(b.length), new Float64Array(b.length)];
  matrix.factor();
  matrix.solve(b, x);
  // All blocks are multiples of the identity.
  for (let node = 0; node < graph.count; node++) {
    for (const other of [node, ...graph.neighbours.subarray(graph.starts[node]!, graph.starts[node + 1]!)]) {
      const slot = matrix.slotOf(node, other);
      for (let c = 0; c < 3; c++) product[3 * node + c]! += matrix.values[slot + 4 * c]! * x[3 * other + c]!;
    }
  }
  // A node has at most eight neighbours, with two springs to each, which count on and off the diagonal.
  const limit = BACKWARD * b.length * 4 * 8 * 1e5 * largest(x);
  const residual = largest(product.map((value, i) => value - b[i]!));
  t.ok(residual <= limit, `${residual} of at most ${limit}`);
});

t.test('a matrix that is not positive definite is refused, and the next one is not affected', async (t) => {
  const graph = graphOf(3, [
    [0, 1],
    [1, 2],
  ]);
  const matrix = new BlockCholesky(
    graph,
    Float64Array.from({ length: 9 }, (_, i) => i),
  );
  const x = new Float64Array(9);
  t.throws(() => matrix.solve(x, x), /not been factored/);
  const identity = (): void => {
    matrix.values.fill(0);
    for (let node = 0; node < 3; node++) {
      for (let k = 0; k < 9; k += 4) matrix.values[matrix.slotOf(node, node) + k] = 1;
    }
  };
  for (const wrong of [-1, 0, Number.NaN]) {
    identity();
    matrix.values[matrix.slotOf(2, 2) + 4] = wrong;
    t.throws(() => matrix.factor(), new NotPositiveDefinite(2), `${wrong}`);
    t.throws(() => matrix.solve(x, x), /not been factored/);
  }
  identity();
  matrix.factor();
  const b = Float64Array.from({ length: 9 }, (_, i) => i + 1);
  matrix.solve(b, x);
  t.same(x, b);
  t.equal(matrix.slotOf(0, 2), -1, 'these are no neighbours');
});

t.test('an order of elimination contains every node once, and a graph no other nodes', async (t) => {
  const seed = seedOfTest();
  t.comment(`seed ${seed}`);
  const random = makeRandom(seed);
  for (let trial = 0; trial < 40; trial++) {
    const { graph, positions } = randomGraph(random);
    t.same(
      [...orderForElimination(graph, positions)].sort((a, b) => a - b),
      [...Array(graph.count).keys()],
    );
    // Nodes at one point cannot be divided by their positions.
    positions.fill(0);
    t.same(
      [...orderForElimination(graph, positions)].sort((a, b) => a - b),
      [...Array(graph.count).keys()],
    );
  }
  t.throws(() => graphOf(3, [[0, 3]]), /Node 3 of clique 0 is not below 3/);
});

t.test('a cover of the edges between two sides is as small as possible', async (t) => {
  const seed = seedOfTest();
  t.comment(`seed ${seed}`);
  const random = makeRandom(seed);
  for (let trial = 0; trial < 100; trial++) {
    const half = 1 + Math.floor(5 * random());
    const pairs: [number, number][] = [];
    for (let a = 0; a < half; a++) {
      for (let b = half; b < 2 * half; b++) if (random() < 0.4) pairs.push([a, b]);
    }
    const isCover = (nodes: ReadonlySet<number>): boolean => pairs.every(([a, b]) => nodes.has(a) || nodes.has(b));
    const labels = Int32Array.from({ length: 2 * half }, (_, i) => (i < half ? 0 : 1));
    const cover = coverEdges(graphOf(2 * half, pairs), [...Array(half).keys()], labels, 1);
    t.ok(isCover(new Set(cover)), 'it covers all edges');
    t.equal(new Set(cover).size, cover.length, 'no node occurs twice');
    let least = 2 * half;
    for (let subset = 0; subset < 4 ** half; subset++) {
      const nodes = [...Array(2 * half).keys()].filter((node) => (subset >> node) & 1);
      if (nodes.length < least && isCover(new Set(nodes))) least = nodes.length;
    }
    t.equal(cover.length, least);
  }
});
