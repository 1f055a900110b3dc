import type { ElementPair } from '../../src/contract/elements.js';
import type { StageTimings, Status } from '../../src/contract/report.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import type { Resolution } from '../../src/solver/engine.js';
import { PAIR_KINDS } from '../../src/solver/pair-kinds.js';
import { countPairs, describePair, findLimitingPairs } from '../../src/solver/pair-report.js';
import { statusAfterPullBack } from '../../src/solver/step-shares.js';
import { sliceOf } from '../device/place.js';
import type { Reader } from '../device/readback.js';
import type { Pass } from '../device/recording.js';
import type { StructValues } from '../device/struct.js';
import type { Submissions } from '../device/submissions.js';
import { KIND_MASK, STATE } from '../kernels/constants.js';
import { CONTROL } from '../kernels/structs.js';
import type { StepRecorder } from './recorder.js';
import type { SceneBuffers } from './scene-buffers.js';

/** The fields of the control block by name. */
export type ControlBlock = StructValues<typeof CONTROL>;

export interface FinalState {
  readonly control: ControlBlock;
  /** float32[3·V] and float32[V] */
  readonly positions: Float32Array;
  readonly residuals: Float32Array;
  /** float32[3·V] the state with which the pull-back began; undefined = it did not run */
  readonly before: Float32Array | undefined;
  readonly limitingPairs: readonly ElementPair[];
}

/**
 * The arrays that the end of a run needs from packAnswer, as their number of words per vertex: no residuals if all are
 * 0, no limiters if all are below ε.
 */
type PackedArrays = 0 | 1 | 2;

const POSITION_BYTES = 12;

/** The arrays that the end of a run probably needs, by the last status. @param isPull whether the pull-back has run */
function expectedOf({ state }: ControlBlock, isPull: boolean, hasKinematic: boolean): PackedArrays {
  if (state !== STATE.CONVERGED) return 2;
  // If the pull-back converges it leaves r = 0, except for kinematic vertices, which keep r of Algorithm 1.
  return isPull && !hasKinematic ? 0 : 1;
}

/** Whether the arrays that were read are enough. @param control the control block of the end, after closeRun */
function isEnough({ residuals, limiters }: Partial<Packed>, { residual }: ControlBlock, epsilon: number): boolean {
  // closeRun has taken the largest r of all vertices.
  if (residuals === undefined) return residual === 0;
  return limiters !== undefined || residuals.every((r) => r < epsilon);
}

/**
 * Reads the final state of a run: one map, and a second one for the pairs that limit the worst vertices, if there are
 * any. If the end differs from what the last status indicated, it takes one more.
 */
export async function readFinalState(
  buffers: SceneBuffers,
  recorder: StepRecorder,
  reader: Reader,
  input: {
    readonly submissions: Submissions;
    readonly mesh: Pick<CollisionMesh, 'vertexCount' | 'kinematic'>;
    /** the control block that was read last */
    readonly control: ControlBlock;
    /** 0 = P is invalid */
    readonly pairCount: number;
    readonly epsilon: number;
    /** records the kernels that close a run of several phases */
    readonly conclude: ((pass: Pass) => void) | undefined;
  },
): Promise<FinalState> {
  const { vertexCount, kinematic } = input.mesh;
  const isPull = input.conclude !== undefined;
  const expected = expectedOf(input.control, isPull, kinematic.includes(1));
  const encoder = input.submissions.begin();
  const pass = encoder.beginComputePass();
  input.conclude?.(pass);
  recorder.packAnswer(pass, vertexCount, input.pairCount > 0);
  pass.end();
  const slices = [
    sliceOf(buffers.control, CONTROL.bytes),
    sliceOf(buffers.x, POSITION_BYTES * vertexCount),
    sliceOf(buffers.next, 4 * expected * vertexCount),
  ];
  if (isPull) slices.push(sliceOf(buffers.windowStart, POSITION_BYTES * vertexCount));
  const reading = await input.submissions.submit(encoder, slices);
  // Read in place: most of the memory is read only once, and memory that is new to the process costs more than the reading.
  const { packed, ...final } = await reading.inspect((range, [toControl, toX, toPacked, toBefore]) => {
    const control = CONTROL.unpack(range.slice(toControl, toControl + CONTROL.bytes));
    const positions = new Float32Array(range, toX, 3 * vertexCount).slice();
    const before = isPull ? new Float32Array(range, toBefore, 3 * vertexCount).slice() : undefined;
    return { control, positions, before, packed: unpack(range, toPacked, vertexCount, expected) };
  });
  const { residuals = new Float32Array(vertexCount), limiters } = isEnough(packed, final.control, input.epsilon)
    ? packed
    : await readPacked(buffers, reader, vertexCount);
  const limiterOf = (vertex: number) => limiters?.[vertex] ?? NO_LIMITER;
  const worst = hasLimiters(final.control)
    ? findLimitingPairs(residuals, limiterOf, input.epsilon, input.pairCount)
    : [];
  return { ...final, residuals, limitingPairs: await readPairs(buffers, reader, worst) };
}

