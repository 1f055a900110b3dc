import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { openEngine } from '../../src/jobs/engines.js';
import { CASES, stackSwap } from '../solver/cases.js';
import { runJob } from '../support/job.js';

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
  await t.rejects(runJob(requestOf(scene, { preset: 'PAPER' }), engine), {
    code: 'INVALID_PARAMETER',
    message: /PAPER/,
  });
});
