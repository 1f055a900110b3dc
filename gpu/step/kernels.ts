import { SHADER_STAGE } from '../device/flags.js';
import { type EntryPoint, type KernelFile, kernelFilesOf } from '../kernels/table.js';
import { type Binding, bindingsOf, loadKernel } from '../shaders.js';

const ENTRIES = kernelFilesOf('backward', 'forward', 'control');

export interface Kernel {
  readonly file: KernelFile;
  readonly pipeline: GPUComputePipeline;
}

/** What a name of a binding stands for: a buffer, or a part of one. */
export type Resources = (name: string) => GPUBindingResource;

/** All kernels of a step, compiled for one device. */
export class StepKernels {
  readonly #device: GPUDevice;
  readonly #kernels: ReadonlyMap<EntryPoint, Kernel>;
  readonly #layouts: ReadonlyMap<KernelFile, { readonly layout: GPUBindGroupLayout; readonly bindings: Binding[] }>;

  private constructor(
    device: GPUDevice,
    kernels: ReadonlyMap<EntryPoint, Kernel>,
    layouts: ReadonlyMap<KernelFile, { readonly layout: GPUBindGroupLayout; readonly bindings: Binding[] }>,
  ) {
    this.#device = device;
    this.#kernels = kernels;
    this.#layouts = layouts;
  }

  /**
   * @param load the text of a kernel file; another one only in tests
   * @throws GPUPipelineError when a kernel does not compile, Error when its file is missing
   */
  static async compile(device: GPUDevice, load: (file: KernelFile) => string = loadKernel): Promise<StepKernels> {
    const layouts = new Map<KernelFile, { layout: GPUBindGroupLayout; bindings: Binding[] }>();
    const kernels = new Map<EntryPoint, Kernel>();
    await Promise.all(
      [...ENTRIES].map(async ([file, entryPoints]) => {
        const code = load(file);
        const bindings = bindingsOf(code);
        // Written out and not 'auto': entry points of one file then share their bindings, used or not.
        const layout = device.createBindGroupLayout({
          label: file,
          entries: bindings.map(({ index, type }) => ({
            binding: index,
            visibility: SHADER_STAGE.COMPUTE,
            buffer: { type },
          })),
        });
        layouts.set(file, { layout, bindings });
        const module = device.createShaderModule({ label: file, code });
        for (const entryPoint of entryPoints) {
          const pipeline = await device.createComputePipelineAsync({
            label: `${file}: ${entryPoint}`,
            layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
            compute: { module, entryPoint },
          });
          kernels.set(entryPoint, { file, pipeline });
        }
      }),
    );
    return new StepKernels(device, kernels, layouts);
  }

  get all(): readonly Kernel[] {
    return [...this.#kernels.values()];
  }

  kernel(entry: EntryPoint): Kernel {
    const kernel = this.#kernels.get(entry);
    if (!kernel) throw new Error(`no kernel ${entry}`);
    return kernel;
  }

  /** Binds what a kernel file names. */
  bind(file: KernelFile, resources: Resources): GPUBindGroup {
    const known = this.#layouts.get(file);
    if (!known) throw new Error(`no kernel file ${file}`);
    return this.#device.createBindGroup({
      label: file,
      layout: known.layout,
      entries: known.bindings.map(({ index, name }) => ({ binding: index, resource: resources(name) })),
    });
  }
}
