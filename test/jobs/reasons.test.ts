import t from 'tap';
import { HOLDS, type Reasons } from '../../src/contract/path.js';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { NO_PAIR } from '../../src/jobs/reasons.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { between, fakeEngine, resolution, stepping } from '../support/fake-engine.js';
import { spike as freeSpike, runJob } from '../support/job.js';

/** The triangle below the spike stays where it is. */
const spike = (height: number, travel: number): ResolveRequest => {
  const request = freeSpike(height, travel);
  return { ...request, mesh: { ...request.mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0) } };
};

const asking = (request: ResolveRequest, parameters: ResolveRequest['parameters'] = {}): ResolveRequest => ({
  ...request,
  parameters: { ...request.parameters, ...parameters },
  include: { reasons: true, contacts: true },
});

async function reasonsOf(request: ResolveRequest, engine = createCpuEngine()) {
  const { answer } = await runJob(request, engine);
  if (!answer.reasons) throw new Error('There are no reasons.');
  return { answer, reasons: answer.reasons };
}

const holdOf = ({ holds }: Reasons, v: number) => HOLDS[holds[v]!];
const pairOf = ({ pairs, kinds, vertices, normals, distances, since }: Reasons, v: number) => {
  const p = pairs[v]!;
  return {
    kind: kinds[p],
    vertices: Array.from(vertices.subarray(4 * p, 4 * p + 4)),
    normal: Array.from(normals.subarray(3 * p, 3 * p + 3)),
    distance: distances[p],
    since: since[v],
  };
};

for (const quality of ['FAST', 'BALANCED'] as const) {
  t.test(`${quality}: a spike that a triangle stops is held by that contact`, async (t) => {
    const { answer, reasons } = await reasonsOf(asking(spike(1, 1.5), { quality }));
    t.equal(holdOf(reasons, 3), 'CONTACT', 'the tip');
    const pair = pairOf(reasons, 3);
    t.match(pair, { kind: 1, vertices: [3, 0, 1, 2] });
    t.ok(pair.normal[2]! > 0.9, 'from the triangle to the tip');
    const gap = answer.positions[3 * 3 + 2]! - answer.positions[2]!;
    t.ok(Math.abs(pair.distance! - gap) < 1e-2, `${pair.distance} is the gap, about ${gap}`);
    t.ok(pair.since! > 0 && pair.since! <= answer.report.steps, `since step ${pair.since} of ${answer.report.steps}`);
    t.ok(reasons.pairs.every((p) => p === NO_PAIR || p < reasons.kinds.length));
  });
}

t.test('a vertex at its target has the reason that it has reached it', async (t) => {
  const { reasons } = await reasonsOf(asking(spike(1, 0.5)));
  t.ok(reasons.holds.every((hold) => HOLDS[hold] === 'REACHED'));
  t.ok(reasons.pairs.every((p) => p === NO_PAIR));
  t.equal(reasons.kinds.length, 0);
});

t.test('an edge at its limit holds the end whose motion would lengthen it', async (t) => {
  const start = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 0, 9, 1, 0, 9);
  const target = start.map((x, i) => (i === 0 || i === 3 ? x + 5 : x));
  // Vertex 0 stays, and vertex 1 goes as far as the rod allows.
  const engine = fakeEngine((step) => {
    const x = step.x.slice();
    x[3] = x[0]! + 1.0999 * (x[3]! - x[0]!);
    return resolution(step, x, 'STALLED', 1);
  });
  const mesh = { vertexCount: 4, segments: Uint32Array.of(0, 1, 2, 3) };
  const { answer, reasons } = await reasonsOf(
    asking({ mesh, start, target, parameters: {} }, { stretchLimit: 1.1 }),
    engine,
  );
  t.equal(holdOf(reasons, 1), 'EDGE');
  t.match(pairOf(reasons, 1), { kind: 4, vertices: [0, 1, NO_PAIR, NO_PAIR], normal: [-1, 0, 0], since: 0 });
  t.ok(Math.abs(pairOf(reasons, 1).distance! - (answer.positions[3]! - answer.positions[0]!)) < 1e-6, 'its length');
  t.equal(holdOf(reasons, 0), 'BOX', 'the other end may go on, as far as the edge is concerned');
  t.equal(holdOf(reasons, 2), 'REACHED');
  const pulled = { mesh: { ...mesh, kinematic: Uint8Array.of(0, 1, 0, 0) }, start, target, parameters: {} };
  const ofPulled = await reasonsOf(asking(pulled, { stretchLimit: 1.1 }), engine);
  t.equal(holdOf(ofPulled.reasons, 1), 'BOX', 'an edge does not hold a kinematic vertex');
  const description = { ...engine.description, methods: ['TWO_WAY', 'VOLUME_IMPULSES'] } as const;
  const free = { mesh, start, target, parameters: { method: 'VOLUME_IMPULSES', stretchLimit: 1.1 } } as const;
  const ofFree = await reasonsOf(asking(free), { ...engine, description });
  t.same(ofFree.reasons.kinds, [], 'volume-preserving impulses limit no lengths');
  t.same(ofFree.answer.report.limitingEdges, []);
  t.equal(ofFree.answer.report.worstEdge, undefined, '1.0999 is within 1.1');
});

