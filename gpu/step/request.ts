import type { CollisionMesh } from '../../src/mesh/types.js';
import { arrivedWithin } from '../../src/solver/arrival.js';
import {
  PUSHED,
  REST,
  SHORTENING_REST,
  SHORTENING_SLACK,
  SHORTENING_SWEEPS,
  WARM_CONTACTS,
  WARM_EDGES,
} from '../../src/solver/constants.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import { contactRangeOf, leastOffsetOf, offsetsByVertex } from '../../src/solver/part-offsets.js';
import { type PullBackPlan, planPullBack } from '../../src/solver/scattered-targets.js';
import type { PullBackSettings, PullStage, Settings } from '../../src/solver/settings.js';
import { type StepPhase, stepLimitOf, stepsAfter } from '../../src/solver/step-shares.js';
import { type StrainElements, strainElementsOf } from '../../src/solver/strain/elements.js';
import { inOwnMemory, write } from '../device/place.js';
import { copy, type Recording } from '../device/recording.js';
import { PHASE, type Phase } from '../kernels/constants.js';
import { PARAMETERS, PULL_BACK } from '../kernels/structs.js';
import type { EdgePlan } from './edge-plan.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Bytes of a vertex's position. */
const POSITION_BYTES = 12;

/** One workgroup sweeps the rest if it has fewer contacts, because its rounds do not fill whole dispatches. */
const TAIL_ROWS = 8192;

/**
 * A round of at most this many contacts is left to that workgroup, which needs two turns of 512 threads, or four of
 * 256: a dispatched round costs a dispatch, and the host's time to record it.
 */
export const ROUND_ROWS = 1024;

/** The names by which the host's rules know the phases. */
export const STEP_PHASES: Readonly<Record<Phase, StepPhase>> = {
  [PHASE.ADVANCE]: 'ADVANCE',
  [PHASE.PULL]: 'PULL',
  [PHASE.SHORTEN]: 'SHORTEN',
  [PHASE.REFINE]: 'PULL',
  [PHASE.RESUME]: 'PULL',
  [PHASE.RELEASE]: 'PULL',
  [PHASE.OTHERS]: 'PULL',
};

/** float32[3·V] each, in engine coordinates. */
export interface RequestPositions {
  readonly start: Float32Array;
  readonly target: Float32Array;
  /** whether x on the device already holds the start, bit for bit */
  readonly isResident: boolean;
}

/**
 * Uploads start and target; the copies to x and windowStart are recorded and run with `encoder`. The opening of the
 * request writes y (gpu/kernels/control/begin.wgsl).
 */
export function uploadPositions(
  queue: GPUQueue,
  encoder: Recording,
  buffers: SceneBuffers,
  { start, target, isResident }: RequestPositions,
): void {
  const bytes = (POSITION_BYTES * start.length) / 3;
  if (isResident) {
    copy(encoder, buffers.x, buffers.start, bytes);
  } else {
    write(queue, buffers.start, 0, inOwnMemory(start));
    copy(encoder, buffers.start, buffers.x, bytes);
  }
  write(queue, buffers.target, 0, inOwnMemory(target));
  copy(encoder, buffers.start, buffers.windowStart, bytes);
}

/**
 * Uploads the parameter block of a request, and the δ of each vertex if parts have their own.
 *
 * @param start float32[3·V], for the largest coordinate X; with `target` for the plan of the pull-back
 * @param waitsForSearch whether the run pauses for each search
 * @returns whether the pull-back begins as soon as kinematic vertices have arrived
 */
