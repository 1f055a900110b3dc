import type { Warning } from '../contract/errors.js';
import type {
  Fidelity,
  ImpulseReport,
  PullBackReport,
  Report,
  Status,
  StrainReport,
  StretchedEdge,
} from '../contract/report.js';
import { formatCount, formatNumber, formatPairs, formatPlural, formatRows, formatSeconds } from './format.js';

/** Pairs shown of each list; the JSON report contains all of them. */
const pairsShown = 3;

/** The length of an edge at rest, if the mesh was given a shape at rest for the lengths of its edges. */
export type ComparedLength = 'at rest' | 'in the target';

/** Facts of the run that the report does not contain. */
export interface RunFacts {
  readonly vertexCount: number;
  /** undefined if not known here: for a job that another run submitted */
  readonly kinematicCount: number | undefined;
  /** the reference of edge lengths and of their limit; undefined if not known here */
  readonly comparedLength?: ComparedLength | undefined;
  /** undefined if no output file was named */
  readonly writtenTo?: string | undefined;
  readonly traceFolder?: string | undefined;
  readonly traceStates?: number | undefined;
}

type Row = readonly [label: string, text: string];

/** "converged in 7 steps, 2 searches, 0.61 s (cpu)" */
function describeStatus(report: Report): string {
  const effort = [
    formatPlural(report.steps, 'step'),
    formatPlural(report.searches, 'search', 'searches'),
    formatSeconds(report.timings.total / 1e6),
  ].join(', ');
  return `${STATUS_WORDS[report.status].words} in ${effort} (${report.engine})`;
}

/** How far the answer is from the target. Converged means that the motion is used up, not that x' = y. */
function describeDistance(report: Report, vertexCount: number): string {
  if (report.distanceToTargetMax === 0) {
    return report.unreachedKinematic === 0 ? 'every vertex is at its target' : 'every dynamic vertex is at its target';
  }
  const far = `max ${formatNumber(report.distanceToTargetMax)}, rms ${formatNumber(report.distanceToTargetRms)} in the unit of the mesh`;
  const delta = formatNumber(report.resolved.activationDistance);
  const deflected = `${formatCount(report.deflectedVertices)} of ${formatPlural(vertexCount, 'vertex', 'vertices')}`;
  return `${far}; ${deflected} deflected by more than δ = ${delta}`;
}

function describeKinematic(report: Report, kinematicCount: number | undefined): string {
  const all =
    kinematicCount === undefined
      ? 'the kinematic vertices'
      : formatPlural(kinematicCount, 'kinematic vertex', 'kinematic vertices');
  if (report.unreachedKinematic === 0) return `${all}, each at its target`;
  return `${formatCount(report.unreachedKinematic)} of ${all} held back from the target, by up to ${formatNumber(report.kinematicDistanceMax)}`;
}

/** Says what was tested, and the result: only pairs that intersected in the start and were ignored can intersect. */
function describeVerification({ verification, intersectingPairCount: remaining = 0 }: Report): string {
  if (verification.performed === 'NONE') return 'not verified, as asked';
  const doubtful =
    verification.doubtfulPairs > 0 ? ` (${formatCount(verification.doubtfulPairs)} by exact arithmetic)` : '';
  const scope = verification.performed === 'PATH' ? 'state and path' : 'state';
  const found =
    remaining > 0
      ? `${formatPlural(remaining, 'intersection')} left of the start, no other`
      : formatPlural(verification.intersections, 'intersection');
  return `${scope}: ${formatPlural(verification.pairsTested, 'pair')} tested${doubtful}, ${found}`;
}

function describeWarning(warning: Warning): Row[] {
  const times = warning.count > 1 ? ` (${formatCount(warning.count)} times)` : '';
  const hint = warningHint(warning.code);
  const rows: Row[] = [['warning', `${warning.code}${times}: ${warning.message}`]];
  return hint === undefined ? rows : [...rows, ['', hint]];
}

const asRows = (label: string, lines: readonly string[]): Row[] =>
  lines.map((line, index) => [index === 0 ? label : '', line]);

const nameOf = ({ comparedLength = 'in the target or at rest' }: { comparedLength?: string | undefined }): string =>
  `the length ${comparedLength}`;

/** "3 edges longer than σ = 1.1 × the length in the target; the worst, 4-9, 2.5 ×" */
function describeOverlong({ overlongEdges, worstEdge, resolved }: Report, facts: RunFacts): string {
  const worst = worstEdge ? `; the worst, ${worstEdge.a}-${worstEdge.b}, ${formatNumber(worstEdge.stretch)} ×` : '';
  const edges = formatPlural(overlongEdges, 'edge');
  return `${edges} longer than σ = ${formatNumber(resolved.stretchLimit)} × ${nameOf(facts)}${worst}`;
}

/** "edge 4-9, at or over its limit with 1.1 × the length in the target" */
const describeHolding = ({ a, b, stretch }: StretchedEdge, facts: RunFacts): string =>
  `edge ${a}-${b}, at or over its limit with ${formatNumber(stretch)} × ${nameOf(facts)}`;

/** "0.991 to 1.009; 2 elements out of their limits, the worst, triangle 7, 1.2 where 1.01 is allowed" */
function describeStrain({ violated, min, max, worst }: StrainReport): string {
  const range = `${formatNumber(min)} to ${formatNumber(max)} × the lengths at rest`;
  if (!worst) return range;
  const { element, strain, limit } = worst;
  return `${range}; ${formatPlural(violated, 'element')} out of the limits, the worst, ${element.kind} ${element.index}, ${formatNumber(strain)} where ${formatNumber(limit)} is allowed`;
}

