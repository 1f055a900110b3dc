import { loadavg } from 'node:os';
import '../closed-pipe.js';
import { startService } from '../../src/cli/service-process.js';
import { runLoad } from '../../src/load/run.js';
import { makeSheets } from '../../src/load/sheets.js';
import { formatTable } from '../../src/load/table.js';
import { costOf } from '../../src/plan/costs.js';
import { measureCosts } from '../../src/plan/measure.js';
import { seeded } from '../../src/plan/plan.js';
import { simulate } from '../../src/plan/simulate.js';
import { readFlags, readNumber } from '../command-line.js';
import { writeWhole } from '../whole-file.js';

const HELP = `npm run plan:check -- [options]

How near the simulation of interstice plan comes to the service: costs are measured by the clock, then the same service gets sessions at
several shares of what it can compute, and each latency stands beside the simulated one.

  --triangles N    of a session's mesh (default 1000)
  --seconds N      of load at each share (default 20)
  --lanes N        of the service (default 2)
  --out FILE       where the table is written as well
`;

const LOADS = [0.2, 0.4, 0.6, 0.8];
const SESSIONS_A_LANE = 4;
const SEED = 1;

const values = readFlags(HELP, {
  options: {
    triangles: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    lanes: { type: 'string', default: '2' },
    out: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const triangles = readNumber(HELP, '--triangles', values.triangles);
const seconds = readNumber(HELP, '--seconds', values.seconds, false);
const lanes = readNumber(HELP, '--lanes', values.lanes);
const motion = 5;
const service = await startService({
  ...process.env,
  INTERSTICE_ENGINE: 'cpu',
  INTERSTICE_THREADS: String(lanes),
  INTERSTICE_CORES: String(lanes),
});
try {
  const address = { http: service.http, grpc: service.grpc, access: {} };
  const common = { address, admin: service.admin, seconds, motion, lanes, quality: 'BALANCED', command: '' } as const;
  const tell = (line: string): void => void process.stderr.write(`${line}\n`);
  const costs = await measureCosts({ ...common, triangles: [triangles / 2, triangles * 2], tell });
  const subject = makeSheets(triangles, motion / 100);
  const { meanMs, quantiles } = costOf(costs, subject.triangles, 'clock');
  const sessions = SESSIONS_A_LANE * lanes;
  const rows = [];
  for (const share of LOADS) {
    const rate = (share * lanes * 1000) / meanMs / sessions;
    const real = await runLoad({ address, door: 'http', subject, sessions, rate, seconds, warmUp: 2 });
    const { latencies, utilisation } = simulate({ sessions, lanes, rate, quantiles }, seeded(SEED));
    const at = (part: number): number => latencies[Math.ceil(part * latencies.length) - 1]!;
    rows.push({
      'load %': 100 * share,
      'steps/s': real.throughput,
      asked: rate * sessions,
      p50: real.p50,
      'p50 simulated': at(0.5),
      p95: real.p95,
      'p95 simulated': at(0.95),
      'busy simulated %': 100 * utilisation,
      refused: Object.values(real.refused).reduce((sum, count) => sum + count, 0),
    });
  }
  process.stdout.write(
    `${sessions} sessions of ${subject.triangles} triangles, ${lanes} lanes; ms\n\n${formatTable(rows)}\n`,
  );
  const { machine, date } = costs;
  const result = {
    date,
    machine,
    loadOfTheMachine: loadavg(),
    triangles: subject.triangles,
    lanes,
    seconds,
    meanMs,
    rows,
  };
  if (values.out !== undefined) writeWhole(values.out, `${JSON.stringify(result, undefined, 1)}\n`);
} finally {
  await service.stop();
}
