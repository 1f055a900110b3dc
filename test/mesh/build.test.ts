import t, { type Test } from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { seeded } from '../support/random.js';

const ids = (...values: number[]): Uint32Array => Uint32Array.from(values);
const pairs = (flat: Uint32Array): string[] =>
  Array.from({ length: flat.length / 2 }, (_, i) => `${flat[2 * i]}-${flat[2 * i + 1]}`);

t.test('two triangles that share an edge have five edges', async (t) => {
  const mesh = buildMesh({ vertexCount: 4, triangles: ids(0, 1, 2, 2, 1, 3) });
  t.same([...mesh.triangles], [0, 1, 2, 2, 1, 3]);
  t.same(pairs(mesh.edges), ['0-1', '0-2', '1-2', '1-3', '2-3']);
  t.equal(mesh.rodStart, 5);
  t.same([...mesh.contactVertices], [0, 1, 2, 3]);
  t.same([...mesh.inverseMasses], [1, 1, 1, 1]);
  t.same([...mesh.kinematic], [0, 0, 0, 0]);
  t.equal(mesh.innerEdges.length + mesh.tetrahedra.length + mesh.particles.length + mesh.partOfVertex.length, 0);
  t.equal(mesh.components, 1);
  t.same(mesh.warnings, []);
  t.same(mesh.sent, { triangles: 2, segments: 0, particles: 0, tetrahedra: 0 });
});

t.test('a mesh may have triangles, rods, particles and tetrahedra at once', async (t) => {
  // A triangle, a segment on its side, a rod from its corner, a lone rod, and particles on and off them.
  const mesh = buildMesh({
    vertexCount: 9,
    triangles: ids(2, 1, 0),
    segments: ids(1, 0, 4, 2, 6, 5),
    particles: ids(8, 2, 7),
  });
  t.same(pairs(mesh.edges), ['0-1', '0-2', '1-2', '2-4', '5-6']);
  t.equal(mesh.rodStart, 3, 'a segment on the side of a triangle is no rod');
  t.same([...mesh.particles], [7, 8], 'a particle on another element is no free point');
  t.same([...mesh.contactVertices], [0, 1, 2, 4, 5, 6, 7, 8]);
  t.equal(mesh.components, 4);
  t.same(mesh.sent, { triangles: 1, segments: 3, particles: 3, tetrahedra: 0 });
  t.match(mesh.warnings, [
    { code: 'PARTICLES_IN_ELEMENTS', count: 1, element: { kind: 'particle', index: 1, vertices: [2] } },
    { code: 'UNUSED_VERTICES', count: 1, element: { kind: 'vertex', index: 3, vertices: [3] } },
  ]);
});

t.test('unused vertices are counted and the first is named', async (t) => {
  const mesh = buildMesh({ vertexCount: 6, triangles: ids(0, 2, 4) });
  t.match(mesh.warnings, [{ code: 'UNUSED_VERTICES', count: 3, element: { index: 1 }, message: /3 of 6.*vertex 1/ }]);
});

t.test('a tetrahedron shows its faces outwards', async (t) => {
  const mesh = buildMesh({ vertexCount: 4, tetrahedra: ids(0, 1, 2, 3) });
  const corners = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  t.equal(mesh.triangles.length, 12);
  for (let i = 0; i < 4; i++) {
    const [a, b, c] = [...mesh.triangles.subarray(3 * i, 3 * i + 3)].map((vertex) => corners[vertex]!);
    const u = b!.map((value, axis) => value - a![axis]!);
    const v = c!.map((value, axis) => value - a![axis]!);
    const normal = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    const fromCentre = normal.reduce((sum, value, axis) => sum + value * (a![axis]! - 0.25), 0);
    t.ok(fromCentre > 0, `face ${i} looks away from the centre`);
  }
  t.equal(mesh.edges.length, 12);
  t.equal(mesh.innerEdges.length, 0);
});

