import t from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { exactVerifier } from '../../src/jobs/verifier.js';
import { algorithmVersion } from '../../src/paths.js';
import { fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { refusalOf, rods, runJob, spike } from '../support/job.js';

const mapZ = (positions: ArrayLike<number>, vertex: number) => positions[3 * vertex + 2]!;

t.test('a motion without obstacles ends at the target, bit for bit, and the report says so', async (t) => {
  const request = { ...spike(1, 0.5), include: { vertices: true } };
  const engine = fakeEngine(stepping(4));
  const { answer, findings } = await runJob(request, engine);
  t.same(answer.positions, request.target);
  t.same(findings, []);
  const { report } = answer;
  t.match(report, {
    status: 'CONVERGED',
    steps: 4,
    searches: 1,
    unreachedKinematic: 0,
    deflectedVertices: 0,
    distanceToTargetMax: 0,
    distanceToTargetRms: 0,
    maxStretch: 1,
    ignoredPairCount: 0,
    verification: { performed: 'STATE', intersections: 0, fellBack: false },
    resolved: { preset: 'TUNED', verify: 'STATE' },
    engine: 'fake',
    version: algorithmVersion,
  });
  t.ok(report.verification.pairsTested >= 0);
  t.same(answer.vertices?.residual, new Float32Array(6));
  t.notOk('contacts' in answer);
  const [opened] = engine.opened;
  t.ok(opened?.closed, 'the scene is closed');
  t.equal(opened?.units.scale, 1, 'the median edge, about 1.02, is in [1, 2) already');
  t.equal(opened?.units.floor, report.resolved.activationDistance / 100);
});

t.test('limiting pairs are measured in the answer, in the caller’s unit', async (t) => {
  const request = spike(1, 0.5);
  const scaled = { ...request, start: request.start.map((x) => x / 4), target: request.target.map((x) => x / 4) };
  const engine = fakeEngine(stepping(1));
  const { answer } = await runJob(scaled, engine);
  t.equal(engine.opened[0]?.units.scale, 4);
  // The engine names vertex 0, at the origin, and the triangle (1, 0, 0), (0, 1, 0), (0.2, 0.2, 0.5), all divided by 4.
  const [pair] = answer.report.limitingPairs;
  t.match(pair, { kind: 'VERTEX_TRIANGLE', a: [0], b: [1, 2, 3] });
  t.ok(Math.abs((pair?.distance ?? 0) - 0.125 / Math.sqrt(0.86)) < 1e-7, `${pair?.distance}`);
  const normal = [0.5, 0.5, 0.6].map((n) => -n / Math.sqrt(0.86));
  for (const [c, n] of normal.entries()) t.ok(Math.abs((pair?.normal?.[c] ?? 0) - n) < 1e-6, `${pair?.normal}`);
});

t.test('of a state that was not sent no pair is named', async (t) => {
  const { answer } = await runJob(spike(0.25, 0.5), fakeEngine(stepping(1)));
  t.ok(answer.report.verification.fellBack);
  t.same(answer.report.limitingPairs, []);
});

t.test('a run that ends halfway measures distances in the caller’s numbers', async (t) => {
  const request = {
    ...spike(1, 0.5),
    include: { vertices: true },
    mesh: { ...spike(1, 0.5).mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 0, 1) },
  };
  const { answer } = await runJob(request, fakeEngine(stepping(2, 0.5)));
  const { report, vertices, positions } = answer;
  t.equal(report.status, 'STALLED');
  t.equal(mapZ(positions, 3), 0.75);
  t.equal(report.distanceToTargetMax, 0.25);
  t.equal(report.distanceToTargetRms, 0.25, 'of the two dynamic vertices that move');
  t.equal(report.kinematicDistanceMax, 0.25);
  t.equal(report.deflectedVertices, 3, 'δ is a tenth of an edge');
  t.equal(report.unreachedKinematic, 1, 'the kinematic floor stands on its target');
  t.same(vertices?.unreachedKinematic, Uint32Array.of(5));
  t.same(vertices?.distanceToTarget, Float32Array.of(0, 0, 0, 0.25, 0.25, 0.25));
  t.same(vertices?.residual, Float32Array.of(0, 0, 0, 1, 1, 1));
});

