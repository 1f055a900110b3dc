import t, { type Test } from 'tap';
import { Scheduler, type SchedulerOptions } from '../../src/lanes/scheduler.js';
import { crowdOf } from '../support/crowd.js';
import { LIMITS, refusalOf, spike } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';
import { CLAIM, resolve } from '../support/schedulers.js';

function cpuScheduler(test: Test, more: Partial<SchedulerOptions>): Scheduler {
  const module = new URL('../../src/solver/cpu/engine.js', import.meta.url).href;
  const engine = { module, factory: 'createCpuEngine' };
  const scheduler = new Scheduler({ engine, limits: LIMITS, allowUnverified: false, threads: 2, maxQueue: 4, ...more });
  test.teardown(() => scheduler.close());
  return scheduler;
}

function crowd(count: number) {
  const { mesh, start, target, parameters } = crowdOf(count);
  return { mesh, start, target, parameters: { ...parameters, stepLimit: 2, quality: 'FAST' } } as const;
}

for (const cores of [1, 2]) {
  t.test(`the memory of all lanes together is limited, counted and freed: ${cores} core(s)`, async (t) => {
    const scheduler = cpuScheduler(t, { cores, maxWorkBytes: 4_000_000 });
    const refusal = await refusalOf(resolve(scheduler, crowd(700)));
    t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
    t.ok(refusal.retryable);
    t.equal(refusal.retryAfterSeconds, 1);
    const [demand, taken, limit] = refusal.message.match(/\d+/g)!.map(Number);
    t.ok(demand! + taken! > limit!, refusal.message);
    t.equal(limit, 4_000_000);
    t.ok(scheduler.workBytes <= 4_000_000);
    t.equal((await resolve(scheduler, spike(0.25, 0.2))).report.status, 'CONVERGED', 'the lane goes on');
    t.ok(scheduler.workBytes <= 4_000_000, `${scheduler.workBytes} bytes`);

    const ample = cpuScheduler(t, { cores });
    t.ok((await resolve(ample, crowd(700))).report.pairs.vertexVertex > 50_000);
    // Memory that helpers know is kept for a while, to be taken again.
    t.ok(cores === 1 ? ample.workBytes === 0 : ample.workBytes > 4_000_000, `${ample.workBytes} bytes`);
  });
}

t.test('a session whose step was refused for lack of memory is unchanged', async (t) => {
  const scheduler = cpuScheduler(t, { threads: 1, maxWorkBytes: 4_000_000 });
  const request = crowd(700);
  const scene = sceneOf(request);
  await scheduler.open(openTask(scene, request.parameters), { claim: CLAIM });
  const refusal = await refusalOf(
    scheduler.step(stepTask(scene, request.target, { parameters: request.parameters }), { claim: CLAIM }),
  );
  t.equal(refusal.code, 'OUT_OF_DEVICE_MEMORY');
  // Where it rests nothing is searched.
  const task = stepTask(scene, request.start, { parameters: request.parameters });
  const answer = await scheduler.step(task, { claim: CLAIM });
  t.same(answer.positions, request.start);
  t.notOk(answer.report.sessionRebuilt);
  t.ok(committed(scene, task, answer.positions));
});

t.test('a thread that dies no longer holds anything', async (t) => {
  const scheduler = cpuScheduler(t, { threads: 1, cores: 2 });
  await resolve(scheduler, crowd(300));
  t.ok(scheduler.workBytes > 0);
  await scheduler.close();
  t.equal(scheduler.workBytes, 0);
});
