import { DISPATCH_BYTES, foldThreads, launch } from '../device/dispatch.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { type Place, sliceOf } from '../device/place.js';
import { INDEX_MASK, LIST_SLOT } from '../kernels/constants.js';
import { CONTROL, LIMIT, PARAMETERS } from '../kernels/structs.js';
import { type ProofPlace, runAlone, runTogether, uploadAll } from './places.js';
import { makeProofRandom } from './proof-cases.js';

/** Pairs of the proof: many workgroups, the last of which is not full. */
const PAIRS = 20_011;
/** Pairs of the second scene, in a convoy. */
const PAIRS_BESIDE = 1003;
/** Consecutive pairs with the same probability of being listed: more than a subgroup has threads on any device. */
const STRETCH = 256;
/** Shares of the pairs of a stretch that are listed. */
const SHARES = [0, 0.02, 0.5, 0.98, 1];

/** Two vertices: one that moves, so that its pairs are listed, and one that does not. */
const MOVING = 0;
const STILL = 1;

/**
 * Lets a device prove that it lists pairs correctly, with the kernel that lists the pairs that a forward step examines:
 * each once, whatever its neighbours are, and no others. If a pair is missing from such a list, no bound and no check
 * sees it (docs/method.md, S4).
 *
 * Devices with subgroups assign places in the list to a whole subgroup at a time
 * (gpu/kernels/common/append-subgroups.wgsl). Drivers have had errors in which threads take part in such an operation.
 *
 * @param memory an account of its own @param kernels those of one scene
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run
 */
export async function findListObjection(memory: DeviceMemory, kernels: KernelSet): Promise<string | undefined> {
  return runAlone(memory, kernels, (place) => listAndJudge(place, makeListed(PAIRS)));
}

/** The same with the kernels of a convoy, for two scenes of different size at once. */
export async function findSharedListObjection(
  device: GPUDevice,
  kernels: KernelSet,
  isSoftware: boolean,
): Promise<string | undefined> {
  const works = [PAIRS_BESIDE, PAIRS].map((pairs) => (place: ProofPlace) => listAndJudge(place, makeListed(pairs)));
  const objections = await runTogether(device, kernels, isSoftware, works);
  return objections.find((objection) => objection !== undefined);
}

/** @returns what is wrong with the list that the device makes; undefined = nothing */
async function listAndJudge(
  { memory, submissions, kernels }: ProofPlace,
  isListed: readonly boolean[],
): Promise<string | undefined> {
  const named = await memory.checkAllocations('the proof', () => upload(memory, isListed));
  const kernel = kernels.get('listForBound');
  const recording = submissions.begin();
  const pass = recording.beginComputePass();
  const [x, y] = foldThreads(isListed.length);
  launch(pass, { kernel, bindings: kernel.bindings(named), size: [x, y], most: x * y });
  pass.end();
  const slices = [sliceOf(named.control!, CONTROL.bytes), sliceOf(named.limits!, LIMIT.bytes * isListed.length)];
  const [control, limits] = await (await submissions.submit(recording, slices)).wait();
  const words = new Uint32Array(limits!);
  const entries = Uint32Array.from(isListed, (_, n) => words[LIMIT.words * n + LIMIT.word('entry')]!);
  return judgeList(isListed, CONTROL.unpack(control!).activeCount, entries);
}

/** @param entries uint32[P], of which the first `count` are the list */
export function judgeList(isListed: readonly boolean[], count: number, entries: Uint32Array): string | undefined {
  const expected = isListed.filter(Boolean).length;
  if (count !== expected) return `lists: ${count} pairs were counted, not ${expected}`;
  const seen = new Set<number>();
  for (const entry of entries.subarray(0, count)) {
    const pair = entry & INDEX_MASK;
    if (!isListed[pair]) return `lists: pair ${pair} is in the list, and should not be`;
    if (seen.has(pair)) return `lists: pair ${pair} is twice in the list`;
    seen.add(pair);
  }
  return undefined;
}

function makeListed(pairs: number): boolean[] {
  const random = makeProofRandom(20_261_124);
  let share = 0;
  return Array.from({ length: pairs }, (_, p) => {
    if (p % STRETCH === 0) share = SHARES[Math.floor(SHARES.length * random())]!;
    return random() < share;
  });
}

function upload(memory: DeviceMemory, isListed: readonly boolean[]): Readonly<Record<string, Place>> {
  const motions = new Float32Array(16);
  // After the position: the sort of a vertex, positive if it moves (gpu/kernels/common/motions.wgsl).
  motions[8 * MOVING + 3] = 1;
  const pairs = isListed.length;
  const vertices = isListed.flatMap((isIn) => [isIn ? MOVING : STILL, STILL, -1, -1]);
  const contents: Readonly<Record<string, ArrayBuffer>> = {
    // Not PLANAR: every pair with a vertex that moves is listed.
    parameters: PARAMETERS.pack({ vertexCount: 2, isPlanar: 0 }),
    control: CONTROL.pack({ pairCount: pairs, pairCapacity: pairs, clock: 1 }),
    motions: motions.buffer,
    candidateArguments: new ArrayBuffer(DISPATCH_BYTES * LIST_SLOT.COUNT),
    pairVertex: Int32Array.from(vertices).buffer,
    pairInfo: new ArrayBuffer(4 * pairs),
    pairNormal: new ArrayBuffer(16 * pairs),
    // No pair has this number, so a place to which nothing was written is not mistaken for one.
    limits: new Uint32Array(LIMIT.words * pairs).fill(INDEX_MASK).buffer,
  };
  return uploadAll(memory, contents);
}