t.test('stretch is measured against the target, zero-length edges excluded', async (t) => {
  const request = spike(1, 0.5);
  const target = request.target.slice();
  target.set(target.subarray(9, 12), 12); // an edge of the spike shrinks to a point
  target.set([0.2 + (0.4 - 0.2) / 2, 0.2, 1], 15);
  const { answer } = await runJob({ ...request, target }, fakeEngine(stepping(1, 0)));
  const edge = Math.sqrt(0.2 ** 2 + 1);
  const inTarget = Math.sqrt(0.1 ** 2 + 0.5 ** 2);
  t.ok(Math.abs(answer.report.maxStretch - edge / inTarget) < 1e-6, `${answer.report.maxStretch}`);
});

t.test('the answer has the scalar of the target', async (t) => {
  const request = spike(1, 0.5);
  const wide = await runJob({ ...request, target: Float64Array.from(request.target) }, fakeEngine(stepping(1)));
  t.ok(wide.answer.positions instanceof Float64Array);
  const narrow = await runJob({ ...request, start: Float64Array.from(request.start) }, fakeEngine(stepping(1)));
  t.same(narrow.answer.positions, request.target);
});

t.test('invalid requests are refused before the engine runs', async (t) => {
  const good = spike(1, 0.5);
  const broken = (change: Partial<ResolveRequest>): ResolveRequest => ({ ...good, ...change });
  const nan = good.target.map((x, i) => (i === 4 ? Number.NaN : x));
  const cases: [string, ResolveRequest][] = [
    ['INDEX_OUT_OF_RANGE', broken({ mesh: { vertexCount: 6, triangles: Uint32Array.of(0, 1, 6) } })],
    ['SIZE_MISMATCH', broken({ start: good.start.subarray(3) })],
    ['SIZE_MISMATCH', broken({ target: good.target.subarray(3) })],
    ['NOT_FINITE', broken({ target: nan })],
    ['COORDINATE_RANGE', broken({ target: good.target.map((x) => x * 1e14) })],
    ['INVALID_PARAMETER', broken({ parameters: { damping: 2 } })],
    ['PERMISSION_DENIED', broken({ parameters: { verify: 'NONE' } })],
    ['INVALID_PARAMETER', broken({ include: { contacts: true, contactDistance: 0 } })],
    ['INVALID_PARAMETER', broken({ include: { contactDistance: -1 } })],
    ['TOLERANCE_TOO_SMALL', broken({ parameters: { activationDistance: 1e-6 } })],
  ];
  for (const [code, request] of cases) {
    const engine = fakeEngine(stepping(1));
    t.equal((await refusalOf(runJob(request, engine))).code, code);
    t.same(engine.opened, [], `${code}: the engine was not asked`);
  }
});

t.test('an intersecting start is refused with the pairs and the complete count', async (t) => {
  const error = await refusalOf(runJob(spike(-0.1, 0), fakeEngine(stepping(1))));
  t.equal(error.code, 'INTERSECTING_START');
  t.equal(error.pairCount, 2, 'two edges of the spike pierce the floor');
  t.match(error.message, /^2 pairs/);
  t.same(
    error.pairs.map(({ kind, a, b }) => ({ kind, a, b })),
    [
      { kind: 'EDGE_TRIANGLE', a: [3, 4], b: [0, 1, 2] },
      { kind: 'EDGE_TRIANGLE', a: [3, 5], b: [0, 1, 2] },
    ],
  );
});

t.test('no more than 64 pairs are named', async (t) => {
  const triangles: number[] = [];
  const start: number[] = [];
  for (let k = 0; k < 50; k++) {
    const { start: own } = spike(-0.1, 0);
    triangles.push(...[3, 4, 5].map((v) => v + 3 * k));
    if (k === 0) start.push(...own);
    else start.push(...Array.from(own.subarray(9), (x, i) => x + (i % 3 < 2 ? k * 1e-3 : 0)));
  }
  const positions = Float32Array.from(start);
  const request: ResolveRequest = {
    mesh: { vertexCount: positions.length / 3, triangles: Uint32Array.of(0, 1, 2, ...triangles) },
    start: positions,
    target: positions,
    parameters: {},
  };
  const error = await refusalOf(runJob(request, fakeEngine(stepping(1))));
  t.ok(error.pairCount >= 100, `${error.pairCount} pairs`);
  t.equal(error.pairs.length, 64);
  t.match(error.message, /64 of them are named/);
});

