import t from 'tap';
import { sphereThrough } from '../../bench/untangle/bodies.js';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { Surfaces } from '../../bench/untangle/surfaces.js';
import type { StateOrigin } from '../../src/contract/path.js';
import { buildMesh } from '../../src/mesh/build.js';
import { measureMesh } from '../../src/mesh/measure.js';
import { scalarOf } from '../../src/mesh/positions.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { EnginePositions } from '../../src/solver/engine.js';
import { CoordinateFrame, floorOf } from '../../src/solver/frame.js';
import { resolveParameters } from '../../src/solver/parameters.js';
import { Budget } from '../../src/untangle/budget.js';
import type { UntanglePiece } from '../../src/untangle/index.js';
import { RegionsLeftOut } from '../../src/untangle/left-out.js';
import { pullBack } from '../../src/untangle/pull-back.js';
import { describeTopology } from '../../src/untangle/topology.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { type Random, seeded } from '../support/random.js';
import { dent, isNear, RULES } from './dent.js';
import { replaced } from './replaced.js';

t.setTimeout(600_000);

const engine = createCpuEngine();

t.test('a state with remaining intersections is pulled back as well, and no other pair meets', async (t) => {
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

/**
 * Two loose sheets over a ground, of the first of which a corner pokes through it, and the state towards which they are
 * drawn: far up, so that a resolve would move both rigidly.
 */
function poking(random: Random) {
  const far = random.between(6, 12);
  const scene = new Surfaces();
  scene.grid('ground', 4, 4, (u, v) => ({ at: [4 * u, 4 * v, 0] }));
  // So many vertices that the few which intersect do not keep the sheet from following.
  const loose = (name: string, size: number, left: number, corner: number): void => {
    scene.grid(name, size, size, (u, v) => {
      const at = [left + size * u, 2.2 + size * v, u + v === 0 ? corner : 0.6] as const;
      return { at, truth: [at[0], at[1], at[2] + far] };
    });
  };
  loose('poking', 12, random.between(2.1, 2.9), -random.between(0.05, 0.3));
  loose('free', 5, -6, 0.6);
  const { mesh: input, positions, truth } = scene.build();
  const mesh = buildMesh(input);
  const measures = measureMesh(mesh, truth);
  const { parameters } = resolveParameters({}, measures);
  const frame = CoordinateFrame.fit(truth, measures.medianEdge, measures.bounds);
  const units = { scale: frame.scale, floor: floorOf(parameters.activationDistance, frame, scalarOf(truth)) };
  const [x, start] = [frame.toEngine(positions), frame.toEngine(truth)];
  return { ...{ mesh, parameters, frame, units, x, start }, free: input.parts![2]!.firstVertex };
}

t.test(
  'vertices of the pairs that intersect keep their bits, also where their sheet would move as a whole',
  async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    const { mesh, parameters, frame, units, x, start, free } = poking(random);
    const { intersections } = findIntersections(mesh, frame.toDouble(x), RULES);
    t.ok(intersections.length > 0);
    const leftOut = new RegionsLeftOut(describeTopology(mesh), intersections, []);
    const fixed = [...new Set(intersections.flatMap(({ a, b }) => [...a, ...b]))];
    const unlimited = { timeLeft: () => Number.POSITIVE_INFINITY, isCancelled: () => false };
    const tools = { engine, mesh, parameters, units, budget: new Budget(unlimited), isPushed: () => true };
    const rigid = new Set<number>();
    let from = frame.toDouble(x);
    const onState = (state: EnginePositions, origin?: StateOrigin) => {
      t.ok(
        fixed.every((v) => [0, 1, 2].every((c) => state[3 * v + c] === x[3 * v + c])),
        `${origin?.phase}: bit for bit`,
      );
      const to = frame.toDouble(state);
      if (origin?.phase === 'RIGID')
        for (let v = 0; v < mesh.vertexCount; v++) if (to[3 * v + 2] !== from[3 * v + 2]) rigid.add(v);
      t.equal(testPath(mesh, from, to, { ...RULES, excluded: leftOut }).collisionCount, 0, 'no other pair meets');
      t.same(findIntersections(mesh, to, RULES).intersections, intersections, 'and the same pairs intersect');
      from = to;
    };
    const { x: pulled } = await pullBack(tools, x, start, leftOut, { onState });
    t.ok(pulled!.some((p, k) => p !== x[k]));
    t.ok(rigid.has(free), 'what has no such vertex moves rigidly');
    t.same(
      [...rigid].filter((v) => v < free),
      [],
      'and nothing else',
    );
  },
);

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

t.test('vertices that were pushed far do not draw along vertices that were not pushed', async (t) => {
  const { mesh, positions } = sphereThrough(0.4, true).make(seeded(1));
  const { report } = await untangleOne({ mesh, positions }, engine);
  t.equal(report.status, 'FREE');
  t.ok(report.regions.max > 1, 'farther than an edge');
  // δ is a tenth of an edge.
  t.ok(report.outside.max < 0.01, `outside of regions by ${report.outside.max}`);
});
