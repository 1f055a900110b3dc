import type { Positions } from '../../../src/contract/mesh.js';
import type { Answer } from '../doors/door.js';
import type { Find, Question } from './question.js';
import { type Element, keyOf, type Surface } from './surface.js';

/** Two doubles that are sums over this many vertices in different orders agree within this share. */
export const SUM_ROUNDING = 1e-9;

export const KEPT_LENGTHS = 'lengths are kept where nothing is in the way';
export const TOLD_HOLDING = 'report: limitingEdges';

/** From this share of its limit on, the contract calls an edge at its limit. */
const AT_LIMIT = 0.995;
/** An edge so near to its limit may be moved by it, because of rounding and of what a step leaves. */
const NEAR_LIMIT = 0.01;

/**
 * An edge that exceeds its limit by less than this many spacings of numbers, and this share, may be counted or not:
 * both engine and answer round coordinates, and a session may keep an origin from which the mesh has moved several
 * extents away.
 */
const LIMIT_SPACINGS = 64;
const LIMIT_ROUNDING = 1e-5;

/** The coarser of float32's spacing at the size of everything that moves, and the answer's at its coordinates. */
function spacingOf({ start, target }: Question, positions: Positions): number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const x of [start, target, positions]) {
    for (const value of x) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  const ofAnswer = positions instanceof Float32Array ? 2 ** -23 : 2 ** -52;
  return Math.max(2 ** -23 * (high - low), ofAnswer * Math.max(Math.abs(low), Math.abs(high)));
}

/** Judges what the report says of edges over σ, up to rounding, of edges that hold vertices, and of the pull-back. */
export function judgeEdges(question: Question, { positions, report }: Answer, find: Find): void {
  const { surface, target } = question;
  const { stretchLimit: sigma, quality } = report.resolved;
  const told = Number(report.overlongEdges);
  const room = LIMIT_SPACINGS * (1 + sigma) * spacingOf(question, positions);
  let [fewest, most, sureWorst, worst] = [0, 0, 0, 0];
  for (const [a, b] of edgesWithLimit(surface, report.resolved)) {
    if (sigma === 0 || (surface.kinematic[a] && surface.kinematic[b])) continue;
    const rest = restOf(surface, target, a, b);
    const length = lengthOf(positions, a, b);
    if (rest === 0 || length <= sigma * rest) continue;
    most++;
    worst = Math.max(worst, length / rest);
    if (length <= sigma * rest * (1 + LIMIT_ROUNDING) + room) continue;
    fewest++;
    sureWorst = Math.max(sureWorst, length / rest);
  }
  const { worstEdge, pullBack } = report;
  const stretch = worstEdge?.stretch ?? 0;
  const isWorst = stretch >= sureWorst * (1 - SUM_ROUNDING) && stretch <= worst * (1 + SUM_ROUNDING);
  if (told < fewest || told > most) find('report: overlongEdges', `told ${told}, are ${fewest} to ${most}`);
  else if (told === 0 ? worstEdge : !(worstEdge && isWorst)) {
    find('report: worstEdge', `told ${stretch}, is ${sureWorst} to ${worst}`);
  }
  const isKept = question.keepsLengths === true && report.status === 'CONVERGED' && quality !== 'FAST';
  if (isKept && fewest > 0) find(KEPT_LENGTHS, `${fewest} edges are longer, the worst by ${sureWorst / sigma}`);
  judgeLimiting(question, { positions, report }, room, isKept, find);
  if (!pullBack) return;
  const { distanceToTargetRms, distanceToTargetMax, overlongEdges } = pullBack.after;
  const isAnswer =
    distanceToTargetRms === report.distanceToTargetRms &&
    distanceToTargetMax === report.distanceToTargetMax &&
    overlongEdges === report.overlongEdges;
  if (quality === 'FAST' || pullBack.steps > report.steps || !isAnswer) {
    find('report: pullBack', `${JSON.stringify(pullBack)} of ${report.steps} steps of quality ${quality}`);
  }
}

/** The pull-back limits strains, and FAST does not have it: there every edge keeps its own limit. */
const edgesWithLimit = (surface: Surface, { quality }: Answer['report']['resolved']): readonly Element[] =>
  quality === 'FAST' ? surface.lengths : surface.limited;

/** @param room see {@link judgeEdges} */
function judgeLimiting(
  { surface, target }: Question,
  { positions, report }: Answer,
  room: number,
  isHeld: boolean,
  find: Find,
): void {
  const { limitingEdges: told, warnings, resolved } = report;
  // Doors without lists name none, and an empty list may be absent.
  if (isHeld && warnings && !told?.length) find(TOLD_HOLDING, 'no edge is named');
  // Volume-preserving impulses limit no lengths.
  if (resolved.method === 'VOLUME_IMPULSES' && told?.length) find(TOLD_HOLDING, `${told.length} edges are named`);
  const edges = edgesWithLimit(surface, resolved);
  for (const { a, b, stretch } of told ?? []) {
    const rest = restOf(surface, target, a, b);
    const length = lengthOf(positions, a, b);
    const isAtLimit = length + room >= AT_LIMIT * resolved.stretchLimit * rest * (1 - LIMIT_ROUNDING);
    const isEdge = edges.some(([p, q]) => (p === a && q === b) || (p === b && q === a));
    const isRatio = Math.abs(stretch - length / rest) <= SUM_ROUNDING * stretch;
    if (!(isAtLimit && isEdge && isRatio))
      find(TOLD_HOLDING, `${a} ${b} told ${stretch}, is ${length / rest} of σ = ${resolved.stretchLimit}`);
  }
}

/** Whether the limits of edges may move a mesh at its target: a length at rest is exceeded, or too nearly to decide. */
export function mayLengthsMove(surface: Surface, positions: Positions, sigma: number): boolean {
  return (
    sigma > 0 &&
    surface.atRest.size > 0 &&
    surface.lengths.some(([a, b]) => {
      const rest = restOf(surface, positions, a, b);
      return rest > 0 && lengthOf(positions, a, b) >= sigma * rest * (1 - NEAR_LIMIT);
    })
  );
}

/** The length to which the limit of an edge refers; 0 = it has none. */
const restOf = ({ atRest }: Surface, target: Positions, a: number, b: number): number =>
  (atRest.size > 0 ? atRest.get(keyOf([a, b])) : undefined) ?? lengthOf(target, a, b);

const lengthOf = (p: Positions, a: number, b: number): number =>
  Math.hypot(...[0, 1, 2].map((c) => p[3 * a + c] - p[3 * b + c]));

/** The largest ratio of an edge to its length at rest, or in the target; 1 if no edge has such a length. */
export function stretchOf(surface: Surface, x: Positions, target: Positions): number {
  let most = 0;
  for (const [a, b] of surface.lengths) {
    const rest = restOf(surface, target, a, b);
    if (rest > 0) most = Math.max(most, lengthOf(x, a, b) / rest);
  }
  return most === 0 ? 1 : most;
}
