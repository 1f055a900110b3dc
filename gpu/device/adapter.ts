import type { EngineDescription } from '../../src/contract/server-info.js';
import { type AdapterWish, isWanted, parseAdapterWish } from './adapter-wish.js';
import { describeCardWithoutDriver, describeMissingDriver } from './vulkan-host.js';

export interface AdapterOptions {
  /**
   * Words of the adapter's name, in any case and order; undefined = the first that fits, hardware before software. An
   * address of a card among them only affects prepareVulkan, which must have been called.
   */
  readonly name?: string | undefined;
  /** false: a software driver does not count as an adapter */
  readonly allowSoftware: boolean;
  /** whether devices have subgroups, if the adapter offers them; default: on hardware */
  readonly subgroups?: boolean | undefined;
  /**
   * limit on the threads of a workgroup, if the adapter allows more: for tests. At least 256, which every adapter
   * allows.
   */
  readonly workgroupThreads?: number | undefined;
  /**
   * Skips Dawn's checks of every call: for production, because recording steps must cost almost nothing. Default false.
   */
  readonly skipValidation?: boolean;
}

export interface OpenedDevice {
  readonly device: GPUDevice;
  /** Resolves once the device is lost, with the reason; after close() the reason is "destroyed". */
  readonly lost: Promise<GPUDeviceLostInfo>;
}

export interface OpenedAdapter {
  readonly adapter: GPUAdapter;
  readonly description: EngineDescription;
  /**
   * @param options subgroups: false = the device has none, whatever the options of the adapter say
   * @throws Error if the adapter refuses the limits, is gone, or was closed
   */
  requestDevice(options?: { readonly subgroups?: boolean }): Promise<OpenedDevice>;
  /**
   * The same for another device that compiles kernels into the driver's cache; undefined = the driver compiles a kernel
   * when its pipeline is made, on as many cores as it likes.
   */
  readonly requestHelper?: OpenedAdapter['requestDevice'] | undefined;
  /**
   * Destroys every device of this adapter; resolves once they are gone and the process may end. No part of it may be
   * used afterwards.
   */
  close(): Promise<void>;
}

export type AdapterOpening =
  | { readonly opened: OpenedAdapter; readonly reason?: undefined }
  /** The reason is a clause, for use within a sentence. */
  | { readonly opened?: undefined; readonly reason: string };

/**
 * Largest number of storage buffers that the engine binds in one stage. Adapters that allow fewer still run smaller
 * kernels.
 */
const WANTED_STORAGE_BUFFERS = 16;

/**
 * Dawn's instances in use. The binding does not keep an instance alive for its devices: an instance that is
 * garbage-collected while a device still works crashes the process in native code. An instance that is never released
 * keeps the process from ending.
 */
const held = new Set<GPU>();

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

const SOFTWARE_NAMES = /llvmpipe|lavapipe|softpipe|swiftshader|basic render|\bwarp\b/i;

/** Returns a name that people recognise; drivers leave some of the fields empty. */
const nameOf = (info: GPUAdapterInfo): string =>
  info.device.replace(/-+$/, '') ||
  info.description ||
  [info.vendor, info.architecture].filter(Boolean).join(' ') ||
  'unnamed adapter';

const isSoftware = (info: GPUAdapterInfo): boolean =>
  info.isFallbackAdapter === true || SOFTWARE_NAMES.test(`${info.device} ${info.description} ${info.architecture}`);

/** @param equals number of adapters with this name that Vulkan shows */
const describe = (adapter: GPUAdapter, equals: number): EngineDescription => {
  const name = nameOf(adapter.info);
  const among = equals > 1 ? `the first of ${equals} equal adapters` : '';
  return {
    name: `webgpu: ${name}`,
    adapter: [name, adapter.info.description, among]
      .filter((text, i, all) => text && all.indexOf(text) === i)
      .join(', '),
    software: isSoftware(adapter.info),
    maxBufferBytes: Math.min(adapter.limits.maxBufferSize, adapter.limits.maxStorageBufferBindingSize),
    qualities: ['FAST', 'BALANCED', 'FINE'],
    strainLimits: true,
  };
};

