import t from 'tap';
import type { Positions } from '../../src/contract/mesh.js';
import { compareToTarget, measureStretch } from '../../src/jobs/differences.js';
import { findOverlongEdges } from '../../src/jobs/overlong-edges.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { CoordinateFrame } from '../../src/solver/frame.js';
import { seeded } from '../support/random.js';

function find(mesh: CollisionMesh, answer: Positions, target: Positions, sigma: number) {
  const { medianEdge, bounds } = measureMesh(mesh, target);
  const frame = CoordinateFrame.fit(target, medianEdge, bounds);
  const off = compareToTarget(mesh, answer, target, { delta: 1, scale: frame.scale, isListed: false });
  const maxStretch = measureStretch(mesh, answer, target, frame.scale, off);
  return findOverlongEdges(mesh, answer, target, { sigma, maxStretch, frame, quality: 'BALANCED' });
}

/** Rods along x, vertex by vertex; those before `kinematic` are kinematic. */
const chain = (count: number, kinematic = 0) =>
  buildMesh({
    vertexCount: count,
    segments: Uint32Array.from({ length: 2 * (count - 1) }, (_, k) => Math.ceil(k / 2)),
    kinematic: Uint8Array.from({ length: count }, (_, v) => (v < kinematic ? 1 : 0)),
  });
const along = (...xs: number[]) => Float64Array.from(xs.flatMap((x) => [x, 0, 0]));

t.test('edges over the limit are counted, and the worst is named', async (t) => {
  const target = along(0, 1, 2, 3, 4);
  const answer = along(0, 1.05, 2.2, 4.2, 4.9);
  t.same(find(chain(5), answer, target, 1.1), { count: 2, worst: { a: 2, b: 3, stretch: 2 }, worstIndex: 2 });
  t.match(find(chain(5), answer, target, 2.5), { count: 0, worst: undefined });
  t.match(find(chain(5), answer, target, 0), { count: 0, worst: undefined }, 'the limit is off');
  t.match(find(chain(5, 4), answer, target, 1.1), { count: 0 }, 'what is prescribed has no limit');
  t.match(find(chain(5, 3), answer, target, 1.1), { count: 1, worst: { a: 2, b: 3 } }, 'one end is dynamic');
  t.match(find(chain(5), answer, along(0, 0, 2, 3, 4), 1.1), { count: 1 }, 'edges without length have no limit');
});

t.test('the worst edge has a finite stretch, however short it is in the target', async (t) => {
  for (const short of [1e-130, 1e-158, 1e-170, 1e-300]) {
    const found = find(chain(4), along(0, 1, 2, 3), along(-short, 0, 1, 2), 1.1);
    t.match(found, { count: 1, worst: { a: 0, b: 1 } }, `${short}`);
    t.ok(Math.abs(found.worst!.stretch * short - 1) < 1e-12, `${found.worst!.stretch} for ${short}`);
  }
});

t.test('edges inside solids count, too', async (t) => {
  const solid = buildMesh({ vertexCount: 5, tetrahedra: Uint32Array.of(0, 1, 2, 3, 1, 2, 3, 4) });
  t.ok(solid.edges.length + solid.innerEdges.length > 0);
  const target = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1);
  const answer = target.map((x) => 2 * x);
  const edges = (solid.edges.length + solid.innerEdges.length) / 2;
  t.equal(find(solid, answer, target, 1.1).count, edges);
});

t.test('edges that only rounding has lengthened are not counted, anywhere and in either scalar', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const sigma = 1.1;
  const mesh = chain(2);
  for (let round = 0; round < 300; round++) {
    const offset = (random() - 0.5) * 10 ** (4 * random());
    const isSingle = round % 2 === 0;
    const of = (values: ArrayLike<number>): Positions =>
      isSingle ? Float32Array.from(values) : Float64Array.from(values);
    const direction = [random() - 0.5, random() - 0.5, random() - 0.5];
    const size = Math.hypot(...direction);
    const rod = (length: number) => of([0, 0, 0, ...direction.map((d) => (length * d) / size)].map((x) => x + offset));
    const target = rod(1);
    const { medianEdge, bounds } = measureMesh(mesh, target);
    const frame = CoordinateFrame.fit(target, medianEdge, bounds);
    // The engine's numbers, each a spacing farther out than they should be.
    const engine = frame.toEngine(rod(sigma)).map((x) => x * (1 + 2 ** -23));
    t.equal(find(mesh, of(frame.toDouble(engine)), target, sigma).count, 0, `at the limit, offset ${offset}`);
    const spacing = isSingle ? 2 ** -23 * (Math.abs(offset) + 2) : 2 ** -22;
    t.equal(find(mesh, rod(sigma + 16 * spacing + 3e-6), target, sigma).count, 1, `above it, offset ${offset}`);
  }
});
