import { join, relative } from 'node:path';
import { algorithmVersion, packageVersion, projectRoot } from '../../src/paths.js';
import { describeMachine } from '../machine.js';
import { type EngineRun, runCampaign } from './campaign.js';
import { type FaultResult, runFaults } from './faults.js';
import { type MutantResult, runMutants } from './mutation.js';
import { countFindings, writeReport } from './report.js';
import { ServerProcess } from './server.js';
import { HELP, type ProveSettings, readSettings, UsageError } from './settings.js';
import { runSoak, type SoakResult } from './soak.js';

/** Progress goes to the error stream; the last line, the verdict, to the other one. */
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Why an engine cannot be started here; undefined when it can. */
async function objectionTo(engine: 'cpu' | 'webgpu'): Promise<string | undefined> {
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

async function prove(settings: ProveSettings): Promise<number> {
  const started = performance.now();
  const notes: string[] = [];
  const runs: EngineRun[] = [];
  const faults: (FaultResult & { engine: string })[] = [];
  const soaks: SoakResult[] = [];
  let mutants: MutantResult[] = [];
  const has = (part: ProveSettings['parts'][number]) => settings.parts.includes(part);
  if (settings.data === undefined) notes.push('No real inputs: set INTERSTICE_DATA or --data.');
  const engines: ('cpu' | 'webgpu')[] = [];
  for (const engine of settings.engines) {
    const objection = await objectionTo(engine);
    if (objection === undefined) engines.push(engine);
    else notes.push(`The engine ${engine} was not tried: ${objection}`);
  }
  for (const note of notes) tell(note);
  if (engines.length === 0) throw new Error('no engine can be tried');
  for (const engine of engines) {
    if (has('cases')) {
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
    const sessions = runs[runs.length - 1]?.sessions ?? true;
    if (has('faults')) {
      faults.push(...(await runFaults(engine, settings.seed, sessions, tell)).map((result) => ({ engine, ...result })));
    }
    if (has('soak') && settings.soak > 0) {
      tell(`soak on ${engine}, ${settings.soak / engines.length} s …`);
      soaks.push(await runSoak(engine, settings.soak / engines.length, settings.seed));
    }
  }
  const hasTraces = runs.length === 0 || runs.some((run) => run.pieces > 0);
  if (has('mutants')) mutants = await runMutants(settings, hasTraces, tell);
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
  process.stdout.write(findings === 0 ? 'nothing was found\n' : `${findings} findings\n`);
  return findings === 0 ? 0 : 1;
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

process.exitCode = await main();
