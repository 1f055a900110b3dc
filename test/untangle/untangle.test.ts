import t from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { Surfaces } from '../../bench/untangle/surfaces.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine } from '../../src/solver/engine.js';
import { MemoryShort } from '../../src/threads/account.js';
import type { UntanglePiece } from '../../src/untangle/index.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { heightsOver } from '../support/heights-over.js';
import { type Random, seeded } from '../support/random.js';
import { dent, isNear, RULES, SIZE } from './dent.js';

// Beside other work it takes its time.
t.setTimeout(600_000);

const engine = createCpuEngine();

/** A sheet with a lining that is so near that they have many pairs, and a triangle through both. */
function lined() {
  const scene = new Surfaces();
  for (const [name, z] of [['sheet', 0] as const, ['lining', -0.02] as const])
    scene.grid(name, SIZE, SIZE, (u, v) => ({ at: [SIZE * u, SIZE * v, z] }));
  scene.grid('flap', 1, 1, (u, v) => ({ at: [4.3 + 0.2 * u, 4.2 + v, 0.9 - v] }));
  return scene.build();
}

/** Two layers that cross in the middle, so that nothing but a hint tells which one is above. */
function crossed(random: Random, middle = SIZE / 2, slope = 0.2) {
  const scene = new Surfaces();
  const jitter = () => random.between(-0.05, 0.05);
  scene.grid('lower', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + jitter(), SIZE * v + jitter(), 0] }));
  scene.grid('upper', SIZE, SIZE, (u, v) => {
    const x = SIZE * u + 0.3 + jitter();
    return { at: [x, SIZE * v + 0.2 + jitter(), slope * (x - middle)] };
  });
  return scene.build();
}

/** A sheet that a kinematic ball pokes through from below. */
function poked(random: Random) {
  const scene = new Surfaces();
  const [cx, cy, radius] = [random.between(4, 5), random.between(4, 5), random.between(2, 2.5)];
  const jitter = () => random.between(-0.05, 0.05);
  scene.grid('cloth', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + jitter(), SIZE * v + jitter(), 0] }));
  const centre = [cx, cy, -0.6 * radius] as const;
  scene.sphere('ball', 12, 8, centre, radius, true);
  return { ...scene.build(), centre, radius };
}

/** Mean height of the part `upper` over z = 0. */
function meanHeight(positions: Float64Array): number {
  const count = positions.length / 6;
  let sum = 0;
  for (let v = count; v < 2 * count; v++) sum += positions[3 * v + 2]! - positions[3 * (v - count) + 2]!;
  return sum / count;
}

t.test('a part that was pushed through comes back, and nothing else meets on the way', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const tangle = dent(random, random.between(0.4, 1.2));
  const pieces: UntanglePiece[] = [];
  const { report, positions } = await untangleOne(tangle, engine, { onPiece: (piece) => pieces.push(piece) });
  t.equal(report.status, 'FREE');
  const mesh = buildMesh(tangle.mesh);
  t.equal(findIntersections(mesh, positions, RULES).intersectionCount, 0, 'on the numbers that are sent');
  t.equal(report.piercesBefore, findIntersections(mesh, tangle.positions, RULES).intersectionCount);
  t.equal(report.piercesByIteration[0], report.piercesBefore);
  t.match(report.contours, [{ id: 0, kind: 'CLOSED', why: 'SMALLER' }]);
  t.ok(meanHeight(positions as Float64Array) > 0, 'the upper layer is above');
  t.ok(report.outside.max <= report.regions.max);
  t.ok(pieces.some(({ leftOut }) => leftOut !== undefined) && pieces.at(-1)!.leftOut === undefined);
  for (const { from, to, leftOut: excluded } of pieces) {
    const rules = { ...RULES, ...(excluded ? { excluded } : {}) };
    t.equal(testPath(mesh, from, to, rules).collisionCount, 0, 'no pair that is not left out');
  }
});

