import type { Warning } from '../contract/errors.js';
import type { Report, Verification } from '../contract/report.js';
import { formatCount, formatNumber, formatPairs, formatPlural, formatRows, formatSeconds } from './format.js';
import { STATUS_WORDS, warningHint } from './hints.js';

/** Pairs shown of each list; the JSON report has all that the service lists. */
const pairsShown = 3;

/** What the report does not say itself. */
export interface RunFacts {
  readonly vertexCount: number;
  readonly kinematicCount: number;
  /** undefined: no file was asked for */
  readonly writtenTo?: string | undefined;
  readonly traceFolder?: string | undefined;
  readonly traceStates?: number | undefined;
}

type Row = readonly [label: string, text: string];

/** "converged in 7 steps, 2 searches, 0.61 s (cpu)" */
export function describeStatus(report: Report): string {
  const effort = [
    formatPlural(report.steps, 'step'),
    formatPlural(report.searches, 'search', 'searches'),
    formatSeconds(report.timings.total / 1e6),
  ].join(', ');
  return `${STATUS_WORDS[report.status].words} in ${effort} (${report.engine})`;
}

/** How far the answer is from the target: converged means that the motion is used up, not that x' = y. */
function describeDistance(report: Report, vertexCount: number): string {
  if (report.distanceToTargetMax === 0) return 'every vertex stands on its target';
  const far = `max ${formatNumber(report.distanceToTargetMax)}, rms ${formatNumber(report.distanceToTargetRms)}`;
  const delta = formatNumber(report.resolved.activationDistance);
  const deflected = `${formatCount(report.deflectedVertices)} of ${formatPlural(vertexCount, 'vertex', 'vertices')}`;
  return `${far}; ${deflected} deflected by more than δ = ${delta}`;
}

function describeKinematic(report: Report, kinematicCount: number): string {
  const all = formatPlural(kinematicCount, 'kinematic vertex', 'kinematic vertices');
  if (report.unreachedKinematic === 0) return `${all}, each on its target`;
  return `${formatCount(report.unreachedKinematic)} of ${all} held back from the target`;
}

function describeVerification(verification: Verification): string {
  if (verification.performed === 'NONE') return 'not verified, as asked';
  const doubtful =
    verification.doubtfulPairs > 0 ? ` (${formatCount(verification.doubtfulPairs)} by exact arithmetic)` : '';
  const scope = verification.performed === 'PATH' ? 'state and path' : 'state';
  return `${scope}: ${formatPlural(verification.pairsTested, 'pair')} tested${doubtful}, ${formatPlural(verification.intersections, 'intersection')}`;
}

function describeWarning(warning: Warning): Row[] {
  const times = warning.count > 1 ? ` (${formatCount(warning.count)} times)` : '';
  const hint = warningHint(warning.code);
  const rows: Row[] = [['warning', `${warning.code}${times}: ${warning.message}`]];
  return hint === undefined ? rows : [...rows, ['', hint]];
}

const asRows = (label: string, lines: readonly string[]): Row[] =>
  lines.map((line, index) => [index === 0 ? label : '', line]);

/** The run in a few lines for a person; every length is in the unit of the mesh. */
export function summariseRun(report: Report, facts: RunFacts): string {
  const rows: Row[] = [['to target', describeDistance(report, facts.vertexCount)]];
  if (report.unfinishedVertices > 0) {
    const unfinished = formatPlural(report.unfinishedVertices, 'vertex', 'vertices');
    rows.push(['unfinished', `${unfinished} with motion left; residual ${formatNumber(report.residual)}`]);
  }
  if (facts.kinematicCount > 0) rows.push(['kinematic', describeKinematic(report, facts.kinematicCount)]);
  rows.push([
    'min distance',
    report.minDistance === undefined ? 'nothing within reach' : formatNumber(report.minDistance),
  ]);
  if (report.maxStretch > 0)
    rows.push(['max stretch', `${formatNumber(report.maxStretch)} × the length in the target`]);
  if (report.touchingPairs > 0)
    rows.push(['touching', `${formatPlural(report.touchingPairs, 'pair')} too close to move`]);
  if (report.status !== 'CONVERGED') {
    rows.push(...asRows('held by', formatPairs(report.limitingPairs, report.limitingPairs.length, pairsShown)));
  }
  if (report.ignoredPairCount > 0) {
    const ignored = formatPairs(report.ignoredPairs, report.ignoredPairCount, pairsShown);
    rows.push(...asRows('ignored', ignored.length > 0 ? ignored : [formatPlural(report.ignoredPairCount, 'pair')]));
  }
  rows.push(['verified', describeVerification(report.verification)]);
  if (report.verification.fellBack) {
    rows.push(['fell back', 'the last state failed the test; an earlier, verified state of this run is the answer']);
  }
  rows.push(...report.warnings.flatMap(describeWarning));
  rows.push(...describeFiles(facts));
  const hint = STATUS_WORDS[report.status].hint;
  if (hint !== undefined) rows.push(['hint', hint]);
  return [describeStatus(report), ...formatRows(rows)].join('\n');
}

function describeFiles(facts: RunFacts): Row[] {
  const rows: Row[] = [['written', facts.writtenTo ?? 'nothing; name a file with -o FILE to keep the answer']];
  if (facts.traceFolder !== undefined) {
    rows.push(['trace', `${facts.traceFolder} (${formatPlural(facts.traceStates ?? 0, 'state')})`]);
  }
  return rows;
}
