import t from 'tap';
import { SCENES } from '../../examples/scenes/index.js';
import type { Positions } from '../../src/contract/mesh.js';
import type { Parameters, ParametersInput } from '../../src/contract/parameters.js';
import type { Status } from '../../src/contract/report.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { warnOfOverlong } from '../../src/jobs/fidelity.js';
import { warnOfStrained } from '../../src/jobs/strained-elements.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { fakeEngine, resolution } from '../support/fake-engine.js';
import { runJob, spike } from '../support/job.js';

/** A body moves into a sleeve: Algorithm 1 brings it to its target, then the pull-back begins. */
function sleeve(parameters: ParametersInput): ResolveRequest {
  const scene = SCENES.sleeve(undefined);
  const { vertexCount, triangles, kinematicFrom } = scene;
  const kinematic = Uint8Array.from({ length: vertexCount }, (_, v) => (v < kinematicFrom ? 0 : 1));
  return {
    mesh: { vertexCount, triangles, kinematic },
    start: Float64Array.from(scene.start),
    target: Float64Array.from(scene.target),
    parameters: { ...scene.parameters, ...parameters },
  };
}

function distancesOf({ mesh: { kinematic, vertexCount } }: ResolveRequest, x: Positions, target: Positions) {
  const squares: number[] = [];
  for (let v = 0; v < vertexCount; v++) {
    if (kinematic?.[v]) continue;
    squares.push([0, 1, 2].reduce((sum, c) => sum + (x[3 * v + c]! - target[3 * v + c]!) ** 2, 0));
  }
  const sum = squares.reduce((a, b) => a + b, 0);
  return { rms: Math.sqrt(sum / squares.length), max: Math.sqrt(Math.max(...squares)) };
}

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

t.test('the report states the gain of the pull-back since the state in which Algorithm 1 ended', async (t) => {
  const request = sleeve({ quality: 'BALANCED' });
  // The start comes first.
  const states: Positions[] = [];
  const { answer } = await runJob(request, createCpuEngine(), { onState: (x) => states.push(x.slice()) });
  const { report } = answer;
  const { steps, before, after } = report.pullBack!;
  t.ok(steps > 0 && steps < report.steps, `${steps} of ${report.steps} steps`);
  // Every step of Algorithm 1 tells its state.
  const handover = distancesOf(request, states[report.steps - steps]!, request.target);
  t.ok(near(before.distanceToTargetRms, handover.rms));
  t.ok(near(before.distanceToTargetMax, handover.max));
  const end = distancesOf(request, answer.positions, request.target);
  t.ok(near(after.distanceToTargetRms, end.rms) && near(after.distanceToTargetMax, end.max));
  t.ok(before.overlongEdges > 0 && after.overlongEdges === 0, `${before.overlongEdges} → ${after.overlongEdges}`);
  t.match(report, { overlongEdges: 0, distanceToTargetRms: after.distanceToTargetRms });
  t.notOk('worstEdge' in report);
  t.notOk(report.warnings.some(({ code }) => code === 'OVERLONG_EDGES'));
});

t.test('without a pull-back the report omits it but still counts overlong edges', async (t) => {
  const { report } = (await runJob(sleeve({ quality: 'FAST' }), createCpuEngine())).answer;
  t.notOk('pullBack' in report);
  t.ok(report.overlongEdges > 0);
  const { a, b, stretch } = report.worstEdge!;
  t.equal(stretch, report.maxStretch);
  t.match(
    report.warnings.find(({ code }) => code === 'OVERLONG_EDGES'),
    {
      count: report.overlongEdges,
      element: { kind: 'edge', vertices: [a, b] },
      message: /Qualities BALANCED and FINE/,
    },
  );
  const off = (await runJob(sleeve({ quality: 'FAST', stretchLimit: 0 }), createCpuEngine())).answer.report;
  t.equal(off.overlongEdges, 0, 'no limit');
  const ended = (await runJob(sleeve({ quality: 'BALANCED', stepLimit: 2 }), createCpuEngine())).answer.report;
  t.equal(ended.status, 'STEP_LIMIT');
  t.notOk('pullBack' in ended, 'the phase was not reached');
});

t.test('a run that has ended early says so instead of blaming contacts for what is out of its limits', async (t) => {
  const { report } = (await runJob(sleeve({ quality: 'BALANCED', stepLimit: 12 }), createCpuEngine())).answer;
  t.equal(report.status, 'STEP_LIMIT');
  t.ok(report.overlongEdges > 0, `${report.overlongEdges} overlong edges`);
  const { message } = report.warnings.find(({ code }) => code === 'OVERLONG_EDGES')!;
  t.match(message, /ended early \(STEP_LIMIT\)/);
  t.notMatch(message, /Contacts/);

  const worst = { a: 0, b: 1, stretch: 2 };
  const parameters = { stretchLimit: 1.1, quality: 'BALANCED', method: 'TWO_WAY' } as Parameters;
  const words = (status: Status) => {
    const [edges] = warnOfOverlong({ count: 1, worst, worstIndex: 0 }, parameters, { hasRest: false, status });
    const element = { kind: 'triangle', index: 0, vertices: [0, 1, 2] } as const;
    const strain = { violated: 1, inverted: 0, min: 1, max: 2, worst: { element, strain: 2, limit: 1.1 } };
    const [elements] = warnOfStrained(strain, parameters, status);
    return [edges!.message, elements!.message];
  };
  for (const status of ['CONVERGED', 'STALLED'] as const) for (const each of words(status)) t.match(each, /Contacts/);
  for (const each of words('DEADLINE')) t.match(each, /ended early \(DEADLINE\).*allow more time/);
});

t.test('both states are measured against the target of the caller, even if the engine had a nearer one', async (t) => {
  // A float64 target so far out that the engine gets a cut one.
  const base = spike(1, 0.5);
  const start = Float64Array.from(base.start);
  const target = start.map((x, i) => (i >= 9 && i % 3 === 2 ? x + 1e9 : x));
  const engine = fakeEngine((step) => ({
    ...resolution(step, step.y.slice(), 'CONVERGED', 3),
    pullBack: { steps: 2, before: step.x.slice() },
  }));
  const { report } = (await runJob({ ...base, start, target, parameters: {} }, engine)).answer;
  t.ok(report.warnings.some(({ code }) => code === 'TARGET_OUT_OF_RANGE'));
  const { before, after } = report.pullBack!;
  t.ok(near(before.distanceToTargetMax, 1e9));
  t.ok(after.distanceToTargetMax > 0.9e9 && after.distanceToTargetMax < before.distanceToTargetMax);
});
