import { availableParallelism, constants, loadavg } from 'node:os';
import { join, relative } from 'node:path';
import '../closed-pipe.js';
import { formatTable } from '../../src/load/table.js';
import { algorithmVersion, packageVersion, projectRoot } from '../../src/paths.js';
import { describeMachine } from '../machine.js';
import { ServerProcess } from '../prove/server.js';
import { writeWhole } from '../whole-file.js';
import { MemoryGroup } from './memory-group.js';
import { readServed, type ScenarioInput, type ScenarioResult, type Served } from './scenario.js';
import { fairness } from './scenarios/fairness.js';
import { floods } from './scenarios/floods.js';
import { mixed } from './scenarios/mixed.js';
import { overhead } from './scenarios/overhead.js';
import { preemption } from './scenarios/preemption.js';
import { resting } from './scenarios/resting.js';
import { sweep } from './scenarios/sweep.js';
import { versus } from './scenarios/versus.js';
import { HELP, type LoadSettings, readSettings, type Scenario, UsageError } from './settings.js';

const RUNS: Readonly<Record<Scenario, (input: ScenarioInput) => Promise<ScenarioResult>>> = {
  sweep,
  overhead,
  fairness,
  mixed,
  preemption,
  versus,
  resting,
  floods,
};

const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Runs a scenario with a service of its own, so that none affects the next. */
async function runScenario(scenario: Scenario, settings: LoadSettings): Promise<ScenarioResult & { engine: string }> {
  const served: Served[] = [];
  const onLine = (line: string): void => {
    const answer = readServed(line);
    if (answer) served.push(answer);
  };
  const group = scenario === 'floods' ? MemoryGroup.create(settings.memory * 2 ** 20) : undefined;
  const launcher = group?.launcher ?? [];
  const server = await ServerProcess.start({ engine: settings.engine, onLine, launcher }).catch(async (thrown) => {
    await group?.remove();
    throw thrown;
  });
  const end = async (stop: Promise<void>): Promise<void> => {
    await stop;
    await group?.remove();
  };
  const giveUp = (signal: NodeJS.Signals): void => {
    void end(server.kill()).then(() => process.exit(128 + constants.signals[signal]));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, giveUp);
  try {
    const info = (await (await fetch(`${server.address}/v1`)).json()) as { engines: { name: string }[] };
    const result = await RUNS[scenario]({ settings, server, served, tell, group });
    return { ...result, engine: info.engines[0]?.name ?? settings.engine };
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, giveUp);
    await end(server.stop());
  }
}

function print({ tables, verdicts }: ScenarioResult): void {
  for (const { heading, rows } of tables) process.stdout.write(`\n${heading}\n\n${formatTable(rows)}\n`);
  if (verdicts.length > 0) process.stdout.write('\n');
  for (const { bar, isMet, measured } of verdicts) {
    process.stdout.write(`${isMet ? 'met   ' : 'MISSED'} ${bar}: ${measured}\n`);
  }
}

/**
 * Counts of the wire are 64 bits wide; those of a load are far below 2^53. Three decimals carry the whole precision.
 */
function plain(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
}

/** Returns a name that sorts by time, in UTC. */
function defaultFile(engine: string): string {
  const [day, time] = new Date().toISOString().split('T') as [string, string];
  return join(projectRoot, 'bench', 'results', `${day}-${time.slice(0, 5).replace(':', '')}-load-${engine}.json`);
}

async function load(settings: LoadSettings): Promise<void> {
  const results: Awaited<ReturnType<typeof runScenario>>[] = [];
  const date = new Date().toISOString();
  const [loadBefore] = loadavg();
  for (const scenario of settings.scenarios) {
    const result = await runScenario(scenario, settings);
    print(result);
    results.push(result);
  }
  const cores = availableParallelism();
  if (loadBefore! > cores) {
    tell(
      `the machine has ${cores} cores and was busy before this began (load ${loadBefore!.toFixed(1)}): met or missed says little`,
    );
  }
  if (settings.out === '') return;
  const file = settings.out ?? defaultFile(settings.engine);
  const report = {
    date,
    version: packageVersion,
    algorithmVersion,
    command: `npm run load -- ${process.argv.slice(2).join(' ')}`.trim(),
    machine: describeMachine([]),
    // The load of the machine before the run: above 0 on two cores the figures are those of a busy machine.
    loadBefore,
    results: results.map(({ scenario, engine, verdicts, details }) => ({ scenario, engine, verdicts, details })),
  };
  writeWhole(file, `${JSON.stringify(report, plain, 1)}\n`);
  tell(`wrote ${relative(process.cwd(), file)}`);
}

try {
  const settings = readSettings(process.argv.slice(2));
  if (settings === 'HELP') process.stdout.write(HELP);
  else await load(settings);
} catch (error) {
  tell(error instanceof UsageError ? `${error.message}\n\n${HELP}` : `${error instanceof Error ? error.stack : error}`);
  process.exitCode = 2;
}
