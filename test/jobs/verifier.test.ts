import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { monotonicMs } from '../../src/jobs/clock.js';
import type { JobContext } from '../../src/jobs/job-run.js';
import { openJob } from '../../src/jobs/open-job.js';
import { ResidentScenes } from '../../src/jobs/resident-scenes.js';
import { untangleJob } from '../../src/jobs/untangle-job.js';
import {
  canFilter,
  exactVerifier,
  FilteredStates,
  type FilteringEngine,
  testState,
  type Verifier,
  verifierFor,
} from '../../src/jobs/verifier.js';
import { VerifierMemory } from '../../src/verify/memory.js';
import type { StateFilter } from '../../src/verify/state.js';
import { flatGrid } from '../gpu/filter/soups.js';
import { fakeEngine, resolution } from '../support/fake-engine.js';
import { openTestEngine } from '../support/gpu.js';
import { LIMITS, runJob } from '../support/job.js';
import { openTask, sceneOf } from '../support/scenes.js';
import { PROTECT } from '../verify/make-mesh.js';

const grid = (height: number) => flatGrid(24, (u, v) => [u, v, height * Math.sin(9 * u) * Math.cos(7 * v)]);
const { mesh, x } = grid(0.1);
/** An edge at a corner of the sheet goes through its middle. */
const pierced = Float64Array.from(x);
pierced.set([0.52, 0.51, -1, 0.52, 0.51, 1], 0);

const findings = exactVerifier.findIntersections(mesh, pierced, PROTECT);
const described = { name: 'webgpu: fake', adapter: 'fake', software: false, maxBufferBytes: 2 ** 30 };

/** An engine with filters made by `open`; nothing else of it works. */
function engineWith(open: () => StateFilter): FilteringEngine & { readonly opened: () => number } {
  let opened = 0;
  return {
    description: described,
    open: () => Promise.reject(new Error('not asked for')),
    close: async () => {},
    openStateFilter: async () => {
      opened++;
      return open();
    },
    opened: () => opened,
  };
}

const contextOf = (verifier: Verifier): Omit<JobContext, 'engine'> => ({
  verifier,
  limits: LIMITS,
  allowUnverified: false,
  now: monotonicMs,
  isCancelled: () => false,
  onFinding: () => undefined,
});

/** Doubts every pair: right, if not much help. */
function doubter(onClose = () => {}): StateFilter {
  return {
    findDoubtful: async () => {
      const [e, n] = [mesh.edges.length / 2, mesh.triangles.length / 3];
      const pairs = new Uint32Array(2 * e * n);
      for (let k = 0; k < e * n; k++) pairs.set([Math.floor(k / n), k % n], 2 * k);
      return { pairsTested: e * n, pairs };
    },
    close: onClose,
  };
}

t.test('only hardware with a filter is used', async (t) => {
  const engine = engineWith(doubter);
  t.ok(canFilter(engine));
  t.notOk(canFilter({ ...engine, description: { ...described, software: true } }), 'a software adapter');
  const { openStateFilter, ...plain } = engine;
  t.notOk(canFilter(plain), 'an engine without');
  t.equal(verifierFor(plain), exactVerifier);
  t.equal(
    await testState(exactVerifier, mesh, pierced, PROTECT).then((f) => f.intersectionCount),
    findings.intersectionCount,
  );
});

t.test('doubtful pairs are decided exactly', async (t) => {
  t.ok(findings.intersectionCount > 0);
  const verifier = verifierFor(engineWith(doubter));
  t.match(await testState(verifier, mesh, pierced, PROTECT), {
    intersectionCount: findings.intersectionCount,
    intersections: findings.intersections,
  });
  t.equal((await testState(verifier, mesh, x, PROTECT)).intersectionCount, 0);
});

t.test('if little has moved since a remembered state, the filter is not used', async (t) => {
  let asked = 0;
  const filter = doubter();
  const counting: StateFilter = {
    ...filter,
    findDoubtful: (positions) => {
      asked++;
      return filter.findDoubtful(positions);
    },
  };
  const states = new FilteredStates(engineWith(() => counting));
  const memory = new VerifierMemory(mesh);
  t.equal((await states.findIntersections(mesh, x, PROTECT, memory)).intersectionCount, 0);
  t.equal(asked, 1, 'nothing was remembered');
  const aided = await states.findIntersections(mesh, pierced, PROTECT, memory);
  t.equal(asked, 1, 'an edge has moved');
  t.same([aided.intersectionCount, aided.intersections], [findings.intersectionCount, findings.intersections]);
  const far = pierced.map((value) => value + 1);
  const { intersectionCount } = await states.findIntersections(mesh, far, PROTECT, memory);
  t.equal(asked, 2, 'everything has moved');
  t.equal(intersectionCount, exactVerifier.findIntersections(mesh, far, PROTECT).intersectionCount);
});