t.test('solids: shared faces are inside, sent faces are not doubled, inner edges are apart', async (t) => {
  // Six tetrahedra around the edge 0-1, whose ring is 2 … 7: only that edge is inside.
  const ring = [2, 3, 4, 5, 6, 7];
  const tetrahedra = ids(...ring.flatMap((vertex, i) => [0, 1, vertex, ring[(i + 1) % 6]!]));
  const bare = buildMesh({ vertexCount: 8, tetrahedra });
  t.equal(bare.triangles.length / 3, 12);
  t.same(pairs(bare.innerEdges), ['0-1']);
  t.equal(bare.edges.length / 2, 18);
  const held = buildMesh({ vertexCount: 8, tetrahedra, triangles: ids(3, 2, 0), segments: ids(1, 0) });
  t.same([...held.triangles.subarray(0, 3)], [3, 2, 0], 'as sent, first');
  t.equal(held.triangles.length / 3, 12);
  t.same(pairs(held.edges.subarray(2 * held.rodStart)), ['0-1'], 'a segment inside makes that edge a rod');
  t.equal(held.innerEdges.length, 0);
});

t.test('a vertex inside a solid cannot touch anything', async (t) => {
  // The centre 4 of the tetrahedron 0 1 2 3 splits it into four.
  const tetrahedra = ids(4, 1, 2, 3, 0, 4, 2, 3, 0, 1, 4, 3, 0, 1, 2, 4);
  const mesh = buildMesh({ vertexCount: 5, tetrahedra });
  t.same([...mesh.contactVertices], [0, 1, 2, 3]);
  t.same(pairs(mesh.innerEdges), ['0-4', '1-4', '2-4', '3-4']);
  t.same(mesh.warnings, [], 'it is used all the same');
  t.equal(mesh.components, 1);
});

t.test('a face that three tetrahedra share is refused', async (t) => {
  const input = { vertexCount: 6, tetrahedra: ids(0, 1, 2, 3, 2, 1, 0, 4, 1, 2, 0, 5) };
  t.throws(() => buildMesh(input), {
    code: 'INVALID_MESH',
    message: /3 tetrahedra share the face/,
    element: { kind: 'tetrahedron', index: 2, vertices: [1, 2, 0, 5] },
  });
});

