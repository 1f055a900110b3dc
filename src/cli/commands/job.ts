import type { JobInfo } from '../../contract/long-jobs.js';
import { formatOf } from '../../mesh/files/index.js';
import { encodeJson } from '../../transport/json/encode.js';
import { fromJob } from '../../transport/messages/long-jobs.js';
import type { BackendChoice, BackendJobs, CliContext } from '../backend.js';
import { EXIT, exitCodeOfError, exitCodeOfReport, UsageError } from '../exit-codes.js';
import { formatPlural, formatSeconds } from '../format.js';
import { readInputs } from '../inputs.js';
import { assertMeshOutput, toSingleIfNeeded, writeMeshAnswer } from '../mesh-output.js';
import { describeProblem } from '../problem.js';
import { summariseRun } from '../summary.js';
import { withInterrupt } from '../terminal.js';
import { describeState, follow } from './as-job.js';
import { tellUntangled } from './untangle.js';

export interface JobFlags extends BackendChoice {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export interface FetchFlags extends JobFlags {
  readonly output?: string;
  readonly weld?: boolean;
}

/** `interstice job list`; returns the exit code. */
export async function runJobList(flags: JobFlags, cli: CliContext): Promise<number> {
  const jobs = await withJobs(flags, cli, (open, signal) => open.list(signal));
  if (flags.json === true) printJson(cli, { jobs: jobs.map(toJson) });
  else if (jobs.length === 0) cli.terminal.out.write('no jobs\n');
  else {
    const now = Date.now();
    for (const job of jobs) {
      const age = formatSeconds(Math.max(0, now - job.created) / 1000);
      const words = [job.id, describeState(job), `submitted ${age} ago`, job.label];
      cli.terminal.out.write(`${words.filter((word) => word !== '').join('  ')}\n`);
    }
  }
  return EXIT.OK;
}

/** `interstice job watch ID`; returns the exit code, that of the job's error if it failed. */
export async function runJobWatch(id: string, flags: JobFlags, cli: CliContext): Promise<number> {
  const job = await withJobs(flags, cli, (open, signal) => follow(open, id, flags.quiet !== true, signal, cli));
  if (flags.json === true) printJson(cli, toJson(job));
  else if (flags.quiet !== true) cli.terminal.out.write(`job ${id}  ${describeState(job)}\n`);
  if (job.error === undefined) return EXIT.OK;
  cli.terminal.err.write(`${describeProblem(job.error, false)}\n`);
  return exitCodeOfError(job.error);
}

/** `interstice job fetch ID [START]`; returns the exit code that resolve or untangle would return. */
export async function runJobFetch(
  id: string,
  start: string | undefined,
  flags: FetchFlags,
  cli: CliContext,
): Promise<number> {
  const { output } = flags;
  if (output !== undefined && start === undefined) {
    throw new UsageError('-o needs START, whose elements are written: a service returns positions.', 'job fetch');
  }
  if (output !== undefined) await assertMeshOutput(output, [start!], 'job fetch');
  const read =
    start === undefined ? undefined : await readInputs('resolve', start, undefined, flags.weld ? { weld: true } : {});
  const inputs = read && { ...read, file: toSingleIfNeeded(read.file, output) };
  const answer = await withJobs(flags, cli, async (open, signal) => {
    const { error } = await follow(open, id, flags.quiet !== true, signal, cli);
    if (error !== undefined) throw error;
    return open.result(id, signal);
  });
  const { positions } = answer.untangle ?? answer.resolve;
  const vertexCount = positions.length / 3;
  if (inputs !== undefined && inputs.file.vertexCount !== vertexCount) {
    throw new UsageError(
      `${start} has ${formatPlural(inputs.file.vertexCount, 'vertex', 'vertices')}, the answer of the job ${vertexCount}: it is not the start of this job.`,
      'job fetch',
    );
  }
  if (output !== undefined && inputs !== undefined) {
    if (formatOf(output) === 'gltf' && positions instanceof Float64Array) {
      throw new UsageError(
        `The answer is in double precision, which ${output} cannot hold. Fetch it as .obj or .ply, or submit it with -o FILE.glb.`,
        'job fetch',
      );
    }
    await writeMeshAnswer(output, start!, inputs, positions, cli.terminal);
  }
  if (answer.untangle !== undefined) {
    // A report does not say whether its job had a shape at rest.
    const lengths = 'at rest, or in the start without --rest';
    return tellUntangled(start ?? `job ${id}`, answer.untangle, lengths, flags, cli);
  }
  const { report } = answer.resolve;
  if (flags.json === true) printJson(cli, encodeJson('Report', report, { arrays: true }));
  else if (flags.quiet !== true) {
    const facts = {
      vertexCount,
      kinematicCount: undefined,
      writtenTo: output,
      traceFolder: undefined,
      traceStates: undefined,
    };
    cli.terminal.out.write(`${summariseRun(report, facts)}\n`);
  }
  return exitCodeOfReport(report);
}

/** `interstice job cancel ID`; returns the exit code. */
export async function runJobCancel(id: string, flags: JobFlags, cli: CliContext): Promise<number> {
  await withJobs(flags, cli, (open, signal) => open.delete(id, signal));
  if (flags.json === true) printJson(cli, {});
  else if (flags.quiet !== true) cli.terminal.out.write(`job ${id}  forgotten; if it still ran, it stops\n`);
  return EXIT.OK;
}

function withJobs<T>(
  flags: JobFlags,
  cli: CliContext,
  work: (jobs: BackendJobs, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withInterrupt(async (signal) => {
    const { jobs } = await cli.openBackend(flags);
    if (jobs === undefined) throw new Error('Only a service has jobs.');
    return work(jobs, signal);
  });
}

const toJson = (job: JobInfo): object => encodeJson('Job', fromJob(job), { arrays: false });

const printJson = ({ terminal }: CliContext, value: object): void => {
  terminal.out.write(`${JSON.stringify(value, null, 2)}\n`);
};
