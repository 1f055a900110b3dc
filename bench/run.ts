import { relative } from 'node:path';
import { openOperations } from '../examples/resolve-scene.js';
import { type Case, makeCases } from './cases.js';
import { runConvoy } from './convoy/suite.js';
import { runCores } from './cores.js';
import { closeEngines, openEngines } from './engines.js';
import { findReferences, runFidelity } from './fidelity/suite.js';
import { runVariation } from './fidelity/variation.js';
import { runHardware } from './hardware/suite.js';
import { measureBinding } from './launches/binding.js';
import { measureRecording } from './launches/recording.js';
import { runLaunches } from './launches/suite.js';
import { describeMachine, type Machine } from './machine.js';
import { growthExponent, type Measurement, measure } from './measure.js';
import { measureEngines } from './measure-engines.js';
import { resultFile, writeResult } from './result-file.js';
import { SLOW_SCENES } from './scenes/slow.js';
import {
  CONVOY,
  CORES,
  FIDELITY,
  HARDWARE,
  HELP,
  LAUNCHES,
  readSettings,
  type Settings,
  SLOW,
  UNTANGLE,
  UsageError,
  VARIATION,
} from './settings.js';
import { formatTable } from './table.js';
import { runUntangle } from './untangle/suite.js';

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Progress goes to standard error, so that the table alone can be piped. */
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

function save(settings: Settings, machine: Machine, measurements: readonly Measurement[]): void {
  if (settings.out === '') return;
  const { engines, qualities, scenes, vertices, repeat, warmUp, isWhole } = settings;
  const file = settings.out ?? resultFile(engines.join('-'));
  const command = { engines, isWhole, qualities, scenes, vertices, repeat, warmUp };
  writeResult(file, machine, { command, measurements });
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

// The same request must give the same bytes.
const exitCode = (measurements: readonly Measurement[]): number => (measurements.every((m) => m.isRepeatable) ? 0 : 1);

/** Yields the requested cases, in the requested qualities. */
async function* subjectsOf({ scenes, vertices, dataFolder, qualities }: Settings): AsyncGenerator<Case> {
  const [quality] = qualities;
  for await (const subject of makeCases(scenes, vertices, dataFolder)) {
    const { request } = subject;
    yield quality ? { ...subject, request: { ...request, parameters: { ...request.parameters, quality } } } : subject;
  }
}

/** Measures the engines alone, side by side. */
async function runEngines(settings: Settings): Promise<number> {
  const { repeat, warmUp } = settings;
  const engines = await openEngines(settings.engines);
  try {
    const machine = describeMachine(engines.map(({ engine }) => engine.description));
    printMachine(machine);
    const measurements: Measurement[] = [];
    for await (const subject of subjectsOf(settings)) {
      tell(`${subject.scene}, ${subject.vertices} vertices: ${warmUp} + ${repeat} runs an engine …`);
      measurements.push(...(await measureEngines(engines, subject, repeat, warmUp)));
    }
    printTable(settings, measurements);
    save(settings, machine, measurements);
    return exitCode(measurements);
  } finally {
    await closeEngines(engines);
  }
}

/** Measures whole requests, through the operations of the service. */
async function runCases(settings: Settings): Promise<number> {
  const operations = await openOperations(settings.engines[0], 1);
  try {
    const machine = describeMachine(operations.info().engines);
    printMachine(machine);
    const measurements: Measurement[] = [];
    for await (const subject of subjectsOf(settings)) {
      tell(`${subject.scene}, ${subject.vertices} vertices: ${settings.warmUp} + ${settings.repeat} runs …`);
      measurements.push(await measure(operations, subject, settings.repeat, settings.warmUp));
    }
    printTable(settings, measurements);
    save(settings, machine, measurements);
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
  if (settings.suite === VARIATION) {
    await runVariation({ ...settings, print, tell });
    return 0;
  }
  if (settings.suite === UNTANGLE) {
    const engines = await openEngines(settings.engines.slice(0, 1));
    const { seeds, scenes: words, dataFolder, out } = settings;
    try {
      await runUntangle({ engine: engines[0]!.engine, seeds, words, dataFolder, out, print, tell });
    } finally {
      await closeEngines(engines);
    }
    return 0;
  }
  if (settings.suite === CONVOY) {
    await runConvoy({ ...settings, print, tell });
    return 0;
  }
  if (settings.suite === LAUNCHES) {
    await runLaunches({ ...settings, print, tell });
    for (const { what, dispatches, microsecondsPerDispatch } of await measureRecording()) {
      print(`recording ${what}: ${microsecondsPerDispatch.toFixed(2)} µs a dispatch, ${dispatches} dispatches`);
    }
    for (const { what, microseconds } of await measureBinding()) {
      print(`the binding, ${what}: ${microseconds.toFixed(2)} µs a call`);
    }
    return 0;
  }
  if (settings.suite === HARDWARE) return await runHardware({ ...settings, print, tell });
  if (settings.suite === CORES) {
    printMachine(describeMachine([]));
    return (await runCores({ ...settings, print, tell })) ? 0 : 1;
  }
  return settings.isWhole ? runCases(settings) : runEngines(settings);
}
