import { readdir } from 'node:fs/promises';
import t, { type Test } from 'tap';
import type { OperationEvent } from '../../src/contract/events.js';
import type { Operations } from '../../src/contract/operations.js';
import { packageVersion } from '../../src/paths.js';
import { createOperations, type OperationsOptions } from '../../src/session/operations.js';
import { BYTES_PER_PAIR } from '../../src/solver/pair-budget.js';
import { LIMITS, refusalOf, rods, spike } from '../support/job.js';

const module = new URL('../support/fake-engine.js', import.meta.url).href;

async function operationsOf(t: Test, more: Partial<OperationsOptions> = {}): Promise<Operations> {
  const operations = await createOperations({
    engine: 'cpu',
    threads: 1,
    limits: LIMITS,
    allowUnverified: false,
    ...more,
  });
  t.teardown(() => operations.close());
  return operations;
}

t.test('with the real engine: ready, resolve, check, info', async (t) => {
  const operations = await operationsOf(t, { features: ['of-a-door'] });
  await operations.ready();
  const crossing = spike(0.25, 0.5);
  const request = { ...crossing, mesh: { ...crossing.mesh, kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0) } };
  const { positions, report } = await operations.resolve(request);
  t.ok(positions[11]! > 0, 'the tip stays above the floor');
  t.ok(positions[11]! < 0.25, 'and came closer');
  t.match(report, { engine: 'cpu', verification: { performed: 'STATE', intersections: 0, fellBack: false } });
  t.ok(report.timings.total > 0);
  const { mesh, start } = request;
  t.match(await operations.check({ mesh, positions: start, pathEnd: request.target }), {
    intersectionFree: true,
    pathFree: false,
  });
  t.match(operations.info(), {
    version: packageVersion,
    engines: [{ name: 'cpu' }],
    limits: { ...LIMITS, maxPairsPerRequest: 24_000_000, maxWorkBytes: 0 },
    defaults: { preset: 'TUNED', verify: 'STATE' },
    features: [
      'resolve',
      'check',
      'sessions',
      /./,
      /./,
      /./,
      /./,
      'diagnose',
      /./,
      /./,
      /./,
      /./,
      /./,
      'after-frame',
      'rest-lengths',
      'untangle',
      'of-a-door',
    ],
  });
});

t.test('the reported limits of memory are those by which requests are refused', async (t) => {
  const operations = await operationsOf(t, { maxPairBytes: 2 ** 20, maxWorkBytes: 2 ** 30 });
  const { maxPairsPerRequest, maxWorkBytes } = operations.info().limits;
  t.equal(maxPairsPerRequest, Math.floor(2 ** 20 / BYTES_PER_PAIR));
  t.equal(maxWorkBytes, 2 ** 30);
});

t.test('with the real engine: the same request gives the same bytes, on any thread', async (t) => {
  const operations = await operationsOf(t, { threads: 2, limits: { ...LIMITS, maxQueue: 10 } });
  const answers = await Promise.all(Array.from({ length: 4 }, () => operations.resolve(spike(0.25, 0.5))));
  for (const { positions } of answers) t.same(positions, answers[0]!.positions);
});

t.test('with the real engine: rods do not pass each other', async (t) => {
  const operations = await operationsOf(t);
  const { positions, report } = await operations.resolve({ ...rods(0.5, 1), parameters: { verify: 'PATH' } });
  t.notOk(report.verification.fellBack);
  t.ok(positions[8]! > positions[2]!, 'the upper rod is still the upper one');
});

t.test('with the real engine: the states begin with the start and end with the answer', async (t) => {
  const operations = await operationsOf(t);
  const states: unknown[] = [];
  const request = { ...spike(0.25, 0.5), parameters: { verify: 'PATH' as const } };
  const { positions } = await operations.resolve(request, { onState: (state) => states.push(state) });
  t.same(states[0], request.start);
  t.same(states.at(-1), positions);
});

t.test('an engine that does not exist is refused', async (t) => {
  const unknown = operationsOf(t, { engine: 'webgpu', adapter: 'no such adapter' });
  t.equal((await refusalOf(unknown)).code, 'INVALID_PARAMETER');
  t.equal((await refusalOf(operationsOf(t, { adapter: 'llvmpipe' }))).code, 'INVALID_PARAMETER');
  const broken = operationsOf(t, { engineSource: { module, factory: 'createNothing' } });
  t.equal((await refusalOf(broken)).code, 'INTERNAL', 'refused at once, not at the first request');
});

t.test('limits below the probe of the service do not keep it from becoming ready, and still hold', async (t) => {
  const limits = { ...LIMITS, maxVertices: 5, maxElements: 1 };
  const operations = await operationsOf(t, { limits });
  await operations.ready();
  t.match(operations.info(), { limits: { maxVertices: 5, maxElements: 1 } });
  const { mesh, start } = spike(0.25, 0.5);
  t.equal(mesh.vertexCount, 6);
  const refusal = { code: 'TOO_LARGE', message: /6 vertices; the limit is 5/ };
  t.match(await refusalOf(operations.resolve({ mesh, start, target: start, parameters: {} })), refusal);
  t.match(await refusalOf(operations.check({ mesh, positions: start })), refusal);
  t.match(await refusalOf(operations.diagnose({ mesh, positions: start })), refusal);
  t.match(await refusalOf(operations.untangle({ mesh, positions: start, parameters: {} })), refusal);
  t.match(await refusalOf(operations.createSession({ mesh, start, parameters: {} })), refusal);
});

