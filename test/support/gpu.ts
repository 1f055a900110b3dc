import type { Test } from 'tap';
import { type AdapterOptions, type OpenedAdapter, openAdapter } from '../../gpu/device/adapter.js';
import { KernelSet } from '../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../gpu/device/memory.js';
import { prepareVulkan } from '../../gpu/device/vulkan-host.js';
import { createGpuEngine, type GpuEngine, type GpuEngineOptions } from '../../gpu/engine.js';
import { stepStagesWith } from '../../gpu/kernels/table.js';
import type { SearchPlace } from '../../gpu/scene.js';
import { openSharedAdapter } from './shared-device.js';

// As the service does before it opens its engine: a software driver has the same settings in tests.
prepareVulkan();

/** With INTERSTICE_REQUIRE_GPU=1 a test that finds no adapter fails instead of being skipped. */
const isRequired = process.env.INTERSTICE_REQUIRE_GPU === '1';

export interface TestEngine {
  /** undefined: there is no adapter, and `skip` says why */
  readonly engine: GpuEngine | undefined;
  /** options of the tests that need the engine */
  readonly options: { readonly skip?: string };
}

/**
 * Opens the first adapter, hardware or software, and uses it as hardware. The engine shares its device with others of
 * the process: a test that loses the device, or leaves it broken, gives openAdapter as `open`. The test closes the
 * engine in a teardown.
 *
 * @throws Error with the reason where an adapter is required and there is none
 */
export async function openTestEngine(
  search?: SearchPlace,
  special: Partial<GpuEngineOptions> = {},
): Promise<TestEngine> {
  const { engine, reason } = await createGpuEngine({
    allowSoftware: true,
    runsAhead: true,
    open: openSharedAdapter,
    ...(search ? { search } : {}),
    ...special,
  });
  if (engine) return { engine, options: {} };
  if (isRequired) throw new Error(`INTERSTICE_REQUIRE_GPU=1, but ${reason}`);
  return { engine: undefined, options: { skip: reason } };
}

/** Opens the first adapter as often as a test wants, with another function if the test has one. @throws Error with the reason where an adapter is required and there is none */
export async function needAdapter(): Promise<{
  readonly open: (special?: Partial<AdapterOptions>, how?: typeof openAdapter) => Promise<OpenedAdapter>;
  /** options of the tests that need it */
  readonly options: { readonly skip?: string };
}> {
  const open = async (special: Partial<AdapterOptions> = {}, how = openAdapter) => {
    const { opened, reason } = await how({ allowSoftware: true, ...special });
    if (!opened) throw new Error(reason);
    return opened;
  };
  const { opened, reason } = await openAdapter({ allowSoftware: true });
  await opened?.close();
  if (opened) return { open, options: {} };
  if (isRequired) throw new Error(`INTERSTICE_REQUIRE_GPU=1, but ${reason}`);
  return { open, options: { skip: reason } };
}

export interface TestDevice {
  readonly memory: DeviceMemory;
  readonly kernels: KernelSet;
  close(): void;
}

/** A device with the kernels of a step, without an engine around it. */
export async function openTestDevice(): Promise<{
  readonly gpu: TestDevice | undefined;
  readonly options: { skip?: string };
}> {
  const { opened, reason } = await openSharedAdapter({ allowSoftware: true });
  if (!opened) {
    if (isRequired) throw new Error(`INTERSTICE_REQUIRE_GPU=1, but ${reason}`);
    return { gpu: undefined, options: { skip: reason } };
  }
  const { device } = await opened.requestDevice();
  const kernels = await KernelSet.load(device, ...stepStagesWith(device.limits.maxStorageBuffersPerShaderStage));
  return {
    gpu: { memory: new DeviceMemory(device, new MemoryBudget()), kernels, close: () => opened.close() },
    options: {},
  };
}

/** Opens an engine with less room, or other manners, on the adapter that is known to exist. The test closes it when it ends. */
export async function openSpecialEngine(
  t: Pick<Test, 'teardown'>,
  special: NonNullable<Parameters<typeof openTestEngine>[1]>,
): Promise<GpuEngine> {
  const { engine } = await openTestEngine(undefined, special);
  if (!engine) throw new Error('the adapter opened once but not twice');
  t.teardown(() => engine.close());
  return engine;
}
