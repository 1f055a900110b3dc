import type { ParametersInput } from '../../contract/parameters.js';
import type { ContourReport, LayerHint, UntangleRequest } from '../../contract/untangle.js';
import type { UntangledState } from '../../contract/untangle-answer.js';
import { partsOfGroups } from '../../mesh/files/index.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice, CliContext } from '../backend.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { formatNumber, formatPlural, formatRows, formatSeconds } from '../format.js';
import {
  filesOf,
  type InputFlags,
  type Inputs,
  namingMeshes,
  type RestFlags,
  readInputs,
  withRest,
} from '../inputs.js';
import { readingLimits } from '../local.js';
import { assertMeshOutput, toSingleIfNeeded, writeMeshAnswer } from '../mesh-output.js';
import { assertWritable, writeAtomically } from '../outputs.js';
import { describeUntangling } from '../progress.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';
import { runAsJob } from './as-job.js';

export interface UntangleFlags extends InputFlags, Pick<RestFlags, 'rest'>, BackendChoice {
  readonly parameters: ParametersInput;
  readonly output?: string;
  /** path of a PNG */
  readonly picture?: string;
  /** INNER:OUTER, or INNER:OUTER:against */
  readonly layer?: readonly string[];
  /** ids of contours */
  readonly turn?: readonly number[];
  readonly maxIterations?: number;
  readonly maxDisplacement?: number;
  readonly timeBudget?: number;
  /** submit to the service as a job, and wait for it */
  readonly job?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice untangle START`; returns the exit code. */
export async function runUntangle(path: string, flags: UntangleFlags, cli: CliContext): Promise<number> {
  const paths = [path, ...filesOf(flags)];
  if (flags.output !== undefined) await assertMeshOutput(flags.output, paths, 'untangle');
  if (flags.picture !== undefined) {
    if (!/\.png$/i.test(flags.picture))
      throw new UsageError(`The picture is a PNG, so its name must end in .png, not ${flags.picture}.`, 'untangle');
    await assertWritable(flags.picture, paths);
  }
  const layers = (flags.layer ?? []).map(readLayer);
  const named = await readInputs('resolve', path, undefined, flags, readingLimits(flags, cli.terminal.env, 'untangle'));
  const read = { ...named, file: toSingleIfNeeded(named.file, flags.output) };
  const inputs = { ...read, mesh: await withRest(read.mesh, read.file, flags, 'untangle') };
  const request = toRequest(inputs, layers, flags);
  const { answer, forget } = await namingMeshes({ start: path, rest: flags.rest }, () =>
    flags.job ? untangleAsJob(request, path, flags, cli) : untangle(request, path, flags, cli),
  );
  if (flags.output !== undefined) {
    await writeMeshAnswer(flags.output, path, inputs, answer.positions, cli.terminal);
    await forget?.();
  }
  if (flags.picture !== undefined) {
    const { drawUntangled } = await import('../untangle-picture.js');
    await writeAtomically(flags.picture, [drawUntangled(request, answer)]);
  }
  return tellUntangled(path, answer, request.mesh.restLengths ? 'at rest' : 'in the start', flags, cli);
}

/** The lengths that stretch is relative to. */
type ComparedLength = 'at rest' | 'in the start' | 'at rest, or in the start without --rest';

interface Outcome {
  readonly answer: UntangledState;
  /** Deletes the job that the answer comes from, once it is on disk. */
  readonly forget?: () => Promise<void>;
}

async function untangleAsJob(
  request: UntangleRequest,
  path: string,
  flags: UntangleFlags,
  cli: CliContext,
): Promise<Outcome> {
  const { answer, forget } = await runAsJob({ untangle: request }, path, flags, cli);
  return { answer: answer.untangle!, forget };
}

function untangle(request: UntangleRequest, path: string, flags: UntangleFlags, cli: CliContext): Promise<Outcome> {
  const place = flags.server === undefined ? `looking at ${path}` : `waiting for ${flags.server}`;
  return withInterrupt((signal) =>
    withBackend(cli, flags, place, async (backend, line) => {
      const answer = await backend.untangle(request, {
        signal,
        receivedAt: performance.now(),
        onUntangleProgress: (progress) => line.say(describeUntangling(progress)),
      });
      return { answer };
    }),
  );
}

/** Prints the report as the flags say; returns the exit code. */
export function tellUntangled(
  path: string,
  answer: Pick<UntangledState, 'report'>,
  comparedLength: ComparedLength,
  { json, quiet, output }: Pick<UntangleFlags, 'json' | 'quiet' | 'output'>,
  { terminal }: CliContext,
): number {
  if (json === true) {
    const report = encodeJson('UntangleReport', answer.report, { arrays: true });
    terminal.out.write(`${JSON.stringify(report, null, 2)}\n`);
  } else if (quiet !== true) {
    terminal.out.write(`${describeUntangled(path, answer, comparedLength, output)}\n`);
  }
  return answer.report.status === 'FREE' ? EXIT.OK : EXIT.FOUND;
}

/** @throws UsageError */
function readLayer(text: string): LayerHint {
  const [inner = '', outer = '', side = 'along', ...more] = text.split(':');
  if (inner === '' || outer === '' || more.length > 0 || !['along', 'against'].includes(side)) {
    throw new UsageError(`--layer takes INNER:OUTER or INNER:OUTER:against, not "${text}".`, 'untangle');
  }
  return { inner, outer, side: side === 'along' ? 'ALONG_NORMALS' : 'AGAINST_NORMALS' };
}

/** @throws UsageError for hints about a file without parts */
function toRequest(
  { file, mesh, options }: Inputs,
  layers: readonly LayerHint[],
  flags: UntangleFlags,
): UntangleRequest {
  const parts = partsOfGroups(file);
  if (layers.length > 0 && !parts) {
    throw new UsageError(
      '--layer names parts, but this file has none: the parts of an OBJ are its objects or groups, if no two share a vertex.',
      'untangle',
    );
  }
  for (const name of ['include', 'onBudget'] as const) {
    if (options[name] !== undefined)
      throw new UsageError(`${flags.options}: "${name}" has no meaning for untangling. Remove it.`, 'untangle');
  }
  const timeBudgetSeconds = flags.timeBudget ?? options.timeBudgetSeconds;
  return {
    mesh: parts ? { ...mesh, parts } : mesh,
    positions: file.positions,
    parameters: { ...options.parameters, ...flags.parameters },
    ...(layers.length > 0 ? { layers } : {}),
    ...(flags.turn ? { turned: flags.turn } : {}),
    ...(flags.maxIterations === undefined ? {} : { maxIterations: flags.maxIterations }),
    ...(flags.maxDisplacement === undefined ? {} : { maxDisplacement: flags.maxDisplacement }),
    ...(timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
  };
}

/** Contours that the text lists; JSON contains all. */
const SHOWN = 12;

const WHY = {
  HINT: 'as a layer hint says',
  BODY: 'as the body says',
  SMALLER: 'the smaller part, a guess',
  COST: 'the least work, a guess',
} as const;

/** Describes the remaining pierces, the decision for each contour, and how far vertices moved. */
export function describeUntangled(
  path: string,
  { report }: Pick<UntangledState, 'report'>,
  comparedLength: ComparedLength,
  writtenTo: string | undefined,
): string {
  const { status, piercesBefore, piercesAfter, piercesByIteration, contours, regions, outside } = report;
  const verdicts = { FREE: 'free of intersections', PARTIAL: 'fewer intersections', UNRESOLVED: 'not untangled' };
  const rounds = formatPlural(Math.max(0, piercesByIteration.length - 1), 'iteration');
  const rows: [string, string][] = [];
  rows.push(['pierces', `${piercesBefore} in the start, ${piercesAfter} in the answer, ${rounds}`]);
  for (const contour of contours.slice(0, SHOWN)) rows.push([`contour ${contour.id}`, describeContour(contour)]);
  if (contours.length > SHOWN) rows.push(['', `… and ${contours.length - SHOWN} more`]);
  rows.push([
    'moved',
    `regions ${formatNumber(regions.mean)} on average, ${formatNumber(regions.max)} at most; elsewhere ${formatNumber(outside.mean)} and ${formatNumber(outside.max)}`,
  ]);
  rows.push([
    'stretch',
    `edges have ${formatNumber(report.minStretch)} to ${formatNumber(report.maxStretch)} times their lengths ${comparedLength}`,
  ]);
  if (report.limitedRegions > 0)
    rows.push(['limited', `${formatPlural(report.limitedRegions, 'region')} not followed to the end: too large`]);
  if (report.ended !== undefined) rows.push(['ended', ENDED[report.ended]]);
  for (const { code, message } of report.warnings) rows.push(['warning', `${code}: ${message}`]);
  if (writtenTo !== undefined) rows.push(['written', writtenTo]);
  return [`${path}: ${verdicts[status]} after ${formatSeconds(report.seconds)}`, ...formatRows(rows)].join('\n');
}

const ENDED = {
  TIME_BUDGET: 'the time budget was over',
  CANCELLED: 'the service ended',
  NO_PROGRESS: 'no further gain: a layer hint, or --turn for a contour, may help',
  MEMORY: 'the memory of the request was used up',
  LOST_DEVICE: 'the device was lost; the answer is the state reached by then',
} as const;

function describeContour({ kind, pierces, sheets, why, confidence, isTurned }: ContourReport): string {
  const wrong = sheets.flatMap(({ part, wrongVertices }) =>
    wrongVertices > 0 ? [`${formatPlural(wrongVertices, 'vertex', 'vertices')}${part ? ` of ${part}` : ''}`] : [],
  );
  const what = wrong.length > 0 ? `${wrong.join(' and ')} on the wrong side` : 'no side is wrong';
  const sure = why === 'SMALLER' || why === 'COST' ? ` (${Math.round(100 * confidence)} % sure)` : '';
  return `${kind.toLowerCase()}, ${formatPlural(pierces, 'pierce')}: ${what}, ${isTurned ? 'turned' : WHY[why]}${sure}`;
}