t.test(
  'a contact that holds a vertex is within the activation distance of its pair, not only of other parts',
  async (t) => {
    const { mesh, start, target } = freeSpike(0.3, 0.1);
    const x = Float32Array.of(...start, 9, 9, 9);
    const parts = [
      { name: 'mesh', firstVertex: 0, vertexCount: 6, kinematic: false },
      { name: 'grain', firstVertex: 6, vertexCount: 1, kinematic: false, activationDistance: 0.5 },
    ];
    const scene = { mesh: { ...mesh, vertexCount: 7, particles: Uint32Array.of(6), parts }, start: x };
    const stays = fakeEngine((step) => resolution(step, step.x.slice(), 'STALLED', 1));
    for (const [activationDistance, hold] of [
      [0.1, 'BOX'],
      [0.4, 'CONTACT'],
    ] as const) {
      const request = { ...scene, target: Float32Array.of(...target, 9, 9, 9), parameters: { activationDistance } };
      const { reasons } = await reasonsOf(asking(request), stays);
      t.equal(holdOf(reasons, 3), hold, `δ ${activationDistance}, gap 0.3`);
    }
  },
);

t.test('a run that ends early states the reason', async (t) => {
  const steps = await reasonsOf(asking(spike(8, 1), { stepLimit: 1, leap: 0, quality: 'FAST' }));
  t.equal(steps.answer.report.status, 'STEP_LIMIT');
  t.equal(holdOf(steps.reasons, 3), 'OUT_OF_STEPS');
  const time = await reasonsOf({ ...asking(spike(1, 0.5)) }, fakeEngine(stepping(4, 0.5)));
  t.not(holdOf(time.reasons, 3), 'REACHED');
  t.equal(time.reasons.since[3], 0, 'this engine records nothing');
});

t.test('contacts have the multipliers of the pull-back, if it ran', async (t) => {
  const { answer } = await reasonsOf(asking(spike(1, 1.5), { quality: 'BALANCED' }));
  const { contacts } = answer;
  t.equal(contacts?.multipliers?.length, contacts?.kinds.length);
  t.ok(
    contacts?.multipliers?.some((lambda) => lambda > 0),
    'the contact that stops the spike pushes',
  );
  const fast = await reasonsOf(asking(spike(1, 1.5), { quality: 'FAST' }));
  t.notOk(fast.answer.contacts?.multipliers);
});

t.test('requesting reasons changes no bit of the answer', async (t) => {
  const plain = await runJob(spike(1, 1.5), createCpuEngine());
  const told = await reasonsOf(asking(spike(1, 1.5)));
  t.same(told.answer.positions, plain.answer.positions);
  t.notOk('reasons' in plain.answer);
});

t.test('what held and pushed vertices in a state that is not sent is not told of an earlier one', async (t) => {
  const holds = {
    kinds: Int8Array.of(-1, -1, -1, 0, -1, -1),
    vertices: Int32Array.from({ length: 24 }, (_, k) => (k >= 12 && k < 16 ? [3, 0, 1, 2][k - 12]! : -1)),
    since: Uint32Array.of(0, 0, 0, 2, 0, 0),
    pushes: { kinds: Uint8Array.of(0), vertices: Int32Array.of(3, 0, 1, 2), multipliers: Float32Array.of(0.5) },
  };
  for (const isPiercing of [false, true]) {
    const engine = fakeEngine((step) => {
      const half = between(step.x, step.y, 0.45);
      step.onState?.(half, { phase: 'PULL_BACK', step: 2 });
      const last = isPiercing ? between(step.x, step.y, 1) : half;
      step.onState?.(last, { phase: 'PULL_BACK', step: 3 });
      return { ...resolution(step, last, 'STALLED', 3), holds };
    });
    const parameters = { activationDistance: 0.6 };
    const { answer } = await runJob(asking(spike(1, 1.5), parameters), engine);
    t.equal(answer.report.verification.fellBack, isPiercing);
    t.ok(answer.contacts!.kinds.length > 0);
    t.equal(answer.contacts!.multipliers !== undefined, !isPiercing);
    t.equal(pairOf(answer.reasons!, 3).since, isPiercing ? 0 : 2);
  }
});
