import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { openOperations } from '../examples/resolve-scene.js';
import { algorithmVersion, packageVersion, projectRoot } from '../src/paths.js';
import { makeCases } from './cases.js';
import { runCores } from './cores.js';
import { closeEngines, openEngines } from './engines.js';
import { findReferences, runFidelity } from './fidelity/suite.js';
import { describeMachine, type Machine } from './machine.js';
import { growthExponent, type Measurement, measure } from './measure.js';
import { measureEngines } from './measure-engines.js';
import { SLOW_SCENES } from './scenes/slow.js';
import { CORES, FIDELITY, HELP, readSettings, type Settings, SLOW, UsageError } from './settings.js';
import { runSuite, SUITES, type SuiteResult } from './suites.js';
import { formatTable } from './table.js';

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Progress goes to the error stream, so that the table alone can be piped on. */
const tell = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** How the times grow with the size of each scene that was measured at several sizes. */
function growthOf(measurements: readonly Measurement[]): string[] {
  const series = new Map<string, Measurement[]>();
  for (const m of measurements) {
    const name = `${m.scene}, ${m.engine}`;
    series.set(name, [...(series.get(name) ?? []), m]);
  }
  return [...series].flatMap(([name, members]) => {
    const processor = (m: Measurement) => m.engineOnly?.processorMilliseconds?.median;
    const perStep = (m: Measurement) => {
      const time = processor(m);
      return time === undefined ? undefined : time / Math.max(1, m.steps);
    };
    return Object.entries({
      time: growthExponent(members),
      'processor time': growthExponent(members, processor),
      'processor time a step': growthExponent(members, perStep),
    }).flatMap(([what, exponent]) =>
      exponent === undefined ? [] : [`${name}: ${what} grows as vertices^${exponent.toFixed(2)}`],
    );
  });
}

/** A name that sorts by time: 2026-11-21-0312-cpu.json, in UTC. */
const resultFile = (engine: string): string => {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `${day}-${time.slice(0, 5).replace(':', '')}-${engine}.json`);
};

function save(
  settings: Settings,
  machine: Machine,
  results: { readonly measurements: readonly Measurement[]; readonly suite?: readonly SuiteResult[] },
): void {
  if (settings.out === '') return;
  const { engines, scenes, vertices, repeat, warmUp, isWhole, suite } = settings;
  const file = settings.out ?? resultFile([...engines, ...(suite ? [suite] : [])].join('-'));
  const content = {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command: { engines, isWhole, ...(suite ? { suite } : { scenes, vertices }), repeat, warmUp },
    machine,
    ...results,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  tell(`wrote ${relative(process.cwd(), file)}`);
}

function printMachine(machine: Machine): void {
  print(`${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}`);
  for (const engine of machine.engines)
    print(`engine ${engine.name}${engine.software && engine.name !== 'cpu' ? ' (software)' : ''}`);
}

function printTable(settings: Settings, measurements: readonly Measurement[]): void {
  print(`\nmedians of ${settings.repeat} runs after ${settings.warmUp} uncounted, milliseconds\n`);
  print(formatTable(measurements));
  for (const line of growthOf(measurements)) print(line);
}

// The same request has to give the same bytes.
const exitCode = (measurements: readonly Measurement[]): number => (measurements.every((m) => m.isRepeatable) ? 0 : 1);

/** The engines by themselves, side by side. */
async function runEngines(settings: Settings): Promise<number> {
  const { suite, scenes, vertices, dataFolder, repeat, warmUp } = settings;
  const engines = await openEngines(settings.engines);
  try {
    const machine = describeMachine(engines.map(({ engine }) => engine.description));
    printMachine(machine);
    if (suite !== undefined) {
      const timeLimit = 60_000 * settings.minutes;
      const results = await runSuite(SUITES[suite], engines, { repeat, warmUp, timeLimit, tell });
      const measurements = results.flatMap((result) => result.measurements);
      printTable(settings, measurements);
      for (const { skipped } of results) if (skipped !== undefined) print(`excluded: ${skipped}`);
      save(settings, machine, { measurements, suite: results });
      return exitCode(measurements);
    }
    const measurements: Measurement[] = [];
    for await (const subject of makeCases(scenes, vertices, dataFolder)) {
      tell(`${subject.scene}, ${subject.vertices} vertices: ${warmUp} + ${repeat} runs an engine …`);
      measurements.push(...(await measureEngines(engines, subject, repeat, warmUp)));
    }
    printTable(settings, measurements);
    save(settings, machine, { measurements });
    return exitCode(measurements);
  } finally {
    await closeEngines(engines);
  }
}

/** Whole requests, through the operations of the service. */
async function runCases(settings: Settings): Promise<number> {
  const operations = await openOperations(settings.engines[0], 1);
  try {
    const machine = describeMachine(operations.info().engines);
    printMachine(machine);
    const measurements: Measurement[] = [];
    for await (const subject of makeCases(settings.scenes, settings.vertices, settings.dataFolder)) {
      tell(`${subject.scene}, ${subject.vertices} vertices: ${settings.warmUp} + ${settings.repeat} runs …`);
      measurements.push(await measure(operations, subject, settings.repeat, settings.warmUp));
    }
    printTable(settings, measurements);
    save(settings, machine, { measurements });
    return exitCode(measurements);
  } finally {
    await operations.close();
  }
}

/**
 * The benchmark's command line.
 * @param argv arguments without the program's name
 * @returns exit code: 0 done, 1 repeats differed, 2 usage
 */
export async function main(argv: readonly string[]): Promise<number> {
  let settings: Settings | undefined;
  try {
    settings = readSettings(argv);
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    tell(`${thrown.message}\n\n${HELP}`);
    return 2;
  }
  if (!settings) {
    print(HELP);
    return 0;
  }
  if (settings.suite === FIDELITY) {
    await (settings.isReference ? findReferences : runFidelity)({ ...settings, print, tell });
    return 0;
  }
  if (settings.suite === SLOW) {
    await runFidelity({ ...settings, among: SLOW_SCENES, print, tell });
    return 0;
  }
  if (settings.suite === CORES) {
    printMachine(describeMachine([]));
    return (await runCores({ ...settings, print, tell })) ? 0 : 1;
  }
  return settings.isWhole ? runCases(settings) : runEngines(settings);
}
