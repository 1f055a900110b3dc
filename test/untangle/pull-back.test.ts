import t from 'tap';
import { sphereThrough } from '../../bench/untangle/bodies.js';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { UntanglePiece } from '../../src/untangle/index.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';
import { dent, isNear, RULES } from './dent.js';
import { replaced } from './replaced.js';

t.setTimeout(180_000);

const engine = createCpuEngine();

t.test('what is left over is pulled back as well, and meets no other pair', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const tangle = { ...dent(random, random.between(1.5, 2)), maxIterations: 2 };
  const mesh = buildMesh(tangle.mesh);
  const pieces: UntanglePiece[] = [];
  const pulled = await untangleOne(tangle, engine, { onPiece: (piece) => pieces.push(piece) });
  // The third resolve is the pull-back.
  const kept = await untangleOne(
    tangle,
    replaced((n) => (n === 3 ? 'LOST' : 'OWN')),
  );
  t.match([pulled.report.status, kept.report.status], ['PARTIAL', 'PARTIAL']);
  t.equal(kept.report.ended, 'LOST_DEVICE');
  t.ok(pulled.report.piercesAfter <= Math.min(...pulled.report.piercesByIteration), 'no more than the best state had');
  t.ok(pulled.report.regions.mean < kept.report.regions.mean, 'and nearer');
  const left = findIntersections(mesh, pulled.positions, RULES);
  t.equal(pulled.report.piercesAfter, left.intersectionCount);
  t.same(pulled.report.remaining, left.intersections.slice(0, 64), 'what remains is told exactly');
  const last = pieces.at(-1)!;
  const best = findIntersections(mesh, kept.positions, RULES);
  t.same([last.leftOut!.regions, last.leftOut!.items.length], [[], best.intersectionCount], 'exactly that is left out');
  t.ok(isNear(last.to, pulled.positions), 'the path ends at the answer');
  for (const { from, to, leftOut: excluded } of pieces) {
    const rules = { ...RULES, ...(excluded ? { excluded } : {}) };
    t.equal(testPath(mesh, from, to, rules).collisionCount, 0, 'no pair that is not left out');
  }
});

t.test('a pull-back that adds pierces is taken back', async (t) => {
  const tangle = { ...dent(seeded(7), 1.8), maxIterations: 2 };
  const kept = await untangleOne(
    tangle,
    replaced((n) => (n === 3 ? 'LOST' : 'OWN')),
  );
  const pieces: UntanglePiece[] = [];
  // A pull-back that goes all the way has as many pierces as the start.
  const { report, positions } = await untangleOne(
    tangle,
    replaced((n, { y }) => (n === 3 ? y.slice() : 'OWN')),
    {
      onPiece: (piece) => pieces.push(piece),
    },
  );
  t.same(positions, kept.positions, 'the best state, bit for bit');
  t.equal(report.piercesAfter, kept.report.piercesAfter);
  t.ok(isNear(pieces.at(-1)!.to, positions), 'where the path ends');
});

t.test('what was pushed far does not draw along what was not pushed', async (t) => {
  const { mesh, positions } = sphereThrough(0.4, true).make(seeded(1));
  const { report } = await untangleOne({ mesh, positions }, engine);
  t.equal(report.status, 'FREE');
  t.ok(report.regions.max > 1, 'farther than an edge');
  // δ is a tenth of an edge.
  t.ok(report.outside.max < 0.01, `outside of regions by ${report.outside.max}`);
});
