import type { ParametersInput } from '../../contract/parameters.js';
import type { OnBudget, ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { algorithmVersion, packageVersion } from '../../paths.js';
import { defaultsOf } from '../../solver/parameters.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice } from '../backend.js';
import type { CliContext } from '../context.js';
import { exitCodeOfStatus, UsageError } from '../exit-codes.js';
import { formatPlural } from '../format.js';
import { withInterrupt } from '../interrupt.js';
import { formatOf, type MeshFile, writeMesh } from '../mesh-files.js';
import { assertWritable, writeAtomically } from '../output-file.js';
import { type RunBounds, StatusLine } from '../progress.js';
import { readSubject, type Subject, type SubjectFlags } from '../subject.js';
import { summariseRun } from '../summary.js';
import { prepareTraceFolder, TraceWriter } from '../trace.js';

export interface ResolveFlags extends SubjectFlags, BackendChoice {
  readonly parameters: ParametersInput;
  readonly output?: string;
  readonly trace?: string;
  readonly timeBudget?: number;
  readonly onBudget?: OnBudget;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice resolve START TARGET`; gives the exit code. */
export async function runResolve(start: string, target: string, flags: ResolveFlags, cli: CliContext): Promise<number> {
  refuseConflicts(flags);
  if (flags.output !== undefined) await assertOutput(flags.output, [start, target]);
  const subject = await readSubject('resolve', start, target, flags);
  if (flags.trace !== undefined) await prepareTraceFolder(flags.trace);
  const request = toRequest(subject, flags);
  const { answer, trace } = await resolve(request, subject, flags, cli);
  if (flags.output !== undefined) await writeAnswer(flags.output, subject.file, answer);
  trace?.finish(describeTrace(start, target, request, subject, answer));
  if (flags.json === true) {
    cli.terminal.out.write(`${JSON.stringify(encodeJson('Report', answer.report, { arrays: true }), null, 2)}\n`);
  } else if (flags.quiet !== true) {
    const facts = {
      vertexCount: subject.file.vertexCount,
      kinematicCount: subject.kinematic.length,
      writtenTo: flags.output,
      traceFolder: flags.trace,
      traceStates: trace?.states,
    };
    cli.terminal.out.write(`${summariseRun(answer.report, facts)}\n`);
  }
  return exitCodeOfStatus(answer.report.status);
}

function refuseConflicts(flags: ResolveFlags): void {
  if (flags.server !== undefined && flags.trace !== undefined) {
    throw new UsageError(
      '--trace cannot be used with --server: a service sends its answer, not the states on the way. Leave out --server to trace on this machine.',
      'resolve',
    );
  }
}

async function assertOutput(path: string, inputs: readonly string[]): Promise<void> {
  try {
    formatOf(path);
  } catch {
    throw new UsageError(`cannot tell the format of ${path}; its name must end in .obj or .ply.`, 'resolve');
  }
  await assertWritable(path, inputs);
}

function toRequest(subject: Subject, flags: ResolveFlags): ResolveRequest {
  const { file, other, mesh, options } = subject;
  if (options.include !== undefined) {
    throw new UsageError(
      `${flags.options}: "include" has no place on the command line, whose answer is a mesh and a report. Remove it.`,
      'resolve',
    );
  }
  if (other === undefined) throw new UsageError('resolve needs a start and a target.', 'resolve');
  const timeBudgetSeconds = flags.timeBudget ?? options.timeBudgetSeconds;
  const onBudget = flags.onBudget ?? options.onBudget;
  return {
    mesh,
    start: file.positions,
    target: other.positions,
    parameters: { ...options.parameters, ...flags.parameters },
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget === undefined ? {} : { onBudget }),
  };
}

interface Outcome {
  readonly answer: ResolveAnswer;
  readonly trace: TraceWriter | undefined;
}

function resolve(request: ResolveRequest, subject: Subject, flags: ResolveFlags, cli: CliContext): Promise<Outcome> {
  return withInterrupt(async (signal, abort) => {
    const trace = flags.trace === undefined ? undefined : new TraceWriter(flags.trace, subject.file, abort);
    const place = flags.server === undefined ? 'starting' : `waiting for ${flags.server}`;
    const waiting = `${formatPlural(subject.file.vertexCount, 'vertex', 'vertices')}, ${place}`;
    const line = new StatusLine(cli.terminal.err, cli.terminal.now, waiting, flags.quiet !== true).start();
    try {
      const backend = await cli.openBackend(flags);
      try {
        const bounds = boundsOf(request.parameters);
        const answer = await backend.resolve(request, {
          signal,
          receivedAt: performance.now(),
          onProgress: (progress) => line.show(progress, bounds),
          ...(trace === undefined ? {} : { onState: (positions, at) => trace.add(positions, at) }),
        });
        return { answer, trace };
      } finally {
        await backend.close();
      }
    } catch (error) {
      // A trace that could not be written stopped the run; the reason is worth more than "cancelled".
      trace?.assertWritten();
      throw error;
    } finally {
      line.clear();
    }
  });
}

/** What the bar is drawn against. A value out of range is refused by the solver before the first progress comes. */
function boundsOf(parameters: ParametersInput): RunBounds {
  const defaults = defaultsOf(parameters.preset ?? 'TUNED');
  return {
    residualTolerance: parameters.residualTolerance ?? defaults.residualTolerance ?? Number.MIN_VALUE,
    stepLimit: parameters.stepLimit ?? defaults.stepLimit ?? Number.MAX_SAFE_INTEGER,
  };
}

/** The start's elements at the answer's positions, in the format of the output's name, numbers exactly the answer's. */
async function writeAnswer(path: string, start: MeshFile, answer: ResolveAnswer): Promise<void> {
  const scalar = answer.positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32';
  const format = formatOf(path);
  await writeAtomically(path, writeMesh({ ...start, format, scalar, positions: answer.positions }, format));
}

function describeTrace(
  start: string,
  target: string,
  request: ResolveRequest,
  subject: Subject,
  answer: ResolveAnswer,
): Readonly<Record<string, unknown>> {
  const { parameters, timeBudgetSeconds, onBudget } = request;
  return {
    version: packageVersion,
    algorithmVersion,
    start,
    target,
    vertexCount: subject.file.vertexCount,
    scalar: answer.positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
    options: { parameters, timeBudgetSeconds, onBudget },
    kinematicVertices: subject.kinematic,
    report: encodeJson('Report', answer.report, { arrays: true }),
  };
}
