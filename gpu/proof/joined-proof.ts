import { foldThreads, launch } from '../device/dispatch.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { sliceOf } from '../device/place.js';
import { toFours } from '../device/vectors.js';
import { INDEX_MASK, VERTEX_FLAG } from '../kernels/constants.js';
import { CANDIDATE, CONTACT_LIST, CONTROL, PARAMETERS, VERTEX_PROGRESS, VERTEX_STEP } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import { type CommitCases, makeCommitCases } from './commit-cases.js';
import { proveCommit } from './commit-proof.js';
import { type ProofPlace, runAlone, uploadAll } from './places.js';
import { makeProofRandom, PROOF_POINTS } from './proof-cases.js';
import { findWatchObjection } from './watch-proof.js';

/** Of each kind, a number that is not a multiple of the threads of a workgroup. */
const PER_FAMILY = 131;
const SEED = 20_261_127;
/** Shares of the vertices that are stuck, that do not move, and that have a coordinate out of the range of float32. */
const STUCK_SHARE = 0.7;
const STILL_SHARE = 0.1;
const LOST_SHARE = 0.05;
/** Bits of a NaN, of −∞ and of 2^125, which is too large. */
const LOST_BITS = [0x7fc00000, 0xff800000, 0x7e000000];
/** A pair of four vertices for each vertex: a vertex is in four of them, once in each place. */
const SLOTS = 4;
/** In front of the kind in an entry of a list. */
const KIND_UNIT = INDEX_MASK + 1;

/**
 * Lets a device prove that the kernels that join the ends of the parts of a step give the same bytes as those that they
 * replace: slideAndGuard as slide and guard, commitAndWatch as commit and watch. They run the same functions, but are compiled
 * separately, and WGSL lets a driver round differently in each; scenes alone use them, and scenes of a convoy do not.
 *
 * @param kernels those of one scene with the joined ones
 * @returns what is wrong; undefined = nothing
 * @throws Error if a kernel does not run, or the device is lost
 */
export async function findJoinedObjection(device: GPUDevice, kernels: KernelSet): Promise<string | undefined> {
  const { reason } = await proveCommit(device, kernels, 'commitAndWatch');
  if (reason !== undefined) return reason;
  const cases = makeGuardCases();
  for (const hasBoxes of [true, false]) {
    const run = (entries: readonly EntryPoint[]) =>
      runAlone(new DeviceMemory(device, new MemoryBudget()), kernels, (place) =>
        slideAndGuard(place, cases, entries, hasBoxes),
      );
    const [apart, joined] = [await run(['slide', 'guard']), await run(['slideAndGuard'])];
    // The first part of what watch does to them.
    if (clearsStopped(hasBoxes)) clearStopped(apart.progress!);
    const name = Object.keys(apart).find((name) => !apart[name]!.equals(joined[name]!));
    if (name !== undefined) return `slideAndGuard: ${name} does not have the bytes of slide and guard`;
  }
  return findWatchObjection(device, kernels);
}

/** Cases for the end of the backward step and the beginning of the forward step. */
interface GuardCases extends Pick<CommitCases, 'x' | 'box'> {
  readonly vertices: number;
  /** uint32[4·V] words of y */
  readonly y: Uint32Array<ArrayBuffer>;
  /** float32[3·V] */
  readonly goal: Float32Array<ArrayBuffer>;
  /** uint32[V] */
  readonly flags: Uint32Array<ArrayBuffer>;
  /** float32[4·V] normals of the pairs, of which there are as many as vertices */
  readonly normals: Float32Array<ArrayBuffer>;
  /** by pair: 0 = vertex and triangle, 1 = two edges */
  readonly kinds: Uint32Array<ArrayBuffer>;
}

/** Pair p has the vertices p to p + 3, so that every vertex has several candidates; many of them lie beside each other. */
function makeGuardCases(): GuardCases {
  const { x, y: aims, normals, box, pairs } = makeCommitCases(SEED, PER_FAMILY);
  const random = makeProofRandom(SEED);
  const vertices = PROOF_POINTS * pairs;
  const y = new Uint32Array(toFours(aims).buffer);
  const goal = aims.map((value) => value + random() - 0.5);
  const flags = new Uint32Array(vertices);
  for (let v = 0; v < vertices; v++) {
    flags[v] = random() < STUCK_SHARE ? VERTEX_FLAG.STUCK : 0;
    const kind = random();
    if (kind < STILL_SHARE) y.set(new Uint32Array(x.buffer, 12 * v, 3), 4 * v);
    else if (kind < STILL_SHARE + LOST_SHARE) y[4 * v + (v % 3)] = LOST_BITS[Math.floor(LOST_BITS.length * random())]!;
  }
  return {
    ...{ vertices, x, box, y, goal, flags },
    normals: Float32Array.from({ length: 4 * vertices }, (_, k) => {
      return k % 4 === 3 ? 0 : normals[3 * Math.floor(k / 4 / PROOF_POINTS) + (k % 4)]!;
    }),
    kinds: Uint32Array.from({ length: vertices }, () => Math.floor(2 * random())),
  };
}

