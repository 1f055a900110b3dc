import type { CheckAnswer } from '../contract/requests.js';
import { formatNumber, formatPairs, formatPlural, formatRows } from './format.js';

const pairsShown = 10;

export interface CheckFacts {
  readonly mesh: string;
  readonly vertexCount: number;
  readonly pathEnd?: string | undefined;
  readonly closerThan?: number | undefined;
}

/** Something that a free state, or path, does not have. Close pairs are information and no finding. */
export function hasFindings(answer: CheckAnswer): boolean {
  return !answer.intersectionFree || answer.pathFree === false;
}

/** The verdict in a few lines for a person. */
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
    const asked = formatNumber(facts.closerThan);
    const close = formatPairs(answer.closePairs, answer.closePairs.length, pairsShown);
    if (close.length === 0) rows.push(['close pairs', `none closer than ${asked}`]);
    close.forEach((line, index) => {
      rows.push([index === 0 ? 'close pairs' : '', line]);
    });
  }
  return [describeVerdict(answer, facts), ...formatRows(rows)].join('\n');
}

function describeVerdict(answer: CheckAnswer, facts: CheckFacts): string {
  const subject = `${facts.mesh} (${formatPlural(facts.vertexCount, 'vertex', 'vertices')})`;
  if (!answer.intersectionFree) return `${subject}: ${formatPlural(answer.intersectionCount, 'intersection')}`;
  if (answer.pathFree === false) return `${subject}: free of intersections, but the path is not`;
  return `${subject}: free of intersections${answer.pathFree === true ? ', and so is the path' : ''}`;
}

/** The path test never misses a collision but may raise a false alarm, so the words promise no more than that. */
function describePath(answer: CheckAnswer, pathEnd: string): string {
  if (answer.pathFree === true) return `straight to ${pathEnd}: free all the way`;
  if (!answer.intersectionFree) return `straight to ${pathEnd}: not free, for the state itself intersects`;
  const impact = answer.earliestImpact ?? 0;
  const share = formatNumber(impact * 100);
  return `straight to ${pathEnd}: may collide; the first ${share} % of the way are free (earliest impact ${formatNumber(impact)})`;
}
