import { EE, VT } from '../../src/solver/pair-kinds.js';
import { DISPATCH_BYTES, foldThreads, launch } from '../device/dispatch.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
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

/** Pairs of vertices of their own that approach each other, for the rule by which PLANAR leaves out pairs. */
const APPROACHING_PAIRS = 4099;
/** δ, engine units, and the shares of it that remain of a gap: a little below δ, and above it by far more than rounding. */
const DELTA = 0.05;
const REMAINING = [-1, 0.5, 0.99, 0.999, 1.02, 2, 8];
/** Engine units: how far the pairs are from the origin at most. */
const EXTENT = 30;

/** Pairs, and which of them belong in the list. */
interface ListCases {
  readonly isListed: readonly boolean[];
  readonly isPlanar: boolean;
  /** float32[8·V]: position and sort, motion and α of the guard (gpu/kernels/common/motions.wgsl) */
  readonly motions: Float32Array<ArrayBuffer>;
  /** int32[4·P] */
  readonly vertices: Int32Array<ArrayBuffer>;
  /** uint32[P] */
  readonly kinds: Uint32Array<ArrayBuffer>;
  /** float32[4·P] */
  readonly normals: Float32Array<ArrayBuffer>;
}

/**
 * Lets a device prove that it lists pairs correctly, with the kernel that lists the pairs that a forward step examines:
 * each once, whatever its neighbours are, and no others. If a pair is missing from such a list, no bound and no check
 * sees it (docs/method.md, S4). Under PLANAR the kernel leaves out pairs that stay apart (S11), which must not depend
 * on how the device rounds.
 *
 * Devices with subgroups assign places in the list to a whole subgroup at a time
 * (gpu/kernels/common/append-subgroups.wgsl). Drivers have had errors in which threads take part in such an operation.
 *
 * @param memory an account of its own @param kernels those of one scene
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run
 */
export async function findListObjection(memory: DeviceMemory, kernels: KernelSet): Promise<string | undefined> {
  for (const cases of [makeMoving(PAIRS), makeApproaching()]) {
    const objection = await runAlone(memory, kernels, (place) => listAndJudge(place, cases));
    if (objection !== undefined) return objection;
  }
  return undefined;
}

/** The same with the kernels of a convoy, for scenes of different size at once. */
export async function findSharedListObjection(
  device: GPUDevice,
  kernels: KernelSet,
  isSoftware: boolean,
): Promise<string | undefined> {
  const scenes = [makeMoving(PAIRS_BESIDE), makeApproaching(), makeMoving(PAIRS)];
  const works = scenes.map((cases) => (place: ProofPlace) => listAndJudge(place, cases));
  const objections = await runTogether(device, kernels, isSoftware, works);
  return objections.find((objection) => objection !== undefined);
}