/** Whether the counters of stopped steps begin anew: in one of the two runs. */
const clearsStopped = (hasBoxes: boolean): boolean => hasBoxes;

function clearStopped(progress: Buffer): void {
  for (let at = 4 * VERTEX_PROGRESS.word('stopped'); at < progress.length; at += VERTEX_PROGRESS.bytes) {
    progress.writeUInt32LE(0, at);
  }
}

/** Returns what these kernels make of y, motions, the step and the progress of each vertex. */
async function slideAndGuard(
  { memory, submissions, kernels }: ProofPlace,
  cases: GuardCases,
  entries: readonly EntryPoint[],
  hasBoxes: boolean,
): Promise<Readonly<Record<string, Buffer>>> {
  const { vertices } = cases;
  const named = await memory.checkAllocations('the proof', () => uploadAll(memory, contentsOf(cases, hasBoxes)));
  const recording = submissions.begin();
  const pass = recording.beginComputePass();
  const [width, height] = foldThreads(vertices);
  for (const entry of entries) {
    const kernel = kernels.get(entry);
    launch(pass, { kernel, bindings: kernel.bindings(named), size: [width, height], most: width * height });
  }
  pass.end();
  const { y, motions, vertexStep, progress } = named;
  const reading = await submissions.submit(recording, [
    sliceOf(y!, 16 * vertices),
    sliceOf(motions!, 32 * vertices),
    sliceOf(vertexStep!, VERTEX_STEP.bytes * vertices),
    sliceOf(progress!, VERTEX_PROGRESS.bytes * vertices),
  ]);
  const [toY, toMotions, toSteps, toProgress] = (await reading.wait()).map((bytes) => Buffer.from(bytes));
  return { y: toY!, motions: toMotions!, vertexStep: toSteps!, progress: toProgress! };
}

function contentsOf(cases: GuardCases, hasBoxes: boolean): Readonly<Record<string, ArrayBuffer>> {
  const { vertices, x, y, goal, box, normals, kinds } = cases;
  return {
    parameters: PARAMETERS.pack({
      vertexCount: vertices,
      hasBoxes: hasBoxes ? 1 : 0,
      isPlanar: 1,
      gamma: 0.9,
      floor: 1e-5,
    }),
    control: CONTROL.pack({ pairCount: vertices, radius: 0.3, clearsStopped: clearsStopped(hasBoxes) ? 1 : 0 }),
    x: x.slice().buffer,
    y: y.slice().buffer,
    goal: goal.slice().buffer,
    box: box.slice().buffer,
    vertexStep: packSteps(cases),
    motions: new ArrayBuffer(32 * vertices),
    pairVertex: Int32Array.from(
      { length: SLOTS * vertices },
      (_, k) => (Math.floor(k / SLOTS) + (k % SLOTS)) % vertices,
    ).buffer,
    pairNormal: normals.slice().buffer,
    lists: packLists(vertices),
    candidates: packCandidates(kinds),
    contacts: packContacts(vertices),
    // Any number in each word: these kernels only clear one of them.
    progress: Uint32Array.from({ length: VERTEX_PROGRESS.words * vertices }, (_, k) => k + 1).buffer,
  };
}

function packSteps({ flags }: GuardCases): ArrayBuffer {
  const words = new Uint32Array(VERTEX_STEP.words * flags.length);
  for (let v = 0; v < flags.length; v++) words[VERTEX_STEP.words * v + VERTEX_STEP.word('flags')] = flags[v]!;
  return words.buffer;
}

function packLists(vertices: number): ArrayBuffer {
  const words = new Uint32Array(CONTACT_LIST.words * vertices);
  for (let v = 0; v < vertices; v++) {
    words[CONTACT_LIST.words * v + CONTACT_LIST.word('count')] = SLOTS;
    words[CONTACT_LIST.words * v + CONTACT_LIST.word('offset')] = SLOTS * v;
  }
  return words.buffer;
}

/** Candidate c is pair c. */
function packCandidates(kinds: Uint32Array): ArrayBuffer {
  const words = new Uint32Array(CANDIDATE.words * kinds.length);
  for (let p = 0; p < kinds.length; p++) {
    words[CANDIDATE.words * p + CANDIDATE.word('entry')] = p + KIND_UNIT * kinds[p]!;
  }
  return words.buffer;
}

/** The lists of candidates, in an order other than that of the pairs. */
function packContacts(vertices: number): ArrayBuffer {
  const random = makeProofRandom(SEED + 1);
  const contacts = new Uint32Array(SLOTS * vertices);
  for (let v = 0; v < vertices; v++) {
    const first = Math.floor(SLOTS * random());
    for (let k = 0; k < SLOTS; k++) contacts[SLOTS * v + k] = (v + vertices - ((first + 3 * k) % SLOTS)) % vertices;
  }
  return contacts.buffer;
}