/**
 * Whether the limiters are pairs of the present P: a run that stops between a search and the next step has those of the
 * P before, whose numbers now belong to other pairs.
 */
const hasLimiters = ({ steps, searches, limitedIn }: ControlBlock): boolean => steps > 0 && limitedIn === searches;

/** NO_PAIR, all bits set, as a signed number. */
const NO_LIMITER = -1;

interface Packed {
  readonly residuals: Float32Array;
  /** int32[V] */
  readonly limiters: Int32Array;
}

function unpack(range: ArrayBuffer, at: number, vertexCount: number, arrays: PackedArrays): Partial<Packed> {
  return {
    residuals: arrays > 0 ? new Float32Array(range, at, vertexCount).slice() : undefined,
    limiters: arrays > 1 ? new Int32Array(range, at + 4 * vertexCount, vertexCount).slice() : undefined,
  };
}

async function readPacked({ next }: SceneBuffers, reader: Reader, vertexCount: number): Promise<Partial<Packed>> {
  const reading = await reader.read([sliceOf(next, 8 * vertexCount)]);
  return reading.inspect((range) => unpack(range, 0, vertexCount, 2));
}

async function readPairs(
  { pairVertex, pairInfo, pairNormal, pairDistance }: SceneBuffers,
  reader: Reader,
  indices: readonly number[],
): Promise<ElementPair[]> {
  if (indices.length === 0) return [];
  const reading = await reader.read(
    indices.flatMap((p) => [
      sliceOf(pairVertex, 16, 16 * p),
      sliceOf(pairInfo, 4, 4 * p),
      sliceOf(pairNormal, 16, 16 * p),
      sliceOf(pairDistance, 4, 4 * p),
    ]),
  );
  const slices = await reading.wait();
  return indices.map((_, n) => toElementPair(slices.slice(4 * n, 4 * n + 4)));
}

/** @param slices of one pair: 16 bytes of pairVertex, 4 of pairInfo, 16 of pairNormal, 4 of pairDistance */
function toElementPair([vertex, info, normal, distance]: readonly ArrayBuffer[]): ElementPair {
  const kind = new Uint32Array(info)[0] & KIND_MASK;
  return describePair(kind, new Int32Array(vertex), new Float32Array(distance)[0], new Float32Array(normal));
}

export interface AnswerParts extends FinalState {
  readonly timings: StageTimings;
  /** the caller stopped the run before its end */
  readonly wasStopped: boolean;
  /** steps of this request before the pull-back */
  readonly stepsBefore: number;
  /** whether its step limit has ended Algorithm 1 before the pull-back */
  readonly wasCut: boolean;
}

export function toResolution(parts: AnswerParts): Resolution {
  const { control, positions, residuals, limitingPairs, before, timings, stepsBefore } = parts;
  return {
    status: statusOf(control, parts),
    positions,
    residuals,
    steps: control.steps,
    searches: control.searches,
    proximitySetReused: control.isReused === 1,
    residual: control.residual,
    unfinishedVertices: control.unfinished,
    pairs: {
      ...countPairs((kind) => control[PAIR_KINDS[kind].count]),
      activeContacts: control.mostContacts,
      colours: control.mostRounds,
    },
    touchingPairs: control.touching,
    limitingPairs,
    timings,
    ...(before ? { pullBack: { steps: control.steps - stepsBefore, before } } : {}),
  };
}

function statusOf(
  { state, unfinished }: ControlBlock,
  { wasStopped, wasCut }: Pick<AnswerParts, 'wasStopped' | 'wasCut'>,
): Status {
  if (state === STATE.CONVERGED) return statusAfterPullBack('CONVERGED', unfinished, wasCut);
  if (state === STATE.STALLED) return statusAfterPullBack('STALLED', unfinished, wasCut);
  if (state === STATE.AT_STEP_LIMIT) return 'STEP_LIMIT';
  if (wasStopped) return 'DEADLINE';
  throw new Error(`The run ended in state ${state}.`);
}