t.test('a limit on memory that leaves no room for the probe is named, with a value that is enough', async (t) => {
  const tight = await operationsOf(t, { maxWorkBytes: 1000 });
  const refusal = await refusalOf(tight.ready());
  t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
  t.match(refusal.message, /INTERSTICE_MAX_WORK_BYTES=1000 allows: .* 0 of the 1000 /);
  const [least] = /(?<=Set INTERSTICE_MAX_WORK_BYTES to at least )\d+/.exec(refusal.hint) ?? [];
  const enough = await operationsOf(t, { maxWorkBytes: Number(least) });
  await enough.ready();
});

t.test('an engine that fails its probe never becomes ready', async (t) => {
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createSteppingEngine' },
    findingsFolder: t.testdir(),
  });
  t.match(await refusalOf(operations.ready()), { code: 'INTERNAL', message: /failed its probe/ });
  t.match(await refusalOf(operations.ready()), { code: 'INTERNAL' }, 'each call tries again');
  await operations.close();
});

t.test('limits are checked before a request is queued', async (t) => {
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createSteppingEngine' },
    limits: { ...LIMITS, maxVertices: 5 },
  });
  t.equal((await refusalOf(operations.resolve(spike(1, 0)))).code, 'TOO_LARGE');
  const { mesh, start } = spike(1, 0);
  t.equal((await refusalOf(operations.check({ mesh, positions: start }))).code, 'TOO_LARGE');
});

t.test('a finding is logged and written to disk, and the caller gets a safe state', async (t) => {
  const folder = t.testdir();
  const events: object[] = [];
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createSteppingEngine' },
    findingsFolder: folder,
    log: (event, message) => events.push({ ...event, message }),
  });
  const { report } = await operations.resolve(spike(0.25, 0.4));
  t.ok(report.verification.fellBack);
  await operations.close();
  t.equal((await readdir(folder)).length, 1);
  t.match(events, [{ level: 'error', event: 'finding', kind: 'STATE', folder: /./, message: /was not sent/ }]);
});

t.test('a reproduction that cannot be written is logged', async (t) => {
  const folder = t.testdir({ occupied: 'a file' });
  const events: object[] = [];
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createSteppingEngine' },
    findingsFolder: `${folder}/occupied`,
    log: (event, message) => events.push({ ...event, message }),
  });
  await operations.resolve(spike(0.25, 0.4));
  await operations.close();
  t.match(events, [{ event: 'finding', err: Error, message: /reproduction could not be written/ }]);
});

t.test('a lost thread is logged', async (t) => {
  const events: object[] = [];
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createDyingEngine' },
    log: (event) => events.push(event),
  });
  t.equal((await refusalOf(operations.resolve(spike(1, 0.5)))).code, 'DEVICE_LOST');
  t.match(events, [{ level: 'error', event: 'worker-lost' }]);
});

t.test('a lost device is logged and counted, although the request is answered', async (t) => {
  const logged: object[] = [];
  const events: OperationEvent[] = [];
  const operations = await operationsOf(t, {
    engineSource: { module, factory: 'createLosingEngine' },
    log: (event, message) => logged.push({ ...event, message }),
    onEvent: (event) => events.push(event),
  });
  t.equal((await operations.resolve(spike(1, 0.5))).report.status, 'CONVERGED');
  t.match(logged, [{ level: 'error', event: 'device-lost', message: /^The device was lost: a test\./ }]);
  t.equal(events.filter(({ type }) => type === 'device-lost').length, 1);
});

t.test('signal, time of receipt and progress listener of the caller reach the job', async (t) => {
  const operations = await operationsOf(t, { engineSource: { module, factory: 'createEndlessEngine' } });
  const abort = new AbortController();
  const work = operations.resolve(spike(1, 0.5), { signal: abort.signal, onProgress: () => abort.abort() });
  t.equal((await refusalOf(work)).code, 'CANCELLED');

  const request = { ...spike(1, 0.5), timeBudgetSeconds: 1 };
  const late = operations.resolve(request, { receivedAt: performance.now() - 2000 });
  t.equal((await refusalOf(late)).code, 'DEADLINE_EXCEEDED');
  // Long enough for the check of the start on a busy machine: before it ends there is no safe state to return.
  const { report } = await operations.resolve({ ...request, timeBudgetSeconds: 5 });
  t.equal(report.status, 'DEADLINE', 'an endless engine was stopped in time');
  const failed = operations.resolve({ ...request, timeBudgetSeconds: 0.5, onBudget: 'FAIL' });
  t.equal((await refusalOf(failed)).code, 'DEADLINE_EXCEEDED');
});

t.test('verify NONE is refused unless the options allow it', async (t) => {
  const engineSource = { module, factory: 'createSteppingEngine' };
  const request = { ...spike(1, 0.5), parameters: { verify: 'NONE' as const } };
  const strict = await operationsOf(t, { engineSource });
  t.equal((await refusalOf(strict.resolve(request))).code, 'PERMISSION_DENIED');
  const lax = await operationsOf(t, { engineSource, allowUnverified: true });
  t.equal((await lax.resolve(request)).report.verification.performed, 'NONE');
});
