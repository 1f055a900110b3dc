import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { HOLDS } from '../../src/contract/path.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { openEngine } from '../../src/jobs/engines.js';
import type { EnginePositions } from '../../src/solver/engine.js';
import { CASES, stackSwap } from '../solver/cases.js';
import { between, fakeEngine, resolution } from '../support/fake-engine.js';
import { runJob, spike } from '../support/job.js';

const requestOf = (
  { mesh, start, target }: Pick<ResolveRequest, 'mesh' | 'start' | 'target'>,
  parameters: ParametersInput = {},
): ResolveRequest => ({ mesh, start, target, parameters: { method: 'VOLUME_IMPULSES', ...parameters } });

const codesOf = (warnings: readonly { readonly code: string }[]) => warnings.map(({ code }) => code);

t.test('the engine cpu has both methods, and each request gets its own', async (t) => {
  const engine = await openEngine({ engine: 'cpu' });
  t.same(engine.description.methods, ['TWO_WAY', 'VOLUME_IMPULSES']);
  const scene = stackSwap(6).build();
  for (const verify of ['STATE', 'PATH'] as const) {
    const { report } = (await runJob(requestOf(scene, { verify }), engine)).answer;
    t.match(report, { resolved: { method: 'VOLUME_IMPULSES', quality: 'FAST' }, impulses: { motionShare: 1 } });
    t.match(report.verification, { performed: verify, intersections: 0, fellBack: false });
    t.notOk('pullBack' in report);
    t.notOk(codesOf(report.warnings).includes('PARAMETER_WITHOUT_EFFECT'));
  }
  const { report } = (await runJob(requestOf(scene, { method: 'TWO_WAY' }), engine)).answer;
  t.match(report, { resolved: { method: 'TWO_WAY', quality: 'BALANCED' } });
  t.notOk('impulses' in report);
});

t.test('a failure has a warning, the status STALLED, and the remaining pairs', async (t) => {
  const rods = CASES.find(({ name }) => name === 'parallel rods')!;
  const { report } = (await runJob(requestOf(rods), await openEngine({ engine: 'cpu' }))).answer;
  t.equal(report.status, 'STALLED');
  const { motionShare, remainingPairs } = report.impulses!;
  t.ok(motionShare < 1 && remainingPairs > 0);
  const [warning] = report.warnings.filter(({ code }) => code === 'COLLISIONS_REMAIN');
  t.equal(warning?.count, remainingPairs);
  t.match(warning?.message, `${remainingPairs} pairs still collide`);
  t.ok(report.limitingPairs.length > 0);
  t.equal(report.verification.intersections, 0);
});

t.test('where the last search ended at its limit, more pairs may remain than are told', async (t) => {
  const point = CASES.find(({ name }) => name === 'all targets in one point')!;
  const { report } = (await runJob(requestOf(point), await openEngine({ engine: 'cpu' }))).answer;
  const { remainingPairs } = report.impulses!;
  t.notOk('hasMore' in report.impulses!);
  const [warning] = report.warnings.filter(({ code }) => code === 'COLLISIONS_REMAIN');
  t.match(warning?.message, `at least ${remainingPairs} pairs still collide`);
});

t.test('parameters of the other method are named, and its preset is refused', async (t) => {
  const engine = await openEngine({ engine: 'cpu' });
  const scene = stackSwap(4).build();
  const { report } = (await runJob(requestOf(scene, { damping: 0.5, quality: 'FINE' }), engine)).answer;
  const without = report.warnings.filter(({ code }) => code === 'PARAMETER_WITHOUT_EFFECT');
  t.same(
    without.map(({ message }) => message.split(' ')[0]),
    ['damping', 'quality'],
  );
  const sentBack = (await runJob(requestOf(scene, { ...report.resolved, damping: 0.9, quality: 'FAST' }), engine))
    .answer;
  t.same(codesOf(sentBack.report.warnings), [], 'what a report says was in use is accepted');
  const { vertexCount } = scene.mesh;
  const part = {
    name: 'all',
    firstVertex: 0,
    vertexCount,
    kinematic: false,
    activationDistance: 2e-4,
    contactOffset: 1e-5,
  };
  const strainLimits = { rest: scene.start, max: 1.001 };
  const mesh = { ...scene.mesh, parts: [part], strainLimits };
  const { warnings } = (await runJob(requestOf({ ...scene, mesh }), engine)).answer.report;
  const messages = warnings.map(({ code, message }) => `${code} ${message}`);
  for (const name of ['activationDistance', 'contactOffset'])
    t.ok(
      messages.includes(`PARAMETER_WITHOUT_EFFECT The ${name} of 1 part has no effect under method VOLUME_IMPULSES.`),
    );
  const strained = messages.find((message) => message.startsWith('STRAINED_ELEMENTS'));
  t.match(strained, /Volume-preserving impulses do not limit strains; method TWO_WAY does\.$/);
  await t.rejects(runJob(requestOf(scene, { preset: 'PAPER' }), engine), {
    code: 'INVALID_PARAMETER',
    message: /PAPER/,
  });
});

t.test('the share of the motion is that of the state that is sent, also after a fall-back', async (t) => {
  const figures = { rounds: 4, newtonIterations: 1, solverIterations: 1, volumes: 1 };
  // The spike reaches the triangle after two thirds of its way.
  for (const [shares, sent, remainingPairs] of [
    [[0.25, 0.5, 0.75, 1], 0.5, 0],
    [[0.25, 0.5, 0.75], 0.5, 3],
    [[0.75, 1], 0, 0],
  ] as const) {
    const engine = fakeEngine((step) => {
      let last: EnginePositions = step.x.slice();
      shares.forEach((share, k) => {
        last = between(step.x, step.y, share);
        step.onState?.(last, { phase: 'IMPULSES', step: k + 1 });
      });
      const motionShare = shares.at(-1)!;
      const status = motionShare === 1 ? 'CONVERGED' : 'STALLED';
      const impulses = { ...figures, motionShare, shares, remainingPairs };
      return { ...resolution(step, last, status, shares.length), impulses };
    });
    const request = { ...spike(1, 1.5), include: { vertices: true, reasons: true } };
    const { report, positions, reasons, vertices } = (await runJob(request, engine)).answer;
    t.same(positions, between(request.start as Float32Array, request.target as Float32Array, sent));
    t.match(report, { status: 'STALLED', verification: { fellBack: true }, residual: 1, unfinishedVertices: 3 });
    t.same(report.impulses, { ...figures, motionShare: sent, remainingPairs });
    t.same([...vertices!.residual], [0, 0, 0, 1, 1, 1]);
    const holds = Array.from(reasons!.holds, (hold) => HOLDS[hold]);
    t.same(holds.slice(3), sent > 0 ? holds.slice(3) : ['BOX', 'BOX', 'BOX'], 'it wanted to move, and did not');
    t.notOk(holds.includes('SETTLED'));
    const messages = report.warnings.filter(({ code }) => code === 'COLLISIONS_REMAIN').map(({ message }) => message);
    t.equal(messages.length, remainingPairs > 0 ? 1 : 0, 'pairs collide only if the method has failed');
    for (const message of messages) t.match(message, /the answer has made 50\.0 % of the motion/);
  }
});
