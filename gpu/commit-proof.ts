import { type CommitCases, makeCommitCases } from './commit-cases.js';
import { type CommitAnswer, judgeCommit } from './commit-judge.js';
import { foldThreads } from './device/dispatch.js';
import { BUFFER_USAGE, MAP_MODE } from './device/flags.js';
import type { KernelSet } from './device/kernel.js';
import { NO_BOUND, NO_PAIR, VERTEX_FLAG } from './kernels/constants.js';
import { CONTROL, LIMIT, MOTION, PARAMETERS, VERTEX_PROGRESS } from './kernels/structs.js';
import type { EntryPoint } from './kernels/table.js';
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
 * safety rules 4 and 8). What memory holds afterwards is judged in double precision: copies are bit copies, everything
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
  const create = (data: ArrayBuffer, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ label: 'proof', size: data.byteLength, usage: usage | COPY_DST });
    owned.push(buffer);
    device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  };
  const named: Readonly<Record<string, GPUBuffer>> = {
    parameters: create(
      PARAMETERS.pack({ vertexCount: vertices, hasBoxes: 1, isPlanar: 1, epsilon: EPSILON, arrivedWithin: 0 }),
      UNIFORM,
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
    motion: create(packMotion(cases), STORAGE | COPY_SRC),
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
    const pass = encoder.beginComputePass();
    const dispatch = (entry: EntryPoint, threads: number): void => {
      const kernel = kernels.get(entry);
      pass.setPipeline(kernel.pipeline);
      pass.setBindGroup(0, kernel.bind(named));
      pass.dispatchWorkgroups(...foldThreads(threads));
    };
    dispatch('write', vertices);
    dispatch('check', cases.pairs);
    dispatch('commit', vertices);
    pass.end();
    let at = 0;
    for (const [buffer, bytes] of [
      [named.next, 12 * vertices],
      [named.x, 12 * vertices],
      [named.motion, 16 * vertices],
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
  }
}

const padded = (data: ArrayBuffer): ArrayBuffer => {
  const whole = new Uint8Array(Math.ceil(data.byteLength / 16) * 16);
  whole.set(new Uint8Array(data));
  return whole.buffer;
};

function packMotion({ alpha }: CommitCases): ArrayBuffer {
  const words = new Uint32Array(MOTION.words * alpha.length);
  const bits = new Uint32Array(alpha.buffer);
  for (let v = 0; v < alpha.length; v++) {
    words[MOTION.words * v + MOTION.word('alpha')] = bits[v];
    words[MOTION.words * v + MOTION.word('limiter')] = NO_PAIR;
    words[MOTION.words * v + MOTION.word('flags')] = VERTEX_FLAG.MOVING;
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
  const motion = new Uint32Array(bytes, 24 * vertices, 4 * vertices);
  const progress = new Float32Array(bytes, 40 * vertices, 4 * vertices);
  return {
    next: new Float32Array(bytes, 0, 3 * vertices),
    x: new Float32Array(bytes, 12 * vertices, 3 * vertices),
    alphaBits: motion.filter((_, n) => n % MOTION.words === MOTION.word('alpha')),
    residual: progress.filter((_, n) => n % VERTEX_PROGRESS.words === VERTEX_PROGRESS.word('residual')),
  };
}
