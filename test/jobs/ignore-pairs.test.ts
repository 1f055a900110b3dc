import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { fakeEngine, resolution } from '../support/fake-engine.js';
import { refusalOf, rods, runJob, spike } from '../support/job.js';
import { SceneBuilder } from '../support/scene-builder.js';
import { DirectSession } from '../support/scenes.js';

const IGNORE: ParametersInput = { onIntersectingStart: 'IGNORE_PAIRS' };

/** The spike's two edges at its tip pierce the floor; sent up by `travel`. */
const pierced = (depth: number, travel: number, parameters = IGNORE) => ({ ...spike(-depth, -travel), parameters });
const at = (height: number) => spike(height, 0).start;

/** A floor, a spike that is through it, and a spike that stands above it and is sent through. */
function twoSpikes(parameters: ParametersInput) {
  const floor = [-2, -2, 0, 4, -2, 0, -2, 4, 0];
  const needle = (x: number, z: number) => [x, 0, z, x, 0.2, z + 1, x + 0.2, 0, z + 1];
  return {
    mesh: { vertexCount: 9, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8) },
    start: Float32Array.from([...floor, ...needle(0, -0.3), ...needle(1, 0.3)]),
    target: Float32Array.from([...floor, ...needle(0, 0.5), ...needle(1, -0.5)]),
    parameters,
  };
}

t.test('an intersecting start is accepted on request, and its pairs can part', async (t) => {
  const refused = await refusalOf(runJob(pierced(0.2, 0.7, {}), createCpuEngine()));
  t.match(refused, { code: 'INTERSECTING_START', pairCount: 2 });
  const { answer, findings } = await runJob(pierced(0.2, 0.7), createCpuEngine());
  t.same(findings, []);
  t.same(answer.positions, pierced(0.2, 0.7).target);
  const { report } = answer;
  t.match(report, { status: 'CONVERGED', verification: { performed: 'STATE', intersections: 0, fellBack: false } });
  t.same(report.ignoredPairs, refused.pairs, 'what intersects is named');
  t.equal(report.ignoredPairCount, 6, 'with two edges at the tip every pair of the two triangles is concerned');
  t.match(
    report.warnings.find(({ code }) => code === 'IGNORED_PAIRS'),
    { count: 6, message: /^2 pairs of elements intersect in the start/ },
  );
});

t.test('the report counts and names the pairs that still intersect in the answer', async (t) => {
  // Drawn out by half of its depth, and then all the way.
  const { answer } = await runJob(pierced(0.2, 0.1), createCpuEngine());
  const { report } = answer;
  t.equal(report.verification.intersections, 0, 'of the pairs that were not ignored');
  t.equal(report.intersectingPairCount, 2);
  const found = findIntersections(buildMesh(pierced(0.2, 0.1).mesh), answer.positions, {
    kinematicPairs: 'SKIP',
    maxPairs: 9,
  });
  t.same(report.intersectingPairs, found.intersections, 'those that a test without exceptions finds');
  t.match(
    report.warnings.find(({ code }) => code === 'STILL_INTERSECTING'),
    { count: 2, message: /^2 ignored pairs of elements intersect in the answer/ },
  );
  const { report: free } = (await runJob(pierced(0.2, 0.7), createCpuEngine())).answer;
  t.match(free, { intersectingPairCount: 0, intersectingPairs: [] });
  t.notOk(free.warnings.some(({ code }) => code === 'STILL_INTERSECTING'));
  const { report: stays } = (await runJob(pierced(0.2, 0), createCpuEngine())).answer;
  t.equal(stays.intersectingPairCount, 2, 'an answer that is the start');
});

t.test('a free start excludes nothing', async (t) => {
  const { answer } = await runJob({ ...spike(0.5, 1), parameters: IGNORE }, createCpuEngine());
  t.match(answer.report, { ignoredPairCount: 0, ignoredPairs: [], intersectingPairCount: 0 });
  t.notOk(answer.report.warnings.some(({ code }) => code === 'IGNORED_PAIRS'));
  t.ok(answer.positions[11]! > -0.5, 'the tip is stopped');
});

for (const verify of ['STATE', 'PATH'] as const) {
  t.test(`${verify}: all other pairs are kept apart`, async (t) => {
    const { answer, findings } = await runJob(twoSpikes({ ...IGNORE, verify, stretchLimit: 0 }), createCpuEngine());
    t.same(findings, []);
    t.equal(answer.positions[3 * 3 + 2], 0.5, 'the spike that was through the floor is out');
    const floor = [0, 1, 2].map((v) => answer.positions[3 * v + 2]!);
    t.ok(answer.positions[3 * 6 + 2]! > Math.min(...floor), 'the other one is still above it');
    t.match(answer.report.verification, { performed: verify, fellBack: false });
  });

  t.test(`${verify}: an engine that lets another pair pass is caught`, async (t) => {
    const request = twoSpikes({ ...IGNORE, verify });
    const blind = fakeEngine((step) => resolution(step, step.y.slice(), 'CONVERGED', 1));
    const { answer, findings } = await runJob(request, blind);
    t.equal(findings.length, 1);
    t.match(answer.report.verification, { fellBack: true, intersections: 0 });
    t.same(answer.positions, request.start, 'the start, with the pairs that were excluded');
  });
}