/** Says what the pull-back has improved: "19 steps; rms 0.0069 → 0.0049, max 0.02 → 0.015, 362 → 0 overlong edges" */
function describePullBack({ steps, before, after }: PullBackReport): string {
  const from = (text: (f: Fidelity) => string) => `${text(before)} → ${text(after)}`;
  const rms = from((f) => formatNumber(f.distanceToTargetRms));
  const max = from((f) => formatNumber(f.distanceToTargetMax));
  const overlong = from((f) => formatCount(f.overlongEdges));
  return `${formatPlural(steps, 'step')}; rms ${rms}, max ${max}, overlong edges ${overlong}`;
}

/** Says what impulses have done: "3 rounds, up to 812 volumes, 15 Newton iterations; all of the motion was made" */
function describeImpulses({ rounds, volumes, newtonIterations, motionShare }: ImpulseReport): string {
  const motion = motionShare === 1 ? 'all' : `${formatNumber(100 * motionShare)} %`;
  const work = `${formatPlural(rounds, 'round')}, up to ${formatPlural(volumes, 'volume')}, ${formatPlural(newtonIterations, 'Newton iteration')}`;
  return `${work}; ${motion} of the motion was made`;
}

/** The run as a few lines of text; every length is in the unit of the mesh. */
export function summariseRun(report: Report, facts: RunFacts): string {
  const rows: Row[] = [['to target', describeDistance(report, facts.vertexCount)]];
  if (report.unfinishedVertices > 0) {
    const unfinished = formatPlural(report.unfinishedVertices, 'vertex', 'vertices');
    rows.push(['unfinished', `${unfinished} with motion left; residual ${formatNumber(report.residual)}`]);
  }
  if ((facts.kinematicCount ?? report.unreachedKinematic) > 0)
    rows.push(['kinematic', describeKinematic(report, facts.kinematicCount)]);
  rows.push([
    'min distance',
    report.minDistance === undefined
      ? report.warnings.some(({ code }) => code === 'MIN_DISTANCE_NOT_MEASURED')
        ? 'not measured'
        : 'nothing within reach'
      : `${formatNumber(report.minDistance)} in the unit of the mesh`,
  ]);
  if (report.maxStretch > 0) rows.push(['max stretch', `${formatNumber(report.maxStretch)} × ${nameOf(facts)}`]);
  if (report.overlongEdges > 0) {
    rows.push(['overlong', describeOverlong(report, facts)]);
  }
  if (report.strain) rows.push(['strains', describeStrain(report.strain)]);
  if (report.pullBack) rows.push(['pull-back', describePullBack(report.pullBack)]);
  if (report.impulses) rows.push(['impulses', describeImpulses(report.impulses)]);
  if (report.touchingPairs > 0)
    rows.push(['touching', `${formatPlural(report.touchingPairs, 'pair')} without a certified gap, held in place`]);
  const pairs = report.status === 'CONVERGED' ? [] : report.limitingPairs;
  const edges = report.limitingEdges.slice(0, pairsShown).map((edge) => describeHolding(edge, facts));
  rows.push(...asRows('held by', [...formatPairs(pairs, pairs.length, pairsShown), ...edges]));
  if (report.ignoredPairCount > 0) {
    const ignored = formatPairs(report.ignoredPairs, report.ignoredPairCount, pairsShown);
    rows.push(...asRows('ignored', ignored.length > 0 ? ignored : [formatPlural(report.ignoredPairCount, 'pair')]));
  }
  if (report.intersectingPairCount) {
    const { intersectingPairs, intersectingPairCount } = report;
    rows.push(...asRows('intersecting', formatPairs(intersectingPairs, intersectingPairCount, pairsShown)));
  }
  rows.push(['verified', describeVerification(report)]);
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

/** What each status means, and what the user can do about it. */
const STATUS_WORDS: { readonly [S in Status]: { readonly words: string; readonly hint?: string } } = {
  CONVERGED: { words: 'converged' },
  STALLED: {
    words: 'stalled (safe, not converged)',
    hint: 'Contacts hold the remaining vertices in place, or edges at their limit do. Look at what is listed under "held by", or choose a target that is easier to reach.',
  },
  STEP_LIMIT: {
    words: 'stopped at the step limit (safe, not converged)',
    hint: 'Raise --step-limit, or continue: use the answer as the start of another run to the same target.',
  },
  DEADLINE: {
    words: 'stopped by the time budget (safe, not converged)',
    hint: 'Raise --time-budget, or continue: use the answer as the start of another run to the same target.',
  },
};

/** Advice for the warnings that have a remedy; any other warning is shown with its message alone. */
const WARNING_HINTS: Readonly<Record<string, string>> = {
  UNUSED_VERTICES: 'They move straight to their targets. Remove them from the mesh if you do not want that.',
  ZERO_LENGTH_EDGE: 'Merge the two vertices, or move them apart.',
  ZERO_AREA_TRIANGLE: 'Remove the triangle, or move a corner off the line.',
  DELTA_ABOVE_HALF_EDGE: 'Set a smaller --activation-distance, or use a coarser mesh.',
  OVERLONG_EDGES: 'The flags for that are --quality, --stretch-limit, --time-budget and --step-limit.',
  TARGET_SCALED: 'Convert one of the files, so that both are in the same unit.',
  DELTA_ABOVE_HEIGHT: 'Set a smaller --activation-distance, or remove the thinnest triangles.',
};

const warningHint = (code: string): string | undefined => WARNING_HINTS[code];
