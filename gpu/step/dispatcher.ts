import { DISPATCH_BYTES, foldThreads, UNIFORM_STRIDE } from '../device/dispatch.js';
import type { Kernel, KernelSet } from '../device/kernel.js';
import { EDGE_RANGE } from '../kernels/structs.js';
import type { EntryPoint } from '../kernels/table.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Records dispatches of one scene's kernels, bound to its buffers by name. */
export class Dispatcher {
  readonly #kernels: KernelSet;
  readonly #buffers: SceneBuffers;
  /** recorded so far */
  dispatches = 0;
  /** bind groups by file and edge range, and the generation of the buffers that they bind */
  readonly #groups = new Map<string, GPUBindGroup>();
  #generation = -1;

  constructor(kernels: KernelSet, buffers: SceneBuffers) {
    this.#kernels = kernels;
    this.#buffers = buffers;
  }

  /** A thread per element, of which the host knows the number. */
  direct(pass: GPUComputePassEncoder, entry: EntryPoint, threads: number): void {
    this.#set(pass, entry, undefined);
    pass.dispatchWorkgroups(...foldThreads(threads));
  }

  /** A size that `decide` writes; nothing runs where the run has ended or paused. */
  indirect(pass: GPUComputePassEncoder, entry: EntryPoint, slot: number, edgeRange?: number): void {
    this.#set(pass, entry, edgeRange);
    pass.dispatchWorkgroupsIndirect(this.#buffers.stepArguments, DISPATCH_BYTES * slot);
  }

  /** The size of a list that the step has made. */
  overCandidates(pass: GPUComputePassEncoder, entry: EntryPoint, slot: number): void {
    this.#set(pass, entry, undefined);
    pass.dispatchWorkgroupsIndirect(this.#buffers.candidateArguments, DISPATCH_BYTES * slot);
  }

  #set(pass: GPUComputePassEncoder, entry: EntryPoint, edgeRange: number | undefined): void {
    const kernel = this.#kernels.get(entry);
    this.dispatches++;
    pass.setPipeline(kernel.pipeline);
    pass.setBindGroup(0, this.#group(kernel, edgeRange));
  }

  #group(kernel: Kernel, edgeRange: number | undefined): GPUBindGroup {
    const buffers = this.#buffers;
    if (this.#generation !== buffers.generation) {
      this.#groups.clear();
      this.#generation = buffers.generation;
    }
    const key = `${kernel.file} ${edgeRange ?? ''}`;
    let group = this.#groups.get(key);
    if (!group) {
      group = kernel.bind((name) =>
        name === 'edgeRange'
          ? { buffer: buffers.edgeRanges, offset: UNIFORM_STRIDE * (edgeRange ?? 0), size: EDGE_RANGE.bytes }
          : buffers.named(name),
      );
      this.#groups.set(key, group);
    }
    return group;
  }
}
