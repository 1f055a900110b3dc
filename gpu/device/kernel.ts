import { addressByScene, type SharedKernel } from '../convoy/address.js';
import { type EntryPoint, type KernelFile, type KernelStage, kernelFilesOf } from '../kernels/table.js';
import { type Binding, bindingsOf, loadKernel } from '../shaders.js';
import { SHADER_STAGE } from './flags.js';

export interface BoundRange {
  readonly buffer: GPUBuffer;
  readonly offset?: number;
  readonly size?: number;
}

type Resource = GPUBuffer | BoundRange;

/**
 * The resources to which the names in a kernel's text are bound: a record, or a function that is called in the order of
 * the bindings.
 */
export type Resources = Readonly<Record<string, Resource>> | ((name: string) => Resource | undefined);

/** One compiled entry point. All entry points of a file declare the same bindings and can share bind groups. */
export class Kernel {
  readonly file: KernelFile;
  readonly entryPoint: EntryPoint;
  readonly pipeline: GPUComputePipeline;
  readonly #device: GPUDevice;
  readonly #layout: GPUBindGroupLayout;
  readonly #bindings: readonly Binding[];
  /** how it addresses the scenes of a convoy; undefined = it runs for one scene */
  readonly shared: SharedKernel | undefined;

  constructor(
    device: GPUDevice,
    { file, entryPoint }: { readonly file: KernelFile; readonly entryPoint: EntryPoint },
    pipeline: GPUComputePipeline,
    layout: GPUBindGroupLayout,
    bindings: readonly Binding[],
    shared: SharedKernel | undefined,
  ) {
    this.shared = shared;
    this.#device = device;
    this.file = file;
    this.entryPoint = entryPoint;
    this.pipeline = pipeline;
    this.#layout = layout;
    this.#bindings = bindings;
  }

  /** @throws Error if a resource is missing */
  bind(resources: Resources): GPUBindGroup {
    return this.bindings(resources).group;
  }

  /** Returns the bindings of all entry points of the file. @throws Error if a resource is missing */
  bindings(resources: Resources): Bindings {
    const resourceOf = typeof resources === 'function' ? resources : (name: string) => resources[name];
    const ranges = this.#bindings.map(({ name }) => {
      const resource = resourceOf(name);
      if (resource === undefined)
        throw new Error(`The kernel ${this.file} binds "${name}", which no buffer is called.`);
      return 'buffer' in resource ? resource : { buffer: resource };
    });
    return new Bindings(this, ranges);
  }

  /** @param ranges in the order of the bindings @param more bindings that do not exist in the text for one scene */
  groupOf(ranges: readonly BoundRange[], more: readonly GPUBindGroupEntry[] = []): GPUBindGroup {
    return this.#device.createBindGroup({
      label: `${this.file}: ${this.entryPoint}`,
      layout: this.#layout,
      entries: [...this.#bindings.map(({ index }, n) => ({ binding: index, resource: ranges[n]! })), ...more],
    });
  }
}

/** The bindings of the kernels of a file, in order. */
export class Bindings {
  readonly #kernel: Kernel;
  #group: GPUBindGroup | undefined;

  /** @param kernel one kernel of the file */
  constructor(
    kernel: Kernel,
    readonly ranges: readonly BoundRange[],
  ) {
    this.#kernel = kernel;
  }

  /** The bind group for dispatches of one scene alone. */
  get group(): GPUBindGroup {
    this.#group ??= this.#kernel.groupOf(this.ranges);
    return this.#group;
  }
}

/** Thrown if the device refuses a kernel, or is lost. The message names the kernel. */
export class KernelRefused extends Error {}

/**
 * The threads of a workgroup that does serial work, on a processor: it runs them one after the other up to each barrier,
 * and each of them pays for the barrier. few/sweeps.wgsl needs so many.
 */
const SOFTWARE_SERIAL_THREADS = 64;

/** Largest number of threads of a workgroup that does serial work: with more threads it takes fewer turns. */
const MOST_SERIAL_THREADS = 1024;

/**
 * The same for sweeps over contacts. The registers of a multiprocessor are divided among the threads of a workgroup,
 * and with 1,024 a thread has too few for the contacts that it reads ahead (backward/run-queue-ahead.wgsl): an H100
 * takes up to four times as long as with 512.
 */
const MOST_SWEEP_THREADS = 512;