t.test('invalid elements are refused, and the element at fault is named', async (t) => {
  const triangle = { vertexCount: 4, triangles: ids(0, 1, 2) };
  const cases: [string, MeshInput, { code: string; [key: string]: unknown }][] = [
    [
      'id',
      { vertexCount: 3, triangles: ids(0, 1, 2, 0, 3, 1) },
      { code: 'INDEX_OUT_OF_RANGE', element: { kind: 'triangle', index: 1, vertices: [0, 3, 1] } },
    ],
    [
      'particle id',
      { vertexCount: 3, particles: ids(2, 3) },
      { code: 'INDEX_OUT_OF_RANGE', element: { kind: 'particle', index: 1, vertices: [3] } },
    ],
    [
      'repeated corner',
      { vertexCount: 3, triangles: ids(0, 1, 2, 2, 1, 2) },
      {
        code: 'INVALID_MESH',
        message: /vertex 2 more than once/,
        element: { kind: 'triangle', index: 1, vertices: [2, 1, 2] },
      },
    ],
    [
      'loop',
      { vertexCount: 3, segments: ids(1, 1) },
      { code: 'INVALID_MESH', element: { kind: 'segment', index: 0, vertices: [1, 1] } },
    ],
    [
      'flat solid',
      { vertexCount: 4, tetrahedra: ids(0, 1, 2, 0) },
      { code: 'INVALID_MESH', element: { kind: 'tetrahedron', index: 0 } },
    ],
    [
      'same triangle',
      { vertexCount: 4, triangles: ids(0, 1, 2, 1, 2, 3, 2, 0, 1) },
      {
        code: 'INVALID_MESH',
        message: /Triangle 2 .* same vertices as triangle 0/,
        element: { kind: 'triangle', index: 2, vertices: [2, 0, 1] },
      },
    ],
    [
      'mirrored triangle',
      { vertexCount: 4, triangles: ids(0, 1, 2, 2, 1, 0) },
      { code: 'INVALID_MESH', element: { index: 1 } },
    ],
    [
      'same segment',
      { vertexCount: 4, segments: ids(0, 1, 1, 0) },
      { code: 'INVALID_MESH', element: { kind: 'segment', index: 1 } },
    ],
    [
      'same particle',
      { vertexCount: 4, particles: ids(3, 1, 3) },
      { code: 'INVALID_MESH', element: { kind: 'particle', index: 2, vertices: [3] } },
    ],
    [
      'same solid',
      { vertexCount: 4, tetrahedra: ids(0, 1, 2, 3, 3, 2, 1, 0) },
      { code: 'INVALID_MESH', element: { kind: 'tetrahedron', index: 1 } },
    ],
    [
      'triangles of two',
      { vertexCount: 4, triangles: ids(0, 1) },
      { code: 'SIZE_MISMATCH', message: /triangles has 2 .* 3/ },
    ],
    ['segments of three', { vertexCount: 4, segments: ids(0, 1, 2) }, { code: 'SIZE_MISMATCH', message: /segments/ }],
    ['solids of three', { vertexCount: 4, tetrahedra: ids(0, 1, 2) }, { code: 'SIZE_MISMATCH', message: /tetrahedra/ }],
    ['pairs of one', { ...triangle, ignoredPartPairs: ids(0) }, { code: 'SIZE_MISMATCH', message: /ignoredPartPairs/ }],
    ['no elements', { vertexCount: 4, triangles: ids() }, { code: 'INVALID_MESH', message: /no elements/ }],
    ['no vertices', { vertexCount: 0, triangles: ids(0, 1, 2) }, { code: 'INVALID_MESH', message: /no vertices/ }],
    ['half a vertex', { vertexCount: 2.5, particles: ids(0) }, { code: 'INVALID_MESH', message: /whole number/ }],
    ['masses', { ...triangle, masses: new Float32Array(3) }, { code: 'SIZE_MISMATCH', message: /masses has 3 .* 4/ }],
    [
      'kinematic',
      { ...triangle, kinematic: new Uint8Array(5) },
      { code: 'SIZE_MISMATCH', message: /kinematic has 5 .* 4/ },
    ],
  ];
  for (const [name, input, expected] of cases) t.throws(() => buildMesh(input), expected, name);
});

t.test('limits are refused with demand and limit, and count every kind', async (t) => {
  const input = { vertexCount: 5, triangles: ids(0, 1, 2), segments: ids(0, 3), particles: ids(4) };
  t.throws(() => buildMesh(input, { maxVertices: 4, maxElements: 9 }), {
    code: 'TOO_LARGE',
    message: /5 vertices.* 4/,
    hint: /INTERSTICE_MAX_VERTICES/,
  });
  t.throws(() => buildMesh(input, { maxVertices: 5, maxElements: 2 }), {
    code: 'TOO_LARGE',
    message: /3 elements.* 2/,
    hint: /INTERSTICE_MAX_ELEMENTS/,
  });
  t.equal(buildMesh(input, { maxVertices: 5, maxElements: 3 }).vertexCount, 5);
  // Without limits of the caller's, a count that would need terabytes is refused before it is allocated.
  t.throws(() => buildMesh({ vertexCount: 2 ** 40, particles: ids(0) }), {
    code: 'TOO_LARGE',
    hint: /no setting raises/,
  });
});

t.test("the caller's arrays are neither changed nor kept", async (t) => {
  const input = {
    vertexCount: 5,
    triangles: ids(2, 1, 0),
    segments: ids(4, 3),
    particles: ids(),
    tetrahedra: ids(),
    masses: Float32Array.of(1, 2, 3, 4, 5),
    kinematic: Uint8Array.of(0, 0, 0, 0, 1),
    parts: [{ name: 'all', firstVertex: 0, vertexCount: 5 }],
    ignoredPartPairs: ids(0, 0),
  };
  const before = structuredClone(input);
  const mesh = buildMesh(input);
  const built = structuredClone(mesh);
  t.same(input, before);
  input.triangles.fill(9);
  input.segments.fill(9);
  input.masses.fill(9);
  input.kinematic.fill(9);
  input.ignoredPartPairs.fill(9);
  input.parts[0]!.name = 'other';
  t.same(mesh, built);
  t.same([...mesh.kinematic], [0, 0, 0, 0, 1]);
});

