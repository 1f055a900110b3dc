import t from 'tap';
import { PATH_PHASES, type Path } from '../../src/contract/path.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { testPath } from '../../src/verify/path.js';
import { fakeEngine, stepping } from '../support/fake-engine.js';
import { LIMITS, refusalOf, runJob, spike } from '../support/job.js';

const asking = (request: ResolveRequest, more: object = {}): ResolveRequest => ({
  ...request,
  include: { path: true, ...more },
});
const stateOf = ({ positions, phases }: Path, n: number) => {
  const length = positions.length / phases.length;
  return positions.slice(n * length, (n + 1) * length);
};
const phasesOf = ({ phases }: Path) => Array.from(phases, (phase) => PATH_PHASES[phase]);

t.test('a path leads from the start to the answer, in the numbers of both', async (t) => {
  const request = asking(spike(1, 1.5));
  const { answer } = await runJob(request, createCpuEngine());
  const { path } = answer;
  if (!path) return t.fail('there is a path');
  t.same(stateOf(path, 0), request.start);
  t.same(stateOf(path, path.phases.length - 1), answer.positions);
  t.equal(path.steps[0], 0);
  t.equal(path.steps.length, path.phases.length);
  // A step of the pull-back may have several pieces.
  const phases = phasesOf(path);
  for (let n = 1; n < path.steps.length; n++) {
    const isSame = phases[n] === 'PULL_BACK' && phases[n - 1] === 'PULL_BACK' && path.steps[n] === path.steps[n - 1];
    t.ok(isSame || path.steps[n]! > path.steps[n - 1]!, 'steps ascend');
  }
  t.ok(path.steps.at(-1)! <= answer.report.steps);
  t.equal(phases[0], 'START');
  t.ok(
    phases
      .slice(1)
      .every((phase) => ['RIGID', 'FLIGHT', 'FORWARD', 'ARRIVAL', 'PULL_BACK', 'SHORTENING'].includes(phase!)),
  );

  const mesh = buildMesh(request.mesh, LIMITS);
  const rules = { kinematicPairs: 'SKIP', maxPairs: 1, countsKinematic: false } as const;
  for (let n = 1; n < path.phases.length; n++) {
    t.ok(testPath(mesh, stateOf(path, n - 1), stateOf(path, n), rules).pathFree, `piece ${n} is free`);
  }
  t.notOk('path' in (await runJob(spike(1, 1.5), createCpuEngine())).answer, 'nobody asked');
});

t.test('requesting the path changes no bit of the answer', async (t) => {
  const plain = await runJob(spike(1, 1.5), createCpuEngine());
  const told = await runJob(asking(spike(1, 1.5)), createCpuEngine());
  t.same(told.answer.positions, plain.answer.positions);
  t.equal(told.answer.report.steps, plain.answer.report.steps);
});

t.test('withdrawn states do not belong to the path', async (t) => {
  const { answer } = await runJob(asking(spike(0.25, 0.4)), fakeEngine(stepping(4)));
  t.equal(answer.path?.phases.length, 3, 'two of four steps intersect');
  t.same(stateOf(answer.path!, 2), answer.positions);
});

t.test('a start in doubles gives a path in doubles, so that no state is rounded', async (t) => {
  const wide = { ...spike(1, 0.5), start: Float64Array.from(spike(1, 0.5).start, (x) => x + 1e-12) };
  const { answer } = await runJob(asking(wide), fakeEngine(stepping(2)));
  t.ok(answer.positions instanceof Float32Array);
  t.ok(answer.path?.positions instanceof Float64Array);
  t.same(stateOf(answer.path!, 0), wide.start);
  t.same(stateOf(answer.path!, 2), Float64Array.from(answer.positions));

  const still = await runJob(asking({ ...wide, target: spike(1, 0).target }), fakeEngine(stepping(0)));
  t.same(
    phasesOf(still.answer.path!),
    ['START', 'ROUNDED'],
    'the start, rounded for the answer, is a state of its own',
  );
});

t.test('a path beyond the limit is refused, and its memory is counted and freed', async (t) => {
  let taken = 0;
  let most = 0;
  const memory = {
    take: (bytes: number) => {
      taken += bytes;
      most = Math.max(most, taken);
    },
    give: (bytes: number) => {
      taken -= bytes;
    },
  };
  const stateBytes = 6 * 3 * 4;
  const limits = { ...LIMITS, maxMessageBytes: 3 * stateBytes };
  const fits = await runJob(asking(spike(1, 0.5)), fakeEngine(stepping(2)), { limits, memory });
  t.equal(fits.answer.path?.phases.length, 3);
  t.equal(taken, 0);
  t.equal(most, 6 * stateBytes, 'the states, and the path that is made of them');

  const refused = await refusalOf(runJob(asking(spike(1, 0.5)), fakeEngine(stepping(3)), { limits, memory }));
  t.equal(refused.code, 'TOO_LARGE');
  t.match(refused.message, /4 states or more of 72 bytes each; an answer may take 216 bytes/);
  t.match(refused.hint, /stepLimit/);
  t.equal(taken, 0);
});