t.test('a float64 start that intersects only after rounding is refused as such', async (t) => {
  const close = { ...spike(1, 0), start: Float64Array.from(spike(1, 0).start) };
  close.start[11] = 1e-12;
  const target = close.start.map((x) => x + 1);
  const error = await refusalOf(runJob({ ...close, target }, fakeEngine(stepping(1))));
  t.equal(error.code, 'TOLERANCE_TOO_SMALL');
  t.match(error.message, /2 pairs are so close.*when the engine rounds/);
  t.ok(error.pairs.length > 0);
  t.equal(error.pairCount, error.pairs.length);
});

t.test('the piece from the start to its rounding is a part of the path', async (t) => {
  const start = Float64Array.from(spike(1, 0).start, (x) => x + 0.1);
  const request = { ...spike(1, 0), start, target: start };
  const strict = {
    ...exactVerifier,
    testPath: () => ({ pathFree: false, earliestImpact: 0, collisionCount: 3, collisions: [] }),
  };
  const error = await refusalOf(runJob(request, fakeEngine(stepping(1)), { verifier: strict }));
  t.match(error, { code: 'TOLERANCE_TOO_SMALL', pairCount: 3 });
  const exact = { ...spike(1, 0), parameters: {} };
  t.resolves(runJob(exact, fakeEngine(stepping(1)), { verifier: strict }), 'a float32 start has no such piece');
});

t.test('a float64 start that float32, the target’s scalar, cannot keep apart is refused', async (t) => {
  const start = Float64Array.from(spike(1, 0).start, (x, i) => (i % 3 === 2 ? x + 1000 : x));
  start[11] = 1000 + 1e-5;
  const error = await refusalOf(
    runJob({ ...spike(1, 0), start, target: Float32Array.from(start) }, fakeEngine(stepping(1))),
  );
  t.equal(error.code, 'TOLERANCE_TOO_SMALL');
  t.match(error.message, /the scalar of the target/);
  t.resolves(runJob({ ...spike(1, 0), start, target: start }, fakeEngine(stepping(1))));
});

t.test('STATE: an answer that intersects is not sent', async (t) => {
  // The tip stands at 0.15, 0.05, −0.05, −0.15 after the four steps.
  const request = { ...spike(0.25, 0.4), include: { vertices: true } };
  const { answer, findings } = await runJob(request, fakeEngine(stepping(4)));
  t.ok(Math.abs(mapZ(answer.positions, 3) - 0.05) < 1e-6, 'the last state that verifies');
  t.match(answer.report, {
    status: 'STALLED',
    residual: 1,
    unfinishedVertices: 3,
    verification: { performed: 'STATE', intersections: 0, fellBack: true },
  });
  t.same(answer.vertices?.residual, Float32Array.of(0, 0, 0, 1, 1, 1));
  t.equal(findings.length, 1);
  const [finding] = findings;
  t.match(finding, { kind: 'STATE', statesAccepted: 4, engine: 'fake', state: { intersectionCount: 2 } });
  t.equal(finding?.request, request);
  t.same(finding?.after, request.target);
});

t.test('STATE: if none of the last states verifies, the start is sent', async (t) => {
  const request = spike(0.25, 0.5);
  const { answer, findings } = await runJob(request, fakeEngine(stepping(20)));
  t.same(answer.positions, request.start);
  t.ok(answer.report.verification.fellBack);
  t.equal(findings.length, 1);
});

t.test('PATH: passing through an element is found, although every state is free', async (t) => {
  // The tip goes 0.25 → −1.75 in four steps: after the third the whole spike is below the floor.
  const through = { ...spike(0.25, 4), parameters: { verify: 'PATH' as const } };
  const { answer, findings } = await runJob(through, fakeEngine(stepping(2)));
  t.same(answer.positions, through.start);
  t.match(answer.report, { status: 'STALLED', verification: { performed: 'PATH', fellBack: true } });
  t.match(findings[0], { kind: 'PATH', statesAccepted: 0, path: { pathFree: false } });
  t.same(findings[0]?.before, through.start);

  const unseen = await runJob(spike(0.25, 4), fakeEngine(stepping(2)));
  t.notOk(unseen.answer.report.verification.fellBack, 'the state alone cannot tell, as documented');
});

