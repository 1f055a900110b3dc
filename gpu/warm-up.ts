import { BUFFER_USAGE } from './flags.js';
import type { SearchKernels } from './search/kernels.js';
import type { StepKernels } from './step/kernels.js';

/** Bytes of what stands in for every buffer: more than any uniform of a kernel. */
const STAND_IN_BYTES = 4096;

/**
 * Makes the driver finish every kernel before the first request: some drivers translate a pipeline to machine code only
 * when it is first dispatched (software ones take most of ten seconds over them all). Each is dispatched with no
 * workgroups, from a size in memory, which the driver cannot know to be none; nothing runs.
 *
 * @throws GPUPipelineError when a kernel does not compile
 */
export async function warmUp(device: GPUDevice, step: StepKernels, search: SearchKernels): Promise<void> {
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
    const none = create(16, INDIRECT);
    const encoder = device.createCommandEncoder({ label: 'warm-up' });
    const pass = encoder.beginComputePass();
    const dispatch = (pipeline: GPUComputePipeline, group: GPUBindGroup): void => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroupsIndirect(none, 0);
    };
    for (const { file, pipeline } of step.all) {
      let place = 0;
      dispatch(
        pipeline,
        step.bind(file, () => ({ buffer: standIn(place++) })),
      );
    }
    for (const kernel of await search.all()) {
      const named = Object.fromEntries(kernel.bindings.map(({ name }, place) => [name, standIn(place)]));
      dispatch(kernel.pipeline, kernel.bind(device, named));
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
  } finally {
    for (const buffer of owned) buffer.destroy();
  }
}
