import { ERROR_FACTOR, UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { SLOT_BYTES } from '../convoy/address.js';
import { DispatchEncoder } from '../convoy/encode.js';
import { foldThreads, launch } from '../device/dispatch.js';
import { BUFFER_USAGE, MAP_MODE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import type { Launch } from '../device/recording.js';
import { NO_BOUND, NO_PAIR, VERTEX_FLAG } from '../kernels/constants.js';
import { CONTROL, LIMIT, PARAMETERS, VERTEX_PROGRESS, VERTEX_STEP } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import { type CommitCases, makeCommitCases } from './commit-cases.js';
import { PROOF_POINTS } from './proof-cases.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;

/** Any step's number; what counts is that control and pairs agree. */
const CLOCK = 7;
/** one more than a residual's largest change could take it */
const EPSILON = 1e-4;

export interface CommitProof {
  readonly ok: boolean;
  readonly vertices: number;
  /** how many of the vertices that were to move were sent back; a proof in which none was would prove nothing */
  readonly reverted: number;
  readonly reason?: string;
}

/**
 * Asks an adapter to prove the end of a step with the kernels that requests use: write, check, commit (docs/method.md,
 * S4 and S8), those of one scene or those of a convoy. What memory holds afterwards is judged in double precision: copies are bit copies, everything
 * else is x + α (y − x) to rounding, and nothing is committed that breaks its half-space or leaves its box.
 *
 * @throws Error when the device is lost
 */
export async function proveCommit(device: GPUDevice, kernels: KernelSet): Promise<CommitProof> {
  const cases = makeCommitCases();
  const verdict = judgeCommit(cases, await runCommit(device, kernels, cases));
  return { ...verdict, vertices: PROOF_POINTS * cases.pairs };
}

async function runCommit(device: GPUDevice, kernels: KernelSet, cases: CommitCases): Promise<CommitAnswer> {
  const vertices = PROOF_POINTS * cases.pairs;
  const owned: GPUBuffer[] = [];
  const memory = new DeviceMemory(device, new MemoryBudget());
  const create = (data: ArrayBuffer, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ label: 'proof', size: data.byteLength, usage: usage | COPY_DST });
    owned.push(buffer);
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  const named: Readonly<Record<string, GPUBuffer>> = {
    parameters: create(
      padded(PARAMETERS.pack({ vertexCount: vertices, hasBoxes: 1, isPlanar: 1, epsilon: EPSILON, arrivedWithin: 0 })),
      STORAGE | UNIFORM,
    ),
    control: create(
      padded(
        CONTROL.pack({ pairCount: cases.pairs, pairCapacity: cases.pairs, activeCount: cases.pairs, clock: CLOCK }),
      ),
      STORAGE | UNIFORM,
    ),
    x: create(cases.x.buffer, STORAGE | COPY_SRC),
    y: create(cases.y.buffer, STORAGE),
    next: create(new ArrayBuffer(12 * vertices), STORAGE | COPY_SRC),
    box: create(cases.box.buffer, STORAGE),
    vertexStep: create(packSteps(cases), STORAGE | COPY_SRC),
    progress: create(packProgress(vertices), STORAGE | COPY_SRC),
    pairVertex: create(Int32Array.from({ length: vertices }, (_, v) => v).buffer, STORAGE),
    pairNormal: create(packNormals(cases), STORAGE),
    limits: create(packLimits(cases), STORAGE),
    bounds: create(new Float32Array(PROOF_POINTS * cases.pairs).fill(NO_BOUND).buffer, STORAGE),
  };
  const readback = device.createBuffer({ size: 56 * vertices, usage: COPY_DST | MAP_READ });
  owned.push(readback);
  try {
    const encoder = device.createCommandEncoder({ label: 'proof' });
    const launchOf = (entry: EntryPoint, threads: number): Launch => {
      const kernel = kernels.get(entry);
      const [x, y] = foldThreads(threads);
      return { kernel, bindings: kernel.bindings(named), size: [x, y], most: x * y };
    };
    record(memory, encoder, [
      launchOf('write', vertices),
      launchOf('check', cases.pairs),
      launchOf('commit', vertices),
    ]);
    let at = 0;
    for (const [buffer, bytes] of [
      [named.next, 12 * vertices],
      [named.x, 12 * vertices],
      [named.vertexStep, 16 * vertices],
      [named.progress, 16 * vertices],
    ] as const) {
      encoder.copyBufferToBuffer(buffer, 0, readback, at, bytes);
      at += bytes;
    }
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ);
    return unpack(readback.getMappedRange().slice(0), vertices);
  } finally {
    for (const buffer of owned) buffer.destroy();
    memory.freeAll();
  }
}

