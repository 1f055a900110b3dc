import { Kernel } from '../device/kernel.js';

/** The kernels of the state filter, compiled for one device. */
export class FilterKernels {
  static readonly #loaded = new WeakMap<GPUDevice, Promise<FilterKernels>>();

  private constructor(
    readonly boxTriangles: Kernel,
    readonly joinBoxes: Kernel,
    readonly walkEdges: Kernel,
  ) {}

  /** Compiled once a device. @throws Error when a kernel does not compile */
  static load(device: GPUDevice): Promise<FilterKernels> {
    let kernels = FilterKernels.#loaded.get(device);
    if (!kernels) {
      kernels = FilterKernels.compile(device);
      FilterKernels.#loaded.set(device, kernels);
    }
    return kernels;
  }

  /** @param constants other values of the walk's constants: for tests, which plant faults with them */
  static async compile(device: GPUDevice, constants: Record<string, number> = {}): Promise<FilterKernels> {
    const [[box, join], [walk]] = await Promise.all([
      Kernel.load(device, 'filter/boxes', ['boxTriangles', 'joinBoxes']),
      Kernel.load(device, 'filter/walk', ['walkEdges'], constants),
    ]);
    return new FilterKernels(box, join, walk);
  }
}