/** @returns what is wrong with the list that the device makes; undefined = nothing */
async function listAndJudge(
  { memory, submissions, kernels }: ProofPlace,
  cases: ListCases,
): Promise<string | undefined> {
  const { isListed } = cases;
  const named = await memory.checkAllocations('the proof', () => uploadAll(memory, contentsOf(cases)));
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

/** All pairs have the same two vertices; those with the one that moves are listed. */
function makeMoving(pairs: number): ListCases {
  const random = makeProofRandom(20_261_124);
  let share = 0;
  const isListed = Array.from({ length: pairs }, (_, p) => {
    if (p % STRETCH === 0) share = SHARES[Math.floor(SHARES.length * random())]!;
    return random() < share;
  });
  const motions = new Float32Array(16);
  motions[8 * MOVING + 3] = 1;
  return {
    // Every pair with a vertex that moves is listed.
    ...{ isListed, isPlanar: false, motions },
    vertices: Int32Array.from(isListed.flatMap((isIn) => [isIn ? MOVING : STILL, STILL, -1, -1])),
    kinds: new Uint32Array(pairs),
    normals: new Float32Array(4 * pairs),
  };
}

/** Either side of a pair moves towards the other one, until a part of the gap, or less than nothing, is left. */
function makeApproaching(pairs = APPROACHING_PAIRS): ListCases {
  const random = makeProofRandom(20_261_130);
  const between = (low: number, high: number) => low + (high - low) * random();
  const motions = new Float32Array(32 * pairs);
  const kinds = Uint32Array.from({ length: pairs }, (_, p) => (p % 2 === 0 ? VT : EE));
  const normals = new Float32Array(4 * pairs);
  for (let p = 0; p < pairs; p++) {
    const sideA = kinds[p] === VT ? 1 : 2;
    const n = [between(-1, 1), between(-1, 1), between(-1, 1)];
    const length = Math.hypot(...n);
    for (let c = 0; c < 3; c++) normals[4 * p + c] = n[c]! / length;
    const normal = normals.subarray(4 * p, 4 * p + 3);
    const base = [0, 1, 2].map(() => between(-EXTENT, EXTENT));
    const gap = DELTA * between(9, 20);
    const way = gap - DELTA * REMAINING[Math.floor(REMAINING.length * random())]!;
    const movesA = random() < 0.5;
    // One vertex of the side that moves comes nearest.
    const nearest = movesA ? Math.floor(sideA * random()) : sideA + Math.floor((4 - sideA) * random());
    for (let k = 0; k < 4; k++) {
      const isA = k < sideA;
      const at = 8 * (4 * p + k);
      const share = between(0.25, 1);
      const [beside, along] = [0, 1].map(() => {
        const free = [0, 1, 2].map(() => between(-1, 1));
        const height = free.reduce((sum, value, c) => sum + value * normal[c]!, 0);
        return free.map((value, c) => value - height * normal[c]!);
      });
      const height = isA ? gap : 0;
      const own = (k === nearest ? 1 : random()) * way;
      const motion = isA === movesA ? (isA ? -own : own) / share : 0;
      for (let c = 0; c < 3; c++) {
        motions[at + c] = base[c]! + beside![c]! + height * normal[c]!;
        motions[at + 4 + c] = along![c]! + motion * normal[c]!;
      }
      motions[at + 3] = 1;
      motions[at + 7] = share;
    }
  }
  const isListed = Array.from(kinds, (kind, p) => gapOf(motions, normals, p, kind === VT ? 1 : 2) <= DELTA);
  return {
    ...{ isListed, isPlanar: true, motions, kinds, normals },
    vertices: Int32Array.from({ length: 4 * pairs }, (_, v) => v),
  };
}

/** The smallest gap along the normal that the ends of the motions leave, in double precision. */
function gapOf(motions: Float32Array, normals: Float32Array, p: number, sideA: number): number {
  const heights = [0, 1, 2, 3].map((k) => {
    const at = 8 * (4 * p + k);
    let [height, motion] = [0, 0];
    for (let c = 0; c < 3; c++) {
      height += normals[4 * p + c]! * (motions[at + c]! - motions[32 * p + c]!);
      motion += normals[4 * p + c]! * motions[at + 4 + c]!;
    }
    return [height, height + motions[at + 7]! * motion];
  });
  return Math.min(...heights.slice(0, sideA).flat()) - Math.max(...heights.slice(sideA).flat());
}

function contentsOf(cases: ListCases): Readonly<Record<string, ArrayBuffer>> {
  const { isListed, isPlanar, motions, vertices, kinds, normals } = cases;
  const pairs = isListed.length;
  return {
    parameters: PARAMETERS.pack({ vertexCount: motions.length / 8, isPlanar: isPlanar ? 1 : 0, delta: DELTA }),
    control: CONTROL.pack({ pairCount: pairs, pairCapacity: pairs, clock: 1 }),
    motions: motions.buffer,
    candidateArguments: new ArrayBuffer(DISPATCH_BYTES * LIST_SLOT.COUNT),
    pairVertex: vertices.buffer,
    // Of an earlier step: with geometry of this one they would all be listed.
    pairInfo: kinds.buffer,
    pairNormal: normals.buffer,
    // No pair has this number, so a place to which nothing was written is not mistaken for one.
    limits: new Uint32Array(LIMIT.words * pairs).fill(INDEX_MASK).buffer,
  };
}
