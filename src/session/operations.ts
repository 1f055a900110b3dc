import type { MeasuredOperations, OperationObserver } from '../contract/events.js';
import type { Report } from '../contract/report.js';
import type { EngineDescription, Limits } from '../contract/server-info.js';
import type { EngineSource } from '../jobs/choose-engine.js';
import { engineSourceOf } from '../jobs/choose-engine.js';
import { Scheduler } from '../lanes/scheduler.js';
import type { SessionClock } from './clock.js';
import type { Log } from './observation.js';
import { ScheduledOperations } from './scheduled-operations.js';

export interface OperationsOptions {
  /** `auto` takes the best engine there is, and says in `info().engines` what it fell back to and why */
  readonly engine: 'auto' | 'cpu' | 'webgpu';
  /** which GPU */
  readonly adapter?: string | undefined;
  /** worker threads at most, for ordinary work */
  readonly threads: number;
  readonly limits: Limits;
  /** default: as many as the server may have */
  readonly maxSessionsPerTenant?: number | undefined;
  /** bytes of host memory that all sessions may take; default 0 = no limit */
  readonly maxSessionBytes?: number | undefined;
  /** bytes of the arrays of requests that wait; default 0 = no limit */
  readonly maxQueueBytes?: number | undefined;
  /** of sessions that name none, seconds, 0 = until deleted; default 900 */
  readonly idleTimeoutSeconds?: number | undefined;
  /** whether verify NONE is granted */
  readonly allowUnverified: boolean;
  /** an event as a pino-like logger takes it; findings carry `level: 'error'` */
  readonly log?: Log | undefined;
  /** told of every call, session and finding: for metrics */
  readonly onEvent?: OperationObserver | undefined;
  /** where reproductions of findings are written; default: a folder for temporary files */
  readonly findingsFolder?: string | undefined;
  /** set: every resolve and step also writes its states there, in a folder of its own. Slow; for finding faults */
  readonly traceFolder?: string | undefined;
  /** a report as it stands in trace.json; default as it is */
  readonly encodeReport?: ((report: Report) => unknown) | undefined;
  /** what `info()` names besides the operations: what the doors offer */
  readonly features?: readonly string[] | undefined;
  /** in place of the engine that `engine` names: for tests, and for trying an engine of one's own */
  readonly engineSource?: EngineSource | undefined;
  /** default: this process's */
  readonly clock?: SessionClock | undefined;
}

/**
 * Opens the engine on a first worker and returns the operations on it.
 *
 * @throws INVALID_PARAMETER for an adapter that is not there, or that the engine has no use for; INTERNAL when no worker can
 *   be started
 */
export async function createOperations(options: OperationsOptions): Promise<MeasuredOperations> {
  const { limits, log, engine: choice, adapter } = options;
  const operations: { current?: ScheduledOperations } = {};
  const schedule = new Scheduler({
    engine: options.engineSource ?? engineSourceOf({ engine: choice, adapter, maxDeviceBytes: limits.maxDeviceBytes }),
    limits,
    allowUnverified: options.allowUnverified,
    threads: options.threads,
    maxQueue: limits.maxQueue,
    maxQueueBytes: options.maxQueueBytes,
    onWorkerLost: (reason) => {
      log?.({ level: 'error', event: 'worker-lost', err: reason }, reason.message);
      operations.current?.tellWorkerLost();
    },
  });
  let engine: EngineDescription;
  try {
    engine = await schedule.hello();
  } catch (thrown) {
    await schedule.close();
    throw thrown;
  }
  operations.current = new ScheduledOperations(schedule, options, engine);
  return operations.current;
}