/** Pipeline constants that differ between devices. They do not affect any answer. */
export function constantsOf({
  adapterInfo,
  limits,
}: Pick<GPUDevice, 'adapterInfo' | 'limits'>): NonNullable<CompileOptions['constants']> {
  if (adapterInfo?.isFallbackAdapter) return serialThreads(SOFTWARE_SERIAL_THREADS);
  return serialThreads(
    Math.min(MOST_SERIAL_THREADS, limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
  );
}

/** Returns the constants of pipelines whose workgroups for serial work have up to this many threads. */
export function serialThreads(threads: number): NonNullable<CompileOptions['constants']> {
  const sweeping = Math.min(threads, MOST_SWEEP_THREADS);
  return {
    'backward/edges': { SERIAL_THREADS: threads },
    'backward/sweep': { SERIAL_THREADS: sweeping },
    'pull-back/edge-limits': { SERIAL_THREADS: threads },
    'pull-back/warm-sweep': { SERIAL_THREADS: sweeping },
    'pull-back/colours': { SERIAL_THREADS: sweeping },
    'small/sweeps': { SMALL_THREADS: sweeping },
    'few/sweeps': { SMALL_THREADS: sweeping },
    'listed/sweeps': { SERIAL_THREADS: sweeping },
    'chosen/select': { SERIAL_THREADS: threads },
  };
}

export interface CompileOptions {
  /** the text of a kernel file; tests plant faults in it */
  readonly load?: (file: KernelFile) => string;
  /** values of pipeline overrides, by file; if the device refuses them, the kernel's own values are used */
  readonly constants?: Readonly<Partial<Record<KernelFile, Record<string, number>>>>;
  /** for scenes that share their dispatches; default false */
  readonly isShared?: boolean;
  /** which kernels of the stages; default: all */
  readonly only?: (entry: EntryPoint) => boolean;
}

/** The kernels of one or several stages, compiled for one device. */
export class KernelSet {
  static readonly #loaded = new WeakMap<GPUDevice, Map<string, Promise<KernelSet>>>();
  readonly #kernels: ReadonlyMap<EntryPoint, Kernel>;

  private constructor(
    readonly device: GPUDevice,
    kernels: readonly Kernel[],
  ) {
    this.#kernels = new Map(kernels.map((kernel) => [kernel.entryPoint, kernel]));
  }

  /** Compiles the kernels once per device. @throws like compile */
  static load(device: GPUDevice, ...stages: readonly KernelStage[]): Promise<KernelSet> {
    return KernelSet.#loadOnce(device, stages, false);
  }

  /** The same kernels for scenes that share their dispatches. @throws like compile */
  static loadShared(device: GPUDevice, ...stages: readonly KernelStage[]): Promise<KernelSet> {
    return KernelSet.#loadOnce(device, stages, true);
  }

  static #loadOnce(device: GPUDevice, stages: readonly KernelStage[], isShared: boolean): Promise<KernelSet> {
    const ofDevice = KernelSet.#loaded.get(device) ?? new Map<string, Promise<KernelSet>>();
    KernelSet.#loaded.set(device, ofDevice);
    const key = [isShared, ...stages].join();
    const loaded = ofDevice.get(key) ?? KernelSet.compile(device, stages, { isShared });
    ofDevice.set(key, loaded);
    return loaded;
  }

  /** @throws KernelRefused; Error if the file of a kernel is missing */
  static async compile(
    device: GPUDevice,
    stages: readonly KernelStage[],
    { load, constants = constantsOf(device), isShared = false, only = () => true }: CompileOptions = {},
  ): Promise<KernelSet> {
    const compileFile = async (file: KernelFile, entryPoints: readonly EntryPoint[]): Promise<Kernel[]> => {
      const wanted = entryPoints.filter(only);
      if (wanted.length === 0) return [];
      const text = load?.(file) ?? loadKernel(file, device.features.has('subgroups'));
      const shared = isShared ? addressByScene(text) : undefined;
      const { code, bindings } = shared ?? { code: text, bindings: bindingsOf(text) };
      // An explicit layout, not 'auto', so that the entry points of a file share their bindings, used or not.
      const layout = device.createBindGroupLayout({
        label: file,
        entries: [
          ...bindings.map(({ index, type }) => ({
            binding: index,
            visibility: SHADER_STAGE.COMPUTE,
            buffer: { type },
          })),
          ...(shared ? sharedEntriesOf(shared) : []),
        ],
      });
      const module = device.createShaderModule({ label: file, code });
      const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
      return Promise.all(
        wanted.map(async (entryPoint) => {
          const label = `${file}: ${entryPoint}`;
          const create = (values: Record<string, number>) =>
            device.createComputePipelineAsync({
              label,
              layout: pipelineLayout,
              compute: { module, entryPoint, constants: values },
            });
          // Not every driver keeps to its limits: a workgroup of many threads may need more registers than there are.
          const pipeline = await create(constants[file] ?? {})
            .catch(() => create({}))
            .catch((thrown: unknown) => {
              const reason = thrown instanceof Error ? thrown.message.trim() : String(thrown);
              throw new KernelRefused(`The device does not take the kernel ${label}: ${reason}`, { cause: thrown });
            });
          return new Kernel(device, { file, entryPoint }, pipeline, layout, bindings, shared);
        }),
      );
    };
    const files = await Promise.all([...kernelFilesOf(...stages)].map(([file, entries]) => compileFile(file, entries)));
    return new KernelSet(device, files.flat());
  }

  /** These kernels and other kernels of the same device. */
  with(others: KernelSet): KernelSet {
    return new KernelSet(this.device, [...this.#kernels.values(), ...others.#kernels.values()]);
  }

  /** Returns all but these kernels. */
  without(entries: readonly EntryPoint[]): KernelSet {
    return new KernelSet(
      this.device,
      [...this.#kernels.values()].filter(({ entryPoint }) => !entries.includes(entryPoint)),
    );
  }

  /** All kernels, in the order of gpu/kernels/table.ts within each stage. */
  get all(): readonly Kernel[] {
    return [...this.#kernels.values()];
  }

  /** Whether the kernels are for scenes that share their dispatches. */
  get isShared(): boolean {
    return [...this.#kernels.values()].every(({ shared }) => shared !== undefined);
  }

  has(entry: EntryPoint): boolean {
    return this.#kernels.has(entry);
  }

  get(entry: EntryPoint): Kernel {
    const kernel = this.#kernels.get(entry);
    if (!kernel) throw new Error(`No kernel has the entry point ${entry}.`);
    return kernel;
  }
}

/** Returns the layout of the bindings of a kernel of a convoy besides the buffers of its scenes. */
const sharedEntriesOf = ({ places, sizes, uniforms }: SharedKernel): GPUBindGroupLayoutEntry[] => [
  { binding: places, visibility: SHADER_STAGE.COMPUTE, buffer: { type: 'uniform', hasDynamicOffset: true } },
  { binding: sizes, visibility: SHADER_STAGE.COMPUTE, buffer: { type: uniforms } },
];
