import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { openOperations } from '../examples/resolve-scene.js';
import { algorithmVersion, packageVersion, projectRoot } from '../src/paths.js';
import { makeCases } from './cases.js';
import { describeMachine, type Machine } from './machine.js';
import { growthExponent, type Measurement, measure } from './measure.js';
import { HELP, readSettings, type Settings, UsageError } from './settings.js';
import { formatTable } from './table.js';

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Progress goes to the error stream, so that the table alone can be piped on. */
const tell = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** How the time grows with the size of each scene that was measured at several sizes. */
function growthOf(measurements: readonly Measurement[]): string[] {
  return [...new Set(measurements.map((m) => m.scene))].flatMap((scene) => {
    const exponent = growthExponent(measurements.filter((m) => m.scene === scene));
    return exponent === undefined ? [] : [`${scene}: time grows as vertices^${exponent.toFixed(2)}`];
  });
}

/** A name that sorts by time: 2026-11-21-0312-cpu.json, in UTC. */
const resultFile = (engine: string): string => {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `${day}-${time.slice(0, 5).replace(':', '')}-${engine}.json`);
};

function save(settings: Settings, machine: Machine, measurements: readonly Measurement[]): void {
  if (settings.out === '') return;
  const file = settings.out ?? resultFile(settings.engine);
  const { scenes, vertices, repeat, warmUp, engine } = settings;
  const content = {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command: { engine, scenes, vertices, repeat, warmUp },
    machine,
    measurements,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  tell(`wrote ${relative(process.cwd(), file)}`);
}

async function runCases(settings: Settings): Promise<number> {
  const operations = await openOperations(settings.engine, 1);
  try {
    const machine = describeMachine(operations.info().engines);
    print(
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, ${machine.platform}`,
    );
    for (const engine of machine.engines)
      print(`engine ${engine.name}${engine.software && engine.name !== 'cpu' ? ' (software)' : ''}`);
    const measurements: Measurement[] = [];
    for await (const subject of makeCases(settings.scenes, settings.vertices, settings.dataFolder)) {
      tell(`${subject.scene}, ${subject.vertices} vertices: ${settings.warmUp} + ${settings.repeat} runs …`);
      measurements.push(await measure(operations, subject, settings.repeat, settings.warmUp));
    }
    print(`\nmedians of ${settings.repeat} runs after ${settings.warmUp} uncounted, milliseconds\n`);
    print(formatTable(measurements));
    for (const line of growthOf(measurements)) print(line);
    save(settings, machine, measurements);
    // The same request has to give the same bytes; a benchmark is the last place to overlook that.
    return measurements.every((m) => m.isRepeatable) ? 0 : 1;
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
  return runCases(settings);
}
