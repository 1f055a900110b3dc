import t from 'tap';
import { engineSourceOf } from '../../src/jobs/engines.js';
import type { JobHooks } from '../../src/lanes/lane-job.js';
import { Scheduler } from '../../src/lanes/scheduler.js';
import { stackSwap } from '../solver/cases.js';
import { needAdapter } from '../support/gpu.js';
import { LIMITS, refusalOf } from '../support/job.js';
import { committed, openTask, sceneOf, stepTask } from '../support/scenes.js';
import { CLAIM } from '../support/schedulers.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { options } = await needAdapter();
const SESSIONS = 6;
const FRAMES = 2;

t.test('Sessions of a lane submit together, and answer as they would alone.', options, async (t) => {
  const scheduler = new Scheduler({
    engine: engineSourceOf({ engine: 'webgpu', convoy: { scenes: 8, delay: 20 } }),
    limits: LIMITS,
    allowUnverified: false,
    threads: 2,
    maxQueue: 64,
  });
  t.teardown(() => scheduler.close());
  await scheduler.hello();
  const { mesh, start, target } = stackSwap(5).build();
  const session = async (n: number, hooks: JobHooks = {}, stepLimit = 6) => {
    const parameters = { quality: 'FAST', stepLimit } as const;
    let state = sceneOf({ mesh, start });
    await scheduler.open(openTask(state, parameters), { claim: CLAIM });
    const answers: string[] = [];
    for (let frame = 1; frame <= FRAMES; frame++) {
      const share = (frame / FRAMES) * (1 - n / 20);
      const aim = target.map((value, k) => start[k]! + share * (value - start[k]!));
      const task = stepTask(state, aim, { parameters });
      const { positions, report } = await scheduler.step(task, { claim: CLAIM, ...hooks });
      answers.push(`${report.status} ${Buffer.from(positions.slice().buffer).toString('base64')}`);
      state = committed(state, task, positions);
    }
    return answers;
  };
  const all = Array.from({ length: SESSIONS }, (_, n) => n);
  const abort = new AbortController();
  // Progress comes from the thread: the step is under way, among those of the others, and has more steps to do than they have.
  const hooks = { signal: abort.signal, onProgress: () => abort.abort() };
  const cancelled = refusalOf(session(0, hooks, 1000));
  const together = Promise.all(all.map((n) => session(n)));
  t.equal((await cancelled).code, 'CANCELLED');
  const answers = await together;
  t.equal(scheduler.scenesTogether, 8);
  const { submissions, parts, dispatches, launches } = scheduler.convoy;
  t.ok(parts > 2 * submissions, `${parts} parts in ${submissions} submissions`);
  t.ok(launches > 2 * dispatches, `${launches} dispatches of scenes were ${dispatches}`);
  for (const n of all) t.strictSame(await session(n), answers[n], `session ${n}`);
});
