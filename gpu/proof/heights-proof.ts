import { ERROR_FACTOR, LONG_SPREAD, UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../../src/solver/pair-kinds.js';
import { foldThreads } from '../device/dispatch.js';
import { BUFFER_USAGE, MAP_MODE } from '../device/flags.js';
import { LONG_EXTENT_ERROR, LONG_ROUNDING } from '../kernels/constants.js';
import { loadKernel } from '../shaders.js';
import { makeProofCases, PROOF_POINTS, type ProofCases } from './proof-cases.js';

/** Words of an answer for a pair and a kind: h_0 … h_3, lo, hi, gap, e (kernels/proof/heights.wgsl). */
export const ANSWER = { LO: 4, HI: 5, GAP: 6, ERROR: 7, WORDS: 8 } as const;

/** e is itself computed in float32: six products, sums and maxima, each off by at most u of its value. */
const BOUND_SLACK = 8 * UNIT_ROUNDOFF;

export interface Proof {
  readonly ok: boolean;
  /** The largest |h − h64| / e over all points; at most 1 on an adapter that may be trusted. */
  readonly worst: number;
  readonly pairs: number;
  /** Why the proof failed. */
  readonly reason?: string;
}

/**
 * Compares a device's heights with double precision (docs/method.md, S1 and S10): every height lies within e of the exact
 * one, e is what the derivation says, and lo, hi and gap are those of the heights.
 *
 * @param answers float32[8·kinds·pairs], see ANSWER
 */
export function judgeHeights(cases: ProofCases, answers: Float32Array): Proof {
  let worst = 0;
  for (let pair = 0; pair < cases.pairs; pair++) {
    const { heights, spreads, extents } = exactHeights(cases, pair);
    for (let kind = 0; kind < PAIR_KINDS.length; kind++) {
      const first = ANSWER.WORDS * (PAIR_KINDS.length * pair + kind);
      const answer = answers.subarray(first, first + ANSWER.WORDS);
      const coarse = ERROR_FACTOR * Math.max(...spreads.slice(0, CORNERS[kind]));
      const e = longError(answer, coarse, Math.max(...extents.slice(0, CORNERS[kind]))) ?? coarse;
      // A corner that lies far behind lo and hi keeps its height in float32.
      const allowed = heights.map((h) => (Math.abs(h) < LONG_HEIGHT - coarse ? e : coarse));
      const objection = objectToHeights(answer, kind, heights, e, allowed) ?? objectToGap(answer, kind);
      worst = Math.max(worst, ...heights.slice(0, CORNERS[kind]).map((h, k) => errorRatio(answer[k]!, h, allowed[k]!)));
      if (objection === undefined) continue;
      const where = `pair ${pair} (${cases.labelOf(pair)}) as ${PAIR_KINDS[kind]!.symbol}`;
      return { ok: false, worst, pairs: cases.pairs, reason: `${where}: ${objection}` };
    }
  }
  return { ok: true, worst, pairs: cases.pairs };
}

/** Heights above it are not computed in integers (common/long-heights.wgsl). */
const LONG_HEIGHT = 100;

/** e of a long pair, for the lo and hi of its answer; undefined = its heights are those of float32. @param coarse e of those */
function longError(answer: Float32Array, coarse: number, extent: number): number | undefined {
  const height = Math.max(Math.abs(answer[ANSWER.LO]!), Math.abs(answer[ANSWER.HI]!));
  if (!(coarse > ERROR_FACTOR * LONG_SPREAD) || height >= LONG_HEIGHT) return undefined;
  return LONG_ROUNDING + LONG_EXTENT_ERROR * extent + 2 * ERROR_FACTOR * height;
}

/** Of each point, in double precision: h_k = n·(x_k − x_0), Σ_c |n_c (x_kc − x_0c)| and Σ_c |x_kc − x_0c|. */
function exactHeights({ points, normals }: ProofCases, pair: number) {
  const origin = 3 * PROOF_POINTS * pair;
  const heights: number[] = [];
  const spreads: number[] = [];
  const extents: number[] = [];
  const sizeOf = (terms: readonly number[]) => Math.abs(terms[0]!) + Math.abs(terms[1]!) + Math.abs(terms[2]!);
  for (let k = 0; k < PROOF_POINTS; k++) {
    const d = [0, 1, 2].map((c) => points[origin + 3 * k + c]! - points[origin + c]!);
    const terms = d.map((difference, c) => normals[3 * pair + c]! * difference);
    heights.push(terms[0]! + terms[1]! + terms[2]!);
    spreads.push(sizeOf(terms));
    extents.push(sizeOf(d));
  }
  return { heights, spreads, extents };
}

const errorRatio = (height: number, exact: number, e: number): number => {
  const error = Math.abs(height - exact);
  return error === 0 ? 0 : error / e;
};

function objectToHeights(
  answer: Float32Array,
  kind: number,
  heights: readonly number[],
  e: number,
  allowed: readonly number[],
): string | undefined {
  // Comparisons are written so that a NaN fails.
  if (!(Math.abs(answer[ANSWER.ERROR]! - e) <= BOUND_SLACK * e)) {
    return `the error bound is ${answer[ANSWER.ERROR]} instead of ${e}`;
  }
  for (let k = 0; k < CORNERS[kind]!; k++) {
    if (!(errorRatio(answer[k]!, heights[k]!, allowed[k]!) <= 1)) {
      return `point ${k} is off by ${Math.abs(answer[k]! - heights[k]!)}, allowed ${allowed[k]}`;
    }
  }
  return undefined;
}

/** What the rest of an answer must be, given its heights. */
function objectToGap(answer: Float32Array, kind: number): string | undefined {
  const sideA = answer.subarray(0, SIDE_A[kind]);
  const sideB = answer.subarray(SIDE_A[kind], CORNERS[kind]);
  const [lo, hi, gap] = answer.subarray(ANSWER.LO);
  if (lo !== Math.min(...sideA)) return `lo is ${lo} instead of the smallest of ${sideA.join(', ')}`;
  if (hi !== Math.max(...sideB)) return `hi is ${hi} instead of the largest of ${sideB.join(', ')}`;
  if (!(Math.abs(gap! - (lo - hi)) <= UNIT_ROUNDOFF * Math.abs(lo - hi))) return `the gap is ${gap}, not ${lo - hi}`;
  const unused = answer.subarray(CORNERS[kind], ANSWER.LO);
  if (!unused.every((height) => sideB.includes(height))) return 'an unused slot does not repeat a height of side b';
  return undefined;
}

async function runKernel(device: GPUDevice, pipeline: GPUComputePipeline, cases: ProofCases): Promise<Float32Array> {
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
  const outputBytes = 4 * ANSWER.WORDS * PAIR_KINDS.length * cases.pairs;
  const points = device.createBuffer({ size: cases.points.byteLength, usage: STORAGE | COPY_DST });
  const normals = device.createBuffer({ size: cases.normals.byteLength, usage: STORAGE | COPY_DST });
  const answers = device.createBuffer({ size: outputBytes, usage: STORAGE | COPY_SRC });
  const readback = device.createBuffer({ size: outputBytes, usage: COPY_DST | MAP_READ });
  try {
    device.queue.writeBuffer(points, 0, cases.points);
    device.queue.writeBuffer(normals, 0, cases.normals);
    const group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [points, normals, answers].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...foldThreads(cases.pairs));
    pass.end();
    encoder.copyBufferToBuffer(answers, 0, readback, 0, outputBytes);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ);
    return new Float32Array(readback.getMappedRange().slice(0));
  } finally {
    for (const buffer of [points, normals, answers, readback]) buffer.destroy();
  }
}

/**
 * Asks an adapter to prove that it computes certified gaps as docs/method.md needs them (S1, S10), through the functions that
 * the kernels of a step call: within 8·2⁻²³·Σ|n_c (x_kc − o_c)| of the exact value on random and adversarial pairs. Drivers
 * that reorder or shorten float arithmetic fail, and must not be used.
 *
 * @param load the text of a kernel; tests plant faults in it
 * @throws Error when the kernel does not compile or the device is lost
 */
export async function proveHeights(device: GPUDevice, load = loadKernel): Promise<Proof> {
  const cases = makeProofCases();
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code: load('proof/heights') }), entryPoint: 'proveHeights' },
  });
  const first = await runKernel(device, pipeline, cases);
  const proof = judgeHeights(cases, first);
  if (!proof.ok) return proof;
  const second = await runKernel(device, pipeline, cases);
  const isRepeatable = Buffer.compare(Buffer.from(first.buffer), Buffer.from(second.buffer)) === 0;
  return isRepeatable ? proof : { ...proof, ok: false, reason: 'two runs over the same input gave different bits' };
}
