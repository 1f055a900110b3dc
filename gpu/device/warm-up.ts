import type { SearchKernels } from '../search/kernels.js';
import type { Kernel as StepKernel, StepKernels } from '../step/kernels.js';
import { BUFFER_USAGE } from './flags.js';
import type { Kernel as SearchKernel } from './kernel.js';

/** Bytes of what stands in for every buffer: more than any uniform of a kernel. */
const STAND_IN_BYTES = 4096;

/** A kernel, and how its bindings are filled: by the place of each in the kernel. */
interface Warmable {
  readonly pipeline: GPUComputePipeline;
  bind(standIn: (place: number) => GPUBuffer): GPUBindGroup;
}

/**
 * Makes the driver finish the kernels of the search before the first request, as warmUpStep does those of a step. Apart,
 * so that the driver has work while the text of the other kernels is still being compiled.
 *
 * @throws GPUPipelineError when a kernel does not compile
 */
export async function warmUpSearch(device: GPUDevice, search: SearchKernels): Promise<void> {
  const bind = (kernel: SearchKernel, standIn: (place: number) => GPUBuffer): GPUBindGroup =>
    kernel.bind(device, Object.fromEntries(kernel.bindings.map(({ name }, place) => [name, standIn(place)])));
  await warmUp(
    device,
    search.all.map((kernel) => ({ pipeline: kernel.pipeline, bind: (standIn) => bind(kernel, standIn) })),
  );
}

export function warmUpStep(device: GPUDevice, step: StepKernels): Promise<void> {
  const bind = (file: StepKernel['file'], standIn: (place: number) => GPUBuffer): GPUBindGroup => {
    let place = 0;
    return step.bind(file, () => ({ buffer: standIn(place++) }));
  };
  return warmUp(
    device,
    step.all.map(({ file, pipeline }) => ({ pipeline, bind: (standIn) => bind(file, standIn) })),
  );
}

/**
 * Some drivers translate a pipeline to machine code only when it is first dispatched (software ones take most of ten
 * seconds over them all). Each is dispatched with no workgroups, from a size in memory, which the driver cannot know to be
 * none; nothing runs.
 */
async function warmUp(device: GPUDevice, kernels: readonly Warmable[]): Promise<void> {
  const { STORAGE, UNIFORM, INDIRECT } = BUFFER_USAGE;
  const owned: GPUBuffer[] = [];
  const create = (size: number, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ label: 'warm-up', size, usage });
    owned.push(buffer);
    return buffer;
  };
  /** by the place of a binding in its kernel: no buffer may stand at two places of one dispatch */
  const standIns: GPUBuffer[] = [];
  const standIn = (place: number): GPUBuffer =>
    (standIns[place] ??= create(STAND_IN_BYTES, STORAGE | UNIFORM | INDIRECT));
  try {
    // Nobody may be listening for errors of the device yet. Closed before anything is waited for, so that it holds no
    // calls but these.
    device.pushErrorScope('validation');
    const none = create(16, INDIRECT);
    const encoder = device.createCommandEncoder({ label: 'warm-up' });
    const pass = encoder.beginComputePass();
    for (const { pipeline, bind } of kernels) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bind(standIn));
      pass.dispatchWorkgroupsIndirect(none, 0);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
    const error = await device.popErrorScope();
    if (error) throw new Error(`the kernels cannot be made ready: ${error.message}`);
    await device.queue.onSubmittedWorkDone();
  } finally {
    for (const buffer of owned) buffer.destroy();
  }
}
