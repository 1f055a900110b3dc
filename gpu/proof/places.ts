import { Convoy } from '../convoy/convoy.js';
import { BUFFER_USAGE } from '../device/flags.js';
import type { KernelSet } from '../device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../device/memory.js';
import { type Place, write } from '../device/place.js';
import { Reader } from '../device/readback.js';
import { OwnSubmissions, type Submissions } from '../device/submissions.js';

const { STORAGE, UNIFORM, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/**
 * Milliseconds that a scene of a proof waits for the others of its submission. All of them are working, so this time
 * passes only if the process stands still, and then the proof fails.
 */
export const PATIENCE_MS = 60_000;

/**
 * Seed of the cases for a second scene in a convoy, and the number of each kind, which is not a multiple of the threads
 * of a workgroup.
 */
export const SEED_BESIDE = 0x5bd1e995;
export const FEW_BESIDE = 33;

/** The same kernels, compiled for one scene and for the scenes of a convoy. */
export interface BothKernels {
  readonly alone: KernelSet;
  readonly together: KernelSet;
}

/** The place on a device where the work of a proof runs for one scene. */
export interface ProofPlace {
  /** an account of its own; its contents are freed when the work is done */
  readonly memory: DeviceMemory;
  readonly submissions: Submissions;
  readonly kernels: KernelSet;
}

export type ProofWork<T> = (place: ProofPlace) => Promise<T>;

/** Runs the work of a scene that submits alone. @param memory an account of its own */
export async function runAlone<T>(memory: DeviceMemory, kernels: KernelSet, work: ProofWork<T>): Promise<T> {
  const reader = new Reader(memory);
  try {
    return await work({ memory, submissions: new OwnSubmissions(memory, reader), kernels });
  } finally {
    reader.close();
    memory.freeAll();
  }
}

/**
 * Runs something with a convoy of its own, whose scenes wait for each other.
 *
 * @param use receives an account in its arena for every scene; the contents of the accounts are freed when it is done
 * @param budget counts the bytes of convoy and scenes; default: one that nothing else reads
 * @throws like `use`
 */
export async function withConvoy<T>(
  device: GPUDevice,
  isSoftware: boolean,
  scenes: number,
  use: (convoy: Convoy, accounts: readonly DeviceMemory[]) => Promise<T>,
  budget = new MemoryBudget(),
): Promise<T> {
  const memory = new DeviceMemory(device, budget);
  const settings = { scenes, delay: PATIENCE_MS };
  const convoy = await memory.checkAllocations('the proof', () => new Convoy(memory, isSoftware, settings));
  const accounts = Array.from({ length: scenes }, () => memory.fork(convoy.arena));
  try {
    return await use(convoy, accounts);
  } finally {
    for (const account of accounts) account.freeAll();
    convoy.close();
  }
}

/** Returns the results of all once none is running any longer. @throws the first failure, in their order */
export async function allDone<T>(works: readonly Promise<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(works);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/**
 * Runs the work of several scenes that submit together, whose places lie one after the other in the buffers of an
 * arena.
 *
 * @param kernels those of a convoy @param works each submits as often as the others
 * @throws like the works; Error if a scene has submitted without the others
 */
export async function runTogether<T>(
  device: GPUDevice,
  kernels: KernelSet,
  isSoftware: boolean,
  works: readonly ProofWork<T>[],
): Promise<T[]> {
  return withConvoy(device, isSoftware, works.length, async (convoy, accounts) => {
    const done = await allDone(
      works.map((work, n) => convoy.during(() => work({ memory: accounts[n]!, submissions: convoy.seat, kernels }))),
    );
    const { submissions, parts } = convoy.counts;
    if (parts !== works.length * submissions) throw new Error('The scenes of a proof have not submitted together.');
    return done;
  });
}

/** Places with these contents, by the names that kernels bind. */
export function uploadAll(
  memory: DeviceMemory,
  contents: Readonly<Record<string, ArrayBuffer>>,
): Readonly<Record<string, Place>> {
  const places = Object.entries(contents).map(([name, data]) => {
    const place = memory.place(name, data.byteLength, STORAGE | UNIFORM | COPY_SRC | COPY_DST);
    write(memory.device.queue, place, 0, data);
    return [name, place] as const;
  });
  return Object.fromEntries(places);
}

/**
 * Returns the results of scenes alone, one after the other, and together, each in their order.
 *
 * @param works like those of {@link runTogether}
 */
export async function runBothWays<T>(
  device: GPUDevice,
  kernels: BothKernels,
  isSoftware: boolean,
  works: readonly ProofWork<T>[],
): Promise<{ readonly alone: readonly T[]; readonly together: readonly T[] }> {
  const alone: T[] = [];
  for (const work of works) {
    alone.push(await runAlone(new DeviceMemory(device, new MemoryBudget()), kernels.alone, work));
  }
  return { alone, together: await runTogether(device, kernels.together, isSoftware, works) };
}

/**
 * Says which scene does not have the same bytes as alone.
 *
 * @param what name of the computed data, for the message
 * @param judge says what is wrong with the bytes of a scene, if they alone show it
 * @returns undefined = all have them
 */
export function findDifference(
  what: string,
  alone: readonly Uint8Array[],
  together: readonly Uint8Array[],
  judge: (scene: number) => string | undefined = () => undefined,
): string | undefined {
  const n = together.findIndex((bytes, k) => Buffer.compare(bytes, alone[k]!) !== 0);
  if (n < 0) return undefined;
  const difference = `${what}: scene ${n + 1} of ${alone.length} does not have the bytes that it has alone`;
  const objection = judge(n);
  return objection === undefined ? difference : `${difference}: ${objection}`;
}

/** Returns all numbers of these arrays. */
export const bytesOf = (...arrays: readonly (Float32Array | Uint32Array)[]): Uint8Array =>
  Buffer.concat(arrays.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)));