t.test('a body decides the wrong side, even if it is the smaller one', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const { mesh, positions, centre, radius } = poked(random);
  const { report, positions: answer } = await untangleOne({ mesh, positions }, engine);
  t.equal(report.status, 'FREE');
  t.ok(report.contours.every(({ why, confidence }) => why === 'BODY' && confidence === 1));
  const ball = mesh.parts![1]!;
  t.same(answer.subarray(3 * ball.firstVertex), positions.subarray(3 * ball.firstVertex), 'the body has not moved');
  // The ball is a polyhedron of 12 meridians, whose faces lie a little below its sphere.
  for (let v = 0; v < ball.firstVertex; v++) {
    const distance = Math.hypot(...centre.map((c, k) => answer[3 * v + k]! - c));
    if (distance < 0.9 * radius) t.fail(`vertex ${v} is inside`);
  }
});

t.test('a hint decides the wrong side, and the opposite hint decides the opposite', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const tangle = crossed(random);
  const layers = (side: 'ALONG_NORMALS' | 'AGAINST_NORMALS') => [{ inner: 'lower', outer: 'upper', side }];
  const above = await untangleOne({ ...tangle, layers: layers('ALONG_NORMALS') }, engine);
  const below = await untangleOne({ ...tangle, layers: layers('AGAINST_NORMALS') }, engine);
  t.same([above.report.status, below.report.status], ['FREE', 'FREE']);
  t.equal(above.report.contours[0]!.why, 'HINT');
  t.ok(meanHeight(above.positions as Float64Array) > 0);
  t.ok(meanHeight(below.positions as Float64Array) < 0);
});

t.test('a guess can be reversed by the id of its contour', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const tangle = crossed(random);
  const guessed = await untangleOne({ ...tangle, maxIterations: 1 }, engine);
  const turned = await untangleOne({ ...tangle, turned: [0] }, engine);
  const [was] = guessed.report.contours;
  const [is] = turned.report.contours;
  t.ok(is!.isTurned && !was!.isTurned);
  t.ok(was!.confidence < 0.8, 'halves are not guessed with confidence');
  t.same(is!.points, was!.points, 'it is the same contour');
  const sidesOf = (contour: typeof was) => contour!.sheets.map(({ side }) => side);
  const other = { ALONG_NORMALS: 'AGAINST_NORMALS', AGAINST_NORMALS: 'ALONG_NORMALS' } as const;
  t.same(
    sidesOf(is),
    sidesOf(was).map((side) => side && other[side]),
  );
  t.equal(turned.report.status, 'FREE');
});

t.test(
  'a guess that takes several iterations to reverse stays reversed, and the report says what was pushed',
  async (t) => {
    // In the state in which the sheets first cross, the work on both sides tells the guess, and later the contours are others.
    for (const [middle, slope] of [
      [0.35 * SIZE, 0.2],
      [0.45 * SIZE, 0.2],
      [0.45 * SIZE, 0.8],
    ] as const) {
      const tangle = crossed(seeded(7), middle, slope);
      const guessed = await untangleOne(tangle, engine);
      const turned = await untangleOne({ ...tangle, turned: [0] }, engine);
      t.same([guessed.report.status, turned.report.status], ['FREE', 'FREE']);
      const [over, under] = [guessed, turned].map(({ positions }) => heightsOver(positions, tangle.mesh.triangles!));
      t.ok(over!.length > 50 && over!.every((height) => height > 0), 'the upper sheet is above the lower one');
      t.ok(under!.length > 50 && under!.every((height) => height < 0), 'reversed, it is below');
      for (const { report } of [guessed, turned]) {
        const { why, sheets } = report.contours[0]!;
        t.equal(why, report === turned.report ? 'HINT' : 'COST');
        const pushed = sheets.filter(({ wrongVertices }) => wrongVertices > 0);
        t.ok(pushed.length === 1 && pushed[0]!.side !== undefined, 'the side to which it was pushed');
      }
    }
  },
);

