import { createHash } from 'node:crypto';
import t from 'tap';
import { UNIFORM_BYTES } from '../../../gpu/convoy/address.js';
import { BUFFER_USAGE } from '../../../gpu/device/flags.js';
import type { GpuEngine } from '../../../gpu/engine.js';
import type { GpuScene } from '../../../gpu/scene.js';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { buildMesh } from '../../../src/mesh/build.js';
import type { Resolution, StepInput } from '../../../src/solver/engine.js';
import { BYTES_PER_PAIR } from '../../../src/solver/pair-budget.js';
import { randomScene, stackSwap } from '../../solver/cases.js';
import { openSpecialEngine, openTestEngine } from '../../support/gpu.js';
import { refusalOf, runJob } from '../../support/job.js';
import { openCase } from '../../support/open-case.js';
import { type Random, seeded } from '../../support/random.js';
import { randomAlgorithm1 } from '../../support/random-runs.js';
import { roundsOf, shareOf } from '../../support/share.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

/** ms: so long that a submission leaves when all have recorded their work, on however busy a machine. */
const DELAY = 60_000;
const CONVOY = { scenes: 64, delay: DELAY };
const { engine, options } = await openTestEngine(undefined, { convoy: CONVOY });
t.teardown(() => engine?.close());

type Built = ReturnType<ReturnType<typeof stackSwap>['build']>;
interface Motion extends Built {
  readonly parameters: ParametersInput;
}

function randomMotion(random: Random): Motion {
  const isStack = random() < 0.5;
  const parameters = [
    { stepLimit: 1 + random.int(8) },
    { quality: 'BALANCED' as const, stepLimit: 1 + random.int(8) },
    // Long enough for its finer steps, and for Algorithm 1 to leave steps to what follows.
    { quality: 'FINE' as const, stepLimit: 1 + random.int(48) },
    // The vertices of a stack lie closer together than the longest activation distance allows.
    { ...randomAlgorithm1(random, 1 + random.int(8)), ...(isStack ? { activationDistance: 1e-2 } : {}) },
  ][random.int(4)]!;
  return { ...(isStack ? stackSwap(3 + random.int(5)) : randomScene(random)).build(), parameters };
}

/** What an answer says, without the time that it took. */
const digestOf = ({ timings, ...answer }: Resolution): string => {
  const hash = createHash('sha256').update(JSON.stringify({ ...answer, positions: [...answer.positions] }));
  return `${answer.status}, ${answer.steps} steps, ${hash.digest('hex')}`;
};

/** A device lists the pairs in any order. */
const inOrder = (pairs: Uint32Array = new Uint32Array(0)): string =>
  Array.from({ length: pairs.length / 2 }, (_, k) => `${pairs[2 * k]}-${pairs[2 * k + 1]}`)
    .sort()
    .join();

/** Two frames of a session, half of the way, then all of it, and what the state filter says to each answer. */
async function run(engine: GpuEngine, { mesh, start, target, parameters }: Motion, wait = async () => {}) {
  const { scene, x, y } = await openCase(engine, mesh, start, target, parameters);
  const filter = await engine.openStateFilter(buildMesh(mesh));
  const half = y.map((value, k) => Math.fround(0.5 * (x[k]! + value)));
  const answers: string[] = [];
  let at: StepInput['x'] = x;
  for (const aim of [half, y]) {
    await wait();
    const answer = await scene.resolve({ x: at, y: aim });
    const doubtful = await filter.findDoubtful(answer.positions);
    answers.push(digestOf(answer), `${doubtful?.pairsTested} pairs: ${inOrder(doubtful?.pairs)}`);
    at = answer.positions;
  }
  filter.close();
  scene.close();
  return answers;
}

const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

