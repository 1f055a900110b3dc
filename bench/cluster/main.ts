import { loadavg } from 'node:os';
import '../closed-pipe.js';
import { readFlags, readNumber } from '../command-line.js';
import { describeMachine } from '../machine.js';
import { resultFile, writeResult } from '../result-file.js';
import { lacksCluster } from './cluster.js';
import { prove, WAYS } from './proof.js';

/** `npm run cluster`: several servers, HAProxy and Redis on loopback, and the failures that they may suffer. */

const HELP = `node dist/bench/cluster/main.js [--workers 4] [--sessions 4] [--seconds 3] [--fsync everysec|always] [--write]

  --workers N    servers that start
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

if (values.help) process.stdout.write(HELP);
else if (lacksCluster) {
  process.stderr.write(`${lacksCluster}; deploy/install-cluster-tools.sh installs them\n`);
  process.exitCode = 2;
} else {
  const workers = readNumber(HELP, '--workers', values.workers);
  const sessions = readNumber(HELP, '--sessions', values.sessions);
  const seconds = readNumber(HELP, '--seconds', values.seconds, false);
  const [loadBefore] = loadavg();
  const outcomes = await prove({
    ...{ workers, sessions, seconds, frameMs: 0, restarts: workers },
    events: ['servers', 'store'],
    redis: ['--appendonly', 'yes', '--appendfsync', values.fsync],
    tell: (line) => process.stdout.write(`${line}\n`),
  });
  if (values.write) {
    const command = `npm run cluster -- ${process.argv.slice(2).join(' ')}`;
    const settings = { workers, sessions: WAYS.length * sessions, seconds, fsync: values.fsync };
    // Which process of the machine owned a session is of no use to a reader.
    const events = outcomes.map(({ moves, ...rest }) => ({
      ...rest,
      moved: moves.length,
      claims: moves.reduce((sum, { times }) => sum + times, 0),
    }));
    writeResult(resultFile('cluster'), describeMachine([]), { command, loadBefore, settings, events });
  }
  if (outcomes.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}
