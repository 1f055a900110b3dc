import { availableParallelism } from 'node:os';
import { IntersticeError } from '../../src/contract/errors.js';
import { UNIFORM_BYTES } from '../convoy/address.js';
import { type EntryPoint, KERNELS, type KernelStage } from '../kernels/table.js';
import type { OpenedAdapter } from './adapter.js';
import { BUFFER_USAGE } from './flags.js';
import { type Kernel, KernelRefused, KernelSet } from './kernel.js';

/**
 * Makes the driver finish kernels before the first request. Some drivers translate a pipeline to machine code only when
 * it is first dispatched, each device in a thread of its own: software drivers take half a minute for all of them. With
 * other devices, each on a core of its own, this takes a fraction of that time: they compile a part of the kernels into
 * the driver's cache, from which this device then takes them. If the driver has no cache, this device compiles that part
 * as well, and takes as long as alone.
 */

/** A kernel that takes longer is being compiled, and does not come from the driver's cache. */
const COMPILING_MS = 20;

/** Each helper takes a few megabytes, and some time of one thread to open. */
const MOST_HELPERS = 3;

export interface WarmUpOptions {
  /** opens another device of the same adapter; undefined = the device is alone */
  readonly requestHelper?: OpenedAdapter['requestHelper'];
  /** default: one less than the cores of this machine, up to MOST_HELPERS */
  readonly helpers?: number;
  /** default COMPILING_MS; for tests */
  readonly compilingMs?: number;
}

/** @throws KernelRefused; OUT_OF_DEVICE_MEMORY */
export async function warmUp(
  kernels: KernelSet,
  {
    requestHelper,
    helpers = Math.min(MOST_HELPERS, availableParallelism() - 1),
    compilingMs = COMPILING_MS,
  }: WarmUpOptions = {},
): Promise<void> {
  if (!requestHelper || helpers < 1) return warm(kernels.device, kernels.all);
  const waiting = [...kernels.all];
  const helping: Promise<void>[] = [];
  const take = (): Kernel | undefined => waiting.shift();
  try {
    for (let own = take(); own; own = take()) {
      const began = performance.now();
      await warm(kernels.device, [own]);
      const isCompiling = performance.now() - began >= compilingMs;
      if (!isCompiling || helping.length > 0 || waiting.length === 0) continue;
      for (let n = 0; n < helpers; n++) helping.push(help(requestHelper, take, kernels));
    }
  } finally {
    waiting.length = 0;
    await Promise.all(helping);
  }
  // Those that the helpers have compiled. A warm kernel takes no time.
  if (helping.length > 0) await warm(kernels.device, kernels.all);
}

/** Compiles kernels on another device, as long as any are left. Whatever it fails to do, the other device does. */
async function help(
  requestHelper: OpenedAdapter['requestDevice'],
  take: () => Kernel | undefined,
  kernels: KernelSet,
): Promise<void> {
  // Kernels have another text, so another entry in the cache, where a device has subgroups.
  const subgroups = kernels.device.features.has('subgroups');
  const opened = await requestHelper({ subgroups }).catch(() => undefined);
  if (!opened) return;
  const { device, lost } = opened;
  try {
    for (let next = take(); next; next = take()) {
      const { entryPoint } = next;
      const only = (entry: EntryPoint): boolean => entry === entryPoint;
      await warm(
        device,
        (await KernelSet.compile(device, [stageOf(entryPoint)], { isShared: kernels.isShared, only })).all,
      );
    }
  } catch {
    // The kernel is compiled by the device that needs it, which reports what is wrong with it.
  } finally {
    device.destroy();
    await lost;
  }
}

const stageOf = (entry: EntryPoint): KernelStage => KERNELS[entry].file.split('/')[0] as KernelStage;

/**
 * Dispatches each kernel with no workgroups, with a size in device memory, so the driver cannot know that it is zero; no
 * kernel runs.
 */
async function warm(device: GPUDevice, kernels: readonly Kernel[]): Promise<void> {
  const { STORAGE, UNIFORM, INDIRECT } = BUFFER_USAGE;
  const owned: GPUBuffer[] = [];
  const create = (size: number, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ label: 'warm-up', size, usage });
    owned.push(buffer);
    return buffer;
  };
  /** by the index of a binding within its kernel: a dispatch may not bind one buffer twice */
  const standIns: GPUBuffer[] = [];
  try {
    // There may be no listener for errors of the device yet. The scope closes before the first await, so it covers
    // only these calls.
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const noGroups = create(16, INDIRECT);
    const encoder = device.createCommandEncoder({ label: 'warm-up' });
    const pass = encoder.beginComputePass();
    for (const kernel of kernels) {
      let n = 0;
      const standIn = () => (standIns[n++] ??= create(STAND_IN_BYTES, STORAGE | UNIFORM | INDIRECT));
      const { ranges } = kernel.bindings(standIn);
      const { shared } = kernel;
      const more = shared ? [shared.places, shared.sizes] : [];
      pass.setPipeline(kernel.pipeline);
      pass.setBindGroup(
        0,
        kernel.groupOf(
          ranges,
          more.map((binding) => ({ binding, resource: { buffer: standIn() } })),
        ),
        shared ? [0] : [],
      );
      pass.dispatchWorkgroupsIndirect(noGroups, 0);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
    const [shortage, error] = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
    if (shortage) {
      throw new IntersticeError('OUT_OF_DEVICE_MEMORY', 'The device has no memory to make its kernels ready.');
    }
    if (error) throw new KernelRefused(`The device does not run the kernels: ${error.message}`);
    await device.queue.onSubmittedWorkDone();
  } finally {
    for (const buffer of owned) buffer.destroy();
  }
}

/** Bytes of the buffer that replaces every other one: as large as the largest uniform of a kernel. */
const STAND_IN_BYTES = UNIFORM_BYTES;