t.test('an untangling that ends by budget, cancellation or limit returns the best state', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  const late = await untangleOne(tangle, engine, { timeLeft: () => 0 });
  t.match(late.report, { status: 'UNRESOLVED', ended: 'TIME_BUDGET' });
  t.same(late.positions, tangle.positions, 'the start, bit for bit');
  t.equal(late.report.remaining.length, Math.min(64, late.report.piercesBefore));
  let tests = 0;
  const cancelled = await untangleOne(tangle, engine, { isCancelled: () => tests++ > 0 });
  t.equal(cancelled.report.ended, 'CANCELLED');
  t.ok(cancelled.report.piercesAfter <= cancelled.report.piercesBefore);
  const near = await untangleOne({ ...tangle, maxDisplacement: 0.1, maxIterations: 5 }, engine);
  t.ok(near.report.regions.max <= 0.1 && near.report.outside.max <= 0.1);
  t.not(near.report.status, 'FREE');
  const short = await untangleOne({ ...tangle, maxIterations: 1 }, engine);
  t.equal(short.report.piercesByIteration.length, 2, 'one iteration, and what it left');
});

t.test('the end of the budget and a cancellation are noticed anywhere within an iteration', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  /** Ends it at the n-th question; tells how often it was asked after that, and how many tests were begun by then. */
  const endAt = async (n: number, why: 'CANCELLED' | 'TIME_BUDGET') => {
    let [asked, after, states] = [0, 0, 0];
    const ask = (): boolean => {
      asked++;
      if (asked > n) after++;
      return asked >= n;
    };
    const { report, positions } = await untangleOne(tangle, engine, {
      ...(why === 'CANCELLED' ? { isCancelled: ask } : { timeLeft: () => (ask() ? 0 : 1e6) }),
      testState: (mesh, x, rules) => {
        states++;
        // A test that takes some time: it is asked for half of it, and then throws what ends it.
        rules.checkpoint?.();
        return findIntersections(mesh, x, rules);
      },
    });
    return { report, positions, asked, after, states };
  };
  const iterations = (await untangleOne(tangle, engine)).report.piercesByIteration.length;
  for (const why of ['CANCELLED', 'TIME_BUDGET'] as const) {
    const whole = await endAt(Number.POSITIVE_INFINITY, why);
    t.equal(whole.report.status, 'FREE');
    t.ok(whole.asked > 12 * iterations, 'at least in each sweep of each iteration');
    for (let n = 1; n <= whole.asked; n += Math.ceil(whole.asked / 9)) {
      const { report, positions, after, states } = await endAt(n, why);
      if (report.ended === undefined) continue;
      t.equal(report.ended, why);
      t.ok(after <= 12, `asked ${after} times after its end at ${n}`);
      t.ok(states <= whole.states, 'no further tests but that of the answer');
      t.ok(report.piercesAfter <= report.piercesBefore);
      t.equal(report.piercesAfter, findIntersections(buildMesh(tangle.mesh), positions, RULES).intersectionCount);
    }
  }
});

t.test('a budget that ends in the test of the start has no state to answer with', async (t) => {
  const over = new IntersticeError('DEADLINE_EXCEEDED', 'over');
  const start = (): never => {
    throw over;
  };
  const testState: typeof findIntersections = (mesh, x, rules) => {
    rules.checkpoint?.();
    return findIntersections(mesh, x, rules);
  };
  const tools = { testState, checkpoints: { start, answer: () => undefined } };
  await t.rejects(untangleOne(dent(seeded(7), 1.2), engine, tools), over);
});

