import { DISPATCH_BYTES, foldThreads, UNIFORM_STRIDE, useKernel } from '../device/dispatch.js';
import type { Kernel, KernelSet } from '../device/kernel.js';
import { EDGE_RANGE, SWEEP_RANGE } from '../kernels/structs.js';
import type { EntryPoint, KernelFile } from '../kernels/table.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Bindings to one of many structs in a buffer, whose name is the plural, and the size of the struct. */
const RANGES: Readonly<Record<string, number>> = {
  edgeRange: EDGE_RANGE.bytes,
  strainRange: EDGE_RANGE.bytes,
  sweepRange: SWEEP_RANGE.bytes,
};

/** A kernel and its bind groups, one a range; 0 where it binds none. */
interface Call {
  readonly kernel: Kernel;
  readonly groups: (GPUBindGroup | undefined)[];
}

/** Records dispatches of one scene's kernels, bound to its buffers by name. */
export class Dispatcher {
  readonly #kernels: KernelSet;
  readonly #buffers: SceneBuffers;
  /** recorded so far */
  dispatches = 0;
  readonly #calls = new Map<EntryPoint, Call>();
  /** bind groups of a file, by range: its entry points share them */
  readonly #groups = new Map<KernelFile, (GPUBindGroup | undefined)[]>();
  /** that of the buffers that the groups bind */
  #generation = -1;

  constructor(kernels: KernelSet, buffers: SceneBuffers) {
    this.#kernels = kernels;
    this.#buffers = buffers;
  }

  /** Whether the device has the kernel. */
  has(entry: EntryPoint): boolean {
    return this.#kernels.has(entry);
  }

  /** A thread per element, of which the host knows the number. @param range which struct of a range the kernel binds */
  direct(pass: GPUComputePassEncoder, entry: EntryPoint, threads: number, range = 0): void {
    this.#set(pass, entry, range);
    const [x, y] = foldThreads(threads);
    if (y === 1) pass.dispatchWorkgroups(x);
    else pass.dispatchWorkgroups(x, y);
  }

  /** A size that `decide` writes; nothing runs where the run has ended or paused. @param range as in direct */
  indirect(pass: GPUComputePassEncoder, entry: EntryPoint, slot: number, range = 0): void {
    this.#set(pass, entry, range);
    pass.dispatchWorkgroupsIndirect(this.#buffers.stepArguments, DISPATCH_BYTES * slot);
  }

  /** The size of a list that the step has made. */
  overCandidates(pass: GPUComputePassEncoder, entry: EntryPoint, slot: number): void {
    this.#set(pass, entry, 0);
    pass.dispatchWorkgroupsIndirect(this.#buffers.candidateArguments, DISPATCH_BYTES * slot);
  }

  #set(pass: GPUComputePassEncoder, entry: EntryPoint, range: number): void {
    if (this.#generation !== this.#buffers.generation) {
      this.#calls.clear();
      this.#groups.clear();
      this.#generation = this.#buffers.generation;
    }
    let call = this.#calls.get(entry);
    if (!call) {
      call = this.#callOf(entry);
      this.#calls.set(entry, call);
    }
    const group = call.groups[range] ?? this.#bind(call, range);
    this.dispatches++;
    useKernel(pass, call.kernel.pipeline, group);
  }

  #callOf(entry: EntryPoint): Call {
    const kernel = this.#kernels.get(entry);
    let groups = this.#groups.get(kernel.file);
    if (!groups) {
      groups = [];
      this.#groups.set(kernel.file, groups);
    }
    return { kernel, groups };
  }

  #bind({ kernel, groups }: Call, range: number): GPUBindGroup {
    const buffers = this.#buffers;
    const group = kernel.bind((name) => {
      const size = RANGES[name];
      return size === undefined
        ? buffers.named(name)
        : { buffer: buffers.named(`${name}s`), offset: UNIFORM_STRIDE * range, size };
    });
    groups[range] = group;
    return group;
  }
}