export function uploadParameters(
  queue: GPUQueue,
  buffers: SceneBuffers,
  mesh: CollisionMesh,
  settings: Settings,
  edges: EdgePlan,
  request: {
    readonly start: Float32Array;
    readonly target: Float32Array;
    readonly waitsForSearch: boolean;
    readonly phase: Phase;
  },
): boolean {
  const { start, target, waitsForSearch, phase } = request;
  const s = settings;
  const distances = distancesByVertex(mesh, settings);
  if (distances) write(queue, buffers.start, POSITION_BYTES * mesh.vertexCount, Float32Array.from(distances));
  const plan = planPullBack(mesh, s, start, target);
  const packed = PARAMETERS.pack({
    vertexCount: mesh.vertexCount,
    edgeCount: edges.count,
    wideColours: edges.wideColours,
    stepLimit: stepLimitOf(STEP_PHASES[phase], s),
    reservedSteps: stepsAfter(STEP_PHASES[phase], s),
    delta: s.delta,
    floor: s.floor,
    keptGap: phase === PHASE.RELEASE ? leastOffsetOf(mesh, s) : 0,
    gamma: s.gamma,
    epsilon: s.epsilon,
    sigma: s.sigma,
    radiusMin: s.searchRadiusMin,
    radiusMax: s.searchRadiusMax,
    arrivedWithin: arrivedWithin(start, s.floor),
    isPlanar: s.forward === 'PLANAR' ? 1 : 0,
    isVolume: s.contact === 'VOLUME' ? 1 : 0,
    hasBoxes: s.guard === 'BOXES' ? 1 : 0,
    skipsKinematicPairs: s.skipKinematicPairs ? 1 : 0,
    waitsForSearch: waitsForSearch ? 1 : 0,
    // Until it is known what is recorded before the steps (watchSearches).
    watchesSearch: 0,
    tailRows: TAIL_ROWS,
    roundRows: ROUND_ROWS,
    // Until it is known how many candidates the sweeps of the next steps are recorded for (coverCandidates).
    coveredCandidates: 0,
    hasDistances: distances ? 1 : 0,
    leastDelta: distances?.reduce((least, distance) => Math.min(least, distance)) ?? s.delta,
    mostDelta: distances?.reduce((most, distance) => Math.max(most, distance)) ?? s.delta,
    hasPullBack: plan ? 1 : 0,
    isAiming: phase === PHASE.ADVANCE ? 0 : 1,
    furtherRange: phase === PHASE.ADVANCE ? 0 : contactRangeOf(mesh, s) - 1,
    hasEarlyPullBack: plan?.isEarly ? 1 : 0,
    hasStrains: plan && strainElementsOf(mesh, s.scale) ? 1 : 0,
    hasRest: edges.rest ? 1 : 0,
    movesAll: phase === PHASE.SHORTEN ? 1 : 0,
    colours: edges.colours.length - 1,
    sweeps: s.sweeps,
    leap: s.leap,
  });
  write(queue, buffers.parameters, 0, packed);
  buffers.uploadRest(s.scale);
  const isEarly = plan?.isEarly ?? false;
  if (!plan || phase === PHASE.ADVANCE) return isEarly;
  const offsets = offsetsByVertex(mesh, s);
  const hasOffsets = offsets !== undefined;
  const strains = strainElementsOf(mesh, s.scale);
  if (strains) buffers.uploadStrains(strains);
  write(queue, buffers.named('pullBack'), 0, packPullBack(s, plan, { edges, phase, hasOffsets, strains }));
  if (offsets) write(queue, buffers.named('offsets'), 0, Float32Array.from(offsets));
  return isEarly;
}

/** Sets the number of candidates beyond which a step pauses, for the steps that are submitted next. */
export function coverCandidates(queue: GPUQueue, buffers: SceneBuffers, coveredCandidates: number): void {
  write(
    queue,
    buffers.parameters,
    4 * PARAMETERS.word('coveredCandidates'),
    PARAMETERS.encode('coveredCandidates', coveredCandidates),
  );
}

/** Sets whether a step of those that are submitted next pauses the run if a search is due after it. */
export function watchSearches(queue: GPUQueue, buffers: SceneBuffers, watchesSearch: boolean): void {
  write(
    queue,
    buffers.parameters,
    4 * PARAMETERS.word('watchesSearch'),
    PARAMETERS.encode('watchesSearch', watchesSearch ? 1 : 0),
  );
}

/** Sweeps of a step of this phase. */
export function sweepsOf({ sweeps, pullBack }: Settings, phase: Phase): number {
  if (phase === PHASE.ADVANCE || !pullBack) return sweeps;
  return phase === PHASE.SHORTEN ? SHORTENING_SWEEPS : stageOf(pullBack, phase).sweeps;
}

/** How the steps of a phase towards y* proceed. */
function stageOf(pullBack: PullBackSettings, phase: Phase): PullStage {
  return (phase === PHASE.REFINE && pullBack.finer) || pullBack;
}

/** The parameter block of a phase of the pull-back. */
export function packPullBack(
  { delta }: Pick<Settings, 'delta'>,
  plan: PullBackPlan,
  of: {
    readonly edges: EdgePlan;
    readonly phase: Phase;
    readonly hasOffsets: boolean;
    readonly strains: StrainElements | undefined;
  },
): ArrayBuffer {
  const { edges, phase, hasOffsets, strains } = of;
  const isShortening = phase === PHASE.SHORTEN;
  const { longest, cheapPairs, offset, finer, far, progress } = plan;
  const { sweeps, tau, minGain } = stageOf(plan, phase);
  return PULL_BACK.pack({
    phase: isShortening ? phase : PHASE.PULL,
    hasFiner: (phase === PHASE.PULL || phase === PHASE.RESUME) && finer ? 1 : 0,
    tau: phase === PHASE.RELEASE ? 0 : tau,
    longest,
    minGain,
    cheapPairs,
    far: far < Number.POSITIVE_INFINITY ? far : 0,
    progress,
    offsetShare: offset,
    // Each of the last steps begins with cold multipliers.
    warmEdges: isShortening ? 0 : WARM_EDGES,
    warmContacts: isShortening ? 0 : WARM_CONTACTS,
    slack: isShortening ? SHORTENING_SLACK * delta : 0,
    pushed: PUSHED * delta,
    rest: (isShortening ? SHORTENING_REST : REST) * delta,
    colours: edges.colours.length - 1,
    hasOffsets: hasOffsets ? 1 : 0,
    sweeps: isShortening ? SHORTENING_SWEEPS : sweeps,
    strainColours: strains ? strains.offsets.length - 1 : 0,
    restsKept: phase === PHASE.OTHERS ? 1 : 0,
  });
}

/** Whether two arrays are equal, bit for bit. */
export function isSame(a: Float32Array, b: Float32Array): boolean {
  const bytes = (array: Float32Array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  return bytes(a).equals(bytes(b));
}
