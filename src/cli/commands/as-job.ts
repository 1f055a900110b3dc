import { basename } from 'node:path';
import { IntersticeError } from '../../contract/errors.js';
import type { JobInfo, JobPhase } from '../../contract/long-jobs.js';
import type { BackendAnswer, BackendChoice, BackendJobs, BackendWork, CliContext } from '../backend.js';
import { describeProgress, describeUntangling, StatusLine } from '../progress.js';
import { withInterrupt } from '../terminal.js';
import { UnreachableError } from '../unreachable.js';
import { quotePath, quoteWord } from '../welcome.js';

export interface AsJobFlags extends BackendChoice {
  readonly output?: string;
  readonly weld?: boolean;
  readonly quiet?: boolean;
}

export interface JobOutcome {
  readonly answer: BackendAnswer;
  /** Deletes the job once its answer is on disk. */
  readonly forget: () => Promise<void>;
}

/**
 * Submits the work as a job and waits for it. After an interrupt, or if the service is unreachable for long, the job
 * continues, and a line says how to fetch its answer.
 */
export function runAsJob(work: BackendWork, start: string, flags: AsJobFlags, cli: CliContext): Promise<JobOutcome> {
  return withInterrupt(async (signal) => {
    const { jobs } = await cli.openBackend(flags);
    if (jobs === undefined) throw new Error('Only a service has jobs.');
    const { id } = await jobs.submit(work, basename(start), signal);
    // Without an output the job is kept, and only its id leads to the answer.
    if (flags.quiet !== true || flags.output === undefined) cli.terminal.err.write(`job ${id}\n`);
    try {
      const ended = await follow(jobs, id, flags.quiet !== true, signal, cli);
      if (ended.error !== undefined) throw ended.error;
      const answer = await jobs.result(id, signal);
      return { answer, forget: () => forget(jobs, id) };
    } catch (thrown) {
      if (signal.aborted || thrown instanceof UnreachableError) {
        cli.terminal.err.write(`The job is left to the service. Its answer: ${fetchCommand(id, start, flags)}\n`);
      }
      throw thrown;
    }
  });
}

function fetchCommand(
  id: string,
  start: string,
  { output = 'answer.obj', weld, server = '', apiKeyFile }: AsJobFlags,
): string {
  const place = [
    '--server',
    quoteWord(server),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', quotePath(apiKeyFile)]),
  ];
  const words = [id, quotePath(start), ...(weld ? ['--weld'] : []), '-o', quotePath(output), ...place];
  return `interstice job fetch ${words.join(' ')}`;
}

/** Failures are ignored because the answer is already here: the job is gone, or it will expire. */
async function forget(jobs: BackendJobs, id: string): Promise<void> {
  await jobs.delete(id, undefined).catch((thrown: unknown) => {
    if (!(thrown instanceof IntersticeError) && !(thrown instanceof UnreachableError)) throw thrown;
  });
}

/** Draws the progress of a job until it has ended. */
export async function follow(
  jobs: BackendJobs,
  id: string,
  isWanted: boolean,
  signal: AbortSignal,
  { terminal }: CliContext,
): Promise<JobInfo> {
  const line = new StatusLine(terminal.err, terminal.now, `job ${id}`, isWanted).start();
  try {
    return await jobs.wait(id, (job) => line.say(`job ${id}  ${describeState(job)}`), signal);
  } finally {
    line.clear();
  }
}

const STATES: Readonly<Record<JobInfo['state'], string>> = {
  JOB_WAITING: 'waiting',
  JOB_RUNNING: 'running',
  JOB_DONE: 'done',
  JOB_FAILED: 'failed',
};

const PHASES: Readonly<Record<JobPhase, string>> = {
  START_CHECK: 'testing the start',
  SOLVING: 'running',
  ANSWER_CHECK: 'testing the answer',
};

export function describeState({ state, ahead, phase, progress, untangleProgress, error }: JobInfo): string {
  if (error !== undefined) return `${STATES[state]}: ${error.code}`;
  if (ahead !== undefined && ahead > 0) return `${STATES[state]} behind ${ahead}`;
  // A job that has ended keeps its last progress, which is older than its end.
  if (state !== 'JOB_RUNNING') return STATES[state];
  if (untangleProgress !== undefined) return describeUntangling(untangleProgress);
  const words = phase === undefined ? STATES[state] : PHASES[phase];
  return progress === undefined ? words : `${words}  ${describeProgress(progress)}`;
}
