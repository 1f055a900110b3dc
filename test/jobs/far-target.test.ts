import t from 'tap';
import type { Positions } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { between, fakeEngine, resolution } from '../support/fake-engine.js';
import { refusalOf, runJob } from '../support/job.js';
import { DirectSession } from '../support/scenes.js';
import { flatSheet } from '../support/sheet.js';

/** Four square sheets, one above the other, their corners at (504, 504) and (504.2, 504.2). */
const SHEETS = 4;
const EDGE = 0.1857;
const mesh = {
  vertexCount: 4 * SHEETS,
  triangles: Uint32Array.from(
    Array.from({ length: SHEETS }, (_, n) => [0, 1, 2, 1, 3, 2].map((corner) => 4 * n + corner)).flat(),
  ),
};
const sheetsAt = (heightOf: (sheet: number) => number): Float32Array =>
  Float32Array.from(
    Array.from({ length: SHEETS }, (_, n) =>
      [0, 1, 2, 3].flatMap((corner) => [504 + EDGE * (corner >> 1), 504 + EDGE * (corner & 1), heightOf(n)]),
    ).flat(),
  );
/** of float32 from 256 to 512, where the start lies */
const ULP = 2 ** -15;
const start = sheetsAt((sheet) => 504.2 + 0.0006 * sheet);
/** turned over, where they are 2^-12 apart */
const target = sheetsAt((sheet) => 2094.52 - 0.0015 * sheet);
const parameters = { activationDistance: 0.00235, leap: 3000, stretchLimit: 1.1, stepLimit: 200 };

const largest = (positions: Positions): number => Math.max(...Array.from(positions, Math.abs));
const distance = (a: Positions, b: Positions): number =>
  Math.max(
    ...Array.from({ length: a.length / 3 }, (_, v) =>
      Math.hypot(...[0, 1, 2].map((k) => a[3 * v + k]! - b[3 * v + k]!)),
    ),
  );

t.test(
  'float32: a mesh with a target at which numbers are too coarse for δ stops before it, undeformed, with a warning',
  async (t) => {
    const session = new DirectSession({ mesh, start }, createCpuEngine());
    await session.open(parameters);
    let last: Positions = start;
    for (let frame = 1; frame <= 3; frame++) {
      const { positions, report } = await session.step(target, { parameters });
      t.equal(session.findings.length, 0, 'nobody is at fault');
      t.match(report, {
        status: 'STALLED',
        unfinishedVertices: 16,
        verification: { fellBack: false, intersections: 0 },
      });
      t.match(
        report.warnings.filter(({ code }) => code === 'TARGET_OUT_OF_RANGE'),
        [{ count: 16, element: { kind: 'vertex', index: 0 }, message: /send float64/ }],
      );
      t.ok(largest(positions) < 512 && largest(positions) > largest(last), `frame ${frame}: ${largest(positions)}`);
      const { intersectionCount } = findIntersections(buildMesh(mesh), positions, {
        kinematicPairs: 'SKIP',
        maxPairs: 1,
      });
      t.equal(intersectionCount, 0);
      // Sheets that keep their order have not gone through each other.
      const lowest = (n: number) => Math.min(...[0, 1, 2, 3].map((corner) => positions[12 * n + 3 * corner + 2]!));
      t.ok([1, 2, 3].every((n) => lowest(n) > lowest(n - 1)));
      last = positions;
    }
  },
);

/** Two squares, one below and one above the origin. */
const squares = {
  mesh: { vertexCount: 8, triangles: Uint32Array.of(0, 1, 2, 1, 3, 2, 4, 5, 6, 5, 7, 6) },
  start: Float32Array.from({ length: 24 }, (_, k) => {
    const [v, c] = [Math.floor(k / 3), k % 3];
    return c === 2 ? (v < 4 ? -0.2 : 0.2) : ((c === 0 ? v & 1 : (v >> 1) & 1) - 0.5) / 2;
  }),
};