t.test(
  'if the device is lost during the pull-back, the free state is returned, and the report names the engine of each part',
  async (t) => {
    const tangle = dent(seeded(7), 1.2);
    const lost = async (): Promise<never> => {
      throw new IntersticeError('DEVICE_LOST', 'The device was lost.');
    };
    /** an engine that takes lists only, as one with a device; lost while it opens a scene, or while that resolves */
    const fragile = (opens: boolean): Engine => ({
      ...engine,
      leavesOutByRule: false,
      open: async (...scene) => (opens ? { ...(await engine.open(...scene)), resolve: lost } : lost()),
    });
    for (const opens of [true, false]) {
      const { report, positions } = await untangleOne(tangle, fragile(opens));
      t.match(report, { status: 'FREE', ended: 'LOST_DEVICE', pushingEngine: 'cpu', remaining: [] });
      t.equal(findIntersections(buildMesh(tangle.mesh), positions, RULES).intersectionCount, 0);
    }
  },
);

t.test('an engine without room for the pairs leaves the best state', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  /** an engine whose scenes together have room for so many resolves, or that has none for a scene */
  const cramped = (room: number, shortage?: Error): Engine => {
    let left = room;
    return {
      ...engine,
      open: async (mesh, parameters, units) => {
        if (shortage) throw shortage;
        const scene = await engine.open(mesh, parameters, units);
        return {
          bytes: scene.bytes,
          close: () => scene.close(),
          configure: (parameters, units) => scene.configure(parameters, units),
          resolve: async (step) => {
            if (left-- <= 0) throw new IntersticeError('TOO_LARGE', 'The pairs take too much memory.');
            return scene.resolve(step);
          },
        };
      },
    };
  };
  const none = await untangleOne(tangle, cramped(0));
  t.match(none.report, { status: 'UNRESOLVED', ended: 'MEMORY' });
  t.same(none.positions, tangle.positions, 'the start, bit for bit');
  const tight = new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The scene takes too much memory.');
  for (const shortage of [tight, new MemoryShort(2, 3, 4)]) {
    const { report, positions } = await untangleOne(tangle, cramped(0, shortage));
    t.match(report, { status: 'UNRESOLVED', ended: 'MEMORY' }, shortage.message);
    t.same(positions, tangle.positions);
  }
  const free = await untangleOne(tangle, engine);
  const iterations = free.report.piercesByIteration.length - 1;
  const pushed = await untangleOne(tangle, cramped(iterations));
  t.match(pushed.report, { status: 'FREE', ended: 'MEMORY' }, 'free, and not pulled back');
  // Where the engine takes lists only, its budget is that of the reference engine which makes the steps.
  const lists = await untangleOne(lined(), { ...engine, leavesOutByRule: false, maxPairBytes: 1 });
  t.match(lists.report, { status: 'UNRESOLVED', ended: 'MEMORY' });
});

t.test('a free start is returned unchanged', async (t) => {
  const scene = dent(seeded(3), -0.2);
  const { report, positions, regions } = await untangleOne(scene, engine);
  t.match(report, { status: 'FREE', piercesBefore: 0, piercesAfter: 0, contours: [], leftOutPierces: 0 });
  t.same(positions, scene.positions);
  t.ok(regions.every((region) => region === -1));
});

t.test('hints that name missing parts are refused', async (t) => {
  const tangle = dent(seeded(5), 1);
  await t.rejects(untangleOne({ ...tangle, layers: [{ inner: 'lower', outer: 'lining' }] }, engine), {
    code: 'INVALID_PARAMETER',
    message: 'layers[0].outer is "lining", but the mesh has no part of that name.',
    hint: 'Its parts are: "lower", "upper".',
  });
  await t.rejects(untangleOne({ ...tangle, layers: [{ inner: 'lower', outer: 'lower' }] }, engine), {
    code: 'INVALID_PARAMETER',
  });
});

t.test('bounds out of their range are refused before anything is looked at', async (t) => {
  const tangle = dent(seeded(5), 1);
  const testState = () => t.fail('the start was looked at') as never;
  const bounds = [
    ...[0, -1, 1.5, Number.NaN, Infinity].map((maxIterations) => ({ maxIterations })),
    ...[0, -1, Number.NaN, Infinity].map((maxDisplacement) => ({ maxDisplacement })),
  ];
  for (const bound of bounds) {
    const refused = untangleOne({ ...tangle, ...bound }, engine, { testState });
    const [name] = Object.keys(bound) as [string];
    await t.rejects(refused, { code: 'INVALID_PARAMETER', message: new RegExp(`^${name} is`) });
  }
});

