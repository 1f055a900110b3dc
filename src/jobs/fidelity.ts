import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { Fidelity, PullBackReport, Status } from '../contract/report.js';
import type { PullBackFigures } from '../solver/engine.js';
import { compareToTarget, type Differences, measureStretch } from './differences.js';
import { findOverlongEdges, type OverlongEdges } from './overlong-edges.js';
import type { PreparedStep } from './prepare-step.js';

/** How near a state is to the target of its step; lengths in the caller's unit. */
export interface Measured {
  readonly differences: Differences;
  readonly maxStretch: number;
  readonly overlong: OverlongEdges;
  readonly fidelity: Fidelity;
}

/** @param isListed whether the distance of every vertex is wanted */
export function measureAnswer(step: PreparedStep, positions: Positions, isListed: boolean): Measured {
  const { mesh, parameters, images, chosen } = step;
  const { target } = images;
  const { frame } = chosen;
  const { scale } = frame;
  const differences = compareToTarget(mesh, positions, target, {
    delta: parameters.activationDistance,
    scale,
    isListed,
  });
  const maxStretch = measureStretch(mesh, positions, target, scale, differences);
  const sigma = parameters.stretchLimit;
  const overlong = findOverlongEdges(mesh, positions, target, {
    sigma,
    maxStretch,
    frame,
    quality: parameters.quality,
  });
  const fidelity = {
    distanceToTargetRms: differences.rms,
    distanceToTargetMax: differences.max,
    overlongEdges: overlong.count,
  };
  return { differences, maxStretch, overlong, fidelity };
}

/** What the pull-back has gained, both states measured in the caller's numbers. @param after of the positions sent */
export function describePullBack(
  step: PreparedStep,
  { steps, before }: PullBackFigures,
  after: Fidelity,
): PullBackReport {
  const state = step.chosen.frame.toCaller({ ...step.images, engine: before });
  return { steps, before: measureAnswer(step, state, false).fidelity, after };
}

/**
 * The remedy of edges or elements out of their limits if the run has ended early: its last steps bring them back, so
 * nothing is known of what contacts would allow.
 */
export const remedyOfEarlyEnd = (status: Status): string | undefined =>
  status === 'DEADLINE' || status === 'STEP_LIMIT'
    ? `The run ended early (${status}), and its last steps would have served the limits: allow more time or steps, or send the target again from this answer.`
    : undefined;

/** Overlong edges are the most visible flaw of an answer, so the warning names them. @param status of the run */
export function warnOfOverlong(
  { count, worst, worstIndex }: OverlongEdges,
  { stretchLimit, quality, method }: Parameters,
  { hasRest, status }: { readonly hasRest: boolean; readonly status: Status },
): Warning[] {
  if (!worst) return [];
  const { a, b, stretch } = worst;
  const reference = hasRest ? 'at rest' : 'in the target';
  const edges = count === 1 ? '1 edge is' : `${count} edges are`;
  const remedy =
    method === 'VOLUME_IMPULSES'
      ? 'Volume-preserving impulses do not limit lengths; method TWO_WAY does.'
      : quality === 'FAST'
        ? 'Qualities BALANCED and FINE keep edges within the limit where the path allows it.'
        : (remedyOfEarlyEnd(status) ??
          'Contacts on the path allow no more: choose a target that is easier to reach, a larger limit, or smaller steps.');
  return [
    {
      code: 'OVERLONG_EDGES',
      message: `${edges} longer than stretchLimit, ${stretchLimit} times the length ${reference}; the worst, ${a}-${b}, is ${stretch.toPrecision(3)} times as long. ${remedy}`,
      element: { kind: 'edge', index: worstIndex, vertices: [a, b] },
      count,
    },
  ];
}
