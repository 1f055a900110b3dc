import { GUARD_SHARE, STOPPED_STEPS, STUCK_SHARE, STUCK_STEPS, WINDOW } from '../../src/solver/constants.js';
import { foldThreads, launch } from '../device/dispatch.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
import { toFours } from '../device/vectors.js';
import { NO_PAIR, VERTEX_FLAG } from '../kernels/constants.js';
import { CONTROL, PARAMETERS, VERTEX_PROGRESS, VERTEX_STEP } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import { makeCommitCases } from './commit-cases.js';
import { type ProofPlace, runAlone, uploadAll } from './places.js';
import { makeProofRandom, PROOF_POINTS } from './proof-cases.js';

/** Of each kind, a number that is not a multiple of the threads of a workgroup. */
const PER_FAMILY = 131;
const SEED = 20_261_128;
const CLOCK = 7;
/** ε; residuals of the cases are above, below and equal to it. */
const EPSILON = 1e-4;
/** Engine units: a vertex this near to its goal has arrived; most of the cases are at it, the others much farther away. */
const ARRIVED_WITHIN = 1e-7;
/** Length of the longest motion in the window before this step, and the share of it that some vertices have made. */
const DRIFT = 0.05;
const SLIGHT_SHARE = 1e-3;
/** Low word of Σr before the step: the residuals of the cases carry it over. */
const SUM_BEFORE = 2 ** 32 - 2 ** 20;
const PAIR_CORNERS = 4;

/** What the parameters and the control block say; each branch of the kernels is taken in one of these. */
const SITUATIONS = [
  { hasBoxes: 1, clearsStopped: 0, windowSteps: 0, delta: 0.05 },
  { hasBoxes: 1, clearsStopped: 1, windowSteps: WINDOW - 1, delta: 0.05 },
  // No vertex has travelled far enough to count.
  { hasBoxes: 0, clearsStopped: 0, windowSteps: WINDOW - 1, delta: 1e5 },
] as const;

type Situation = (typeof SITUATIONS)[number];

/**
 * Lets a device prove that commitAndWatch leaves the bytes that commit and watch leave one after the other: positions, values
 * of the vertices, and every counter of the control block.
 *
 * @param kernels those of one scene with the joined ones
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run, or the device is lost
 */
export async function findWatchObjection(device: GPUDevice, kernels: KernelSet): Promise<string | undefined> {
  for (const situation of SITUATIONS) {
    const run = (entries: readonly EntryPoint[], isCleared: boolean) =>
      runAlone(new DeviceMemory(device, new MemoryBudget()), kernels, (place) =>
        runEntries(place, entries, contentsOf(situation, isCleared)),
      );
    const apart = await run(['commit', 'watch'], false);
    // slideAndGuard has cleared the counters of stopped steps, which watch does itself (joined-proof.ts).
    const joined = await run(['commitAndWatch'], situation.clearsStopped === 1);
    const name = Object.keys(apart).find((name) => !apart[name]!.equals(joined[name]!));
    if (name !== undefined) return `commitAndWatch: ${name} does not have the bytes of commit and watch`;
  }
  return undefined;
}

/** Returns what these kernels make of the contents. */
async function runEntries(
  { memory, submissions, kernels }: ProofPlace,
  entries: readonly EntryPoint[],
  contents: Readonly<Record<string, ArrayBuffer>>,
): Promise<Readonly<Record<string, Buffer>>> {
  const named = await memory.checkAllocations('the proof', () => uploadAll(memory, contents));
  const recording = submissions.begin();
  const pass = recording.beginComputePass();
  const [width, height] = foldThreads(contents.wanted!.byteLength / 4);
  for (const entry of entries) {
    const kernel = kernels.get(entry);
    launch(pass, { kernel, bindings: kernel.bindings(named), size: [width, height], most: width * height });
  }
  pass.end();
  const names = ['control', 'x', 'vertexStep', 'progress', 'windowStart', 'wanted'];
  const reading = await submissions.submit(
    recording,
    names.map((name) => sliceOf(named[name]!, contents[name]!.byteLength)),
  );
  const read = await reading.wait();
  return Object.fromEntries(names.map((name, n) => [name, Buffer.from(read[n]!)]));
}

