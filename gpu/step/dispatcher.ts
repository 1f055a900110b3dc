import { DISPATCH_BYTES, foldThreads, groupsFor, launch, UNIFORM_STRIDE } from '../device/dispatch.js';
import type { Bindings, Kernel, KernelSet } from '../device/kernel.js';
import { partOf } from '../device/place.js';
import type { Launch, Pass } from '../device/recording.js';
import { STEP_SLOT } from '../kernels/constants.js';
import { EDGE_RANGE, SWEEP_RANGE } from '../kernels/structs.js';
import type { EntryPoint, KernelFile } from '../kernels/table.js';
import type { SceneBuffers } from './scene-buffers.js';

/** Names of bindings to one of several structs in a buffer, whose name is the plural, with the size of the struct. */
const RANGES: Readonly<Record<string, number>> = {
  edgeRange: EDGE_RANGE.bytes,
  strainRange: EDGE_RANGE.bytes,
  sweepRange: SWEEP_RANGE.bytes,
};

/** A kernel with its bindings, one set per range; 0 if it binds none. */
interface Call {
  readonly kernel: Kernel;
  readonly bindings: (Bindings | undefined)[];
}

/** Records dispatches of one scene's kernels, bound to its buffers by name. */
export class Dispatcher {
  readonly #kernels: KernelSet;
  readonly #buffers: SceneBuffers;
  /** number of dispatches recorded so far */
  dispatches = 0;
  readonly #calls = new Map<EntryPoint, Call>();
  /** bind groups of a file, by range, which its entry points share */
  readonly #bindings = new Map<KernelFile, (Bindings | undefined)[]>();
  /** the generation of the buffers that the groups bind */
  #generation = -1;

  constructor(kernels: KernelSet, buffers: SceneBuffers) {
    this.#kernels = kernels;
    this.#buffers = buffers;
  }

  /** Whether the device has the kernel. */
  has(entry: EntryPoint): boolean {
    return this.#kernels.has(entry);
  }

  /** One thread per element, whose number the host knows. @param range which struct of a range the kernel binds */
  direct(pass: Pass, entry: EntryPoint, threads: number, range = 0): void {
    const [x, y] = foldThreads(threads);
    this.#launch(pass, entry, range, [x, y], x * y);
  }

  /** A size that `decide` writes; nothing runs if the run has ended or paused. @param range as in direct */
  indirect(pass: Pass, entry: EntryPoint, slot: number, range = 0): void {
    const size = { place: this.#buffers.stepArguments, offset: DISPATCH_BYTES * slot };
    this.#launch(pass, entry, range, size, slot === STEP_SLOT.ONE ? 1 : this.#most);
  }

  /** The size of a list that the step has made. */
  overCandidates(pass: Pass, entry: EntryPoint, slot: number): void {
    const size = { place: this.#buffers.candidateArguments, offset: DISPATCH_BYTES * slot };
    this.#launch(pass, entry, 0, size, this.#most);
  }

  get #most(): number {
    return groupsFor(this.#buffers.pairCapacity);
  }

  #launch(pass: Pass, entry: EntryPoint, range: number, size: Launch['size'], most: number): void {
    if (this.#generation !== this.#buffers.generation) {
      this.#calls.clear();
      this.#bindings.clear();
      this.#generation = this.#buffers.generation;
    }
    let call = this.#calls.get(entry);
    if (!call) {
      call = this.#callOf(entry);
      this.#calls.set(entry, call);
    }
    this.dispatches++;
    const bindings = call.bindings[range] ?? this.#bind(call, range);
    launch(pass, { kernel: call.kernel, bindings, size, most });
  }

  #callOf(entry: EntryPoint): Call {
    const kernel = this.#kernels.get(entry);
    let bindings = this.#bindings.get(kernel.file);
    if (!bindings) {
      bindings = [];
      this.#bindings.set(kernel.file, bindings);
    }
    return { kernel, bindings };
  }

  #bind({ kernel, bindings }: Call, range: number): Bindings {
    const buffers = this.#buffers;
    const bound = kernel.bindings((name) => {
      const size = RANGES[name];
      return size === undefined ? buffers.named(name) : partOf(buffers.named(`${name}s`), UNIFORM_STRIDE * range, size);
    });
    bindings[range] = bound;
    return bound;
  }
}
