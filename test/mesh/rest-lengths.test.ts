import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import type { RestLengthsInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { movableEdges } from '../../src/mesh/movable-edges.js';
import { BY_TARGET, checkRestLengths } from '../../src/mesh/rest-lengths.js';

/** A triangle 0 1 2 and a rod 2 3. */
const base = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), segments: Uint32Array.of(2, 3) };
const positions = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 4, 0.5);

const byEnds = (input: RestLengthsInput) => {
  const mesh = buildMesh({ ...base, restLengths: input });
  const lengths = mesh.restLengths!.edges;
  return Object.fromEntries(
    Array.from(lengths, (length, e) => [`${mesh.edges[2 * e]}-${mesh.edges[2 * e + 1]}`, length]),
  );
};

t.test('lengths at rest come from positions, or from the list for the edges that it names', async (t) => {
  t.same(byEnds({ positions }), { '0-1': 3, '0-2': 4, '1-2': 5, '2-3': 0.5 });
  const named = { edges: Uint32Array.of(2, 0, 3, 2), lengths: Float32Array.of(7, 0) };
  t.same(byEnds({ positions, ...named }), { '0-1': 3, '0-2': 7, '1-2': 5, '2-3': 0 }, 'ends in any order');
  t.same(byEnds(named), { '0-1': BY_TARGET, '0-2': 7, '1-2': BY_TARGET, '2-3': 0 });
  t.notOk(buildMesh(base).restLengths);
});

t.test('edges inside solids have lengths at rest as well', async (t) => {
  const corners = Float64Array.of(0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 2, 2);
  const tetrahedra = Uint32Array.of(0, 1, 2, 3, 1, 2, 3, 4);
  const mesh = buildMesh({ vertexCount: 5, tetrahedra, restLengths: { positions: corners } });
  for (const [ends, lengths] of [
    [mesh.edges, mesh.restLengths!.edges],
    [mesh.innerEdges, mesh.restLengths!.innerEdges],
  ] as const) {
    lengths.forEach((length, e) => {
      const [a, b] = [3 * ends[2 * e]!, 3 * ends[2 * e + 1]!];
      t.equal(length, Math.hypot(...[0, 1, 2].map((c) => corners[a + c]! - corners[b + c]!)));
    });
  }
});

t.test('edges between kinematic vertices do not count as edges that a solver can change', async (t) => {
  const kinematic = Uint8Array.of(1, 1, 0, 0);
  const { ends, rest } = movableEdges(buildMesh({ ...base, kinematic, restLengths: { positions } }));
  t.same([...ends], [0, 2, 1, 2, 2, 3]);
  t.same([...rest!], [4, 5, 0.5]);
});

t.test('invalid lengths at rest are refused', async (t) => {
  const infinite = positions.slice();
  infinite[4] = Number.NaN;
  const farApart = positions.slice();
  [farApart[0], farApart[3]] = [-1e308, 1e308];
  const edge = (a: number, b: number, length = 1) => ({
    edges: Uint32Array.of(a, b),
    lengths: Float32Array.of(length),
  });
  const element = { kind: 'edge', index: 0 };
  const cases: readonly [RestLengthsInput, object][] = [
    [{}, { code: 'INVALID_PARAMETER' }],
    [{ positions: positions.subarray(3) }, { code: 'SIZE_MISMATCH' }],
    [{ edges: Uint32Array.of(0, 1), lengths: new Float32Array(2) }, { code: 'SIZE_MISMATCH' }],
    [{ edges: Uint32Array.of(0, 1) }, { code: 'SIZE_MISMATCH' }],
    [{ positions: infinite }, { code: 'NOT_FINITE', details: { element: { kind: 'vertex', index: 1 } } }],
    [{ positions: farApart }, { code: 'INVALID_PARAMETER', message: /^Vertices 0 and 1 / }],
    [edge(0, 1, Number.POSITIVE_INFINITY), { code: 'INVALID_PARAMETER', details: { element } }],
    [edge(0, 4), { code: 'INDEX_OUT_OF_RANGE', details: { element } }],
    [edge(0, 3), { code: 'INVALID_MESH', details: { element: { ...element, vertices: [0, 3] } } }],
    [edge(0, 1, -1), { code: 'INVALID_PARAMETER', details: { element } }],
    [edge(0, 1, Number.NaN), { code: 'INVALID_PARAMETER', details: { element } }],
    [
      { edges: Uint32Array.of(0, 1, 1, 0), lengths: Float32Array.of(1, 1) },
      { code: 'INVALID_MESH', details: { element: { kind: 'edge', index: 1 } } },
    ],
  ];
  cases.forEach(([restLengths, error], index) => {
    t.match(
      refusalOf(() => buildMesh({ ...base, restLengths })),
      error,
      `case ${index}`,
    );
  });
});

t.test('lengths that a frame cannot hold are refused, and the longest that it can is not', async (t) => {
  const { restLengths } = buildMesh({ ...base, restLengths: { positions } });
  t.equal(restLengths!.longest, 5);
  t.doesNotThrow(() => checkRestLengths(restLengths, 5 / 2 ** 40));
  t.throws(() => checkRestLengths(restLengths, 4.9 / 2 ** 40), {
    code: 'INVALID_PARAMETER',
    message: /is 5, more than/,
  });
  t.doesNotThrow(() => checkRestLengths(undefined, 1));
  const { restLengths: none } = buildMesh({
    ...base,
    restLengths: { edges: Uint32Array.of(0, 1), lengths: Float32Array.of(0) },
  });
  t.equal(none!.longest, 0, 'those that are not given do not count');
});

function refusalOf(build: () => unknown): object {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof IntersticeError) return thrown.toPlain();
    throw thrown;
  }
  return {};
}