/** @param isCleared whether the counters of stopped steps are 0 */
function contentsOf(situation: Situation, isCleared: boolean): Readonly<Record<string, ArrayBuffer>> {
  const { x, y, alpha, box, residual, pairs } = makeCommitCases(SEED, PER_FAMILY);
  const random = makeProofRandom(SEED);
  const vertices = PROOF_POINTS * pairs;
  const next = x.map((value, k) => value + Math.fround(alpha[Math.floor(k / 3)]! * Math.fround(y[k]! - value)));
  const steps = new Uint32Array(VERTEX_STEP.words * vertices);
  const stepFloats = new Float32Array(steps.buffer);
  const progress = new Uint32Array(VERTEX_PROGRESS.words * vertices);
  const progressFloats = new Float32Array(progress.buffer);
  for (let v = 0; v < vertices; v++) {
    // Bounded by a pair, or stopped by its box.
    const granted = random() < 0.3 ? STUCK_SHARE * alpha[v]! : alpha[v]!;
    const step = VERTEX_STEP.words * v;
    stepFloats[step + VERTEX_STEP.word('alpha')] = granted;
    stepFloats[step + VERTEX_STEP.word('guard')] = pick(random, [0, 1, granted, granted / GUARD_SHARE, 1.1 * granted]);
    steps[step + VERTEX_STEP.word('limiter')] = random() < 0.4 ? NO_PAIR : Math.floor(vertices * random());
    steps[step + VERTEX_STEP.word('flags')] =
      (random() < 0.8 ? VERTEX_FLAG.MOVING : 0) | (random() < 0.2 ? VERTEX_FLAG.REVERTED : 0);
    const own = VERTEX_PROGRESS.words * v;
    progressFloats[own + VERTEX_PROGRESS.word('residual')] = pick(random, [0, EPSILON, EPSILON / 2, residual[v]!, 1]);
    const stopped = Math.floor((STOPPED_STEPS + 2) * random());
    progress[own + VERTEX_PROGRESS.word('stopped')] = isCleared ? 0 : stopped;
    progress[own + VERTEX_PROGRESS.word('relevant')] = CLOCK - 1 - Math.floor(2 * random());
    progress[own + VERTEX_PROGRESS.word('stuck')] = Math.floor((STUCK_STEPS + 1) * random());
  }
  return {
    parameters: PARAMETERS.pack({
      vertexCount: vertices,
      hasBoxes: situation.hasBoxes,
      isPlanar: 1,
      epsilon: EPSILON,
      delta: situation.delta,
      arrivedWithin: ARRIVED_WITHIN,
    }),
    control: CONTROL.pack({
      clock: CLOCK,
      pairCount: vertices,
      windowSteps: situation.windowSteps,
      clearsStopped: situation.clearsStopped,
      residualSum: SUM_BEFORE,
    }),
    x: x.buffer,
    y: toFours(y).buffer,
    next: next.buffer,
    box: box.buffer,
    vertexStep: steps.buffer,
    progress: progress.buffer,
    pairVertex: Int32Array.from({ length: PAIR_CORNERS * vertices }, () =>
      random() < 0.2 ? -1 : Math.floor(vertices * random()),
    ).buffer,
    windowStart: x.map((value) => value + pick(random, [0, DRIFT, SLIGHT_SHARE * DRIFT]) * (random() - 0.5)).buffer,
    wanted: new ArrayBuffer(4 * vertices),
    inverseMass: Float32Array.from({ length: vertices }, () => (random() < 0.4 ? 0 : 1)).buffer,
    goal: next.map((value, k) => (random() < 0.9 ? value : y[k]!)).buffer,
  };
}

const pick = (random: () => number, values: readonly number[]): number => values[Math.floor(values.length * random())]!;
