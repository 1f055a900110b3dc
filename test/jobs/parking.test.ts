import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Engine } from '../../src/solver/engine.js';
import { compare, farAway, lasting, motionOf, SHARES } from '../support/parked-sessions.js';
import { DirectSession } from '../support/scenes.js';
import { shareOf } from '../support/share.js';

const CASES: readonly (readonly [string, ParametersInput])[] = [
  ['FAST', { quality: 'FAST' }],
  ['BALANCED', { quality: 'BALANCED' }],
  ['PAPER', { preset: 'PAPER' }],
];

for (const [name, parameters] of shareOf(CASES, 3)) {
  t.test(`${name}: a session that is parked between all frames answers like one that never is`, async (t) => {
    const reused = await compare(t, motionOf('layers', 300), parameters, createCpuEngine);
    t.ok(reused > 0, 'pairs of one frame served the next');
  });

  t.test(`${name}: the same far from the origin, in doubles`, async (t) => {
    await compare(t, farAway(motionOf('layers', 200)), parameters, createCpuEngine);
  });
}

t.test('a body that moves rigidly carries its pairs through parking', async (t) => {
  const { mesh, start, frames } = motionOf('sleeve', 300);
  // The whole scene walks on by some leaps a frame, while its parts move against each other.
  const walking = frames.map((target, k) => target.map((x, i) => (i % 3 === 0 ? x + 0.3 * (k + 1) : x)));
  const reused = await compare(t, { mesh, start, frames: walking }, { quality: 'FAST' }, createCpuEngine);
  t.ok(reused > 0, 'pairs went along');
});

t.test('a body that walks to where numbers are finer carries its pairs through parking', async (t) => {
  const { mesh, start, frames } = motionOf('sleeve', 300);
  // Below 64 the floor of a step is half as large; P continues with the floor that it was first searched with.
  const place = (x: Float32Array | Float64Array, by: number) => x.map((p, i) => (i % 3 === 0 ? p + 64 - by : p));
  const walking = frames.map((target, k) => place(target, 0.3 * (k + 1)));
  const reused = await compare(
    t,
    { mesh, start: place(start, 0), frames: walking },
    { quality: 'FAST' },
    createCpuEngine,
  );
  t.ok(reused > 0, 'pairs went along');
});

t.test('rods and grains keep their pairs, too', async (t) => {
  await compare(t, motionOf('hair', 200), { quality: 'FAST' }, createCpuEngine);
  await compare(t, motionOf('sand', 100), { quality: 'FAST' }, createCpuEngine);
});

t.test('pairs that were excluded once remain excluded', async (t) => {
  const { mesh, start, frames } = motionOf('layers', 200);
  // The last frame as the start of another session: its layers have been pushed through each other.
  const crossed = start.map((x, i) => x + 0.55 * (frames[6]![i]! - x));
  const parameters = { quality: 'FAST', onIntersectingStart: 'IGNORE_PAIRS' } as const;
  await compare(t, { mesh, start: crossed, frames: frames.slice(4) }, parameters, createCpuEngine);
});

t.test('a session whose parameters change while it is parked answers like one that never was', async (t) => {
  const motion = motionOf('layers', 300);
  const resident = new DirectSession(motion, createCpuEngine());
  const parked = new DirectSession(motion, createCpuEngine());
  const changes: ParametersInput[] = [
    {},
    { stretchLimit: 1.2 },
    { quality: 'BALANCED' },
    { activationDistance: 0.002 },
  ];
  for (const session of [resident, parked]) await session.open(changes[0]);
  for (const [k, parameters] of changes.entries()) {
    await parked.park();
    const expected = await resident.step(motion.frames[k]!, { parameters });
    const answer = await parked.step(motion.frames[k]!, { parameters });
    t.same(answer.positions, expected.positions, JSON.stringify(parameters));
    t.same(lasting(answer.report), lasting(expected.report));
  }
});

t.test('a session whose mesh changes while it is parked answers like one that never was', async (t) => {
  const motion = motionOf('layers', 200);
  const resident = new DirectSession(motion, createCpuEngine());
  const parked = new DirectSession(motion, createCpuEngine());
  const kinematic = new Uint8Array(motion.mesh.vertexCount).fill(1, 0, 5);
  for (const session of [resident, parked]) {
    await session.open();
    for (const target of motion.frames.slice(0, 2)) await session.step(target);
  }
  await parked.park();
  for (const [k, target] of motion.frames.slice(2, 5).entries()) {
    for (const session of [resident, parked]) {
      if (k === 0) session.state = { ...session.state, meshVersion: 1000, mesh: { ...motion.mesh, kinematic } };
    }
    const expected = await resident.step(target);
    const answer = await parked.step(target);
    t.same(answer.positions, expected.positions, `frame ${k + 3}`);
    t.same(lasting(answer.report), lasting(expected.report));
  }
});

t.test(
  'a step that is not accepted has no effect: cancelled in the engine, or computed and not committed',
  async (t) => {
    const motion = motionOf('layers', 300);
    for (const quality of ['FAST', 'BALANCED'] as const) {
      const plain = new DirectSession(motion, createCpuEngine());
      const disturbed = new DirectSession(motion, createCpuEngine());
      for (const session of [plain, disturbed]) await session.open({ quality });
      for (const [k, target] of motion.frames.entries()) {
        const parameters: ParametersInput = { quality };
        // What is given up leads elsewhere, and changes pairs, frame and boxes.
        const elsewhere = motion.start.map((x, i) => x + (i % 3 === 0 ? 0.01 * k : 0));
        await disturbed.step(elsewhere, { parameters }, { isCommitted: false });
        if (k % 3 === 1) await disturbed.park();
        disturbed.isCancelled = true;
        await t.rejects(disturbed.step(elsewhere, { parameters }), { code: 'CANCELLED' });
        disturbed.isCancelled = false;
        disturbed.cancelsAfter = 1;
        await t.rejects(disturbed.step(motion.frames[(k + 4) % SHARES.length]!, { parameters }), { code: 'CANCELLED' });
        disturbed.cancelsAfter = Number.POSITIVE_INFINITY;
        const expected = await plain.step(target, { parameters });
        const answer = await disturbed.step(target, { parameters });
        t.same(answer.positions, expected.positions, `${quality}, frame ${k + 1}`);
        t.same(lasting(answer.report), lasting(expected.report));
      }
    }
  },
);

t.test(
  'an engine whose scenes cannot be saved says so after parking and after a step that is not accepted',
  async (t) => {
    const engine = createCpuEngine();
    const unsaving: Engine = {
      ...engine,
      open: async (...args) => {
        const scene = await engine.open(...args);
        return {
          bytes: 0,
          resolve: (step) => scene.resolve(step),
          configure: (...settings) => scene.configure(...settings),
          close: () => scene.close(),
        };
      },
    };
    const motion = motionOf('layers', 200);
    const session = new DirectSession(motion, unsaving);
    await session.open();
    await session.step(motion.frames[0]!);
    await session.park();
    t.equal((await session.step(motion.frames[1]!)).report.sessionRebuilt, true);
    t.equal((await session.step(motion.frames[2]!)).report.sessionRebuilt, false, 'once');
    await session.step(motion.frames[3]!, {}, { isCommitted: false });
    t.equal((await session.step(motion.frames[3]!)).report.sessionRebuilt, true, 'a step that is not accepted');
  },
);
