import type { Test } from 'tap';
import type { ResolveRequest } from '../../src/contract/requests.js';
import { monotonicMs } from '../../src/jobs/clock.js';
import type { JobHooks } from '../../src/lanes/lane-job.js';
import { Scheduler, type SchedulerOptions } from '../../src/lanes/scheduler.js';
import { LIMITS, spike } from './job.js';

export const ENGINES = new URL('./fake-engine.js', import.meta.url).href;

export const CLAIM = { tenant: 'a', priority: 'NORMAL' } as const;

/** One lane of a fake engine, closed with the test. */
export function schedulerOf(t: Test, factory: string, more: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = new Scheduler({
    engine: { module: ENGINES, factory },
    limits: LIMITS,
    allowUnverified: false,
    threads: 1,
    maxQueue: 4,
    ...more,
  });
  t.teardown(() => scheduler.close());
  return scheduler;
}

export function resolve(scheduler: Scheduler, request: ResolveRequest = spike(1, 0.5), hooks: JobHooks = {}) {
  const now = monotonicMs();
  return scheduler.resolve({ request, receivedAt: now, queuedAt: now }, { claim: CLAIM, ...hooks });
}

/** Resolves once the job runs in its worker; the hooks are to be passed to it. */
export function started(): { readonly running: Promise<void>; readonly hooks: JobHooks } {
  let hear = () => {};
  const running = new Promise<void>((done) => {
    hear = done;
  });
  return { running, hooks: { onProgress: () => hear() } };
}

/** One triangle alone, which collides with nothing, so the answers of a fake engine verify. */
export function flyer(x = 0): { mesh: ResolveRequest['mesh']; start: Float32Array } {
  return {
    mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) },
    start: Float32Array.of(x, 0, 0, 1 + x, 0, 0, x, 1, 0),
  };
}
