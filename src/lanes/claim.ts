import type { Priority } from '../contract/requests.js';
import type { JobHooks } from './pool-job.js';

/** For whom a job is done: what the fair queue shares the lanes by. */
export interface Claim {
  readonly tenant: string;
  /** the scene key of the session, if it is one: its jobs run in the order they came, one at a time */
  readonly session?: number | undefined;
  readonly priority: Priority;
}

export interface ScheduleHooks extends JobHooks {
  readonly claim: Claim;
  /** it was admitted when it came and has waited elsewhere since: it brings its place along, and is not refused for want of one */
  readonly hasPlace?: boolean | undefined;
  /** bytes that are kept for it while it waits, and would not be without it; default: all arrays of the request */
  readonly waitingBytes?: number | undefined;
}
