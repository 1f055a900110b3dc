import { BUFFER_USAGE, MAP_MODE } from './device/flags.js';
import { makeProofCases, PROOF_POINTS, type ProofCases } from './proof-cases.js';
import { loadKernel } from './shaders.js';

const WORKGROUP_SIZE = 64;
/** h_0 … h_3, e */
const OUTPUTS_PER_PAIR = PROOF_POINTS + 1;
/** u for devices whose rounding direction WGSL leaves open */
const U = 2 ** -23;
/** e is itself computed in float32: six products, sums and maxima, each off by at most u of its value. */
const BOUND_SLACK = 8 * U;

export interface Proof {
  readonly ok: boolean;
  /** largest |h − h64| / e over all points; at most 1 on an adapter that may be trusted */
  readonly worst: number;
  readonly pairs: number;
  /** why it is not ok */
  readonly reason?: string;
}

export const readGapKernel = (): string => loadKernel('proof/signed-gap');

/**
 * Compares a device's heights and error bounds with double precision: every height within its pair's e, and no e smaller
 * than the true one.
 * @param outputs float32[5·pairs] h_0 … h_3, e
 */
export function judgeHeights(cases: ProofCases, outputs: Float32Array): Proof {
  let worst = 0;
  const fail = (reason: string): Proof => ({ ok: false, worst, pairs: cases.pairs, reason });
  for (let pair = 0; pair < cases.pairs; pair++) {
    const expected = new Float64Array(PROOF_POINTS);
    let largest = 0;
    for (let k = 0; k < PROOF_POINTS; k++) {
      for (let c = 0; c < 3; c++) {
        const first = 3 * PROOF_POINTS * pair;
        const term = cases.normals[3 * pair + c] * (cases.points[first + 3 * k + c] - cases.points[first + c]);
        expected[k] += term;
      }
      largest = Math.max(largest, termSum(cases, pair, k));
    }
    const e = 8 * U * largest;
    const deviceBound = outputs[OUTPUTS_PER_PAIR * pair + PROOF_POINTS];
    // Written so that a NaN fails.
    if (!(Math.abs(deviceBound - e) <= BOUND_SLACK * e)) {
      return fail(`pair ${pair} (${cases.labelOf(pair)}): error bound ${deviceBound} instead of ${e}`);
    }
    for (let k = 0; k < PROOF_POINTS; k++) {
      const error = Math.abs(outputs[OUTPUTS_PER_PAIR * pair + k] - expected[k]);
      const ratio = error === 0 ? 0 : error / e;
      if (!(ratio <= 1)) {
        worst = Math.max(worst, ratio);
        return fail(`pair ${pair} (${cases.labelOf(pair)}), point ${k}: off by ${error}, allowed ${e}`);
      }
      worst = Math.max(worst, ratio);
    }
  }
  return { ok: true, worst, pairs: cases.pairs };
}

/** Σ_c |n_c (x_kc − o_c)| in double precision */
function termSum(cases: ProofCases, pair: number, k: number): number {
  const first = 3 * PROOF_POINTS * pair;
  let sum = 0;
  for (let c = 0; c < 3; c++) {
    sum += Math.abs(cases.normals[3 * pair + c] * (cases.points[first + 3 * k + c] - cases.points[first + c]));
  }
  return sum;
}

async function runKernel(device: GPUDevice, pipeline: GPUComputePipeline, cases: ProofCases): Promise<Float32Array> {
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
  const outputBytes = 4 * OUTPUTS_PER_PAIR * cases.pairs;
  const points = device.createBuffer({ size: cases.points.byteLength, usage: STORAGE | COPY_DST });
  const normals = device.createBuffer({ size: cases.normals.byteLength, usage: STORAGE | COPY_DST });
  const heights = device.createBuffer({ size: outputBytes, usage: STORAGE | COPY_SRC });
  const readback = device.createBuffer({ size: outputBytes, usage: COPY_DST | MAP_READ });
  try {
    device.queue.writeBuffer(points, 0, cases.points);
    device.queue.writeBuffer(normals, 0, cases.normals);
    const group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [points, normals, heights].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(Math.ceil(cases.pairs / WORKGROUP_SIZE));
    pass.end();
    encoder.copyBufferToBuffer(heights, 0, readback, 0, outputBytes);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ);
    return new Float32Array(readback.getMappedRange().slice(0));
  } finally {
    for (const buffer of [points, normals, heights, readback]) buffer.destroy();
  }
}

/**
 * Asks an adapter to prove that it computes certified gaps as docs/method.md needs them: within 8·2^-23·Σ|n_c (x_kc − o_c)|
 * of the exact value on random and adversarial pairs. Drivers that reorder or shorten float arithmetic fail, and must
 * not be used.
 * @param source the kernel to judge; another one only in tests
 * @throws Error when the kernel does not compile or the device is lost
 */
export async function proveAdapter(device: GPUDevice, source = readGapKernel()): Promise<Proof> {
  const cases = makeProofCases();
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code: source }), entryPoint: 'signedGap' },
  });
  const first = await runKernel(device, pipeline, cases);
  const proof = judgeHeights(cases, first);
  if (!proof.ok) return proof;
  const second = await runKernel(device, pipeline, cases);
  const isRepeatable = Buffer.compare(Buffer.from(first.buffer), Buffer.from(second.buffer)) === 0;
  return isRepeatable ? proof : { ...proof, ok: false, reason: 'two runs over the same input gave different bits' };
}