t.test('edges are in ascending order, also at a vertex with many edges', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const rim = Array.from({ length: 200 }, (_, k) => k + 1).sort(() => random() - 0.5);
  const fan = rim.flatMap((a, k) => (k + 1 < rim.length ? [rim[k + 1]!, 0, a] : []));
  const { edges } = buildMesh({ vertexCount: 201, triangles: Uint32Array.from(fan) });
  t.equal(edges.length / 2, 200 + 199);
  for (let e = 2; e < edges.length; e += 2) {
    const isAscending = edges[e - 2]! < edges[e]! || (edges[e - 2] === edges[e] && edges[e - 1]! < edges[e + 1]!);
    if (!isAscending || edges[e]! >= edges[e + 1]!) return t.fail(`edge ${e / 2} is out of order`);
  }
});

t.test('random meshes agree with the plain definition of their edges', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let round = 0; round < 40; round++) {
    const input = randomInput(random, 4 + random.int(40));
    const mesh = buildMesh(input);
    checkAgainstDefinition(t, input, mesh);
  }
});

function randomInput(random: ReturnType<typeof seeded>, vertexCount: number) {
  const distinct = (width: number, count: number): Uint32Array => {
    const rows = new Map<string, number[]>();
    for (let i = 0; i < count; i++) {
      const row = new Set<number>();
      while (row.size < width) row.add(random.int(vertexCount));
      rows.set([...row].sort((a, b) => a - b).join(), [...row]);
    }
    return Uint32Array.from([...rows.values()].flat());
  };
  return {
    vertexCount,
    triangles: distinct(3, 1 + random.int(30)),
    segments: distinct(2, random.int(20)),
    particles: distinct(1, random.int(10)),
  };
}

function checkAgainstDefinition(t: Test, input: ReturnType<typeof randomInput>, mesh: CollisionMesh): void {
  const side = (a: number, b: number): string => `${Math.min(a, b)}-${Math.max(a, b)}`;
  const sides = new Set<string>();
  const rods = new Set<string>();
  const neighbours = new Map<number, Set<number>>();
  const join = (a: number, b: number): void => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      neighbours.set(from, (neighbours.get(from) ?? new Set()).add(to));
    }
  };
  for (let i = 0; i < input.triangles.length; i += 3) {
    const corners = [...input.triangles.subarray(i, i + 3)] as [number, number, number];
    for (let k = 0; k < 3; k++) {
      sides.add(side(corners[k]!, corners[(k + 1) % 3]!));
      join(corners[k]!, corners[(k + 1) % 3]!);
    }
  }
  for (let i = 0; i < input.segments.length; i += 2) {
    const [a, b] = [input.segments[i]!, input.segments[i + 1]!];
    if (!sides.has(side(a, b))) rods.add(side(a, b));
    join(a, b);
  }
  const free = [...input.particles].filter((vertex) => !neighbours.has(vertex)).sort((a, b) => a - b);
  t.same(new Set(pairs(mesh.edges.subarray(0, 2 * mesh.rodStart))), sides);
  t.same(new Set(pairs(mesh.edges.subarray(2 * mesh.rodStart))), rods);
  t.equal(mesh.edges.length / 2, sides.size + rods.size);
  t.same([...mesh.particles], free);
  t.same(
    [...mesh.contactVertices],
    [...neighbours.keys(), ...free].sort((a, b) => a - b),
  );
  const seen = new Set<number>();
  let components = free.length;
  for (const vertex of neighbours.keys()) {
    if (seen.has(vertex)) continue;
    components++;
    const open = [vertex];
    while (open.length > 0) {
      const next = open.pop()!;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...neighbours.get(next)!);
    }
  }
  t.equal(mesh.components, components);
}
