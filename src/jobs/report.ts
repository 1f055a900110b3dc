import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { BudgetReport, ImpulseReport, Report, Timings, Verification, VertexReport } from '../contract/report.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import type { ImpulseFigures, Resolution } from '../solver/engine.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import { measurePairs } from '../verify/distance.js';
import type { StateFindings } from '../verify/types.js';
import { describePullBack, measureAnswer, warnOfOverlong } from './fidelity.js';
import { findLimitingEdges } from './holding-edges.js';
import { describeExcluded, describeIntersecting } from './ignored-pairs.js';
import type { PreparedStep } from './prepare-step.js';
import { warnOfRemaining } from './remaining-collisions.js';
import { findStrainedElements, warnOfStrained } from './strained-elements.js';
import { warnOfScale } from './target-scale.js';
import { warnOfTouching } from './touching-pairs.js';
import type { Verifier } from './verifier.js';

/** The result of a step. */
export interface StepResult {
  readonly answer: Positions;
  /** of {@link measureMinDistance} */
  readonly minDistance: number | undefined;
  readonly resolution: Resolution;
  readonly verification: Verification;
  /** of the exact test of the answer; undefined = not tested */
  readonly findings: StateFindings | undefined;
  /** about a target that lies too far out, and about a time budget that was too small */
  readonly warnings: readonly Warning[];
  readonly timings: Timings;
  /** absent: no time budget */
  readonly budget: BudgetReport | undefined;
  /** name of the engine */
  readonly engine: string;
  readonly isRebuilt: boolean;
}

/** The report of one step; lengths in the caller's unit. */
export function buildReport(
  step: PreparedStep,
  result: StepResult,
): { readonly report: Report; readonly vertices?: VertexReport } {
  const { mesh, parameters, isPerVertex } = step;
  const { target } = step.images;
  const { frame } = step.chosen;
  const { resolution, answer, verification, minDistance } = result;
  const status = statusOf(resolution, verification);
  const { differences, maxStretch, overlong, fidelity } = measureAnswer(step, answer, isPerVertex);
  const progress = verification.fellBack ? progressUnknown(answer, target) : resolution;
  // The engine measured them before its last step; and those of a state that was not sent limit nothing in the answer.
  const limitingPairs = verification.fellBack ? [] : measurePairs(resolution.limitingPairs, answer);
  const strain = findStrainedElements(mesh, answer, frame);
  const ignored = describeExcluded(mesh, step.rules.excluded);
  const intersecting = describeIntersecting(result.findings);
  const report: Report = {
    status,
    steps: resolution.steps,
    searches: resolution.searches,
    proximitySetReused: resolution.proximitySetReused,
    residual: progress.residual,
    unfinishedVertices: progress.unfinishedVertices,
    unreachedKinematic: differences.unreachedKinematic.length,
    deflectedVertices: differences.deflectedVertices,
    distanceToTargetMax: differences.max,
    distanceToTargetRms: differences.rms,
    kinematicDistanceMax: differences.kinematicMax,
    maxStretch,
    overlongEdges: overlong.count,
    ...(overlong.worst ? { worstEdge: overlong.worst } : {}),
    ...(strain ? { strain } : {}),
    ...(resolution.pullBack ? { pullBack: describePullBack(step, resolution.pullBack, fidelity) } : {}),
    ...(resolution.impulses ? { impulses: describeImpulses(resolution.impulses) } : {}),
    ...(minDistance === undefined ? {} : { minDistance }),
    pairs: resolution.pairs,
    touchingPairs: resolution.touchingPairs,
    ignoredPairCount: ignored.count,
    ignoredPairs: ignored.named,
    ...intersecting.counted,
    intersectingPairs: intersecting.named,
    limitingEdges: findLimitingEdges(mesh, answer, target, parameters, maxStretch),
    limitingPairs,
    verification,
    timings: result.timings,
    ...(result.budget ? { budget: result.budget } : {}),
    resolved: parameters,
    warnings: [
      ...warnOfScale(mesh, step.images.start, target),
      ...warningsOf(mesh, step.measures, step.parameterWarnings),
      ...ignored.warnings,
      ...intersecting.warnings,
      ...unreachedWarning(differences.unreachedKinematic),
      ...warnOfOverlong(overlong, parameters, { hasRest: mesh.restLengths !== undefined, status }),
      ...warnOfRemaining(resolution),
      ...warnOfTouching(resolution),
      ...warnOfStrained(strain, parameters, status),
      ...result.warnings,
    ],
    sessionRebuilt: result.isRebuilt,
    engine: result.engine,
    version: algorithmVersion,
  };
  if (!isPerVertex) return { report };
  return {
    report,
    vertices: {
      residual: progress.residuals,
      distanceToTarget: differences.distances!,
      unreachedKinematic: Uint32Array.from(differences.unreachedKinematic),
    },
  };
}

