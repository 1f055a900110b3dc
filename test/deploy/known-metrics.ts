import type { OperationStats } from '../../src/contract/events.js';
import { sumOfCounts } from '../../src/solver/convoy-counts.js';

/** What an idle service tells its gauges. */
export const noStats = (): OperationStats => ({
  waiting: 0,
  running: 0,
  sessions: 0,
  parked: 0,
  residentBytes: 0,
  sharedBytes: 0,
  workBytes: 0,
  deviceBufferBytes: 0,
  scenesTogether: 1,
  convoy: sumOfCounts([]),
  hostBytes: 0,
  pendingJobs: 0,
  endedJobs: 0,
  jobBytes: 0,
});

export const bodyLedger = { bytes: 0, maxBytes: 1 };