/**
 * Requests everything that the adapter has, because the defaults (128 MiB per binding, 8 storage buffers, 256 threads
 * per workgroup) are too small for a large mesh.
 */
const limitsOf = (adapter: GPUAdapter, workgroupThreads = Number.POSITIVE_INFINITY): Record<string, number> => ({
  maxBufferSize: adapter.limits.maxBufferSize,
  maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
  maxComputeInvocationsPerWorkgroup: Math.min(adapter.limits.maxComputeInvocationsPerWorkgroup, workgroupThreads),
  maxComputeWorkgroupSizeX: Math.min(adapter.limits.maxComputeWorkgroupSizeX, workgroupThreads),
  maxStorageBuffersPerShaderStage: Math.min(adapter.limits.maxStorageBuffersPerShaderStage, WANTED_STORAGE_BUFFERS),
});

const wrap = (
  gpu: GPU,
  adapter: GPUAdapter,
  { subgroups, workgroupThreads }: Pick<AdapterOptions, 'subgroups' | 'workgroupThreads'>,
  equals: number,
  findAgain: () => Promise<GPUAdapter | null>,
): OpenedAdapter => {
  const devices = new Map<GPUDevice, Promise<unknown>>();
  // Time stamps measure the time of each stage; without them the engine reports wall time.
  const features: GPUFeatureName[] = ['timestamp-query'];
  if (subgroups ?? !isSoftware(adapter.info)) features.push('subgroups');
  let isClosed = false;
  /**
   * According to the standard, an adapter gives only one device; for each later one (after a loss) it must be found
   * again.
   */
  let unused: GPUAdapter | null = adapter;
  const requestDevice: OpenedAdapter['requestDevice'] = async ({ subgroups: mayHaveSubgroups = true } = {}) => {
    if (isClosed) throw new Error('This adapter was closed; open it again.');
    const source = unused ?? (await findAgain());
    unused = null;
    if (!source) throw new Error(`The adapter ${nameOf(adapter.info)} has disappeared.`);
    const device = await source.requestDevice({
      label: 'interstice',
      requiredLimits: limitsOf(source, workgroupThreads),
      requiredFeatures: features.filter(
        (feature) => source.features.has(feature) && (mayHaveSubgroups || feature !== 'subgroups'),
      ),
    });
    if (isClosed) {
      device.destroy();
      throw new Error('This adapter was closed while its device was being opened.');
    }
    devices.set(
      device,
      device.lost.then(() => devices.delete(device)),
    );
    return { device, lost: device.lost };
  };
  return {
    adapter,
    description: describe(adapter, equals),
    requestDevice,
    requestHelper: isSoftware(adapter.info) ? requestDevice : undefined,
    close: async () => {
      isClosed = true;
      const gone = [...devices.values()];
      for (const device of devices.keys()) device.destroy();
      await Promise.all(gone);
      held.delete(gpu);
    },
  };
};

/** @param name exact; undefined = any */
const createInstance = async (name: string | undefined, skipsValidation: boolean): Promise<GPU> => {
  // Loaded here and not at the top, because the native module may be missing if only the CPU engine is used.
  const { create } = await import('webgpu');
  // By default Dawn rounds time stamps to 100 µs, to protect browsers from pages, but most stages take less time.
  const flags = ['disable-dawn-features=timestamp_quantization'];
  if (skipsValidation) flags.push('enable-dawn-features=skip_validation');
  if (name !== undefined) flags.push(`adapter=${name}`);
  return create(flags);
};

const PREFERENCE = { powerPreference: 'high-performance' } as const;

/** No adapter has this name: if it is requested, the binding's refusal lists the names that exist. */
const NO_NAME = '\u0001';

/** Returns the names in the text of that refusal. */
const namesIn = (refusal: string): string[] => [...refusal.matchAll(/name: '(.*)'$/gm)].map(([, name]) => name!);

/**
 * The names of all adapters, in the order of Vulkan; none if there is no driver.
 *
 * @returns undefined = the text of the binding's refusal is not known here
 */