t.test(
  'float32 around the origin: a mesh arrives far away, and the next step needs one of three remedies',
  async (t) => {
    const { start: near } = squares;
    const away = near.map((c) => c + 1e5);
    const session = new DirectSession(squares, createCpuEngine());
    await session.open();
    const { positions, report } = await session.step(away);
    t.match(report, { status: 'CONVERGED', warnings: [] });
    t.same(positions, away);
    const refusal = await refusalOf(session.step(near));
    t.equal(refusal.code, 'TOLERANCE_TOO_SMALL');
    const activationDistance = 1.01 * Number(/at least ([\d.e+-]+)\.$/.exec(refusal.message)?.[1]);
    for (const [next, more] of [
      [Float64Array.from(near), {}],
      [near, { parameters: { activationDistance } }],
      [near, { start: near }],
    ] as const)
      t.ok(await session.step(next, more, { isCommitted: false }));
  },
);

t.test('float64: bodies that part come to a stop, and the warning promises no more', async (t) => {
  const session = new DirectSession({ ...squares, start: Float64Array.from(squares.start) }, createCpuEngine());
  await session.open();
  const parted = Float64Array.from(squares.start, (c, k) => (k < 12 ? c : c + 1e6));
  const ways: number[] = [];
  for (let frame = 1; frame <= 5; frame++) {
    const { start: before } = session.state;
    const { positions, report } = await session.step(parted);
    const warning = { code: 'TARGET_OUT_OF_RANGE', message: /to continue if the whole mesh moves there/, count: 4 };
    t.match(report.warnings, [warning]);
    ways.push(distance(before, positions));
  }
  t.ok(
    ways.every((way, n) => n === 0 || way < 0.9 * ways[n - 1]!),
    `they go ${ways}`,
  );
});

t.test('float64: the same target again continues from the last answer', async (t) => {
  const session = new DirectSession({ mesh, start: Float64Array.from(start) }, createCpuEngine());
  await session.open(parameters);
  const far = Float64Array.from(target, (c, k) => (k % 3 === 2 ? c + 1e5 : c));
  let left = distance(Float64Array.from(start), far);
  for (let frame = 1; frame <= 3; frame++) {
    const { positions, report } = await session.step(far, { parameters });
    t.match(report, { status: /STALLED|STEP_LIMIT/, verification: { fellBack: false } });
    t.match(report.warnings, [{ code: 'TARGET_OUT_OF_RANGE', message: /send the same target again/ }]);
    const now = distance(positions, far);
    t.ok(now < left, `${left} to ${now}`);
    left = now;
  }
  t.equal(session.findings.length, 0);
});

/** A sheet with edges of length 1, and a smaller one above it. */
const { vertexCount, triangles, rest } = flatSheet(8, 8);
const pair = {
  vertexCount: 2 * vertexCount,
  triangles: Uint32Array.from([...triangles, ...triangles.map((v) => v + vertexCount)]),
};
const together = [...rest, ...rest.map((c, k) => (k % 3 === 2 ? 0.3 : 0.6 * c))];

t.test('float32: a cloth and its companion go as far as δ/16 covers rounding in one step', async (t) => {
  const session = new DirectSession({ mesh: pair, start: Float32Array.from(together) }, createCpuEngine());
  await session.open();
  const far = Float32Array.from(together, (c, k) => (k % 3 === 0 ? c + 3500 : c));
  const { report, positions } = await session.step(far);
  t.match(report, { status: 'CONVERGED', steps: 1, warnings: [], verification: { fellBack: false } });
  t.same(positions, far);
});

t.test('float64: where the target of both is cut they stop together, and arrive when it is sent again', async (t) => {
  const session = new DirectSession({ mesh: pair, start: Float64Array.from(together) }, createCpuEngine());
  await session.open();
  const far = Float64Array.from(together, (c, k) => (k % 3 === 0 ? c + 5000 : c));
  const first = await session.step(far);
  t.match(first.report, { status: 'STALLED', steps: 1, verification: { fellBack: false } });
  const cuts = first.report.warnings.filter(({ code }) => code === 'TARGET_OUT_OF_RANGE');
  t.match(cuts, [{ count: 2 * vertexCount, message: /send the same target again/ }]);
  const moved = first.positions[0]! - together[0]!;
  t.ok(moved > 1000 && moved < 4000, `${moved} edges`);
  const deviation = distance(
    first.positions,
    Float64Array.from(together, (c, k) => (k % 3 === 0 ? c + moved : c)),
  );
  // The engine's float32 numbers are 2⁻¹³ apart up to 2048; both the first vertex and each other one are rounded.
  t.ok(deviation <= 2 ** -12, `deformed by ${deviation}`);
  const second = await session.step(far);
  t.match(second.report, { status: 'CONVERGED', steps: 1, warnings: [] });
  t.same(second.positions, far);
  t.equal(session.findings.length, 0);
});