t.test('the engine gets the excluded pairs, or no list if there are none', async (t) => {
  const told: (number | undefined)[] = [];
  const engine = fakeEngine((step) => {
    told.push(step.excluded && [...step.excluded.proximityPairs!()].length);
    return resolution(step, step.x.slice(), 'STALLED', 1);
  });
  await runJob(pierced(0.2, 0.1), engine);
  await runJob({ ...spike(0.5, 0), parameters: IGNORE }, engine);
  t.same(told, [9, undefined], 'three vertices against the floor, two edges against its three sides');
});

t.test('rods that cross exactly are excluded, at both levels of verification', async (t) => {
  for (const verify of ['STATE', 'PATH'] as const) {
    const request = { ...rods(0, -0.5), parameters: { ...IGNORE, verify, activationDistance: 0.1 } };
    const { answer, findings } = await runJob(request, createCpuEngine());
    t.same(findings, []);
    t.same(answer.positions, request.target);
    t.equal(answer.report.ignoredPairCount, 1);
    t.match(answer.report.ignoredPairs, [{ kind: 'EDGE_EDGE', a: [0, 1], b: [2, 3] }]);
  }
});

t.test('a session: pairs that have parted are protected from the next step on', async (t) => {
  const session = new DirectSession(pierced(0.2, 0), createCpuEngine());
  const opened = await session.open(IGNORE);
  t.ok(opened.warnings.some(({ code }) => code === 'IGNORED_PAIRS'));
  const still = await session.step(at(-0.1), { parameters: IGNORE });
  t.equal(still.report.ignoredPairCount, 6);
  t.same(still.positions, at(-0.1));
  const out = await session.step(at(0.5), { parameters: IGNORE });
  t.equal(out.report.ignoredPairCount, 6, 'excluded for the whole step in which they part');
  t.same(out.positions, at(0.5));
  const back = await session.step(at(-0.5), { parameters: IGNORE });
  t.match(back.report, { ignoredPairCount: 0 });
  t.notSame(back.positions, at(-0.5));
  t.equal((await session.step(at(0.5))).report.verification.intersections, 0, 'and REJECT is content');
});

t.test('a session: pairs that have parted by less than the floor stay excluded', async (t) => {
  const session = new DirectSession(pierced(0.2, 0), createCpuEngine());
  const { resolved } = await session.open(IGNORE);
  const floor = resolved.activationDistance / 100;
  const hair = at(0.5 * floor);
  t.same((await session.step(hair, { parameters: IGNORE })).positions, hair);
  const near = await session.step(at(2 * floor), { parameters: IGNORE });
  t.equal(near.report.ignoredPairCount, 6, 'nothing intersects any more, but it is too close');
  t.equal((await session.step(at(0.3), { parameters: IGNORE })).report.ignoredPairCount, 0);
});

t.test('a session: REJECT refuses pairs that were excluded, and changes nothing', async (t) => {
  const session = new DirectSession(pierced(0.2, 0), createCpuEngine());
  await session.open(IGNORE);
  await session.step(at(-0.1), { parameters: IGNORE });
  const refused = await refusalOf(session.step(at(0.5)));
  t.match(refused, { code: 'INTERSECTING_START', pairCount: 2 });
  t.same((await session.step(at(0.5), { parameters: IGNORE })).positions, at(0.5));
});

t.test('a session: a start that the caller sends is tested again', async (t) => {
  const session = new DirectSession(spike(0.5, 0), createCpuEngine());
  await session.open(IGNORE);
  const { report } = await session.step(at(0.5), { start: at(-0.2), parameters: IGNORE });
  t.equal(report.ignoredPairCount, 6);
  const free = await session.step(at(0.4), { start: at(0.5), parameters: IGNORE });
  t.equal(free.report.ignoredPairCount, 0);
});

t.test('a session: the proximity set is kept while the same pairs are excluded', async (t) => {
  const session = new DirectSession(pierced(0.2, 0), createCpuEngine());
  await session.open(IGNORE);
  await session.step(at(-0.19), { parameters: IGNORE });
  t.ok((await session.step(at(-0.185), { parameters: IGNORE })).report.proximitySetReused);
  await session.step(at(0.3), { parameters: IGNORE });
  t.notOk((await session.step(at(0.299), { parameters: IGNORE })).report.proximitySetReused, 'pairs were put back');
});

t.test('a session: a sheet that intersects another one is separated over the steps', async (t) => {
  const scene = new SceneBuilder();
  scene.sheet(6, (u, v) => ({ at: [6 * u, 6 * v, 0], to: [6 * u, 6 * v, 0] }), true);
  const stuck = (u: number, v: number, z: number) => [1.1 + 3.7 * u, 2.9 + 0.2 * u, 3.7 * v + z] as const;
  scene.sheet(4, (u, v) => ({ at: stuck(u, v, -1.3), to: stuck(u, v, 0.4) }));
  const { mesh, start, target } = scene.build();
  const session = new DirectSession({ mesh, start }, createCpuEngine());
  await session.open(IGNORE);
  const counts: number[] = [];
  for (let step = 0; step < 12 && counts.at(-1) !== 0; step++) {
    counts.push((await session.step(target, { parameters: IGNORE })).report.ignoredPairCount);
  }
  t.ok(counts[0]! > 0);
  t.equal(counts.at(-1), 0, `${counts} pairs were excluded, step by step`);
  t.same(session.findings, []);
  t.same((await session.step(target)).positions, target, 'it is where it should be, and REJECT has nothing to say');
});
