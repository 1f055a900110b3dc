import t from 'tap';
import { Surfaces } from '../../bench/untangle/surfaces.js';
import { buildMesh } from '../../src/mesh/build.js';
import { findContours } from '../../src/untangle/contours.js';
import { groupCrossings, sheetOf } from '../../src/untangle/crossings.js';
import { RegionsLeftOut } from '../../src/untangle/left-out.js';
import { ElementIds, readPierces } from '../../src/untangle/pierces.js';
import { pushThrough } from '../../src/untangle/push.js';
import type { Region } from '../../src/untangle/regions.js';
import { describeTopology, outsideOf } from '../../src/untangle/topology.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';

function analyse({ mesh: input, positions }: ReturnType<Surfaces['build']>) {
  const mesh = buildMesh(input);
  const topology = describeTopology(mesh);
  const findings = findIntersections(mesh, positions, { kinematicPairs: 'SKIP', maxPairs: 10_000 });
  const { pierces, pairs } = readPierces(topology, new ElementIds(topology), positions, findings);
  return { mesh, topology, positions, pierces, pairs, contours: findContours(topology, pierces) };
}

/** A level sheet with a peak through another one. @param peaks where, above which height */
function peaked(peaks: readonly (readonly [number, number])[], size = 8) {
  const scene = new Surfaces();
  scene.grid('flat', size, size, (u, v) => ({ at: [size * u, size * v, 0] }));
  scene.grid('peaked', size, size, (u, v) => {
    const [x, y] = [size * u + 0.31, size * v + 0.17];
    const height = Math.max(...peaks.map(([a, b]) => 1 - ((x - a) ** 2 + (y - b) ** 2) / 2));
    return { at: [x, y, Math.max(-0.5, height)] };
  });
  return scene.build();
}

t.test('every peak through a sheet is a closed contour, of two sheets', async (t) => {
  const { topology, pierces, contours } = analyse(
    peaked([
      [2.3, 2.1],
      [6.2, 5.9],
    ]),
  );
  t.equal(contours.length, 2);
  t.equal(
    contours.reduce((sum, contour) => sum + contour.pierces.length, 0),
    pierces.length,
    'each pierce is in one',
  );
  for (const contour of contours) {
    t.match(contour, { isClosed: true, tips: [], borderEnds: [0, 0] });
    t.same(
      [sheetOf(topology, contour, 0), sheetOf(topology, contour, 1)].sort((a, b) => a - b),
      [0, 81],
    );
    // Neighbours on the curve share a triangle, as the one that is pierced or as one at the edge.
    contour.pierces.forEach(({ edge, triangle }, n) => {
      const before = contour.pierces.at(n - 1)!;
      const around = (e: number) =>
        topology.trianglesOfEdge.items.subarray(...topology.trianglesOfEdge.first.subarray(e, e + 2));
      const own = new Set([triangle, ...around(edge)]);
      t.ok([before.triangle, ...around(before.edge)].some((other) => own.has(other)));
    });
  }
});

t.test('a contour that leaves a sheet at its border ends there', async (t) => {
  const { contours } = analyse(peaked([[0.3, 4.1]]));
  t.equal(contours.length, 1);
  const [{ isClosed, borderEnds, tips }] = contours as [(typeof contours)[0]];
  t.same([isClosed, borderEnds[0] + borderEnds[1], tips], [false, 2, []]);
});

t.test('the ends of cut edges are labelled with their side', async (t) => {
  const { topology, contours, positions } = analyse(peaked([[4.2, 3.9]]));
  const [crossing] = groupCrossings(topology, contours);
  for (const ends of crossing!.ends.get(0)!) {
    for (const { vertex, label, triangle } of ends) {
      if (vertex < 81) continue;
      // The corners of the flat sheet run clockwise or counter-clockwise seen from above, all of them the same way.
      const corners = topology.mesh.triangles.subarray(3 * triangle, 3 * triangle + 3);
      const [a, b, c] = Array.from(corners, (v) => positions.subarray(3 * v, 3 * v + 2));
      const area = (b![0]! - a![0]!) * (c![1]! - a![1]!) - (c![0]! - a![0]!) * (b![1]! - a![1]!);
      t.equal(label, Math.sign(positions[3 * vertex + 2]! * area) * topology.turn[triangle]!);
    }
  }
});

