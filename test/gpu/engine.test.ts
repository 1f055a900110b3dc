import t from 'tap';
import { openAdapter } from '../../gpu/device/adapter.js';
import { CONTROL } from '../../gpu/kernels/structs.js';
import type { GpuScene } from '../../gpu/scene.js';
import { MAX_BATCH_STEPS } from '../../gpu/step/batch.js';
import { IntersticeError } from '../../src/contract/errors.js';
import { stackSwap } from '../solver/cases.js';
import { openTestEngine } from '../support/gpu.js';
import { resolveJudged } from '../support/judged-resolve.js';
import { openCase } from '../support/open-case.js';
import { expectNoTimeOfCaller } from '../support/stage-times.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

/** What is read of a pair that limits a vertex: vertices, kind, normal, distance. */
const PAIR_BYTES = 40;

const bytesOf = (array: Float32Array | Float64Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test('The same request gives the same bytes, step by step or in batches.', async (t) => {
    const { mesh, start, target } = stackSwap(10).build();
    const first = await openCase(engine, mesh, start, target);
    const once = await first.resolve();
    const again = await (await openCase(engine, mesh, start, target)).resolve();
    const single = await (await openCase(engine, mesh, start, target)).resolve({ onState: () => undefined });
    t.ok(once.steps > 5);
    t.ok(bytesOf(once.positions).equals(bytesOf(again.positions)));
    t.ok(bytesOf(once.positions).equals(bytesOf(single.positions)));
    t.equal(once.steps, single.steps);
    t.strictSame(once.residuals, again.residuals);
  });

  t.test('The host reads the status less than once per step, and once for the answer.', async (t) => {
    const { mesh, start, target } = stackSwap(10).build();
    const { scene, resolve } = await openCase(engine, mesh, start, target);
    await resolve();
    const before = (scene as GpuScene).maps;
    // Now there is room for all pairs, and it is known how such a request goes.
    const { steps } = await resolve();
    t.ok(steps > 5);
    const maps = (scene as GpuScene).maps - before;
    t.ok(maps <= steps, `${maps} maps for ${steps} steps`);
    scene.close();
  });

  t.test('The answer is read with only the data that its end requires.', async (t) => {
    const { mesh, start, target } = stackSwap(10).build();
    const { vertexCount } = mesh;
    const ends = [
      // Every r is below ε: no pair limits a vertex.
      { parameters: {}, status: 'CONVERGED', words: 3 + 1 },
      { parameters: { stepLimit: 1 }, status: 'STEP_LIMIT', words: 3 + 2 },
      // Every r is 0; the state that the pull-back began with is read too.
      { parameters: { quality: 'BALANCED' }, status: 'CONVERGED', words: 3 + 3 },
    ] as const;
    for (const { parameters, status, words } of ends) {
      const { scene, resolve } = await openCase(engine, mesh, start, target, parameters);
      const { maps, readBytes } = scene as GpuScene;
      const answer = await resolve();
      const statuses = (scene as GpuScene).maps - maps - (answer.limitingPairs.length > 0 ? 1 : 0);
      const read = (scene as GpuScene).readBytes - readBytes - CONTROL.bytes * statuses;
      t.equal(answer.status, status);
      t.equal(answer.limitingPairs.length > 0, status === 'STEP_LIMIT');
      t.equal(read, 4 * words * vertexCount + PAIR_BYTES * answer.limitingPairs.length, status);
      scene.close();
    }
  });

  t.test('Few unused steps are submitted, and none beyond the limit.', async (t) => {
    const { mesh, start, target } = stackSwap(24).build();
    for (const stepLimit of [1, MAX_BATCH_STEPS, MAX_BATCH_STEPS + 3]) {
      const { scene, resolve } = await openCase(engine, mesh, start, target, { stepLimit });
      for (const request of ['first', 'second']) {
        const before = (scene as GpuScene).submittedSteps;
        const { status, steps } = await resolve();
        t.equal(status, 'STEP_LIMIT');
        t.equal(steps, stepLimit);
        const submitted = (scene as GpuScene).submittedSteps - before;
        // A step that pauses for a search is submitted again.
        t.ok(submitted <= 1.5 * stepLimit, `${request}: ${submitted} steps were submitted for ${steps}`);
      }
      scene.close();
    }
  });

  t.test('A software adapter gets one step at a time and gives the same bytes.', async (t) => {
    const { engine: software } = await openTestEngine(undefined, { runsAhead: false });
    if (!software) throw new Error('the adapter opened once but not twice');
    t.teardown(() => software.close());
    const { mesh, start, target } = stackSwap(10).build();
    const ahead = await (await openCase(engine, mesh, start, target)).resolve();
    const { scene, resolve } = await openCase(software, mesh, start, target);
    const first = await resolve();
    t.ok(bytesOf(first.positions).equals(bytesOf(ahead.positions)));
    t.strictSame(first.residuals, ahead.residuals);
    t.strictSame(first.pairs, ahead.pairs);
    const before = (scene as GpuScene).submittedSteps;
    const { steps } = await resolve();
    t.ok(steps > 5);
    t.equal((scene as GpuScene).submittedSteps - before, steps);
    scene.close();
  });

  t.test('The search on the host is equivalent.', async (t) => {
    const { engine: other } = await openTestEngine('HOST');
    if (!other) throw new Error('the adapter opened once but not twice');
    t.teardown(() => other.close());
    const { mesh, start, target } = stackSwap(6).build();
    const judged = await resolveJudged(other, mesh, start, target);
    t.equal(judged.resolution.status, 'CONVERGED');
    t.equal(judged.intersections + judged.collisions, 0);
    const { resolution } = await resolveJudged(engine, mesh, start, target);
    const count = ({ pairs }: typeof resolution): number => pairs.vertexTriangle + pairs.edgeEdge;
    t.ok(count(resolution) > 0 && count(judged.resolution) > 0);
  });

  t.test('A second request reuses pairs and boxes that are still valid.', async (t) => {
    const { mesh, start } = stackSwap(6).build();
    const nudged = start.map((value, k) => value + 1e-4 * Math.sin(k));
    const opened = await openCase(engine, mesh, start, nudged);
    const first = await opened.resolve();
    t.equal(first.status, 'CONVERGED');
    t.equal(first.proximitySetReused, false);
    const second = await opened.scene.resolve({ x: first.positions, y: opened.x });
    t.equal(second.status, 'CONVERGED');
    t.equal(second.proximitySetReused, true);
    t.equal(second.searches, 0);
    t.ok(bytesOf(second.positions).equals(bytesOf(opened.x)), 'back at the start, bit for bit');
  });

  t.test('A request whose target is its start returns at once.', async (t) => {
    const { mesh, start } = stackSwap(4).build();
    const { resolve, x } = await openCase(engine, mesh, start, start);
    const resolution = await resolve();
    t.match(resolution, { status: 'CONVERGED', steps: 0, searches: 0, residual: 0 });
    t.ok(bytesOf(resolution.positions).equals(bytesOf(x)));
  });

  t.test('Stopping after any step leaves a safe state and status DEADLINE.', async (t) => {
    const { mesh, start, target } = stackSwap(8).build();
    for (const stop of [0, 1, 3]) {
      const judged = await resolveJudged(engine, mesh, start, target, {}, stop);
      t.equal(judged.resolution.status, 'DEADLINE');
      t.equal(judged.resolution.steps, stop);
      t.equal(judged.intersections + judged.collisions, 0);
    }
  });

  t.test('The paper preset stagnates on the stack and reports it.', async (t) => {
    const { mesh, start, target } = stackSwap(6).build();
    const { resolve } = await openCase(engine, mesh, start, target, { preset: 'PAPER' });
    const resolution = await resolve();
    t.equal(resolution.status, 'STALLED');
    t.ok(resolution.unfinishedVertices > 0);
    t.ok(resolution.limitingPairs.length > 0, 'what holds it is named');
    t.ok(resolution.limitingPairs.every(({ a, b }) => a.length + b.length >= 2));
  });

  t.test('Closing scenes frees all memory.', async (t) => {
    const { mesh, start, target } = stackSwap(3).build();
    const base = engine.memoryBudget.total;
    for (let n = 0; n < 100; n++) {
      const { scene, resolve } = await openCase(engine, mesh, start, target, { stepLimit: 1 });
      if (n % 25 === 0) await resolve();
      t.ok(engine.memoryBudget.total > base);
      scene.close();
    }
    t.equal(engine.memoryBudget.total, base);
  });

  t.test('What a caller does with states is no time of a stage.', (t) => expectNoTimeOfCaller(t, engine));

  t.test('A lost device is a typed error, and a new scene gets a new device.', async (t) => {
    const { engine: second } = await openTestEngine(undefined, { open: openAdapter });
    if (!second) throw new Error('the adapter opened once but not twice');
    t.teardown(() => second.close());
    const told: string[] = [];
    second.watchLosses?.((reason) => told.push(reason));
    const { mesh, start, target } = stackSwap(8).build();
    const { resolve, scene } = await openCase(second, mesh, start, target);
    let steps = 0;
    const failure = await resolve({
      onState: () => {
        if (++steps === 2) (scene as GpuScene).memory.device.destroy();
      },
    }).catch((error: unknown) => error);
    t.ok(failure instanceof IntersticeError, String(failure));
    t.equal((failure as IntersticeError).code, 'DEVICE_LOST');
    t.ok((failure as IntersticeError).retryable);
    scene.close();
    const anew = await openCase(second, mesh, start, target);
    t.equal((await anew.resolve()).status, 'CONVERGED');
    anew.scene.close();
    t.equal(second.memoryBudget.total, 0);
    t.match(told, [/^The device was lost: /], 'the loss is told once');
    t.equal(told.length, 1);
  });
}
