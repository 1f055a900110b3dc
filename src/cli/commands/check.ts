import type { KinematicPairs } from '../../contract/parameters.js';
import type { CheckAnswer, MeshCheckRequest } from '../../contract/requests.js';
import { NAMED_PAIRS } from '../../jobs/verifier.js';
import { encodeJson } from '../../transport/json/encode.js';
import type { BackendChoice, CliContext } from '../backend.js';
import { EXIT } from '../exit-codes.js';
import { formatNumber, formatPair, formatPairs, formatPlural, formatRows } from '../format.js';
import { type InputFlags, type Inputs, namingMeshes, readInputs } from '../inputs.js';
import { readingLimits } from '../local.js';
import { withInterrupt } from '../terminal.js';
import { withBackend } from '../with-backend.js';

export interface CheckFlags extends InputFlags, BackendChoice {
  readonly closerThan?: number;
  readonly maxPairs?: number;
  readonly kinematicPairs?: KinematicPairs;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `interstice check MESH [PATH_END]`; returns the exit code. */
export async function runCheck(
  path: string,
  pathEnd: string | undefined,
  flags: CheckFlags,
  cli: CliContext,
): Promise<number> {
  const inputs = await readInputs('check', path, pathEnd, flags, readingLimits(flags, cli.terminal.env, 'check'));
  const request = toRequest(inputs, flags);
  const answer = await namingMeshes({ start: path, target: pathEnd }, () =>
    withInterrupt((signal) =>
      withBackend(cli, flags, `checking ${path}`, (backend) =>
        backend.check(request, { signal, receivedAt: performance.now() }),
      ),
    ),
  );
  if (flags.json === true) {
    cli.terminal.out.write(`${JSON.stringify(encodeJson('CheckResponse', answer, { arrays: true }), null, 2)}\n`);
  } else if (flags.quiet !== true) {
    const facts = {
      mesh: path,
      vertexCount: inputs.file.vertexCount,
      pathEnd,
      closerThan: request.reportPairsCloserThan,
      maxPairs: request.maxPairs,
    };
    cli.terminal.out.write(`${describeCheck(answer, facts)}\n`);
  }
  return hasFindings(answer) ? EXIT.FOUND : EXIT.OK;
}

function toRequest(inputs: Inputs, flags: CheckFlags): MeshCheckRequest {
  const { file, other, mesh, options } = inputs;
  const reportPairsCloserThan = flags.closerThan ?? options.reportPairsCloserThan;
  const maxPairs = flags.maxPairs ?? options.maxPairs;
  const kinematicPairs = flags.kinematicPairs ?? options.kinematicPairs;
  return {
    mesh,
    positions: file.positions,
    ...(other === undefined ? {} : { pathEnd: other.positions }),
    ...(reportPairsCloserThan === undefined ? {} : { reportPairsCloserThan }),
    ...(maxPairs === undefined ? {} : { maxPairs }),
    ...(kinematicPairs === undefined ? {} : { kinematicPairs }),
    ...(options.timeBudgetSeconds === undefined ? {} : { timeBudgetSeconds: options.timeBudgetSeconds }),
  };
}

const pairsShown = 10;

export interface CheckFacts {
  readonly mesh: string;
  readonly vertexCount: number;
  readonly pathEnd?: string | undefined;
  readonly closerThan?: number | undefined;
  /** default {@link NAMED_PAIRS} */
  readonly maxPairs?: number | undefined;
}

/** Whether the state or the path may intersect. Close pairs are information, not a finding. */
export function hasFindings(answer: CheckAnswer): boolean {
  return !answer.intersectionFree || answer.pathFree === false;
}

/** The verdict as a few lines of text. */
export function describeCheck(answer: CheckAnswer, facts: CheckFacts): string {
  const rows: [string, string][] = [];
  const pairs = formatPairs(answer.intersections, answer.intersectionCount, pairsShown);
  pairs.forEach((line, index) => {
    rows.push([index === 0 ? 'pairs' : '', line]);
  });
  if (answer.kinematicIntersectionCount > 0) {
    rows.push([
      'kinematic',
      `${formatPlural(answer.kinematicIntersectionCount, 'intersection')} among kinematic elements`,
    ]);
  }
  if (facts.pathEnd !== undefined) rows.push(['path', describePath(answer, facts.pathEnd)]);
  if (answer.minDistance !== undefined) rows.push(['min distance', formatNumber(answer.minDistance)]);
  if (facts.closerThan !== undefined) {
    describeClosePairs(answer, facts.closerThan, facts.maxPairs ?? NAMED_PAIRS).forEach((line, index) => {
      rows.push([index === 0 ? 'close pairs' : '', line]);
    });
  }
  return [describeVerdict(answer, facts), ...formatRows(rows)].join('\n');
}

/** Close pairs have no count: where the list is full, there may be more of them than it contains. */
function describeClosePairs({ closePairs, minDistance }: CheckAnswer, closerThan: number, maxPairs: number): string[] {
  if (minDistance === undefined) return [`none closer than ${formatNumber(closerThan)}`];
  if (closePairs.length < maxPairs) return formatPairs(closePairs, closePairs.length, pairsShown);
  const least = formatPlural(Math.max(1, closePairs.length), 'pair');
  return [...closePairs.slice(0, pairsShown).map(formatPair), `at least ${least}; the list is full (--max-pairs)`];
}

function describeVerdict(answer: CheckAnswer, facts: CheckFacts): string {
  const subject = `${facts.mesh} (${formatPlural(facts.vertexCount, 'vertex', 'vertices')})`;
  if (!answer.intersectionFree) return `${subject}: ${formatPlural(answer.intersectionCount, 'intersection')}`;
  if (answer.pathFree === false) return `${subject}: free of intersections, but the path is not`;
  return `${subject}: free of intersections${answer.pathFree === true ? ', and so is the path' : ''}`;
}

/** The path test never misses a collision but may report one that does not occur; the text says no more than that. */
function describePath(answer: CheckAnswer, pathEnd: string): string {
  if (answer.pathFree === true) return `straight to ${pathEnd}: free all the way`;
  if (!answer.intersectionFree) return `straight to ${pathEnd}: not free, because the state itself intersects`;
  const impact = answer.earliestImpact ?? 0;
  const share = formatNumber(impact * 100);
  return `straight to ${pathEnd}: may collide; the first ${share} % of the way is free (earliest impact ${formatNumber(impact)})`;
}