t.test(
  'contours that the start does not have, and starts with too many pierces, are refused before a step',
  async (t) => {
    const tangle = dent(seeded(5), 1);
    const onPiece = () => t.fail('a step was made');
    for (const id of [7, -1, 0.5]) {
      await t.rejects(untangleOne({ ...tangle, turned: [0, id] }, engine, { onPiece }), {
        code: 'INVALID_PARAMETER',
        message: `turned names contour ${id}; the start has 1 contour.`,
      });
    }
    const testState: typeof findIntersections = (...state) => ({
      ...findIntersections(...state),
      intersectionCount: 2e6,
    });
    await t.rejects(untangleOne(tangle, engine, { onPiece, testState }), {
      code: 'TOO_LARGE',
      message: /^2000000 pairs/,
    });
  },
);

t.test('a free state that is too far away is pulled back, and counts where that brings it near enough', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  const { report } = await untangleOne(tangle, engine);
  const needed = Math.max(report.regions.max, report.outside.max);
  const pieces: UntanglePiece[] = [];
  const onPiece = (piece: UntanglePiece) => pieces.push(piece);
  const near = await untangleOne({ ...tangle, maxDisplacement: 1.0001 * needed }, engine, { onPiece });
  t.equal(near.report.status, 'FREE');
  t.ok(near.report.regions.max <= 1.0001 * needed);
  t.ok(isNear(pieces.at(-1)!.to, near.positions), 'the path ends at the answer');
  for (let k = 1; k < pieces.length; k++)
    t.same(pieces[k]!.from, pieces[k - 1]!.to, 'each piece begins where one ends');
});

t.test('a free state that stays too far away is no part of the path', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  const limits = { maxDisplacement: 1e-6 };
  const pieces: UntanglePiece[] = [];
  const { report, positions } = await untangleOne({ ...tangle, ...limits }, engine, {
    onPiece: (piece) => pieces.push(piece),
  });
  t.ok(report.piercesByIteration.at(-1) === 0, 'one was found');
  t.ok(report.piercesByIteration.length < 60);
  t.match(report, { status: 'UNRESOLVED', ended: 'NO_PROGRESS' }, 'and no iteration followed it');
  t.same(positions, tangle.positions);
  t.same(pieces, []);
});

t.test('if the budget ends in the pull-back, the report says so and the answer is free', async (t) => {
  const tangle = dent(seeded(7), 1.2);
  let isPulling = false;
  const { report } = await untangleOne(tangle, engine, {
    timeLeft: () => (isPulling ? 0 : Number.POSITIVE_INFINITY),
    onProgress: ({ phase }) => {
      isPulling = phase === 'PULLING_BACK';
    },
  });
  t.match(report, { status: 'FREE', piercesAfter: 0, ended: 'TIME_BUDGET' });
});

t.test('a start that intersects, but whose float32 image is free, is untangled', async (t) => {
  // A tip that reaches through a triangle by less than float32 holds so far from the middle.
  const vertexCount = 6;
  const triangles = Uint32Array.of(0, 1, 2, 3, 4, 5);
  const z = 0.3;
  const positions = Float64Array.of(0, 0, z, 1, 0, z, 0, 1, z, 0.2, 0.2, z - 1e-12, 0.2, 0.4, 0.9, 0.4, 0.2, 0.9);
  const { report, positions: answer } = await untangleOne({ mesh: { vertexCount, triangles }, positions }, engine);
  t.ok(report.piercesBefore > 0);
  t.equal(report.piercesByIteration[0], report.piercesBefore);
  t.equal(report.status, 'FREE', JSON.stringify(report));
  t.equal(findIntersections(buildMesh({ vertexCount, triangles }), answer, RULES).intersectionCount, 0);
});
