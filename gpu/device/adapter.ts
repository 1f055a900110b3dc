import type { EngineDescription } from '../../src/contract/server-info.js';

export interface AdapterOptions {
  /** Part of the adapter's name, in any case; undefined = the first that fits. */
  readonly name?: string | undefined;
  readonly powerPreference?: 'low-power' | 'high-performance';
  /** false: a software driver does not count as an adapter. */
  readonly allowSoftware: boolean;
  /** Skips Dawn's checks of every call: for production, where recording steps must cost next to nothing. Default false. */
  readonly skipValidation?: boolean;
}

export interface OpenedDevice {
  readonly device: GPUDevice;
  /** Settles once the device is lost, with the reason; after close() the reason is "destroyed". */
  readonly lost: Promise<GPUDeviceLostInfo>;
}

export interface OpenedAdapter {
  readonly adapter: GPUAdapter;
  readonly description: EngineDescription;
  /** @throws Error when the adapter refuses the limits, is gone, or was closed */
  requestDevice(): Promise<OpenedDevice>;
  /**
   * Destroys every device of this adapter; resolves once they are gone and the process may end. Nothing of it may be used
   * afterwards.
   */
  close(): Promise<void>;
}

export type AdapterOpening =
  | { readonly opened: OpenedAdapter; readonly reason?: undefined }
  /** The reason is a clause, for use within a sentence. */
  | { readonly opened?: undefined; readonly reason: string };

/** Storage buffers that the engine binds in one stage at most; adapters that allow fewer still run smaller kernels. */
const WANTED_STORAGE_BUFFERS = 16;

/**
 * Dawn's instances in use. The binding does not keep an instance alive for its devices: an instance that is collected
 * while a device still works crashes the process in native code. An instance that is never released keeps the process
 * from ending.
 */
const held = new Set<GPU>();

const DRIVER_HINT =
  'WebGPU needs a Vulkan, Metal or Direct3D 12 driver; deploy/install-software-vulkan.sh installs a software one on Debian and Ubuntu.';

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

const SOFTWARE_NAMES = /llvmpipe|lavapipe|softpipe|swiftshader|basic render|\bwarp\b/i;

/** A name that people recognise; drivers leave some of the fields empty. */
const nameOf = (info: GPUAdapterInfo): string =>
  info.device.replace(/-+$/, '') ||
  info.description ||
  [info.vendor, info.architecture].filter(Boolean).join(' ') ||
  'unnamed adapter';

const isSoftware = (info: GPUAdapterInfo): boolean =>
  info.isFallbackAdapter === true || SOFTWARE_NAMES.test(`${info.device} ${info.description} ${info.architecture}`);

const describe = (adapter: GPUAdapter): EngineDescription => {
  const name = nameOf(adapter.info);
  return {
    name: `webgpu: ${name}`,
    adapter: [name, adapter.info.description].filter((text, i, all) => text && all.indexOf(text) === i).join(', '),
    software: isSoftware(adapter.info),
    maxBufferBytes: Math.min(adapter.limits.maxBufferSize, adapter.limits.maxStorageBufferBindingSize),
    qualities: ['FAST', 'BALANCED', 'FINE'],
  };
};

/** The defaults (128 MiB per binding, 8 storage buffers) are too small for a large mesh: requests all that the adapter has. */
const limitsOf = (adapter: GPUAdapter): Record<string, number> => ({
  maxBufferSize: adapter.limits.maxBufferSize,
  maxStorageBufferBindingSize: adapter.limits.maxStorageBufferBindingSize,
  maxStorageBuffersPerShaderStage: Math.min(adapter.limits.maxStorageBuffersPerShaderStage, WANTED_STORAGE_BUFFERS),
});

const wrap = (gpu: GPU, adapter: GPUAdapter, findAgain: () => Promise<GPUAdapter | null>): OpenedAdapter => {
  const devices = new Map<GPUDevice, Promise<unknown>>();
  let isClosed = false;
  /** In the standard an adapter gives one device only; for each later one (after a loss) it has to be found again. */
  let unused: GPUAdapter | null = adapter;
  return {
    adapter,
    description: describe(adapter),
    requestDevice: async () => {
      if (isClosed) throw new Error('This adapter was closed; open it again.');
      const source = unused ?? (await findAgain());
      unused = null;
      if (!source) throw new Error(`The adapter ${nameOf(adapter.info)} has disappeared.`);
      const device = await source.requestDevice({
        label: 'interstice',
        requiredLimits: limitsOf(source),
        // For the time of each stage; without it the engine reports wall time.
        requiredFeatures: source.features.has('timestamp-query') ? ['timestamp-query'] : [],
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
    },
    close: async () => {
      isClosed = true;
      const gone = [...devices.values()];
      for (const device of devices.keys()) device.destroy();
      await Promise.all(gone);
      held.delete(gpu);
    },
  };
};

const createInstance = async (options: AdapterOptions): Promise<GPU> => {
  // Loaded here and not at the top: where only the CPU engine is used, the native module may be missing.
  const { create } = await import('webgpu');
  // By default Dawn rounds time stamps to 100 µs, to protect browsers from pages: most stages take less than that.
  const flags = ['disable-dawn-features=timestamp_quantization'];
  if (options.skipValidation) flags.push('enable-dawn-features=skip_validation');
  if (options.name !== undefined) flags.push(`adapter=${options.name}`);
  return create(flags);
};

/** Opens the adapter that fits the options. Where there is none, it does not throw: the answer gives the reason. */
export async function openAdapter(options: AdapterOptions): Promise<AdapterOpening> {
  let gpu: GPU;
  try {
    gpu = await createInstance(options);
  } catch (thrown) {
    return { reason: `the WebGPU binding does not load on this machine: ${messageOf(thrown)}` };
  }
  held.add(gpu);
  const refuse = (reason: string): AdapterOpening => {
    held.delete(gpu);
    return { reason };
  };
  const preference = options.powerPreference === undefined ? {} : { powerPreference: options.powerPreference };
  const wanted = options.name === undefined ? 'adapter' : `adapter named "${options.name}"`;
  const find = () => gpu.requestAdapter(preference);
  let adapter: GPUAdapter | null;
  try {
    adapter = await find();
  } catch (thrown) {
    // The binding throws where the standard answers null, with a list of the adapters that it has found.
    return refuse(
      `no ${wanted} was found (${messageOf(thrown)
        .trim()
        .replace(/\s*\n\s*/g, '; ')}). ${DRIVER_HINT}`,
    );
  }
  if (adapter === null) return refuse(`no ${wanted} was found. ${DRIVER_HINT}`);
  if (!options.allowSoftware && isSoftware(adapter.info)) {
    return refuse(`the only adapter is software (${nameOf(adapter.info)}), which was not allowed`);
  }
  return { opened: wrap(gpu, adapter, find) };
}
