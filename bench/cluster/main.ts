import { loadavg } from 'node:os';
import '../closed-pipe.js';
import { readCount, readFlags, readNumber, readWord } from '../command-line.js';
import { describeMachine } from '../machine.js';
import { resultFile, writeResult } from '../result-file.js';
import { lacksCluster } from './cluster.js';
import { prove, WAYS } from './proof.js';
import { FSYNC_WORDS } from './redis.js';

/** `npm run cluster`: several servers, HAProxy and Redis on loopback, and the failures that they may suffer. */

const HELP = `npm run cluster -- [--workers 4] [--sessions 4] [--seconds 3] [--fsync everysec|always] [--write]

  --workers N    servers that start, at least 2: others take the sessions of one that ends
  --sessions N   sessions by each of three ways: HTTP with x-session-id, HTTP without it, gRPC
  --seconds S    how long load runs before and after each event
  --fsync WORD   appendfsync of the store
  --write        writes the outcomes to bench/results
`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const values = readFlags(HELP, {
  options: {
    workers: { type: 'string', default: '4' },
    sessions: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '3' },
    fsync: { type: 'string', default: 'everysec' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const workers = readCount(HELP, '--workers', values.workers, 2);
const sessions = readNumber(HELP, '--sessions', values.sessions);
const seconds = readNumber(HELP, '--seconds', values.seconds, false);
const fsync = readWord(HELP, '--fsync', values.fsync, FSYNC_WORDS);
if (lacksCluster) {
  process.stderr.write(`${lacksCluster}; deploy/install-cluster-tools.sh installs them\n`);
  process.exit(2);
}
const [loadBefore] = loadavg();
const outcomes = await prove({
  ...{ workers, sessions, seconds, frameMs: 0, restarts: workers },
  events: ['servers', 'store'],
  redis: ['--appendonly', 'yes', '--appendfsync', fsync],
  tell: (line) => process.stdout.write(`${line}\n`),
});
if (values.write) {
  const command = `npm run cluster -- ${process.argv.slice(2).join(' ')}`;
  const settings = { workers, sessions: WAYS.length * sessions, seconds, fsync };
  // Which process of the machine owned a session is of no use to a reader.
  const events = outcomes.map(({ moves, ...rest }) => ({
    ...rest,
    moved: moves.length,
    claims: moves.reduce((sum, { times }) => sum + times, 0),
  }));
  writeResult(resultFile('cluster'), describeMachine([]), { command, loadBefore, settings, events });
}
if (outcomes.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