/** As a scene alone, or in a convoy if the kernels are made for one. */
function record(memory: DeviceMemory, encoder: GPUCommandEncoder, launches: readonly Launch[]): void {
  if (launches.some(({ kernel }) => kernel.shared)) {
    new DispatchEncoder(memory, true).encode(encoder, [launches]);
    return;
  }
  const pass = encoder.beginComputePass();
  for (const one of launches) launch(pass, one);
  pass.end();
}

/** Of which a convoy has one a scene. */
const padded = (data: ArrayBuffer): ArrayBuffer => {
  const whole = new Uint8Array(Math.ceil(data.byteLength / SLOT_BYTES) * SLOT_BYTES);
  whole.set(new Uint8Array(data));
  return whole.buffer;
};

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

function packProgress(vertices: number): ArrayBuffer {
  const floats = new Float32Array(VERTEX_PROGRESS.words * vertices);
  for (let v = 0; v < vertices; v++) floats[VERTEX_PROGRESS.words * v + VERTEX_PROGRESS.word('residual')] = 1;
  return floats.buffer;
}

function packNormals({ normals, pairs }: CommitCases): ArrayBuffer {
  const floats = new Float32Array(4 * pairs);
  for (let p = 0; p < pairs; p++) floats.set(normals.subarray(3 * p, 3 * p + 3), 4 * p);
  return floats.buffer;
}

/** The list of all pairs; kind 0, in the bits above the index: vertex and triangle. */
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

function unpack(bytes: ArrayBuffer, vertices: number): CommitAnswer {
  const steps = new Uint32Array(bytes, 24 * vertices, 4 * vertices);
  const progress = new Float32Array(bytes, 40 * vertices, 4 * vertices);
  return {
    next: new Float32Array(bytes, 0, 3 * vertices),
    x: new Float32Array(bytes, 12 * vertices, 3 * vertices),
    alphaBits: steps.filter((_, n) => n % VERTEX_STEP.words === VERTEX_STEP.word('alpha')),
    residual: progress.filter((_, n) => n % VERTEX_PROGRESS.words === VERTEX_PROGRESS.word('residual')),
  };
}

/** x + α (y − x): a difference, a product and a sum, each off by at most u of what it gives; one u to spare. */
const WRITE_ERROR = 4 * UNIT_ROUNDOFF;
/** r (1 − α): a difference and a product; one u to spare */
const RESIDUAL_ERROR = 3 * UNIT_ROUNDOFF;
/** A limit kept by this much, in units of e, is kept whatever the check's rounding: it may not be refused. */
const SURE_MARGIN = 3;

/** What memory holds after write, check and commit. */
export interface CommitAnswer {
  /** float32[3·V] */
  readonly next: Float32Array;
  readonly x: Float32Array;
  /** uint32[V] bits of α, 0 where the vertex was sent back */
  readonly alphaBits: Uint32Array;
  /** float32[V], 1 before */
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
  // Either verdict must occur, or the questions were no questions on this device.
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
  let height = 0;
  let spread = 0;
  let isInBox = true;
  for (let c = 0; c < 3; c++) {
    const at = next[3 * v + c];
    const term = cases.normals[3 * pair + c] * (at - cases.x[12 * pair + c]);
    height += term;
    spread += Math.abs(term);
    isInBox &&= at >= cases.box[6 * v + c] && at <= cases.box[6 * v + 3 + c];
  }
  const room = isSideA ? height - cases.low[pair] : cases.high[pair] - height;
  if (!isBack) {
    if (!isInBox) return 'it left its box';
    // Sums of three doubles: exact but for their last bits, which the device's own e covers a thousand times.
    if (!(room >= 0)) return `it broke its half-space by ${-room}`;
  } else if (isInBox && room > SURE_MARGIN * Math.max(cases.error[pair], ERROR_FACTOR * spread)) {
    return `it was sent back though it keeps its half-space by ${room}`;
  }
  return undefined;
}

function objectToResidual({ x, y }: CommitCases, { residual, x: now }: CommitAnswer, v: number, alpha: number) {
  const isThere = [0, 1, 2].every((c) => now[3 * v + c] === y[3 * v + c]);
  const expected = isThere ? 0 : 1 - alpha;
  if (Math.abs(residual[v] - expected) <= RESIDUAL_ERROR) return undefined;
  return `its residual is ${residual[v]} instead of ${expected} (it started at ${x[3 * v]}, …)`;
}