t.test('if the device fails, the host tests the state', async (t) => {
  const broken: [string, () => StateFilter][] = [
    [
      'cannot be opened',
      () => {
        throw new Error('no room');
      },
    ],
    ['fails', () => ({ findDoubtful: () => Promise.reject(new Error('device gone')), close: () => {} })],
    ['gives up', () => ({ findDoubtful: async () => undefined, close: () => {} })],
  ];
  for (const [name, open] of broken) {
    const warnings: string[] = [];
    const engine = engineWith(open);
    const states = new FilteredStates(engine, (message) => warnings.push(message));
    for (let n = 0; n < 2; n++) t.same(await states.findIntersections(mesh, pierced, PROTECT), findings, name);
    t.equal(warnings.length, name === 'gives up' ? 0 : 1, 'said once');
    for (const said of warnings) t.match(said, /^The host tested a state alone, because the device failed: /);
    t.equal(engine.opened(), name === 'gives up' ? 1 : 2, 'a filter that failed is not asked again');
  }
});

t.test('small meshes and numbers that are not finite are tested on the host', async (t) => {
  const engine = engineWith(doubter);
  const states = new FilteredStates(engine);
  const small = flatGrid(3, (u, v) => [u, v, 0]);
  t.equal((await states.findIntersections(small.mesh, small.x, PROTECT)).intersectionCount, 0);
  await t.rejects(states.findIntersections(mesh, x.subarray(3), PROTECT), { code: 'SIZE_MISMATCH' });
  const nan = x.slice();
  nan[7] = Number.NaN;
  await t.rejects(states.findIntersections(mesh, nan, PROTECT), { code: 'NOT_FINITE' });
  t.equal(engine.opened(), 0);
});

t.test('filters of the last few meshes are kept, older ones closed', async (t) => {
  let closed = 0;
  const engine = engineWith(() => ({
    findDoubtful: async () => ({ pairsTested: 0, pairs: new Uint32Array(0) }),
    close: () => closed++,
  }));
  const states = new FilteredStates(engine);
  const meshes = Array.from({ length: 6 }, () => grid(0).mesh);
  for (const each of [...meshes, meshes[5], meshes[2]]) await states.findIntersections(each, x, PROTECT);
  t.equal(engine.opened(), 6);
  t.equal(closed, 2);
  states.close();
  t.equal(closed, 6);
});

t.test('a filter on which a device works is not closed for a newer one', async (t) => {
  let closed = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const engine = engineWith(() => ({
    findDoubtful: async () => {
      await ended;
      return { pairsTested: 0, pairs: new Uint32Array(0) };
    },
    close: () => closed++,
  }));
  const states = new FilteredStates(engine);
  const meshes = Array.from({ length: 6 }, () => grid(0).mesh);
  const all = meshes.map((each) => states.findIntersections(each, x, PROTECT));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(engine.opened(), 6);
  t.equal(closed, 0);
  end();
  await Promise.all(all);
  await states.findIntersections(meshes[5]!, x, PROTECT);
  t.equal(closed, 2);
});

t.test('the filters of all meshes that an engine serves at once are kept', async (t) => {
  let closed = 0;
  const engine = { ...engineWith(() => doubter(() => closed++)), together: { jobs: 6, vertices: 1000 } };
  const states = new FilteredStates(engine);
  for (let n = 0; n < 7; n++) await states.findIntersections(grid(0).mesh, x, PROTECT);
  t.equal(closed, 1);
});

t.test('the filter of a forgotten mesh is closed, and opened again if the mesh returns', async (t) => {
  let closed = 0;
  const engine = engineWith(() => ({
    findDoubtful: async () => ({ pairsTested: 0, pairs: new Uint32Array(0) }),
    close: () => closed++,
  }));
  const states = new FilteredStates(engine);
  const [one, other] = [grid(0).mesh, grid(0).mesh];
  for (const each of [one, other]) await states.findIntersections(each, x, PROTECT);
  states.forget(one);
  states.forget(one);
  t.equal(closed, 1);
  await states.findIntersections(other, x, PROTECT);
  t.equal(engine.opened(), 2, 'the other one is still there');
  await states.findIntersections(one, x, PROTECT);
  t.equal(engine.opened(), 3);
});