if (!engine) t.test('scenes that submit together', options, async () => undefined);
else {
  t.test('A scene gets the same bytes alone and together with others.', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    // Buffers that grow while others run move everything behind them.
    const small = await openSpecialEngine(t, { convoy: CONVOY, firstPairs: 16, firstCandidates: 4 });
    for (const one of shareOf([engine, small], 2)) {
      const motions = Array.from({ length: roundsOf(6, 3) }, () => randomMotion(random));
      const alone: string[][] = [];
      for (const motion of motions) alone.push(await run(one, motion));
      const together = await Promise.all(motions.map((motion) => run(one, motion, () => turns(random.int(30)))));
      t.strictSame(together, alone);
    }
  });

  t.test('Scenes with the same work share their dispatches and readings.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const count = 8;
    const opened = await Promise.all(
      Array.from({ length: count }, () => openCase(engine, mesh, start, target, { stepLimit: 6 })),
    );
    const before = engine.convoyCounts!;
    const answers = await Promise.all(opened.map(({ resolve }) => resolve()));
    for (const answer of answers) t.equal(digestOf(answer), digestOf(answers[0]!));
    const { submissions, parts, dispatches, launches } = engine.convoyCounts!;
    t.equal(parts - before.parts, count * (submissions - before.submissions), 'parts of a submission');
    t.equal(launches - before.launches, count * (dispatches - before.dispatches), 'scenes of a dispatch');
    for (const { scene } of opened) scene.close();
  });

  t.test('The largest scenes of a convoy get the same bytes as without one.', async (t) => {
    const { mesh, start, target } = stackSwap(37).build();
    t.ok(mesh.vertexCount > 0.9 * engine.together!.vertices && mesh.vertexCount <= engine.together!.vertices);
    const without = await openSpecialEngine(t, {});
    const motion: Motion = { mesh, start, target, parameters: { quality: 'BALANCED', stepLimit: 2 } };
    const alone = await run(without, motion);
    t.strictSame(await Promise.all([run(engine, motion), run(engine, motion)]), [alone, alone]);
  });

  t.test('Scenes that are refused, stopped or large do not hold up the others.', async (t) => {
    const limit = 500;
    const tight = await openSpecialEngine(t, { convoy: CONVOY, maxPairBytes: limit * BYTES_PER_PAIR });
    const quiet: Motion = { ...stackSwap(3).build(), parameters: { stepLimit: 6 } };
    const alone = await run(tight, quiet);
    const crowded = stackSwap(6).build();
    const open = await openCase(tight, crowded.mesh, crowded.start, crowded.target, { activationDistance: 0.02 });
    const stopped = await openCase(tight, quiet.mesh, quiet.start, quiet.target);
    let steps = 0;
    const [refusal, ended, ...answers] = await Promise.all([
      refusalOf(open.resolve()),
      stopped.resolve({ shouldStop: () => steps > 0, onProgress: (progress) => (steps = progress.steps) }),
      run(tight, quiet),
      run(tight, quiet),
    ]);
    t.equal(refusal.code, 'TOO_LARGE');
    t.equal(ended.status, 'DEADLINE');
    for (const answer of answers) t.strictSame(answer, alone);
    const { mesh, start, target } = stackSwap(50).build();
    t.ok(mesh.vertexCount > engine.together!.vertices);
    const counts = tight.convoyCounts!;
    const large = await openCase(tight, mesh, start, target, { stepLimit: 1 });
    await large.resolve().catch(() => undefined);
    t.strictSame(tight.convoyCounts, { ...counts, alone: { ...counts.alone, size: 1 } }, 'a large scene submits alone');
  });

  t.test('Scenes get the same bytes where their dispatch sizes exceed a uniform binding.', async (t) => {
    const { mesh, start, target } = stackSwap(3).build();
    const open = () => openCase(engine, mesh, start, target, { quality: 'BALANCED', stepLimit: 6 });
    const near = await open();
    const expected = digestOf(await near.resolve());
    // As much as the sizes of two hundred meshes with hundreds of colours of edges.
    const { memory } = near.scene as GpuScene;
    const { STORAGE } = BUFFER_USAGE;
    await memory.checkAllocations('sizes', () => memory.place('stepArguments', 3 * UNIFORM_BYTES, STORAGE));
    const beyond = await open();
    const answers = await Promise.all([near, beyond].map(({ resolve }) => resolve()));
    t.equal(digestOf(answers[1]!), expected);
    for (const { scene } of [near, beyond]) scene.close();
  });

  t.test('A scene for which the arena has no room opens alone.', async (t) => {
    const { mesh, start, target } = stackSwap(3).build();
    const tight = await openSpecialEngine(t, { convoy: CONVOY, maxDeviceBytes: 2 ** 24, firstPairs: 64 });
    tight.memoryBudget.take('sessions that have come before', 2 ** 24 - 2 ** 21);
    const { scene, resolve } = await openCase(tight, mesh, start, target, { stepLimit: 4 });
    const expected = await openCase(engine, mesh, start, target, { stepLimit: 4 });
    t.strictSame((await resolve()).positions, (await expected.resolve()).positions);
    t.match(tight.convoyCounts, { submissions: 0, alone: { size: 0, strainLimits: 0, scenes: 0, memory: 1 } });
    t.ok(scene.bytes < 2 ** 21);
    for (const one of [scene, expected.scene]) one.close();
  });

  t.test('A scene that grows beyond what the arena has memory for is computed alone, not refused.', async (t) => {
    const limit = 2 ** 24;
    const tight = await openSpecialEngine(t, { convoy: CONVOY, maxDeviceBytes: limit, firstPairs: 64 });
    // What remains is enough for the scene alone, but not for its old and its new places at once.
    tight.memoryBudget.take('sessions that have come before', limit / 2);
    const { mesh, start, target } = stackSwap(6).build();
    const parameters: ParametersInput = { quality: 'FAST', activationDistance: 0.02, stepLimit: 3 };
    const crowded = await openCase(tight, mesh, start, target, parameters);
    t.equal((await refusalOf(crowded.resolve())).code, 'OUT_OF_DEVICE_MEMORY');
    crowded.scene.close();
    const request = { mesh, start, target, parameters };
    const { answer } = await runJob(request, tight);
    t.strictSame(answer.positions, (await runJob(request, engine)).answer.positions);
    t.equal(tight.convoyCounts?.alone.memory, 1);
  });
}
