import { IntersticeError } from '../contract/errors.js';
import type { MethodName } from '../contract/parameters.js';
import { createCpuEngine } from '../solver/cpu/engine.js';
import type { Engine } from '../solver/engine.js';
import { createVolumeImpulsesEngine } from '../solver/volume-impulses/engine.js';

export interface EngineOptions {
  readonly engine: EngineChoice;
  /** words of the graphics adapter's name, in any case, or the address of its card; absent = the first, hardware before software */
  readonly adapter?: string | undefined;
  /** bytes that scenes may hold on the device; absent or 0 = no limit */
  readonly maxDeviceBytes?: number | undefined;
  /** bytes that the pairs of one request may take; absent or 0 = as many as the engine can count */
  readonly maxPairBytes?: number | undefined;
  /** scenes of small meshes that submit together on a device, and ms that one waits for others; absent or 1 scene = each alone */
  readonly convoy?: { readonly scenes: number; readonly delay: number } | undefined;
  /** whether the WebGPU binding validates every call, which doubles the cost of an indirect dispatch; absent = only if
   *  NODE_ENV is "test" or "development" */
  readonly validation?: boolean | undefined;
}

interface EngineEntry {
  /** Resolves when every kernel is ready for use, which takes a software driver some seconds. */
  open(options: EngineOptions): Engine | Promise<Engine>;
  /** the engine must be closed before its thread may end */
  readonly closesFirst: boolean;
}

/** The methods of the CPU engine besides the two-way method. A new method is a folder of its own and one entry here. */
const OTHER_METHODS = {
  VOLUME_IMPULSES: createVolumeImpulsesEngine,
} as const satisfies Readonly<Record<Exclude<MethodName, 'TWO_WAY'>, () => Engine>>;

/**
 * All engines that the settings can name. A new engine behind the {@link Engine} contract is a folder of its own and one
 * entry here.
 *
 * Dawn aborts the process if a thread ends while one of its promises waits for a device, so engines on WebGPU close first.
 */
const ENGINES = {
  /** the reference engine; loads nothing of WebGPU */
  cpu: { open: openCpu, closesFirst: false },
  /** any adapter, software adapters included */
  webgpu: { open: openWebGpu, closesFirst: true },
  /** a hardware adapter, otherwise the CPU engine */
  auto: { open: openAuto, closesFirst: true },
} as const satisfies Readonly<Record<string, EngineEntry>>;

export type EngineChoice = keyof typeof ENGINES;

/**
 * Where the thread of a lane finds its engine: a module and the name of a factory in it, `(options?: unknown) => Engine
 * | Promise<Engine>`. An IntersticeError that the factory throws reaches the callers of `hello()` and of every job
 * unchanged.
 */
export interface EngineSource {
  /** URL */
  readonly module: string;
  readonly factory: string;
  /** passed to the factory; plain data, because it is sent to another thread */
  readonly options?: unknown;
  /** as in {@link EngineEntry} */
  readonly closesFirst?: boolean;
}

/**
 * Sets what an engine on WebGPU expects in the environment of the process (gpu/device/vulkan-host.ts). Call it on the
 * main thread before any lane starts.
 *
 * @throws INVALID_PARAMETER for a card or a folder that is not available
 */
export async function prepareProcess(
  options: Pick<EngineOptions, 'engine' | 'adapter'> & { readonly shaderCache?: string | undefined },
): Promise<void> {
  if (options.engine === 'cpu') return;
  const { prepareVulkan } = await import('../../gpu/device/vulkan-host.js');
  prepareVulkan(options);
}

/** The source from which a thread opens the engine of these settings. */
export function engineSourceOf(options: EngineOptions): EngineSource {
  const { closesFirst } = ENGINES[options.engine];
  return { module: import.meta.url, factory: openEngine.name, options, closesFirst };
}

/** @throws INVALID_PARAMETER with the reason if `webgpu` is requested and no adapter is fit, or an adapter for `cpu` */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  return ENGINES[options.engine].open(options);
}

function openCpu({ adapter, maxPairBytes }: EngineOptions): Engine {
  if (adapter === undefined) return withOtherMethods(createCpuEngine({ maxPairBytes }));
  throw new IntersticeError('INVALID_PARAMETER', 'An adapter is set, but the engine cpu uses none; leave it unset.');
}

async function openWebGpu(options: EngineOptions): Promise<Engine> {
  const { engine, reason } = await tryWebGpu(options, true);
  if (engine) return engine;
  throw new IntersticeError('INVALID_PARAMETER', `The engine webgpu is requested, but ${reason}.`, {
    hint: 'Use the engine auto or cpu, or install what is missing.',
  });
}

/** If the CPU engine is used, `description.adapter` says why. */
async function openAuto(options: EngineOptions): Promise<Engine> {
  const { engine, reason } = await tryWebGpu(options, false);
  if (engine) return engine;
  const adapter = (name: string) => `${name} (auto: ${reason})`;
  return withOtherMethods(createCpuEngine({ maxPairBytes: options.maxPairBytes }), adapter);
}

/** An engine that opens each scene by the method of its parameters. */
function withOtherMethods(twoWay: Engine, nameOf = (adapter: string): string => adapter): Engine {
  const { description } = twoWay;
  const others = new Map<MethodName, Engine>();
  for (const [name, create] of Object.entries(OTHER_METHODS)) others.set(name as MethodName, create());
  return {
    ...twoWay,
    description: { ...description, adapter: nameOf(description.adapter), methods: ['TWO_WAY', ...others.keys()] },
    get sharedBytes() {
      return twoWay.sharedBytes ?? 0;
    },
    open: (mesh, parameters, ...rest) => (others.get(parameters.method) ?? twoWay).open(mesh, parameters, ...rest),
  };
}

async function tryWebGpu(options: EngineOptions, allowSoftware: boolean) {
  const { adapter: name, maxDeviceBytes, maxPairBytes, convoy, validation } = options;
  const { createGpuEngine } = await import('../../gpu/engine.js');
  return createGpuEngine({
    name,
    maxDeviceBytes: maxDeviceBytes || undefined,
    maxPairBytes,
    convoy: convoy && convoy.scenes > 1 ? convoy : undefined,
    allowSoftware,
    // The report contains the time of each stage.
    timings: true,
    skipValidation: !(validation ?? ['test', 'development'].includes(process.env.NODE_ENV ?? '')),
  });
}
