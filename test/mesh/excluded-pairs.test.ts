import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { countExcluded, ExcludedPairs } from '../../src/mesh/excluded-pairs.js';

const pierced = new ExcludedPairs([{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [7, 5, 6] }]);

t.test('an edge that pierces a triangle: its five proximity pairs are excluded, and no other', async (t) => {
  t.ok(pierced.hasVertexTriangle(0, 5, 6, 7));
  t.ok(pierced.hasVertexTriangle(1, 6, 7, 5), 'in any order');
  t.ok(pierced.hasEdgeEdge(1, 0, 6, 5));
  t.ok(pierced.hasEdgeEdge(6, 7, 0, 1), 'either side first');
  t.ok(pierced.hasEdgeEdge(0, 1, 7, 5));
  t.notOk(pierced.hasVertexTriangle(5, 0, 1, 6));
  t.notOk(pierced.hasVertexTriangle(2, 5, 6, 7));
  t.notOk(pierced.hasEdgeEdge(0, 2, 5, 6));
  t.notOk(pierced.hasEdgeEdge(0, 5, 1, 6), 'the same four vertices, other edges');
  t.notOk(pierced.hasVertexEdge(0, 5, 6));
  t.notOk(pierced.hasVertexVertex(0, 5));
  t.equal([...pierced.proximityPairs()].length, 5);
});

t.test('an edge–triangle pair is unprotected as soon as one of its five is excluded', async (t) => {
  t.ok(pierced.hasEdgeTriangle(0, 1, 5, 6, 7));
  t.ok(pierced.hasEdgeTriangle(0, 9, 5, 6, 7), 'another edge at 0 against the same triangle');
  t.ok(pierced.hasEdgeTriangle(0, 1, 5, 6, 9), 'the same edge against the neighbour across 5–6');
  t.ok(pierced.hasEdgeTriangle(5, 6, 0, 1, 9), 'the side 5–6 against a triangle at the edge');
  t.notOk(pierced.hasEdgeTriangle(0, 9, 5, 6, 9));
  t.notOk(pierced.hasEdgeTriangle(0, 9, 5, 6, 8), 'another edge against the neighbour');
});

t.test('a proximity pair in the list excludes itself, in any order of its vertices', async (t) => {
  const pairs = new ExcludedPairs([
    { kind: 'VERTEX_TRIANGLE', a: [3], b: [0, 1, 2] },
    { kind: 'EDGE_EDGE', a: [10, 11], b: [12, 13] },
    { kind: 'VERTEX_EDGE', a: [20], b: [22, 21] },
    { kind: 'VERTEX_VERTEX', a: [31], b: [30] },
  ]);
  t.ok(pairs.hasVertexTriangle(3, 2, 1, 0));
  t.ok(pairs.hasEdgeEdge(13, 12, 10, 11));
  t.ok(pairs.hasVertexEdge(20, 21, 22));
  t.ok(pairs.hasVertexVertex(30, 31));
  t.notOk(pairs.hasVertexEdge(20, 10, 11));
  t.same(
    [...pairs.proximityPairs()].map(({ a, b }) => [a, b]),
    [
      [[3], [0, 1, 2]],
      [
        [10, 11],
        [12, 13],
      ],
      [[20], [21, 22]],
      [[30], [31]],
    ],
  );
});

t.test('lists are equal if they exclude the same pairs', async (t) => {
  t.ok(pierced.isSameAs(new ExcludedPairs([{ kind: 'EDGE_TRIANGLE', a: [1, 0], b: [5, 6, 7] }])));
  t.notOk(pierced.isSameAs(new ExcludedPairs([{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [5, 6, 8] }])));
  t.notOk(pierced.isSameAs(undefined));
  t.ok(new ExcludedPairs([]).isSameAs(undefined));
});

t.test('all pairs that lose protection are counted, by brute force over a small mesh', async (t) => {
  // Two fans of four triangles; centre edge 0–1 of the first pierces triangle (5, 6, 7) of the second.
  const fan = (c: number) => [0, 1, 2, 3].flatMap((k) => [c, c + 1 + k, c + 1 + ((k + 1) % 4)]);
  const mesh = buildMesh({ vertexCount: 10, triangles: Uint32Array.from([...fan(0), ...fan(5)]) });
  const excluded = new ExcludedPairs([{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [5, 6, 7] }]);
  let expected = 0;
  for (let e = 0; e < mesh.edges.length; e += 2) {
    for (let f = 0; f < mesh.triangles.length; f += 3) {
      const edge = [...mesh.edges.subarray(e, e + 2)] as [number, number];
      const triangle = [...mesh.triangles.subarray(f, f + 3)] as [number, number, number];
      if (edge.some((vertex) => triangle.includes(vertex))) continue;
      if (excluded.hasEdgeTriangle(...edge, ...triangle)) expected++;
    }
  }
  t.ok(expected > 5);
  t.equal(countExcluded(mesh, excluded), expected);
});

t.test('a pair that serves no edge–triangle pair counts by itself', async (t) => {
  const mesh = buildMesh({ vertexCount: 4, segments: Uint32Array.of(0, 1, 2, 3) });
  t.equal(countExcluded(mesh, new ExcludedPairs([{ kind: 'EDGE_EDGE', a: [0, 1], b: [2, 3] }])), 1);
});
