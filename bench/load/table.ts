import { SPLIT_PARTS, type Summary } from '../../src/load/sample.js';
import type { Row } from '../../src/load/table.js';
import type { Holdings } from './gauges.js';

const MIB = 2 ** 20;

/** Latencies and parts in ms, throughput in steps per second. */
export const summaryRow = (name: string, summary: Summary): Row => ({
  run: name,
  'steps/s': summary.throughput,
  p50: summary.p50,
  p95: summary.p95,
  p99: summary.p99,
  ...Object.fromEntries(SPLIT_PARTS.map((part) => [part, summary.split[part]])),
  refused: Object.values(summary.refused).reduce((sum, count) => sum + count, 0),
});

export const holdingsRow = (moment: string, holdings: Holdings): Row => ({
  moment,
  'RSS MiB': holdings.rssBytes / MIB,
  'device MiB': holdings.deviceBytes / MIB,
  'host MiB': holdings.hostBytes / MIB,
  sessions: holdings.sessions,
  waiting: holdings.waiting,
  running: holdings.running,
});
