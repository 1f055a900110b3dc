import type { Scheduler } from '../lanes/scheduler.js';

/** What the session room needs of the schedule; tests put a fake in its place. */
export type Schedule = Pick<
  Scheduler,
  | 'hello'
  | 'preflight'
  | 'resolve'
  | 'check'
  | 'open'
  | 'step'
  | 'park'
  | 'forget'
  | 'waitingCount'
  | 'waitingBytes'
  | 'runningCount'
  | 'sharedBytes'
  | 'close'
>;
