import { IntersticeError } from '../../contract/errors.js';
import type { ParametersInput } from '../../contract/parameters.js';
import type { Report } from '../../contract/report.js';
import { distanceOf, medianLength } from '../../mesh/lengths.js';
import { weldElements } from '../../mesh/weld.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice, CliContext } from '../backend.js';
import { EXIT, exitCodeOfReport, UsageError } from '../exit-codes.js';
import { assertClosedSurface, enclosedVolume } from '../flow/closed-surface.js';
import { type FlowResult, type FlowSettings, flow } from '../flow/normal-flow.js';
import { formatCount, formatNumber, formatPlural, formatRows, formatSeconds } from '../format.js';
import { type Inputs, naming, namingMeshes, readInputs } from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertMeshOutput, toSingleIfNeeded, writeMeshAnswer } from '../mesh-output.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';

export interface FlowFlags extends BackendChoice {
  readonly parameters: ParametersInput;
  readonly offset: number;
  readonly steps?: number;
  readonly smoothing?: number;
  readonly weld?: boolean;
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Without --steps no step is longer than this share of the median edge, because normals turn as the surface bends. */
const STRIDE_PER_EDGE = 0.5;
/** A distance that needs more steps is more often a wrong unit than intended. */
const MAX_DEFAULT_STEPS = 1000;

/** `interstice flow MESH --offset DISTANCE`; returns the exit code. */
export async function runFlow(path: string, flags: FlowFlags, cli: CliContext): Promise<number> {
  refuseValues(flags);
  if (flags.output !== undefined) await assertMeshOutput(flags.output, [path], 'flow');
  const read = await readInputs(
    'resolve',
    path,
    undefined,
    flags.weld === true ? { weld: true } : {},
    readingLimits(flags, cli.terminal.env, 'flow'),
  );
  const inputs = { ...read, file: toSingleIfNeeded(read.file, flags.output) };
  const surface = read.firstOf ? { ...inputs, file: weldElements(inputs.file, read.firstOf) } : inputs;
  const settings = await naming(path, async () => settingsFor(surface, flags));
  const result = await namingMeshes({ start: path }, () => run(path, surface, settings, flags, cli));
  if (flags.output !== undefined) await writeMeshAnswer(flags.output, path, inputs, result.positions, cli.terminal);
  const summary = summarise(result, surface.file.triangles, settings, flags.offset);
  if (flags.json === true) cli.terminal.out.write(`${JSON.stringify(toJson(summary, result), null, 2)}\n`);
  else if (flags.quiet !== true) cli.terminal.out.write(`${describeFlow(path, summary, flags.output)}\n`);
  return exitCodeOf(result);
}

/** The exit code of the last step, unless an earlier one did not converge. */
function exitCodeOf({ reports }: FlowResult): number {
  const last = exitCodeOfReport(reports.at(-1)!);
  return last === EXIT.OK ? Math.max(...reports.map(exitCodeOfReport)) : last;
}

function refuseValues({ offset, steps, smoothing = 0 }: FlowFlags): void {
  if (offset === 0) throw new UsageError('--offset must not be 0.', 'flow');
  if (steps === 0) throw new UsageError('--steps must be 1 or more.', 'flow');
  if (smoothing < 0 || smoothing > 1) throw new UsageError('--smoothing must be 0 to 1.', 'flow');
}

/** @throws INVALID_MESH for a surface without an inside, UsageError for a distance that needs --steps */
function settingsFor({ file }: Inputs, flags: FlowFlags): FlowSettings {
  const { triangles, positions, vertexCount } = file;
  assertClosedSurface(triangles, vertexCount);
  const volume = enclosedVolume(triangles, positions);
  if (volume === 0) {
    const hint =
      'A flow needs a surface around a volume. Is the mesh flat, or does each part lie on one of the opposite orientation?';
    throw new IntersticeError('INVALID_MESH', 'The surface encloses no volume; it has no outside.', { hint });
  }
  // A closed surface has every edge twice here, which does not change the median.
  const edges = Float64Array.from(triangles, (vertex, corner) =>
    distanceOf(positions, vertex, triangles[corner - (corner % 3) + ((corner + 1) % 3)]!),
  );
  const steps = flags.steps ?? Math.ceil(Math.abs(flags.offset) / (STRIDE_PER_EDGE * medianLength(edges)));
  if (flags.steps === undefined && !(steps <= MAX_DEFAULT_STEPS)) {
    throw new UsageError(
      `--offset ${flags.offset} is over ${MAX_DEFAULT_STEPS} steps of half a median edge: is it in the unit of the mesh? If so, name --steps.`,
      'flow',
    );
  }
  return { distance: Math.sign(volume) * flags.offset, steps, smoothing: flags.smoothing ?? 0 };
}

function run(
  path: string,
  { file, mesh }: Inputs,
  settings: FlowSettings,
  flags: FlowFlags,
  cli: CliContext,
): Promise<FlowResult> {
  const waiting = `${path}, ${formatPlural(file.vertexCount, 'vertex', 'vertices')}`;
  return withInterrupt((signal) =>
    withBackend(cli, flags, waiting, async (backend, line) => {
      const request = { mesh, start: file.positions, parameters: flags.parameters, label: 'flow' };
      const session = await backend.openSession(request, signal);
      try {
        const surface = { triangles: file.triangles, start: file.positions };
        return await flow(session, surface, settings, (step) => line.say(`step ${step} of ${settings.steps}`));
      } finally {
        await session.close();
      }
    }),
  );
}

/** The result of a flow; lengths in the unit of the mesh, offsets with the sign of the requested one. */
export interface FlowSummary {
  readonly offset: number;
  readonly steps: number;
  readonly smoothing: number;
  readonly meanOffset: number;
  /** of the vertex with the smallest offset */
  readonly leastOffset: number;
  readonly leastOffsetVertex: number;
  /** vertices with less than half of the requested offset */
  readonly heldVertices: number;
  /** vertices of triangles; means and counts are over these */
  readonly surfaceVertices: number;
  /** smallest distance of two elements after any step where it was measured; absent if no pair was ever within reach */
  readonly minDistance?: number;
  /** steps after which it was not measured, because their time budget had ended */
  readonly unmeasuredSteps: number;
  /** steps that did not converge */
  readonly unconvergedSteps: number;
  readonly seconds: number;
}

/** @param triangles uint32[3·T]: vertices without triangles have no normal and do not count */
export function summarise(
  { reached, reports }: FlowResult,
  triangles: Uint32Array,
  settings: FlowSettings,
  offset: number,
): FlowSummary {
  const sign = Math.sign(offset);
  const surface = new Set(triangles);
  let least = triangles[0]!;
  let sum = 0;
  let heldVertices = 0;
  for (const vertex of surface) {
    const distance = reached[vertex]!;
    sum += distance;
    if (distance < reached[least]!) least = vertex;
    if (distance < Math.abs(offset) / 2) heldVertices++;
  }
  const gaps = reports.flatMap(({ minDistance }) => minDistance ?? []);
  return {
    offset,
    steps: settings.steps,
    smoothing: settings.smoothing,
    meanOffset: (sign * sum) / surface.size,
    leastOffset: sign * reached[least]!,
    leastOffsetVertex: least,
    heldVertices,
    surfaceVertices: surface.size,
    ...(gaps.length === 0 ? {} : { minDistance: Math.min(...gaps) }),
    unmeasuredSteps: reports.filter(isUnmeasured).length,
    unconvergedSteps: reports.filter(({ status }) => status !== 'CONVERGED').length,
    seconds: reports.reduce((total, { timings }) => total + timings.total / 1e6, 0),
  };
}

const isUnmeasured = ({ warnings }: Report): boolean =>
  warnings.some(({ code }) => code === 'MIN_DISTANCE_NOT_MEASURED');

const toJson = (summary: FlowSummary, { reports }: FlowResult): object => ({
  ...summary,
  lastReport: encodeJson('Report', reports.at(-1)!, { arrays: true }),
});

function describeGap({ minDistance, unmeasuredSteps, steps }: FlowSummary): string {
  if (unmeasuredSteps === steps) return 'not measured: the time budgets left no time for it';
  const gap =
    minDistance === undefined ? 'nothing within reach' : `${formatNumber(minDistance)} in the unit of the mesh`;
  return unmeasuredSteps === 0 ? gap : `${gap}; not measured after ${formatPlural(unmeasuredSteps, 'step')}`;
}

/** The result as a few lines of text. */
export function describeFlow(path: string, summary: FlowSummary, writtenTo: string | undefined): string {
  const { offset, meanOffset, leastOffset, leastOffsetVertex, heldVertices, surfaceVertices } = summary;
  const direction = offset > 0 ? 'outwards' : 'inwards';
  const held = `${formatCount(heldVertices)} of ${formatPlural(surfaceVertices, 'vertex', 'vertices')}`;
  const rows: [string, string][] = [
    [
      'reached',
      `mean ${formatNumber(meanOffset)}, least ${formatNumber(leastOffset)} (vertex ${leastOffsetVertex}) of ${formatNumber(offset)} in the unit of the mesh`,
    ],
    ['held back', `${held} came less than half as far`],
    ['smallest gap', describeGap(summary)],
  ];
  if (summary.unconvergedSteps > 0) {
    rows.push(['unfinished', `${formatPlural(summary.unconvergedSteps, 'step')} ended before they had converged`]);
  }
  rows.push(['written', writtenTo ?? 'nothing; name a file with -o FILE to keep the answer']);
  const steps = formatPlural(summary.steps, 'step');
  return [`${path}: moved ${direction} in ${steps}, ${formatSeconds(summary.seconds)}`, ...formatRows(rows)].join('\n');
}
