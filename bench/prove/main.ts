import { join, relative } from 'node:path';
import '../closed-pipe.js';
import { algorithmVersion, packageVersion, projectRoot } from '../../src/paths.js';
import { describeMachine } from '../machine.js';
import { type EngineRun, runCampaign } from './campaign.js';
import { isOfToday } from './days.js';
import { type FailureResult, runFailures } from './failures/failures.js';
import { removeAllPlants } from './mutants/planting.js';
import { runMutants } from './mutants/run-mutants.js';
import { countFindings, tallyOf, writeReport } from './report.js';
import { killAllServers, ServerProcess } from './server.js';
import { HELP, type Part, type ProveSettings, readSettings, UsageError } from './settings.js';
import { runSoak, type SoakResult } from './soak.js';

/** Progress goes to standard error; the verdict and the counts go to standard output. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

type EngineName = 'cpu' | 'webgpu';

/** Days in which a hurried campaign tries every case and every failure on every engine, a share of them each day. */
const CASE_DAYS = 8;

/** The reason why an engine cannot be started here; undefined if it can. */
async function objectionTo(engine: EngineName): Promise<string | undefined> {
  try {
    const server = await ServerProcess.start({ engine });
    await server.stop();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The flags that repeat a campaign, without those of folders. */
function flagsOf({ seed, minutes, cases, soak, engines, parts, only, isHurried }: ProveSettings): string[] {
  return [
    ...(isHurried ? ['--ci'] : []),
    `--seed ${seed}`,
    `--minutes ${minutes}`,
    ...(Number.isFinite(cases) ? [`--cases ${cases}`] : []),
    `--soak ${soak}`,
    `--engine ${engines.join(',')}`,
    `--parts ${parts.join(',')}`,
    ...(only.length > 0 ? [`--only ${only.join(',')}`] : []),
  ];
}

/** A name that sorts by time: prove-2026-11-21-0312, in UTC. */
function defaultFolder(): string {
  const [day, time] = new Date().toISOString().split('T');
  return join(projectRoot, 'bench', 'results', `prove-${day}-${time.slice(0, 5).replace(':', '')}`);
}

/** @returns whether an engine tries something today, by its index */
function turnsOf({ isHurried, engines, only }: ProveSettings, engine: EngineName): (index: number) => boolean {
  if (!isHurried || only.length > 0) return () => true;
  // No item is tried on two engines on one day.
  const turn = Math.floor((engines.indexOf(engine) * CASE_DAYS) / engines.length);
  return (index) => isOfToday(index + turn, CASE_DAYS);
}

async function runCases(
  settings: ProveSettings,
  engine: EngineName,
  share: number,
  notes: string[],
): Promise<EngineRun> {
  tell(`cases on ${engine}, seed ${settings.seed} …`);
  const run = await runCampaign(engine, settings, settings.minutes * share, turnsOf(settings, engine), tell);
  tell(`${engine}: ${run.cases} cases, ${run.answers} answers, ${run.pieces} pieces, ${run.findings.length} findings`);
  const taken = run.cases + run.later;
  if (taken < settings.cases && settings.only.length === 0 && Number.isFinite(settings.cases))
    notes.push(`${engine}: the time was over after ${taken} of ${settings.cases} cases.`);
  return run;
}

async function faultAll(settings: ProveSettings, engines: readonly EngineName[]) {
  const faults: (FailureResult & { engine: string })[] = [];
  for (const engine of engines) {
    const results = await runFailures(engine, settings.seed, turnsOf(settings, engine), tell);
    faults.push(...results.map((result) => ({ engine, ...result })));
  }
  return faults;
}

/**
 * Everything in turn, or, where time is short, all but the soak beside each other: a service and its judge wait for each other
 * most of the time. The soak measures, and has the machine to itself.
 *
 * @param settings with the engines that can be tried here
 */
async function runParts(settings: ProveSettings, notes: string[]) {
  const { engines } = settings;
  const isAsked = (part: Part) => settings.parts.includes(part);
  const share = 1 / engines.length;
  const cases = engines.map(
    (engine) => async () => (isAsked('cases') ? [await runCases(settings, engine, share, notes)] : []),
  );
  const mutate = async () => (isAsked('mutants') ? runMutants(settings, engines, tell) : []);
  const fault = async () => (isAsked('faults') ? faultAll(settings, engines) : []);
  if (settings.isHurried) {
    const [mutants, faults, ...runs] = await allOf([mutate(), fault(), ...cases.map((run) => run())] as const);
    return { runs: runs.flat(), soaks: await soakAll(settings, engines), mutants, faults };
  }
  const runs: EngineRun[] = [];
  for (const run of cases) runs.push(...(await run()));
  return { runs, soaks: await soakAll(settings, engines), mutants: await mutate(), faults: await fault() };
}

/** Like Promise.all, but a failure is reported when all have ended, because each cleans up after itself. */
async function allOf<T extends readonly Promise<unknown>[]>(work: T): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return (await Promise.all(work)) as { [K in keyof T]: Awaited<T[K]> };
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
  if (settings.data === undefined) notes.push('No real inputs: set INTERSTICE_DATA or --data.');
  const engines: EngineName[] = [];
  for (const engine of settings.engines) {
    const objection = await objectionTo(engine);
    if (objection === undefined) engines.push(engine);
    else notes.push(`The engine ${engine} was not tried: ${objection}`);
  }
  for (const note of notes) tell(note);
  if (engines.length === 0) throw new Error('No engine can be tried.');
  const parts = await runParts({ ...settings, engines }, notes);
  const report = {
    date: new Date().toISOString(),
    version: packageVersion,
    algorithmVersion,
    command: `npm run prove -- ${flagsOf(settings).join(' ')}`,
    seed: settings.seed,
    seconds: (performance.now() - started) / 1000,
    machine: describeMachine([]),
    notes,
    ...parts,
  };
  const findings = countFindings(report);
  const page = writeReport(settings.out ?? defaultFolder(), { ...report, findings });
  tell(`wrote ${relative(process.cwd(), page)}`);
  process.stdout.write(`${findings === 0 ? 'nothing was found' : `${findings} findings`}\n${tallyOf(report)}\n`);
  return findings === 0 ? 0 : 1;
}

/** A campaign that is interrupted ends everything that it has started. */
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
