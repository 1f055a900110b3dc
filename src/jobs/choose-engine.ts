import { IntersticeError } from '../contract/errors.js';
import { createCpuEngine } from '../solver/cpu/engine.js';
import type { Engine } from '../solver/types.js';

export type EngineChoice = 'auto' | 'cpu' | 'webgpu';

export interface EngineOptions {
  readonly engine: EngineChoice;
  /** part of the graphics adapter's name, in any case; absent = the first, a fast one before a slow one */
  readonly adapter?: string | undefined;
  /** bytes that scenes may hold on the device; absent or 0 = as many as there are */
  readonly maxDeviceBytes?: number | undefined;
  /** the binding's own checks of every call, which double an indirect dispatch; absent = only where NODE_ENV is "test" or "development" */
  readonly validation?: boolean | undefined;
}

/**
 * Where a worker finds the engine it works with: a module and the name of its factory,
 * `(options?: unknown) => Engine | Promise<Engine>`. An IntersticeError that it throws reaches the caller of `hello()`, and
 * of every job, as it is.
 */
export interface EngineSource {
  /** URL */
  readonly module: string;
  readonly factory: string;
  /** handed to the factory; plain data, for it crosses to another thread */
  readonly options?: unknown;
  /** the engine must be closed before its thread may end: a native module that would take the process down otherwise */
  readonly closesFirst?: boolean;
}

/** Where a worker thread finds {@link openEngine}. */
export function engineSourceOf(options: EngineOptions): EngineSource {
  // Dawn aborts the process when a thread ends while one of its promises waits for a device.
  return { module: import.meta.url, factory: openEngine.name, options, closesFirst: options.engine !== 'cpu' };
}

/**
 * Opens the engine that the settings ask for. `webgpu` takes any adapter, a software one too; `auto` takes a hardware
 * adapter, and the CPU engine where there is none: `description.adapter` then says what was not taken and why. Nothing of
 * WebGPU is loaded for `cpu`.
 *
 * Resolves when every kernel is ready for use, which takes a software driver some seconds.
 *
 * @throws INVALID_PARAMETER with the reason when `webgpu` is asked for and no adapter is fit, or an adapter for `cpu`
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { engine: choice, adapter: name } = options;
  if (choice === 'cpu') {
    if (name === undefined) return createCpuEngine();
    throw new IntersticeError('INVALID_PARAMETER', 'adapter is set, but engine cpu uses none; leave it unset');
  }
  const { createGpuEngine } = await import('../../gpu/engine.js');
  const { engine, reason } = await createGpuEngine({
    name,
    maxDeviceBytes: options.maxDeviceBytes || undefined,
    powerPreference: 'high-performance',
    allowSoftware: choice === 'webgpu',
    // The report names the time of each stage.
    timings: true,
    skipValidation: !(options.validation ?? ['test', 'development'].includes(process.env.NODE_ENV ?? '')),
  });
  if (engine) return engine;
  if (choice === 'webgpu') {
    throw new IntersticeError('INVALID_PARAMETER', `engine webgpu is asked for, but ${reason}`, {
      hint: 'Use engine auto or cpu, or install what is missing.',
    });
  }
  const cpu = createCpuEngine();
  return { ...cpu, description: { ...cpu.description, adapter: `${cpu.description.adapter} (auto: ${reason})` } };
}
