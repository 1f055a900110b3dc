import { type Binding, bindingsOf, loadKernel } from '../shaders.js';
import { SHADER_STAGE } from './flags.js';

export interface BoundRange {
  readonly buffer: GPUBuffer;
  readonly offset?: number;
  readonly size?: number;
}

/** Indirect arguments: three u32 from this byte on. */
export interface Indirect {
  readonly buffer: GPUBuffer;
  readonly offset: number;
}

/** One entry point of a kernel file, compiled. All entry points of a file share one layout, and so may share bind groups. */
export class Kernel {
  private constructor(
    readonly name: string,
    readonly pipeline: GPUComputePipeline,
    readonly layout: GPUBindGroupLayout,
    readonly bindings: readonly Binding[],
  ) {}

  /**
   * @param file kernel under gpu/kernels, without .wgsl
   * @param constants values of its pipeline overrides
   * @throws Error when the text does not compile
   */
  static async load(
    device: GPUDevice,
    file: string,
    entryPoints: readonly string[],
    constants: Record<string, number> = {},
  ): Promise<Kernel[]> {
    const code = loadKernel(file);
    const bindings = bindingsOf(code);
    const layout = device.createBindGroupLayout({
      label: file,
      entries: bindings.map(({ index, type }) => ({
        binding: index,
        visibility: SHADER_STAGE.COMPUTE,
        buffer: { type },
      })),
    });
    const module = device.createShaderModule({ label: file, code });
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
    return Promise.all(
      entryPoints.map(async (entryPoint) => {
        const label = `${file}: ${entryPoint}`;
        const compute = { module, entryPoint, constants };
        const pipeline = await device.createComputePipelineAsync({ label, layout: pipelineLayout, compute });
        return new Kernel(label, pipeline, layout, bindings);
      }),
    );
  }

  /** @param buffers by the names that the kernel's text gives them */
  bind(device: GPUDevice, buffers: Readonly<Record<string, GPUBuffer | BoundRange>>): GPUBindGroup {
    return device.createBindGroup({
      label: this.name,
      layout: this.layout,
      entries: this.bindings.map(({ name, index }) => {
        const bound = buffers[name];
        if (bound === undefined) throw new Error(`${this.name} needs a buffer called ${name}`);
        return { binding: index, resource: 'buffer' in bound ? bound : { buffer: bound } };
      }),
    });
  }
}

/** A kernel with what it works on, and where the size of its dispatch is read from; undefined = one workgroup. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly group: GPUBindGroup;
  readonly size: Indirect | undefined;
}

export function recordDispatch(pass: GPUComputePassEncoder, { kernel, group, size }: Dispatch): void {
  pass.setPipeline(kernel.pipeline);
  pass.setBindGroup(0, group);
  if (size === undefined) pass.dispatchWorkgroups(1);
  else pass.dispatchWorkgroupsIndirect(size.buffer, size.offset);
}