/** The figures without what only the choice of an answer needs. */
function describeImpulses({ shares: _, hasMore: __, ...told }: ImpulseFigures): ImpulseReport {
  return told;
}

/**
 * The smallest distance of two elements within the engine's reach, the caller's unit; undefined = none is nearer. It
 * counts as verification and costs about as much as the exact test (0.8 of it for a dress of 53,000 triangles, 1.4 for
 * dense layers), mostly for finding neighbours, so a shorter reach would save little.
 */
export function measureMinDistance(
  { mesh, parameters, rules, memory }: PreparedStep,
  answer: Positions,
  verifier: Verifier,
): number | undefined {
  return verifier.findMinDistance(mesh, answer, rules, reachOf(mesh, parameters), memory);
}

/** The distance up to which the engine searches for pairs; minDistance is absent if no pair is nearer. */
function reachOf(mesh: CollisionMesh, parameters: Parameters): number {
  if (parameters.preset === 'PAPER') return parameters.searchRadiusMax;
  return parameters.reach + rangeOfDistances(mesh, parameters.activationDistance).largest;
}

/** An answer that fell back is an earlier state than the engine's last, so its motion is not complete. */
function statusOf(resolution: Resolution, verification: Verification): Report['status'] {
  return verification.fellBack ? 'STALLED' : resolution.status;
}

/** The engine's residuals belong to a state that was not sent. Of the sent one, arrived vertices alone are known. */
export function progressUnknown(
  answer: Positions,
  target: Positions,
): Pick<Resolution, 'residual' | 'residuals' | 'unfinishedVertices'> {
  const residuals = new Float32Array(answer.length / 3);
  let unfinishedVertices = 0;
  for (let i = 0; i < answer.length; i++) {
    if (answer[i] === target[i]) continue;
    const v = Math.floor(i / 3);
    if (residuals[v] === 0) unfinishedVertices++;
    residuals[v] = 1;
  }
  return { residual: unfinishedVertices > 0 ? 1 : 0, residuals, unfinishedVertices };
}

/** Warnings about a mesh, its state and its parameters, which do not depend on the step. */
export function warningsOf(
  mesh: CollisionMesh,
  measures: MeshMeasures,
  parameterWarnings: readonly Warning[],
): Warning[] {
  const warnings: Warning[] = [...mesh.warnings, ...measures.warnings, ...parameterWarnings];
  const count = mesh.ignoredPartPairs.length / 2;
  if (count > 0) {
    const names = Array.from({ length: Math.min(count, NAMED_PART_PAIRS) }, (_, k) => {
      const [p, q] = [mesh.ignoredPartPairs[2 * k]!, mesh.ignoredPartPairs[2 * k + 1]!];
      return `${mesh.parts[p]!.name} with ${mesh.parts[q]!.name}`;
    });
    warnings.push({
      code: 'IGNORED_PART_PAIRS',
      message: `As requested, pairs of these parts are never constrained, bounded or verified: ${names.join(', ')}${count > names.length ? ', …' : ''}.`,
      count,
    });
  }
  return warnings;
}

const NAMED_PART_PAIRS = 8;

/** Names kinematic vertices that have not reached their targets, because the caller's animation must know. */
function unreachedWarning(unreached: readonly number[]): Warning[] {
  const [first] = unreached;
  if (first === undefined) return [];
  const named = unreached.slice(0, NAMED_UNREACHED).join(', ');
  const more = unreached.length > NAMED_UNREACHED ? ', …' : '';
  return [
    {
      code: 'UNREACHED_KINEMATIC',
      message: `These kinematic vertices did not reach their targets: ${named}${more}. Send the same target again to move them further.`,
      element: { kind: 'vertex', index: first, vertices: [first] },
      count: unreached.length,
    },
  ];
}

const NAMED_UNREACHED = 16;