t.test('the engine gets a cut target, and its report is restated for the whole motion', async (t) => {
  let sent: Float32Array | undefined;
  const engine = fakeEngine((step) => {
    sent = step.y.slice();
    const figures = { rounds: 1, newtonIterations: 0, solverIterations: 0, volumes: 0, remainingPairs: 0 };
    const impulses = { ...figures, motionShare: 1, shares: [1] };
    return { ...resolution(step, step.y.slice(), 'CONVERGED', 1), impulses };
  });
  // One sheet goes far, the others stay.
  const request = {
    mesh,
    start,
    target: sheetsAt((sheet) => (sheet === 3 ? 1000 : 504.2 + 0.0006 * sheet)),
    parameters,
  };
  const { answer } = await runJob({ ...request, include: { vertices: true } }, engine);
  t.ok(sent!.every(Number.isFinite));
  const { report, vertices, positions } = answer;
  const share = (positions[47]! - start[47]!) / (1000 - start[47]!);
  t.match(report, { status: 'STALLED', unfinishedVertices: 4 });
  // The answer is rounded to float32, 2^-15 apart here, on a way of 496; and so is r, to 2^-24 of at most 1.
  const rounding = ULP / (1000 - start[47]!) + 2 ** -24;
  t.ok(Math.abs(report.residual - (1 - share)) <= rounding, `${report.residual}, ${share}`);
  const { motionShare } = report.impulses!;
  t.ok(Math.abs(motionShare - share) <= rounding, `impulses have made ${motionShare} of it`);
  t.same([...vertices!.residual.subarray(0, 12)], new Array(12).fill(0));
  t.match(report.warnings, [{ code: 'TARGET_OUT_OF_RANGE', count: 4, element: { index: 12 } }]);
});

t.test('kinematic vertices with targets too far away count as unreached', async (t) => {
  const engine = fakeEngine((step) => resolution(step, step.y.slice(), 'CONVERGED', 1));
  const kinematic = Uint8Array.from({ length: 16 }, () => 1);
  const { answer } = await runJob({ mesh: { ...mesh, kinematic }, start, target, parameters }, engine);
  t.equal(answer.report.unreachedKinematic, 16);
});

t.test('if contacts push a state beyond the range, the answer is an earlier state', async (t) => {
  const near = sheetsAt((sheet) => 504.3 + 0.0006 * sheet);
  const engine = fakeEngine((step) => {
    const half = between(step.x, step.y, 0.5);
    step.onState?.(half);
    const beyond = half.map((c) => c + 1e5);
    step.onState?.(beyond);
    return resolution(step, beyond, 'CONVERGED', 2);
  });
  const { answer, findings } = await runJob({ mesh, start, target: near, parameters }, engine);
  t.equal(findings.length, 0);
  t.match(answer.report, { status: 'STALLED', unfinishedVertices: 16, verification: { fellBack: false } });
  t.same(answer.report.limitingPairs, [], 'those of the engine limit the state beyond the range');
  // Start, target and answer are rounded to float32 each.
  t.ok(Math.abs(answer.positions[2]! - 504.25) <= 3 * ULP);
  t.match(answer.report.warnings, [{ code: 'TARGET_OUT_OF_RANGE', message: /an earlier state/ }]);
});

t.test('if the engine uses the caller’s float32 numbers unchanged, no target is cut', async (t) => {
  const engine = fakeEngine((step) => resolution(step, step.y.slice(), 'CONVERGED', 1));
  const atOrigin = start.map((c) => c - 504.201);
  const goal = target.map((c) => c - 504.201);
  const { answer } = await runJob(
    { mesh, start: atOrigin, target: goal, parameters: { ...parameters, verify: 'NONE' } },
    engine,
    {
      allowUnverified: true,
    },
  );
  t.same(answer.positions, goal);
  t.match(answer.report, { status: 'CONVERGED', warnings: [] });
});
