import type { ElementPair } from '../contract/elements.js';
import type { Warning } from '../contract/errors.js';
import type { Positions } from '../contract/mesh.js';
import type { Parameters } from '../contract/parameters.js';
import type { Report, Timings, Verification, VertexReport } from '../contract/report.js';
import type { ExcludedPairs } from '../mesh/excluded-pairs.js';
import type { CollisionMesh, MeshMeasures } from '../mesh/types.js';
import { algorithmVersion } from '../paths.js';
import { rangeOfDistances } from '../solver/part-distances.js';
import type { Resolution } from '../solver/types.js';
import type { PairRules } from '../verify/types.js';
import { compareToTarget, measureStretch } from './differences.js';
import { describeExcluded } from './excluded.js';
import type { Verifier } from './verifier.js';

export interface ReportInput {
  readonly mesh: CollisionMesh;
  readonly measures: MeshMeasures;
  readonly parameters: Parameters;
  readonly parameterWarnings: readonly Warning[];
  /** of a target that lies too far out, and of a time budget that was too small */
  readonly runWarnings: readonly Warning[];
  readonly scale: number;
  readonly target: Positions;
  readonly answer: Positions;
  /** of {@link measureMinDistance} */
  readonly minDistance: number | undefined;
  /** pairs that were excluded one by one; pairs of parts are named in a warning */
  readonly excluded: ExcludedPairs | undefined;
  readonly resolution: Resolution;
  readonly verification: Verification;
  readonly timings: Timings;
  readonly engine: string;
  readonly isPerVertex: boolean;
  readonly isRebuilt: boolean;
}

/** Everything a caller is told of one resolve; lengths in the caller's unit. */
export function buildReport(input: ReportInput): { readonly report: Report; readonly vertices?: VertexReport } {
  const { mesh, parameters, resolution, answer, target, scale, verification, minDistance } = input;
  const differences = compareToTarget(mesh, answer, target, {
    delta: parameters.activationDistance,
    scale,
    isListed: input.isPerVertex,
  });
  const progress = verification.fellBack ? progressUnknown(answer, target) : resolution;
  const ignored = describeExcluded(mesh, input.excluded);
  const report: Report = {
    status: statusOf(resolution, verification),
    steps: resolution.steps,
    searches: resolution.searches,
    proximitySetReused: resolution.proximitySetReused,
    residual: progress.residual,
    unfinishedVertices: progress.unfinishedVertices,
    unreachedKinematic: differences.unreachedKinematic.length,
    deflectedVertices: differences.deflectedVertices,
    distanceToTargetMax: differences.max,
    distanceToTargetRms: differences.rms,
    maxStretch: measureStretch(mesh, answer, target, scale, differences),
    ...(minDistance === undefined ? {} : { minDistance }),
    pairs: resolution.pairs,
    touchingPairs: resolution.touchingPairs,
    ignoredPairCount: ignored.count,
    ignoredPairs: ignored.named,
    limitingPairs: resolution.limitingPairs.map((pair) => toCallerUnit(pair, scale)),
    verification,
    timings: input.timings,
    resolved: parameters,
    warnings: [
      ...warningsOf(mesh, input.measures, input.parameterWarnings),
      ...ignored.warnings,
      ...unreachedWarning(differences.unreachedKinematic),
      ...input.runWarnings,
    ],
    sessionRebuilt: input.isRebuilt,
    engine: input.engine,
    version: algorithmVersion,
  };
  if (!input.isPerVertex) return { report };
  return {
    report,
    vertices: {
      residual: progress.residuals,
      distanceToTarget: differences.distances!,
      unreachedKinematic: Uint32Array.from(differences.unreachedKinematic),
    },
  };
}

/**
 * The smallest distance of two elements within the engine's reach, the caller's unit; undefined = none is nearer. The
 * judge's work, and counted as such: it costs about what the exact test costs (a dress of 53,000 triangles: 0.8 of it, dense
 * layers: 1.4), most of it for finding neighbours, so a shorter reach would save little.
 */
export function measureMinDistance(input: {
  readonly mesh: CollisionMesh;
  readonly answer: Positions;
  readonly parameters: Parameters;
  readonly rules: PairRules;
  readonly verifier: Verifier;
}): number | undefined {
  const { mesh, answer, parameters, rules, verifier } = input;
  return verifier.findDistances(mesh, answer, { ...rules, maxPairs: 1 }, reachOf(mesh, parameters)).minDistance;
}

/** The distance up to which the engine looks for pairs; minDistance is absent when nothing is nearer. */
function reachOf(mesh: CollisionMesh, parameters: Parameters): number {
  if (parameters.preset === 'PAPER') return parameters.searchRadiusMax;
  return parameters.reach + rangeOfDistances(mesh, parameters.activationDistance).largest;
}

/** An answer that fell back stopped short of where the engine ended: whatever the engine said, its motion is not used up. */
function statusOf(resolution: Resolution, verification: Verification): Report['status'] {
  return verification.fellBack ? 'STALLED' : resolution.status;
}

/** The engine's r belongs to a state that was not sent. What is known of the one that was: who stands on the target. */
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

function toCallerUnit(pair: ElementPair, scale: number): ElementPair {
  return pair.distance === undefined ? pair : { ...pair, distance: pair.distance / scale };
}

/** What is to be said of a mesh, its state and its parameters, whatever is computed with them. */
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
      message: `as asked, never constrained, bounded or verified: ${names.join(', ')}${count > names.length ? ', …' : ''}`,
      count,
    });
  }
  return warnings;
}

const NAMED_PART_PAIRS = 8;

/** Kinematic vertices that stand short of their prescribed targets, by name: whoever animates them must know. */
function unreachedWarning(unreached: readonly number[]): Warning[] {
  const [first] = unreached;
  if (first === undefined) return [];
  const named = unreached.slice(0, NAMED_UNREACHED).join(', ');
  const more = unreached.length > NAMED_UNREACHED ? ', …' : '';
  return [
    {
      code: 'UNREACHED_KINEMATIC',
      message: `kinematic vertices short of their targets: ${named}${more}; send the same target again to let them go on`,
      element: { kind: 'vertex', index: first, vertices: [first] },
      count: unreached.length,
    },
  ];
}

const NAMED_UNREACHED = 16;
