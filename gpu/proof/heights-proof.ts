import { UNIT_ROUNDOFF } from '../../src/solver/constants.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../../src/solver/pair-kinds.js';
import { foldThreads, launch } from '../device/dispatch.js';
import { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
import { PARAMETERS } from '../kernels/structs.js';
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
import {
  coarseErrorOf,
  LONG_HEIGHT,
  makeProofCases,
  PROOF_POINTS,
  type ProofCases,
  pairErrorOf,
} from './proof-cases.js';

/** Words of an answer for a pair and a kind: h_0 … h_3, lo, hi, gap, e (kernels/proof/heights.wgsl). */
export const ANSWER = { LO: 4, HI: 5, GAP: 6, ERROR: 7, WORDS: 8 } as const;

/** e itself is computed in float32: six products, sums and maxima, each with an error of at most u of its value. */
const BOUND_SLACK = 8 * UNIT_ROUNDOFF;

export interface Proof {
  readonly ok: boolean;
  /** The largest |h − h64| / e over all points; at most 1 on an adapter that can be trusted. */
  readonly worst: number;
  readonly pairs: number;
  /** Why the proof failed. */
  readonly reason?: string;
}

/**
 * Compares a device's heights with double precision (docs/method.md, S1 and S10): every height lies within e of the
 * exact one, e agrees with the derivation, and lo, hi and gap are those of the heights.
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
      const [spread, extent] = [spreads, extents].map((all) => Math.max(...all.slice(0, CORNERS[kind])));
      const coarse = coarseErrorOf(spread!);
      const e = pairErrorOf(spread!, extent!, Math.max(Math.abs(answer[ANSWER.LO]!), Math.abs(answer[ANSWER.HI]!)));
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

/** For each point, in double precision: h_k = n·(x_k − x_0), Σ_c |n_c (x_kc − x_0c)| and Σ_c |x_kc − x_0c|. */
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

/** Compares the rest of an answer with its heights. */
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

/** Returns the heights that the device computes: float32[8·kinds·pairs]. */
async function computeHeights(
  { memory, submissions, kernels }: ProofPlace,
  { points, normals, pairs }: ProofCases,
): Promise<Float32Array> {
  const answerBytes = 4 * ANSWER.WORDS * PAIR_KINDS.length * pairs;
  const contents: Readonly<Record<string, ArrayBuffer>> = {
    parameters: PARAMETERS.pack({ vertexCount: PROOF_POINTS * pairs }),
    points: points.buffer as ArrayBuffer,
    normals: normals.buffer as ArrayBuffer,
    answers: new ArrayBuffer(answerBytes),
  };
  const named = await memory.checkAllocations('the proof', () => uploadAll(memory, contents));
  const kernel = kernels.get('proveHeights');
  const recording = submissions.begin();
  const pass = recording.beginComputePass();
  const [x, y] = foldThreads(pairs);
  launch(pass, { kernel, bindings: kernel.bindings(named), size: [x, y], most: x * y });
  pass.end();
  const [answers] = await (await submissions.submit(recording, [sliceOf(named.answers!, answerBytes)])).wait();
  return new Float32Array(answers!);
}

/**
 * Lets an adapter prove that it computes certified gaps as docs/method.md requires (S1, S10), through the functions
 * that the kernels of a step call: within 8·2⁻²³·Σ|n_c (x_kc − o_c)| of the exact value on random and adversarial
 * pairs. Drivers that reorder or shorten float arithmetic fail, and must not be used.
 *
 * @param load replaces the text of a kernel; tests plant faults with it
 * @throws Error if the kernel does not compile or the device is lost
 */
export async function proveHeights(device: GPUDevice, load?: (file: string) => string): Promise<Proof> {
  const cases = makeProofCases();
  const kernels = await (load ? KernelSet.compile(device, ['proof'], { load }) : KernelSet.load(device, 'proof'));
  const run = () =>
    runAlone(new DeviceMemory(device, new MemoryBudget()), kernels, (place) => computeHeights(place, cases));
  const first = await run();
  const proof = judgeHeights(cases, first);
  if (!proof.ok) return proof;
  const second = await run();
  const isRepeatable = Buffer.compare(Buffer.from(first.buffer), Buffer.from(second.buffer)) === 0;
  return isRepeatable ? proof : { ...proof, ok: false, reason: 'two runs over the same input gave different bits' };
}

/**
 * The same with a kernel of a convoy, for two scenes of different size at once: every height must equal that of the
 * scene alone.
 *
 * @param kernels of the stage `proof`; default: the unchanged ones. Tests plant faults in them.
 * @returns what is wrong; undefined = nothing
 */
export async function findSharedHeightsObjection(
  device: GPUDevice,
  isSoftware: boolean,
  kernels?: BothKernels,
): Promise<string | undefined> {
  const both = kernels ?? {
    alone: await KernelSet.load(device, 'proof'),
    together: await KernelSet.loadShared(device, 'proof'),
  };
  const scenes = [makeProofCases(SEED_BESIDE, FEW_BESIDE), makeProofCases()];
  const works = scenes.map((cases) => (place: ProofPlace) => computeHeights(place, cases));
  const { alone, together } = await runBothWays(device, both, isSoftware, works);
  const judge = (n: number) => judgeHeights(scenes[n]!, together[n]!).reason;
  const bytesIn = (answers: Float32Array) => bytesOf(answers);
  return findDifference('heights', alone.map(bytesIn), together.map(bytesIn), judge);
}