t.test('PATH: the last state before the bad piece is sent, and the engine is stopped', async (t) => {
  const request = { ...spike(0.25, 0.4), parameters: { verify: 'PATH' as const } };
  const { answer, findings } = await runJob(request, fakeEngine(stepping(40)));
  t.ok(mapZ(answer.positions, 3) > 0 && mapZ(answer.positions, 3) < 0.011, `${mapZ(answer.positions, 3)}`);
  t.equal(answer.report.steps, 25, 'asked to stop after the step that met');
  t.equal(findings.length, 1);
});

t.test(
  'PATH: a start with touching pairs that the test of a state cannot find is refused before the engine runs',
  async (t) => {
    // A rod on a corner of a triangle, in its plane, across the opposite edge: the two share no vertex and intersect.
    const start = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0);
    const mesh = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), segments: Uint32Array.of(0, 3) };
    const target = start.map((x) => x + 1);
    const request = { mesh, start, target, parameters: { verify: 'PATH' } } as const;
    const refusal = await refusalOf(runJob(request, fakeEngine(stepping(1))));
    t.equal(refusal.code, 'INTERSECTING_START');
    t.match(refusal.pairs[0], { kind: 'EDGE_EDGE' });
  },
);

t.test('STATE tests the path of rods and particles, which states cannot judge', async (t) => {
  const crossed = await runJob(rods(0.5, 1), fakeEngine(stepping(4)));
  t.ok(crossed.answer.report.verification.fellBack);
  t.equal(mapZ(crossed.answer.positions, 2), 0.25);
  t.equal(crossed.findings[0]?.kind, 'PATH');
  const apart = await runJob(rods(0.5, 0.25), fakeEngine(stepping(4)));
  t.notOk(apart.answer.report.verification.fellBack);

  const particles: ResolveRequest = {
    mesh: { vertexCount: 2, particles: Uint32Array.of(0, 1) },
    start: Float32Array.of(0, 0, 0, 1, 0, 0),
    target: Float32Array.of(2, 0, 0, 1, 0, 0),
    parameters: {},
  };
  const swapped = await runJob(particles, fakeEngine(stepping(1)));
  t.same(swapped.answer.positions, particles.start);
});

t.test('a coordinate that is not finite is never sent, verified or not', async (t) => {
  const broken = fakeEngine((step) => {
    const x = step.x.map((value, i) => (i === 11 ? Number.NaN : value));
    step.onState?.(x);
    return resolution(step, x, 'CONVERGED', 1);
  });
  for (const verify of ['STATE', 'NONE'] as const) {
    const request = { ...spike(1, 0.5), parameters: { verify } };
    const { answer, findings } = await runJob(request, broken, { allowUnverified: true });
    t.same(answer.positions, request.start);
    t.ok(answer.report.verification.fellBack);
    t.equal(findings[0]?.kind, 'NOT_FINITE');
  }
});

t.test('the last state of an engine is tested even if the engine did not report it', async (t) => {
  const silent = fakeEngine((step) => resolution(step, step.y.slice(), 'CONVERGED', 1));
  t.match(await runJob({ ...spike(0.25, 4), parameters: { verify: 'PATH' } }, silent), {
    answer: { report: { verification: { fellBack: true } } },
  });
  const free = spike(1, 0.5);
  t.same((await runJob(free, silent)).answer.positions, free.target);
});

t.test('NONE tests nothing, if it is allowed', async (t) => {
  const request = { ...spike(0.25, 0.4), parameters: { verify: 'NONE' as const } };
  const { answer, findings } = await runJob(request, fakeEngine(stepping(4)), { allowUnverified: true });
  t.same(answer.positions, request.target);
  t.match(answer.report.verification, { performed: 'NONE', pairsTested: 0, fellBack: false });
  t.same(findings, []);
});

