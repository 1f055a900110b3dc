import { DISPATCH_BYTES, foldThreads, launch } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { type Place, sliceOf, write } from '../device/place.js';
import { Reader } from '../device/readback.js';
import { INDEX_MASK, LIST_SLOT } from '../kernels/constants.js';
import { CONTROL, LIMIT, PARAMETERS } from '../kernels/structs.js';
import { makeProofRandom } from './proof-cases.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** Pairs of the proof: many workgroups, of which the last is not full. */
const PAIRS = 20_011;
/** Pairs in a row that are listed as often as each other: more than a subgroup has threads on any device. */
const STRETCH = 256;
/** Shares of the pairs of a stretch that are listed. */
const SHARES = [0, 0.02, 0.5, 0.98, 1];

/** Two vertices: one that moves, so that its pairs are listed, and one that does not. */
const MOVING = 0;
const STILL = 1;

/**
 * Lets a device show that it lists pairs as they are to be listed, with the kernel that lists what a forward step examines: each once, whatever
 * its neighbours are, and no other. A pair that such a list lacks is a pair that no bound and no check sees (docs/method.md, S4).
 *
 * Devices with subgroups give a subgroup its places in the list at a time (gpu/kernels/common/append-subgroups.wgsl): which threads take part in
 * such an operation is where drivers have erred.
 *
 * @param memory an account of its own @param kernels those of one scene
 * @returns what is wrong; undefined = nothing
 * @throws Error when a kernel does not run
 */
export async function findListObjection(memory: DeviceMemory, kernels: KernelSet): Promise<string | undefined> {
  const isListed = makeListed();
  const reader = new Reader(memory);
  try {
    const named = await memory.checkAllocations('the proof', () => upload(memory, isListed));
    const { device } = memory;
    const kernel = kernels.get('listForBound');
    const encoder = device.createCommandEncoder({ label: 'proof' });
    const pass = encoder.beginComputePass();
    const [x, y] = foldThreads(PAIRS);
    launch(pass, { kernel, bindings: kernel.bindings(named), size: [x, y], most: x * y });
    pass.end();
    device.queue.submit([encoder.finish()]);
    const reading = await reader.read([sliceOf(named.control!, CONTROL.bytes), sliceOf(named.limits!)]);
    const [control, limits] = await reading.wait();
    const words = new Uint32Array(limits!);
    const entries = Uint32Array.from({ length: PAIRS }, (_, n) => words[LIMIT.words * n + LIMIT.word('entry')]!);
    return judgeList(isListed, CONTROL.unpack(control!).activeCount, entries);
  } finally {
    reader.close();
    memory.freeAll();
  }
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

function makeListed(): boolean[] {
  const random = makeProofRandom(20_261_124);
  let share = 0;
  return Array.from({ length: PAIRS }, (_, p) => {
    if (p % STRETCH === 0) share = SHARES[Math.floor(SHARES.length * random())]!;
    return random() < share;
  });
}

function upload(memory: DeviceMemory, isListed: readonly boolean[]): Readonly<Record<string, Place>> {
  const motions = new Float32Array(16);
  // Behind the position: the sort of a vertex, positive where it moves (gpu/kernels/common/motions.wgsl).
  motions[8 * MOVING + 3] = 1;
  const vertices = isListed.flatMap((isIn) => [isIn ? MOVING : STILL, STILL, -1, -1]);
  const contents: Readonly<Record<string, ArrayBuffer>> = {
    // Not PLANAR: every pair with a vertex that moves is listed.
    parameters: PARAMETERS.pack({ vertexCount: 2, isPlanar: 0 }),
    control: CONTROL.pack({ pairCount: PAIRS, pairCapacity: PAIRS, clock: 1 }),
    motions: motions.buffer,
    candidateArguments: new ArrayBuffer(DISPATCH_BYTES * LIST_SLOT.COUNT),
    pairVertex: Int32Array.from(vertices).buffer,
    pairInfo: new ArrayBuffer(4 * PAIRS),
    pairNormal: new ArrayBuffer(16 * PAIRS),
    // No pair has this number: a place that nothing was written to is not taken for one.
    limits: new Uint32Array(LIMIT.words * PAIRS).fill(INDEX_MASK).buffer,
  };
  const places = Object.entries(contents).map(([name, data]) => {
    const place = memory.place(name, data.byteLength, STORAGE | UNIFORM | COPY_SRC | COPY_DST);
    write(memory.device.queue, place, 0, data);
    return [name, place] as const;
  });
  return Object.fromEntries(places);
}
