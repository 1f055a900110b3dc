import t, { type Test } from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { monotonicMs } from '../../src/jobs/clock.js';
import type { SceneState } from '../../src/jobs/tasks.js';
import { Scheduler } from '../../src/lanes/scheduler.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';

const CLAIM = { tenant: 'a', priority: 'NORMAL' } as const;

/** Here a mesh of two triangles or more is heavy, and its resolve never ends by itself. */
function schedulerOf(t: Test, threads: number): Scheduler {
  const scheduler = new Scheduler({
    engine: {
      module: new URL('../support/fake-engine.js', import.meta.url).href,
      factory: 'createEndlessForManyEngine',
    },
    limits: LIMITS,
    allowUnverified: false,
    threads,
    maxQueue: 64,
    heavyElements: 1,
  });
  t.teardown(() => scheduler.close());
  return scheduler;
}

/** An endless resolve; `running` resolves once it holds its lane. */
function startHeavy(scheduler: Scheduler, request: ResolveRequest, signal: AbortSignal) {
  const now = monotonicMs();
  let hear = () => {};
  const running = new Promise<void>((done) => {
    hear = done;
  });
  const work = scheduler.resolve(
    { request, receivedAt: now, queuedAt: now },
    { claim: CLAIM, signal, onProgress: () => hear() },
  );
  work.catch(() => {});
  return { work, running };
}

/** One triangle alone, which collides with nothing. */
const flyer = (x = 0) => ({
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
  start: Float32Array.of(x, 0, 0, 1 + x, 0, 0, x, 1, 0),
});

for (const threads of [1, 2]) {
  t.test(`${threads} threads: endless heavy jobs delay no small session, and are not delayed by them`, async (t) => {
    const scheduler = schedulerOf(t, threads);
    const abort = new AbortController();
    const heavy = startHeavy(scheduler, spike(1, 0.5), abort.signal);
    await heavy.running;
    // More heavy jobs than lanes: they wait in a queue of their own, whatever their priority.
    const waiting = [1, 2, 3].map(() => startHeavy(scheduler, spike(1, 0.5), abort.signal));
    const steps = 3;
    const finished: number[] = [];
    const session = async (index: number): Promise<void> => {
      let scene: SceneState = sceneOf(flyer(index));
      await scheduler.open(openTask(scene), { claim: CLAIM });
      for (let k = 1; k <= steps; k++) {
        const task = stepTask(scene, flyer(index + k / 8).start);
        const answer = await scheduler.step(task, { claim: CLAIM });
        t.equal(answer.report.status, 'CONVERGED');
        scene = committed(scene, task, answer.positions);
      }
      finished.push(index);
    };
    await Promise.all(Array.from({ length: 16 }, (_, index) => session(index)));
    t.equal(finished.length, 16, 'every small session has made all of its steps');
    t.equal(scheduler.runningCount, 1, 'while the heavy one went on');
    t.equal(scheduler.waitingCount, 3, 'on the one heavy lane, which the others wait for');
    abort.abort();
    for (const { work } of [heavy, ...waiting]) t.equal((await refusalOf(work)).code, 'CANCELLED');
  });
}

t.test('a heavy job starts although small sessions never pause', async (t) => {
  const scheduler = schedulerOf(t, 1);
  const abort = new AbortController();
  let isOver = false;
  let made = 0;
  const session = async (index: number): Promise<void> => {
    let scene: SceneState = sceneOf(flyer(index));
    await scheduler.open(openTask(scene), { claim: CLAIM });
    for (let k = 1; !isOver; k++) {
      const task = stepTask(scene, flyer(index + (k % 2) / 8).start);
      const { positions } = await scheduler.step(task, { claim: CLAIM });
      scene = committed(scene, task, positions);
      made++;
    }
  };
  const sessions = [0, 1, 2, 3].map(session);
  const heavy = startHeavy(scheduler, spike(1, 0.5), abort.signal);
  await heavy.running;
  const before = made;
  while (made < before + 20) await new Promise(setImmediate);
  isOver = true;
  await Promise.all(sessions);
  abort.abort();
  t.equal((await refusalOf(heavy.work)).code, 'CANCELLED');
});
