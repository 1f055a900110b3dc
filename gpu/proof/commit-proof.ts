import { UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { foldThreads, launch } from '../device/dispatch.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { type Place, sliceOf } from '../device/place.js';
import type { Launch } from '../device/recording.js';
import { toFours } from '../device/vectors.js';
import { NO_BOUND, NO_PAIR, VERTEX_FLAG } from '../kernels/constants.js';
import { CONTROL, LIMIT, PARAMETERS, VERTEX_PROGRESS, VERTEX_STEP } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import { type CommitCases, makeCommitCases } from './commit-cases.js';
import {
  type BothKernels,
  bytesOf,
  FEW_BESIDE,
  findDifference,
  type ProofPlace,
  runAlone,
  runBothWays,
  SEED_BESIDE,
  uploadAll,
} from './places.js';
import { coarseErrorOf, heightErrorOf, LONG_HEIGHT, PROOF_POINTS } from './proof-cases.js';

/** An arbitrary step number; it only matters that control and pairs agree. */
const CLOCK = 7;
/** ε, the termination threshold of the residuals; it affects only data that are not judged */
const EPSILON = 1e-4;

export interface CommitProof {
  readonly ok: boolean;
  readonly vertices: number;
  /** number of vertices that were to move and were reverted; a proof in which none was reverted would prove nothing */
  readonly reverted: number;
  readonly reason?: string;
}

/**
 * Lets an adapter prove the end of a step with the kernels that requests use: write, check, commit, or commitAndWatch
 * instead of the last (docs/method.md, S4 and S8). The resulting memory is judged in double precision: copies are bit
 * copies, everything else is x + α (y − x) up to rounding, and nothing is committed that violates its half-space or
 * leaves its box. commitAndWatch must also leave the same bytes as commit, which other scenes use.
 *
 * @param kernels those of one scene
 * @throws Error if the device is lost
 */
export async function proveCommit(
  device: GPUDevice,
  kernels: KernelSet,
  last: 'commit' | 'commitAndWatch' = 'commit',
): Promise<CommitProof> {
  const cases = makeCommitCases();
  const run = (last: EntryPoint) =>
    runAlone(new DeviceMemory(device, new MemoryBudget()), kernels, (place) => runCommit(place, cases, last));
  const answer = await run(last);
  const verdict = { ...judgeCommit(cases, answer), vertices: PROOF_POINTS * cases.pairs };
  if (!verdict.ok || last === 'commit' || Buffer.compare(bytesIn(answer), bytesIn(await run('commit'))) === 0) {
    return verdict;
  }
  return { ...verdict, ok: false, reason: `${last} does not leave the bytes that commit leaves` };
}

const bytesIn = ({ next, x, alphaBits, residual }: CommitAnswer): Uint8Array => bytesOf(next, x, alphaBits, residual);

/**
 * The same with the kernels of a convoy, for two scenes of different size at once: memory must contain the same as for
 * each alone.
 *
 * @returns what is wrong; undefined = nothing
 */
export async function findSharedCommitObjection(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
): Promise<string | undefined> {
  const scenes = [makeCommitCases(SEED_BESIDE, FEW_BESIDE), makeCommitCases()];
  const works = scenes.map((cases) => (place: ProofPlace) => runCommit(place, cases));
  const { alone, together } = await runBothWays(device, kernels, isSoftware, works);
  const judge = (n: number) => judgeCommit(scenes[n]!, together[n]!).reason;
  return findDifference('the end of a step', alone.map(bytesIn), together.map(bytesIn), judge);
}

/** Returns the contents of memory after the end of a step of this scene. */
async function runCommit(
  { memory, submissions, kernels }: ProofPlace,
  cases: CommitCases,
  last: EntryPoint = 'commit',
): Promise<CommitAnswer> {
  const vertices = PROOF_POINTS * cases.pairs;
  const named = await memory.checkAllocations('the proof', () => upload(memory, cases));
  const recording = submissions.begin();
  const pass = recording.beginComputePass();
  for (const one of launchesOf(kernels, cases, named, last)) launch(pass, one);
  pass.end();
  const { next, x, vertexStep, progress } = named;
  const reading = await submissions.submit(recording, [
    ...[sliceOf(next!, 12 * vertices), sliceOf(x!, 12 * vertices)],
    ...[sliceOf(vertexStep!, 16 * vertices), sliceOf(progress!, 16 * vertices)],
  ]);
  return unpack(await reading.wait());
}

type Named = Readonly<Record<string, Place>>;

/** Uploads the cases, by the names that the kernels bind. */
function upload(memory: DeviceMemory, cases: CommitCases): Named {
  const { pairs } = cases;
  const vertices = PROOF_POINTS * pairs;
  const contents: Readonly<Record<string, ArrayBuffer>> = {
    parameters: PARAMETERS.pack({
      vertexCount: vertices,
      hasBoxes: 1,
      isPlanar: 1,
      epsilon: EPSILON,
      arrivedWithin: 0,
    }),
    control: CONTROL.pack({ pairCount: pairs, pairCapacity: pairs, activeCount: pairs, clock: CLOCK }),
    x: cases.x.buffer,
    y: toFours(cases.y).buffer,
    next: new ArrayBuffer(12 * vertices),
    box: cases.box.buffer,
    vertexStep: packSteps(cases),
    progress: packProgress(cases),
    pairVertex: Int32Array.from({ length: vertices }, (_, v) => v).buffer,
    pairNormal: packNormals(cases),
    limits: packLimits(cases),
    bounds: new Float32Array(vertices).fill(NO_BOUND).buffer,
    // The counters of commitAndWatch, which are not judged.
    windowStart: new ArrayBuffer(12 * vertices),
    wanted: new ArrayBuffer(4 * vertices),
    inverseMass: new Float32Array(vertices).fill(1).buffer,
    goal: cases.y.buffer,
  };
  return uploadAll(memory, contents);
}

function launchesOf(kernels: KernelSet, { pairs }: CommitCases, named: Named, last: EntryPoint): Launch[] {
  const launchOf = (entry: EntryPoint, threads: number): Launch => {
    const kernel = kernels.get(entry);
    const [x, y] = foldThreads(threads);
    return { kernel, bindings: kernel.bindings(named), size: [x, y], most: x * y };
  };
  const vertices = PROOF_POINTS * pairs;
  return [launchOf('write', vertices), launchOf('check', pairs), launchOf(last, vertices)];
}

function packSteps({ alpha }: CommitCases): ArrayBuffer {
  const words = new Uint32Array(VERTEX_STEP.words * alpha.length);
  const bits = new Uint32Array(alpha.buffer);
  for (let v = 0; v < alpha.length; v++) {
    words[VERTEX_STEP.words * v + VERTEX_STEP.word('alpha')] = bits[v];
    words[VERTEX_STEP.words * v + VERTEX_STEP.word('limiter')] = NO_PAIR;
    words[VERTEX_STEP.words * v + VERTEX_STEP.word('flags')] = VERTEX_FLAG.MOVING;
  }
  return words.buffer;
}

function packProgress({ residual }: CommitCases): ArrayBuffer {
  const floats = new Float32Array(VERTEX_PROGRESS.words * residual.length);
  for (let v = 0; v < residual.length; v++) {
    floats[VERTEX_PROGRESS.words * v + VERTEX_PROGRESS.word('residual')] = residual[v]!;
  }
  return floats.buffer;
}

function packNormals({ normals, pairs }: CommitCases): ArrayBuffer {
  const floats = new Float32Array(4 * pairs);
  for (let p = 0; p < pairs; p++) floats.set(normals.subarray(3 * p, 3 * p + 3), 4 * p);
  return floats.buffer;
}

/** Returns the list of all pairs; kind 0, in the bits above the index: vertex and triangle. */
function packLimits({ pairs, low, high, error }: CommitCases): ArrayBuffer {
  const floats = new Float32Array(LIMIT.words * pairs);
  const words = new Uint32Array(floats.buffer);
  for (let p = 0; p < pairs; p++) {
    const at = LIMIT.words * p;
    floats[at + LIMIT.word('low')] = low[p];
    floats[at + LIMIT.word('high')] = high[p];
    floats[at + LIMIT.word('error')] = error[p];
    words[at + LIMIT.word('entry')] = p;
  }
  return floats.buffer;
}

function unpack([next, x, steps, progress]: readonly ArrayBuffer[]): CommitAnswer {
  const [alphaAt, residualAt] = [VERTEX_STEP.word('alpha'), VERTEX_PROGRESS.word('residual')];
  return {
    next: new Float32Array(next!),
    x: new Float32Array(x!),
    alphaBits: new Uint32Array(steps!).filter((_, n) => n % VERTEX_STEP.words === alphaAt),
    residual: new Float32Array(progress!).filter((_, n) => n % VERTEX_PROGRESS.words === residualAt),
  };
}

/** x + α (y − x): a difference, a product and a sum, each with an error of at most u of its result; one u to spare. */
const WRITE_ERROR = 4 * UNIT_ROUNDOFF;
/** r (1 − α): a difference and a product; one u to spare */
const RESIDUAL_ERROR = 3 * UNIT_ROUNDOFF;
/** A limit kept by this much, in units of e, is kept whatever the check's rounding, so it may not be refused. */
const SURE_MARGIN = 3;

/** The contents of memory after write, check and commit. */
export interface CommitAnswer {
  /** float32[3·V] */
  readonly next: Float32Array;
  readonly x: Float32Array;
  /** uint32[V] bits of α, 0 if the vertex was reverted */
  readonly alphaBits: Uint32Array;
  /** float32[V] */
  readonly residual: Float32Array;
}

export interface CommitVerdict {
  readonly ok: boolean;
  readonly reverted: number;
  readonly reason?: string;
}

/** Judges in double precision, where differences and products of float32 are exact or nearly so. */
export function judgeCommit(cases: CommitCases, answer: CommitAnswer): CommitVerdict {
  let reverted = 0;
  let moved = 0;
  for (let v = 0; v < PROOF_POINTS * cases.pairs; v++) {
    const objection = objectTo(cases, answer, v);
    if (objection !== undefined) {
      const pair = Math.floor(v / PROOF_POINTS);
      const reason = `commit, pair ${pair} (${cases.labelOf(pair)}), vertex ${v % PROOF_POINTS}: ${objection}`;
      return { ok: false, reverted, reason };
    }
    if (cases.alpha[v] === 0) continue;
    if (answer.alphaBits[v] === 0) reverted++;
    else moved++;
  }
  // Both verdicts must occur; otherwise the cases proved nothing on this device.
  if (reverted === 0 || moved === 0)
    return { ok: false, reverted, reason: `commit: ${moved} moved, ${reverted} did not` };
  return { ok: true, reverted };
}

function objectTo(cases: CommitCases, answer: CommitAnswer, v: number): string | undefined {
  const written = objectToWritten(cases, answer, v);
  if (written !== undefined) return written;
  const alpha = cases.alpha[v];
  const isBack = answer.alphaBits[v] === 0;
  if (alpha === 0 && !isBack) return 'it was not to move, and has an α';
  for (let k = 3 * v; k < 3 * v + 3; k++) {
    const expected = isBack ? cases.x[k] : answer.next[k];
    if (!Object.is(answer.x[k], expected)) return `${answer.x[k]} was committed instead of ${expected}`;
  }
  const objection = alpha === 0 ? undefined : objectToVerdict(cases, answer, v, isBack);
  return objection ?? objectToResidual(cases, answer, v, isBack ? 0 : alpha);
}

function objectToWritten({ x, y, alpha }: CommitCases, { next }: CommitAnswer, v: number): string | undefined {
  for (let k = 3 * v; k < 3 * v + 3; k++) {
    if (alpha[v] === 0 || alpha[v] === 1) {
      const copied = alpha[v] === 0 ? x[k] : y[k];
      if (!Object.is(next[k], copied)) return `${next[k]} was written where ${copied} was to be copied`;
      continue;
    }
    const motion = alpha[v] * (y[k] - x[k]);
    const allowed = WRITE_ERROR * (Math.abs(x[k]) + Math.abs(motion));
    // Written so that a NaN fails.
    if (!(Math.abs(next[k] - (x[k] + motion)) <= allowed)) return `${next[k]} was written instead of ${x[k] + motion}`;
  }
  return undefined;
}

function objectToVerdict(cases: CommitCases, { next }: CommitAnswer, v: number, isBack: boolean): string | undefined {
  const pair = Math.floor(v / PROOF_POINTS);
  const isSideA = v % PROOF_POINTS === 0;
  let [height, spread, extent] = [0, 0, 0];
  let isInBox = true;
  for (let c = 0; c < 3; c++) {
    const at = next[3 * v + c];
    const d = at - cases.x[12 * pair + c];
    const term = cases.normals[3 * pair + c] * d;
    height += term;
    spread += Math.abs(term);
    extent += Math.abs(d);
    isInBox &&= at >= cases.box[6 * v + c] && at <= cases.box[6 * v + 3 + c];
  }
  const room = isSideA ? height - cases.low[pair] : cases.high[pair] - height;
  if (!isBack) {
    if (!isInBox) return 'it left its box';
    // Sums of three doubles: exact except for their last bits, which the device's own e covers a thousand times.
    if (!(room >= 0)) return `it broke its half-space by ${-room}`;
    return undefined;
  }
  const coarse = coarseErrorOf(spread);
  // As for the heights themselves: one near the largest that integers hold may be computed either way.
  const own = Math.abs(height) < LONG_HEIGHT - coarse ? heightErrorOf(spread, extent, Math.abs(height)) : coarse;
  const isSure = room > SURE_MARGIN * Math.max(cases.error[pair], own);
  return isInBox && isSure ? `it was sent back though it keeps its half-space by ${room}` : undefined;
}

function objectToResidual(
  { x, y, residual: before }: CommitCases,
  { residual, x: now }: CommitAnswer,
  v: number,
  alpha: number,
): string | undefined {
  const isThere = [0, 1, 2].every((c) => now[3 * v + c] === y[3 * v + c]);
  const expected = isThere ? 0 : before[v] * (1 - alpha);
  if (Math.abs(residual[v] - expected) <= RESIDUAL_ERROR * before[v]) return undefined;
  return `its residual is ${residual[v]} instead of ${expected} (it started at ${x[3 * v]}, …)`;
}
