import type { ParametersInput } from '../../contract/parameters.js';
import type { OnBudget, ResolveAnswer, ResolveRequest } from '../../contract/requests.js';
import { warnOfScale } from '../../jobs/target-scale.js';
import type { MeshFile } from '../../mesh/files/index.js';
import { algorithmVersion, packageVersion } from '../../paths.js';
import { TraceWriter } from '../../session/trace.js';
import { defaultsOf } from '../../solver/parameters.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice, CliContext } from '../backend.js';
import { exitCodeOfReport, UsageError } from '../exit-codes.js';
import { formatPlural } from '../format.js';
import {
  filesOf,
  type InputFlags,
  type Inputs,
  namingMeshes,
  type RestFlags,
  readInputs,
  refuseInclude,
  withRest,
} from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertMeshOutput, toSingleIfNeeded, writeMeshAnswer } from '../mesh-output.js';
import { prepareTraceFolder, writingFailure } from '../outputs.js';
import type { RunBounds } from '../progress.js';
import { summariseRun } from '../summary.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';
import { runAsJob } from './as-job.js';

export interface ResolveFlags extends InputFlags, RestFlags, BackendChoice {
  readonly parameters: ParametersInput;
  readonly output?: string;
  readonly sequence?: boolean;
  readonly trace?: string;
  /** submit to the service as a job, and wait for it */
  readonly job?: boolean;
  readonly timeBudget?: number;
  readonly onBudget?: OnBudget;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice resolve START TARGET`; returns the exit code. */
export async function runResolve(start: string, target: string, flags: ResolveFlags, cli: CliContext): Promise<number> {
  refuseConflicts(flags);
  const paths = [start, target, ...filesOf(flags)];
  if (flags.output !== undefined) await assertMeshOutput(flags.output, paths, 'resolve');
  const named = await readInputs('resolve', start, target, flags, readingLimits(flags, cli.terminal.env, 'resolve'));
  const single = (file: MeshFile): MeshFile => toSingleIfNeeded(file, flags.output);
  const read = { ...named, file: single(named.file), other: named.other && single(named.other) };
  const inputs = { ...read, mesh: await withRest(read.mesh, read.file, flags, 'resolve') };
  if (flags.trace !== undefined) await prepareTraceFolder(flags.trace, paths);
  const request = toRequest(inputs, flags, 'resolve');
  if (flags.quiet !== true) noteScale(request, cli);
  const { answer, trace, forget } = await namingMeshes({ start, target, rest: flags.rest }, () =>
    flags.job ? resolveAsJob(request, start, flags, cli) : resolve(request, inputs, flags, cli),
  );
  if (flags.output !== undefined) {
    await writeMeshAnswer(flags.output, start, inputs, answer.positions, cli.terminal);
    await forget?.();
  }
  writingTrace(flags, () => trace?.finish(describeTrace(start, target, request, inputs, answer)));
  if (flags.json === true) {
    cli.terminal.out.write(`${JSON.stringify(encodeJson('Report', answer.report, { arrays: true }), null, 2)}\n`);
  } else if (flags.quiet !== true) {
    const facts = {
      vertexCount: inputs.file.vertexCount,
      kinematicCount: inputs.kinematic.length,
      comparedLength: inputs.mesh.restLengths ? ('at rest' as const) : ('in the target' as const),
      writtenTo: flags.output,
      traceFolder: flags.trace,
      traceStates: trace?.states,
    };
    cli.terminal.out.write(`${summariseRun(answer.report, facts)}\n`);
  }
  return exitCodeOfReport(answer.report);
}

/** Warns of a target in other units, which takes long to compute, before the run; the report does so again. */
function noteScale({ mesh, start, target }: ResolveRequest, { terminal }: CliContext): void {
  const { triangles = [], segments = [], particles, kinematic } = mesh;
  // One side of each triangle is enough for the comparison.
  const sides = Uint32Array.from(
    { length: 2 * Math.floor(triangles.length / 3) },
    (_, k) => triangles[3 * (k >> 1) + (k & 1)]!,
  );
  const warnings = warnOfScale(
    {
      edges: sides,
      innerEdges: Uint32Array.from(segments),
      particles: Uint32Array.from(particles ?? []),
      kinematic: kinematic ?? new Uint8Array(mesh.vertexCount),
      parts: [],
      partOfVertex: new Int32Array(0),
    },
    start,
    target,
  );
  for (const { code, message } of warnings) terminal.err.write(`warning  ${code}: ${message}\n`);
}

function refuseConflicts(flags: ResolveFlags): void {
  if (flags.server !== undefined && flags.trace !== undefined) {
    throw new UsageError(
      '--trace cannot be used with --server: a service returns its answer, not the intermediate states. Omit --server to trace on this machine.',
      'resolve',
    );
  }
}

/** The request from flags and files. @param command that the flags belong to @throws UsageError */
export function toRequest(
  inputs: Inputs,
  flags: Omit<ResolveFlags, 'trace' | 'json'>,
  command: string,
): ResolveRequest {
  const { file, other, mesh, options } = inputs;
  refuseInclude(options, flags, command);
  if (other === undefined) throw new UsageError(`The command ${command} needs a start and a target.`, command);
  const timeBudgetSeconds = flags.timeBudget ?? options.timeBudgetSeconds;
  const onBudget = flags.onBudget ?? options.onBudget;
  return {
    mesh,
    start: file.positions,
    target: other.positions,
    parameters: { ...options.parameters, ...flags.parameters },
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(onBudget === undefined ? {} : { onBudget }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
  };
}

interface Outcome {
  readonly answer: ResolveAnswer;
  readonly trace: TraceWriter | undefined;
  /** Deletes the job that the answer comes from, once it is on disk. */
  readonly forget?: () => Promise<void>;
}

async function resolveAsJob(
  request: ResolveRequest,
  start: string,
  flags: ResolveFlags,
  cli: CliContext,
): Promise<Outcome> {
  const { answer, forget } = await runAsJob({ resolve: request }, start, flags, cli);
  return { answer: answer.resolve!, trace: undefined, forget };
}

/** @throws UsageError if a file of the trace cannot be written */
function writingTrace({ trace }: ResolveFlags, write: () => void): void {
  try {
    write();
  } catch (thrown) {
    throw trace === undefined ? thrown : writingFailure(thrown, trace);
  }
}

function resolve(request: ResolveRequest, inputs: Inputs, flags: ResolveFlags, cli: CliContext): Promise<Outcome> {
  return withInterrupt(async (signal, abort) => {
    const trace = flags.trace === undefined ? undefined : new TraceWriter(flags.trace, inputs.file, abort);
    const place = flags.server === undefined ? 'starting' : `waiting for ${flags.server}`;
    const waiting = `${formatPlural(inputs.file.vertexCount, 'vertex', 'vertices')}, ${place}`;
    try {
      return await withBackend(cli, flags, waiting, async (backend, line) => {
        const bounds = boundsOf(request.parameters);
        const answer = await backend.resolve(request, {
          signal,
          receivedAt: performance.now(),
          onProgress: (progress) => line.show(progress, bounds),
          ...(trace === undefined ? {} : { onState: (positions, at) => trace.add(positions, at) }),
        });
        return { answer, trace };
      });
    } catch (error) {
      // If the trace could not be written, that stopped the run; report the reason rather than CANCELLED.
      writingTrace(flags, () => trace?.assertWritten());
      throw error;
    }
  });
}

/** The bounds of the progress bar. The solver refuses values out of range before it reports progress. */
export function boundsOf(parameters: ParametersInput): RunBounds {
  const defaults = defaultsOf(parameters.preset ?? 'TUNED');
  return {
    residualTolerance: parameters.residualTolerance ?? defaults.residualTolerance ?? Number.MIN_VALUE,
    stepLimit: parameters.stepLimit ?? defaults.stepLimit ?? Number.MAX_SAFE_INTEGER,
  };
}

function describeTrace(
  start: string,
  target: string,
  request: ResolveRequest,
  inputs: Inputs,
  answer: ResolveAnswer,
): Readonly<Record<string, unknown>> {
  const { parameters, timeBudgetSeconds, onBudget } = request;
  return {
    version: packageVersion,
    algorithmVersion,
    start,
    target,
    vertexCount: inputs.file.vertexCount,
    scalar: answer.positions instanceof Float64Array ? 'FLOAT64' : 'FLOAT32',
    options: { parameters, timeBudgetSeconds, onBudget },
    kinematicVertices: inputs.kinematic,
    report: encodeJson('Report', answer.report, { arrays: true }),
  };
}