t.test('what a device keeps for the mesh of a request ends with the request', async (t) => {
  const filters = { opened: 0, closed: 0 };
  const open = (): StateFilter => {
    filters.opened++;
    return {
      findDoubtful: async () => ({ pairsTested: 0, pairs: new Uint32Array(0) }),
      close: () => filters.closed++,
    };
  };
  const verifier = verifierFor(engineWith(open));
  const input = { vertexCount: mesh.vertexCount, triangles: mesh.triangles };
  const still = { mesh: input, start: x, target: x.map((value) => value + 1), parameters: {} };
  const arrives = fakeEngine((step) => resolution(step, step.y, 'CONVERGED', 1));
  await runJob(still, arrives, { verifier });
  t.same(filters, { opened: 1, closed: 1 }, 'a resolve');
  const fails = fakeEngine(() => Promise.reject(new IntersticeError('TOO_LARGE', 'too many pairs')));
  await t.rejects(runJob(still, fails, { verifier }), { code: 'TOO_LARGE' });
  t.same(filters, { opened: 2, closed: 2 }, 'one that fails');
  const task = { request: { mesh: input, positions: x, parameters: {} }, receivedAt: 0, queuedAt: 0 };
  await untangleJob(task, { ...contextOf(verifier), engine: arrives });
  t.ok(filters.opened > 2);
  t.equal(filters.closed, filters.opened, 'an untangling');
  const scenes = new ResidentScenes(verifier.forget);
  const state = sceneOf({ mesh: input, start: x });
  const opening = openJob(openTask(state), scenes, {
    ...contextOf(verifier),
    engine: { ...arrives, open: () => Promise.reject(new IntersticeError('TOO_LARGE', 'too many pairs')) },
  });
  await t.rejects(opening, { code: 'TOO_LARGE' });
  t.equal(filters.closed, filters.opened, 'a session that is not opened');
  await openJob(openTask(state), scenes, { ...contextOf(verifier), engine: arrives });
  t.equal(filters.closed, filters.opened - 1, 'a session keeps it');
  await openJob(openTask(state), scenes, { ...contextOf(verifier), engine: arrives });
  t.equal(filters.closed, filters.opened - 1, 'in place of the scene that it had');
  const changed = { ...input, kinematic: new Uint8Array(mesh.vertexCount).fill(1) };
  const delta = { ...state, start: undefined, saved: undefined, wasLost: false };
  scenes.bring({ ...delta, mesh: changed, meshVersion: state.meshVersion + 1 }, LIMITS);
  t.equal(filters.closed, filters.opened, 'not for a mesh that was replaced');
  scenes.drop(state.key);
  t.equal(filters.closed, filters.opened, 'once');
});

const { engine, options } = await openTestEngine();
t.teardown(() => engine?.close());

t.test('the verifier with a device', options, async (t) => {
  if (!engine) return;
  const before = engine.memoryBudget.total;
  const states = new FilteredStates(engine, (message) => t.fail(message));
  const filtered = await states.findIntersections(mesh, pierced, PROTECT);
  t.same(filtered.intersections, findings.intersections);
  t.equal(filtered.intersectionCount, findings.intersectionCount);
  t.equal((await states.findIntersections(mesh, x, PROTECT)).intersectionCount, 0);
  t.ok(engine.memoryBudget.total > before, 'the mesh is resident');
  states.close();
  t.equal(engine.memoryBudget.total, before);
});

/** An engine that counts as hardware, and the number of states that its filters have answered. */
function asHardware(engine: FilteringEngine): { hardware: FilteringEngine; counts: { filtered: number } } {
  const counts = { filtered: 0 };
  const openStateFilter: FilteringEngine['openStateFilter'] = async (mesh) => {
    const filter = await engine.openStateFilter(mesh);
    return {
      findDoubtful: async (positions) => {
        const found = await filter.findDoubtful(positions);
        if (found) counts.filtered++;
        return found;
      },
      close: () => filter.close(),
    };
  };
  return { hardware: { ...engineWith(doubter), openStateFilter }, counts };
}

t.test('a whole resolve, verified with the help of a device that counts as hardware', options, async (t) => {
  if (!engine) return;
  const start = Float32Array.from(x);
  const target = start.map((value, k) => value + (k % 3 === 2 ? 0.02 * Math.sin(k) : 0.01));
  const request = { mesh: { vertexCount: mesh.vertexCount, triangles: mesh.triangles }, start, target, parameters: {} };
  const alone = await runJob(request, engine);
  const { hardware, counts } = asHardware(engine);
  t.ok(canFilter(hardware));
  const helped = await runJob(request, engine, { verifier: verifierFor(hardware) });
  t.ok(counts.filtered > 0, 'the device has filtered states');
  t.same(helped.answer.positions, alone.answer.positions);
  t.match(helped.answer.report.verification, { performed: 'STATE', intersections: 0, fellBack: false });
  t.equal(helped.answer.report.verification.pairsTested, alone.answer.report.verification.pairsTested);
});

t.test('an answer that intersects is found with the filter, too', options, async (t) => {
  if (!engine) return;
  const start = Float32Array.from(x);
  const target = Float32Array.from(pierced);
  const request = { mesh: { vertexCount: mesh.vertexCount, triangles: mesh.triangles }, start, target, parameters: {} };
  const { hardware, counts } = asHardware(engine);
  const careless = fakeEngine((step) => resolution(step, step.y, 'CONVERGED', 1), { hasCheapStates: false });
  const { answer, findings: found } = await runJob(request, careless, { verifier: verifierFor(hardware) });
  t.equal(answer.report.verification.fellBack, true);
  t.same(answer.positions, start);
  t.match(found, [{ kind: 'STATE', state: { intersectionCount: findings.intersectionCount } }]);
  t.ok(counts.filtered > 0, 'by the device');
});