export async function listAdapters(): Promise<readonly string[] | undefined> {
  const gpu = await createInstance(NO_NAME, false);
  try {
    await gpu.requestAdapter(PREFERENCE);
    return [];
  } catch (thrown) {
    const names = namesIn(messageOf(thrown));
    return names.length > 0 ? names : undefined;
  }
}

/** Returns the adapter that fits the wish; undefined = none fits. Names of hardware come first. */
const chooseAdapter = (names: readonly string[], wish: AdapterWish): string | undefined => {
  const fitting = names.filter((name) => isWanted(name, wish));
  return fitting.find((name) => !SOFTWARE_NAMES.test(name)) ?? fitting[0];
};

/**
 * Opens the adapter that fits the options. If there is none, it does not throw: the result gives the reason.
 *
 * @throws INVALID_PARAMETER for a name with `pci:` and anything other than an address after it
 */
export async function openAdapter(options: AdapterOptions, list = listAdapters): Promise<AdapterOpening> {
  let names: readonly string[] | undefined;
  try {
    names = await list();
  } catch (thrown) {
    return { reason: `the WebGPU binding does not load on this machine: ${messageOf(thrown)}` };
  }
  if (names === undefined) return openUnlisted(options);
  if (names.length === 0) return { reason: NO_ADAPTER() };
  const chosen = chooseAdapter(names, parseAdapterWish(options.name));
  if (chosen === undefined) return { reason: `no adapter named "${options.name}" was found among ${names.join(', ')}` };
  // The binding takes the first adapter whose name contains the requested one.
  const taken = names.find((name) => name.includes(chosen));
  if (taken !== chosen) return { reason: `the adapter ${chosen} is hidden by ${taken}, whose name contains its name` };
  return openChosen(chosen, options, names.filter((name) => name === chosen).length);
}

const NO_ADAPTER = (): string => `no adapter was found. ${describeMissingDriver()}`;

/** If the binding does not list its adapters: opens the one that it prefers, if that fits the options. */
async function openUnlisted(options: AdapterOptions): Promise<AdapterOpening> {
  const { opened, reason } = await openChosen(undefined, options, 1);
  if (!opened) return { reason };
  const { adapter } = opened.description;
  if (!isWanted(`${nameOf(opened.adapter.info)} ${adapter}`, parseAdapterWish(options.name))) {
    await opened.close();
    return {
      reason: `the WebGPU binding does not list its adapters, and prefers ${adapter} to one named "${options.name}"`,
    };
  }
  process.emitWarning(`The WebGPU binding does not list its adapters: ${adapter} is used, which it prefers.`, {
    code: 'INTERSTICE_ADAPTER',
  });
  return { opened };
}

/**
 * @param chosen its name; undefined = the adapter that the binding prefers @param equals number of adapters with this
 *   name
 */
async function openChosen(
  chosen: string | undefined,
  options: AdapterOptions,
  equals: number,
): Promise<AdapterOpening> {
  const called = chosen === undefined ? 'any adapter' : `the adapter ${chosen}`;
  let gpu: GPU;
  try {
    gpu = await createInstance(chosen, options.skipValidation === true);
  } catch (thrown) {
    return { reason: `the WebGPU binding does not open ${called}: ${messageOf(thrown)}` };
  }
  held.add(gpu);
  const refuse = (reason: string): AdapterOpening => {
    held.delete(gpu);
    return { reason };
  };
  const find = () => gpu.requestAdapter(PREFERENCE);
  let adapter: GPUAdapter | null;
  try {
    adapter = await find();
  } catch (thrown) {
    const refusal = messageOf(thrown).trim();
    return refuse(chosen ? `${called} was listed and cannot be opened (${refusal})` : `no adapter opens (${refusal})`);
  }
  if (adapter === null) return refuse(chosen ? `${called} was listed and is gone` : NO_ADAPTER());
  if (!options.allowSoftware && isSoftware(adapter.info)) {
    const card = describeCardWithoutDriver();
    return refuse(
      `the only adapter is software (${nameOf(adapter.info)}), which was not allowed${card ? `. ${card.replace(/\.$/, '')}` : ''}`,
    );
  }
  return { opened: wrap(gpu, adapter, options, equals, find) };
}