t.test('the engine runs even if the start equals the target', async (t) => {
  const request = spike(1, 0);
  const engine = fakeEngine((step) => resolution(step, step.x.slice(), 'CONVERGED', 0));
  const { answer } = await runJob(request, engine);
  t.equal(engine.opened.length, 1);
  t.same(answer.positions, request.start);
  t.equal(answer.report.verification.performed, 'STATE');
});

t.test('minDistance is present if a pair is near', async (t) => {
  const near = await runJob(spike(0.25, 0.125), fakeEngine(stepping(1)));
  t.equal(near.answer.report.minDistance, 0.125);
  const far = await runJob(spike(5, 1), fakeEngine(stepping(1)));
  t.notOk('minDistance' in far.answer.report);
});

t.test('contacts within the requested distance are reported', async (t) => {
  const request = spike(0.25, 0.1875);
  const count = async (include: ResolveRequest['include']) =>
    (await runJob({ ...request, ...(include ? { include } : {}) }, fakeEngine(stepping(1)))).answer.contacts?.distances;
  t.equal(await count(undefined), undefined);
  const byDefault = await count({ contacts: true });
  t.ok(byDefault?.includes(0.0625), 'the tip over the floor is within 2 δ, about 0.2');
  t.same(await count({ contacts: true, contactDistance: 0.0624 }), new Float32Array(0));
  const { answer } = await runJob({ ...request, include: { contactDistance: 1 } }, fakeEngine(stepping(1)));
  t.match(
    answer.report.warnings.filter(({ code }) => code === 'PARAMETER_WITHOUT_EFFECT'),
    [{ message: /contactDistance has no effect/ }],
    'a distance without contacts is not ignored silently',
  );
});

t.test('ignored pairs of parts are named in every report', async (t) => {
  const base = spike(0.25, 0.4);
  const parts = [
    { name: 'floor', firstVertex: 0, vertexCount: 3 },
    { name: 'spike', firstVertex: 3, vertexCount: 3 },
  ];
  const request = { ...base, mesh: { ...base.mesh, parts, ignoredPartPairs: Uint32Array.of(0, 1) } };
  const { answer } = await runJob(request, fakeEngine(stepping(4)));
  t.same(answer.positions, request.target, 'they may cross');
  const warning = answer.report.warnings.find(({ code }) => code === 'IGNORED_PART_PAIRS');
  t.match(warning, { count: 1, message: /floor with spike/ });
});

t.test('warnings of mesh, measures and parameters reach the report', async (t) => {
  const base = spike(1, 0.5);
  const pad = (positions: Float32Array | Float64Array) => Float32Array.of(...positions, 9, 9, 9);
  const request = {
    mesh: { ...base.mesh, vertexCount: 7 },
    start: pad(base.start),
    target: pad(base.target),
    parameters: { activationDistance: 0.7 },
  };
  const { answer } = await runJob(request, fakeEngine(stepping(1)));
  const codes = answer.report.warnings.map(({ code }) => code);
  t.ok(codes.includes('UNUSED_VERTICES'));
  t.ok(codes.includes('DELTA_ABOVE_HALF_EDGE'));
});

t.test('progress is passed on', async (t) => {
  const steps: number[] = [];
  await runJob(spike(1, 0.5), fakeEngine(stepping(3)), { onProgress: (progress) => steps.push(progress.steps) });
  t.same(steps, [1, 2, 3]);
});

t.test('a caller who goes away gets CANCELLED, and the scene is closed', async (t) => {
  let isGone = false;
  const engine = fakeEngine((step) => {
    isGone = true;
    return stepping(10)(step, { mesh: undefined as never });
  });
  const error = await refusalOf(runJob(spike(1, 0.5), engine, { isCancelled: () => isGone }));
  t.equal(error.code, 'CANCELLED');
  t.ok(engine.opened[0]?.closed);
  const before = fakeEngine(stepping(1));
  t.equal((await refusalOf(runJob(spike(1, 0.5), before, { isCancelled: () => true }))).code, 'CANCELLED');
  t.same(before.opened, []);
});

t.test('an engine that throws closes its scene and keeps its error', async (t) => {
  const engine = fakeEngine(() => {
    throw new Error('boom');
  });
  await t.rejects(runJob(spike(1, 0.5), engine), { message: 'boom' });
  t.ok(engine.opened[0]?.closed);
});