t.test('a body has an outside, whichever way its triangles run', async (t) => {
  for (const isKinematic of [true, false]) {
    const scene = new Surfaces();
    scene.sphere('ball', 10, 8, [1, 2, 3], 2, isKinematic);
    const { mesh: input, positions } = scene.build();
    const outside = (triangles: Uint32Array): number => {
      const topology = describeTopology(buildMesh({ ...input, triangles }));
      return outsideOf(topology, topology.sheets.get(0)!, positions) * topology.turn[0]!;
    };
    const inward = input.triangles!.slice();
    for (let k = 0; k < inward.length; k += 3) inward.subarray(k, k + 2).reverse();
    t.equal(outside(inward), -outside(input.triangles!));
    t.equal(Math.abs(outside(input.triangles!)), isKinematic ? 1 : 0, 'only what is kinematic is a body');
    // One triangle the wrong way round is turned back.
    const mixed = input.triangles!.slice();
    mixed.subarray(30, 32).reverse();
    t.equal(outside(mixed), outside(input.triangles!));
  }
});

t.test('an open contour is made shorter where nothing tells which side is wrong', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const scene = new Surfaces();
  const [x, y, slant] = [random.between(3.2, 3.8), random.between(3.2, 3.8), random.between(-0.2, 0.2)];
  scene.grid('sheet', 8, 8, (u, v) => ({ at: [8 * u, 8 * v, 0] }));
  // A flap that ends within the sheet on both sides and hangs through it by a third of an edge.
  scene.grid('flap', 3, 2, (u, v) => ({ at: [x + 3 * u, y + slant * u, 1.7 - 2 * v] }));
  const { mesh, topology, positions, contours } = analyse(scene.build());
  const countAt = (at: Float64Array): number =>
    findIntersections(mesh, at, { kinematicPairs: 'SKIP', maxPairs: 1 }).intersectionCount;
  const lengths = Float64Array.from({ length: mesh.edges.length / 2 }, () => 0);
  const options = { edge: 1, gap: 0.05, lengths, pulse: () => undefined };
  let at: Float64Array = positions;
  let left = contours;
  for (let n = 0; n < 24 && left.length > 0; n++) {
    at = pushThrough(topology, at, [], left, options).targets;
    left = analyse({ ...scene.build(), positions: Float64Array.from(at) }).contours;
  }
  t.ok(contours.length > 0 && countAt(positions) > 0);
  t.equal(countAt(at), 0, 'until it is gone');
});

t.test(
  'excluded are the five proximity pairs of each pierce, and pairs of a region with the patch that it passes',
  async (t) => {
    const { mesh, topology, pairs } = analyse(peaked([[4.2, 3.9]]));
    const region: Region = {
      ...{
        contour: 0,
        role: 0,
        vertices: [100],
        spans: [],
        cuts: [],
        right: 1,
        isLimited: false,
        deepest: Number.POSITIVE_INFINITY,
      },
      partner: [0, 1],
    };
    const rule = new RegionsLeftOut(topology, pairs, [region]);
    for (const { kind, a, b } of pairs) {
      t.equal(kind, 'EDGE_TRIANGLE');
      const [p, q] = a as [number, number];
      const [i, j, k] = b as [number, number, number];
      t.ok(rule.hasVertexTriangle(p, j, k, i) && rule.hasVertexTriangle(q, k, i, j));
      t.ok(rule.hasEdgeEdge(p, q, j, i) && rule.hasEdgeEdge(k, j, q, p) && rule.hasEdgeEdge(i, k, p, q));
      t.ok(rule.hasEdgeTriangle(q, p, k, j, i));
    }
    const [i, j, k] = mesh.triangles.subarray(0, 3) as unknown as [number, number, number];
    t.ok(rule.hasVertexTriangle(100, i, j, k), 'the region against its partner');
    t.ok(rule.hasVertexTriangle(i, 100, 101, 109), 'a vertex of the partner against a triangle of the region');
    t.ok(rule.hasEdgeEdge(100, 101, i, j) && rule.hasEdgeEdge(j, i, 101, 100));
    t.notOk(rule.hasVertexTriangle(101, i, j, k), 'what is not in the region is protected');
    t.notOk(rule.hasVertexTriangle(100, i, j, 80), 'and what is not wholly in the patch');
    t.notOk(rule.hasEdgeEdge(101, 102, i, j));
  },
);
