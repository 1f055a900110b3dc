import { join, relative } from 'node:path';
import { algorithmVersion, packageVersion, projectRoot } from '../../src/paths.js';
import { describeMachine } from '../machine.js';
import { type EngineRun, runCampaign } from './campaign.js';
import { type FaultResult, runFaults } from './faults.js';
import { runMutants } from './mutation.js';
import { removeAllPlants } from './planting.js';
import { countFindings, tallyOf, writeReport } from './report.js';
import { killAllServers, ServerProcess } from './server.js';
import { HELP, type ProveSettings, readSettings, UsageError } from './settings.js';
import { runSoak, type SoakResult } from './soak.js';

/** Progress goes to the error stream; the verdict and the count of what passed to the other one. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

type EngineName = 'cpu' | 'webgpu';

/** Why an engine cannot be started here; undefined when it can. */
async function objectionTo(engine: EngineName): Promise<string | undefined> {
  try {
    const server = await ServerProcess.start({ engine });
    await server.stop();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A name that sorts by time: prove-2026-11-21-0312, in UTC. */
function defaultFolder(): string {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `prove-${day}-${time.slice(0, 5).replace(':', '')}`);
}

async function faultAll(settings: ProveSettings, engines: readonly EngineName[], runs: readonly EngineRun[]) {
  const faults: (FaultResult & { engine: string })[] = [];
  for (const engine of settings.parts.includes('faults') ? engines : []) {
    const sessions = runs.find((run) => run.engine === engine)?.sessions ?? true;
    faults.push(...(await runFaults(engine, settings.seed, sessions, tell)).map((result) => ({ engine, ...result })));
  }
  return faults;
}

/** Soak, faults and mutants; where time is short, the faults beside the others. */
async function breakThings(settings: ProveSettings, engines: readonly EngineName[], runs: readonly EngineRun[]) {
  const hasTraces = runs.length === 0 || runs.some((run) => run.pieces > 0);
  const mutate = () => (settings.parts.includes('mutants') ? runMutants(settings, engines, hasTraces, tell) : []);
  const faulting = settings.isHurried ? faultAll(settings, engines, runs) : undefined;
  // Whoever waits for the others first hears of a failure here all the same.
  faulting?.catch(() => {});
  const soaks = await soakAll(settings, engines);
  const mutants = await mutate();
  const faults = await (faulting ?? faultAll(settings, engines, runs));
  return { soaks, mutants, faults };
}

async function soakAll(settings: ProveSettings, engines: readonly EngineName[]): Promise<SoakResult[]> {
  const soaks: SoakResult[] = [];
  if (!settings.parts.includes('soak') || settings.soak === 0) return soaks;
  for (const engine of engines) {
    tell(`soak on ${engine}, ${settings.soak / engines.length} s …`);
    const soak = await runSoak(engine, settings.soak / engines.length, settings.seed);
    tell(`soak on ${engine}: ${soak.answers} answers, ${soak.findings.join('; ') || 'nothing was found'}`);
    soaks.push(soak);
  }
  return soaks;
}

async function prove(settings: ProveSettings): Promise<number> {
  const started = performance.now();
  const notes: string[] = [];
  const runs: EngineRun[] = [];
  if (settings.data === undefined) notes.push('No real inputs: set INTERSTICE_DATA or --data.');
  const engines: EngineName[] = [];
  for (const engine of settings.engines) {
    const objection = await objectionTo(engine);
    if (objection === undefined) engines.push(engine);
    else notes.push(`The engine ${engine} was not tried: ${objection}`);
  }
  for (const note of notes) tell(note);
  if (engines.length === 0) throw new Error('no engine can be tried');
  for (const engine of settings.parts.includes('cases') ? engines : []) {
    tell(`cases on ${engine}, seed ${settings.seed} …`);
    const run = await runCampaign(engine, settings, settings.minutes / engines.length, tell);
    if (run.answers > 0 && run.pieces === 0)
      notes.push(`${engine}: no traces, so that paths were judged by their ends.`);
    if (!run.sessions) notes.push(`${engine}: this build has no sessions; every case was a single resolve.`);
    tell(
      `${engine}: ${run.cases} cases, ${run.answers} answers, ${run.pieces} pieces, ${run.findings.length} findings`,
    );
    runs.push(run);
  }
  const { soaks, mutants, faults } = await breakThings(settings, engines, runs);
  const report = {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command: `npm run prove -- --seed ${settings.seed} --minutes ${settings.minutes} --soak ${settings.soak} --engine ${settings.engines.join(',')}`,
    seed: settings.seed,
    seconds: (performance.now() - started) / 1000,
    machine: describeMachine([]),
    notes,
    runs,
    mutants,
    faults,
    soaks,
  };
  const findings = countFindings(report);
  const page = writeReport(settings.out ?? defaultFolder(), { ...report, findings });
  tell(`wrote ${relative(process.cwd(), page)}`);
  process.stdout.write(`${findings === 0 ? 'nothing was found' : `${findings} findings`}\n${tallyOf(report)}\n`);
  return findings === 0 ? 0 : 1;
}

/** A campaign that is broken off takes everything along that it started. */
function endWhenTold(): void {
  const ends = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [name, code] of Object.entries(ends)) process.once(name, () => process.exit(code));
  process.once('exit', () => {
    killAllServers();
    removeAllPlants();
  });
}

async function main(): Promise<number> {
  try {
    const settings = readSettings(process.argv.slice(2), process.env);
    if (settings !== 'HELP') return await prove(settings);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    tell(
      error instanceof UsageError ? `${error.message}\n\n${HELP}` : `${error instanceof Error ? error.stack : error}`,
    );
    return 2;
  }
}

endWhenTold();
process.exitCode = await main();
