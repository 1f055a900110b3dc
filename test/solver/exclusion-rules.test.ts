import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { findKinematicBorder } from '../../src/solver/exclusion-rules.js';

const borderOf = (input: { triangles?: number[]; segments?: number[]; particles?: number[]; kinematic: number[] }) => {
  const mesh = buildMesh({
    vertexCount: 8,
    triangles: Uint32Array.from(input.triangles ?? []),
    segments: Uint32Array.from(input.segments ?? []),
    particles: Uint32Array.from(input.particles ?? []),
    kinematic: Uint8Array.from({ length: 8 }, (_, v) => (input.kinematic.includes(v) ? 1 : 0)),
  });
  const { contactVertices, edges } = findKinematicBorder(mesh);
  return {
    vertices: [...mesh.contactVertices].filter((_, n) => contactVertices[n] === 1),
    edges: [...edges.keys()].filter((e) => edges[e] === 1).map((e) => mesh.edges.subarray(2 * e, 2 * e + 2).join('-')),
  };
};

t.test('elements are inner in a strip that is kinematic at one end', async (t) => {
  // 0-1 / 2-3 / 4-5 / 6-7 are its rungs.
  const triangles = [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4, 4, 5, 6, 5, 7, 6];
  t.same(borderOf({ triangles, kinematic: [0, 1, 2, 3] }), { vertices: [2, 3], edges: ['2-3'] });
  t.same(
    borderOf({ triangles, kinematic: [0, 1, 2, 3, 4, 5, 6] }),
    { vertices: [5, 6], edges: ['5-6'] },
    'a rung far from the dynamic corner is inner, though an end of it has an edge to it',
  );
  t.same(borderOf({ triangles, kinematic: [0, 1, 2, 3, 4, 5, 6, 7] }), { vertices: [], edges: [] });
  t.same(borderOf({ triangles, kinematic: [] }), { vertices: [], edges: [] });
});

t.test('an edge between two vertices of the border is inner if its triangles are kinematic', async (t) => {
  // A fan around 0, whose rim vertices 1 and 2 have dynamic neighbours of their own.
  const triangles = [0, 1, 2, 1, 3, 4, 2, 5, 6];
  t.same(borderOf({ triangles, kinematic: [0, 1, 2] }), { vertices: [1, 2], edges: [] });
});

t.test('rods and particles are inner by their own rules', async (t) => {
  t.same(
    borderOf({ segments: [0, 1, 1, 2], kinematic: [0, 1] }),
    { vertices: [1], edges: [] },
    'a rod is inner or not kinematic',
  );
  t.same(borderOf({ particles: [0, 1], kinematic: [0] }), { vertices: [], edges: [] });
  t.same(
    borderOf({ triangles: [0, 1, 2], segments: [0, 1, 1, 3], kinematic: [0, 1] }),
    { vertices: [0, 1], edges: ['0-1'] },
    'a segment along a triangle is its edge',
  );
});
