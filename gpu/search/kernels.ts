import { Kernel } from '../device/kernel.js';
import { ScanKernels } from './scan.js';

/** All kernels of a search. */
export class SearchKernels {
  static readonly #loaded = new WeakMap<GPUDevice, Promise<SearchKernels>>();

  private constructor(
    readonly scan: ScanKernels,
    readonly planSearch: Kernel,
    readonly settleSearch: Kernel,
    readonly fillTrustBoxes: Kernel,
    readonly boxElements: Kernel,
    readonly refitLeaves: Kernel,
    readonly refitNodes: Kernel,
    readonly markKept: Kernel,
    readonly gatherKept: Kernel,
    readonly settlePairs: Kernel,
    readonly walkPairs: Kernel,
  ) {}

  /** Compiled once a device. @throws Error when a kernel does not compile */
  static load(device: GPUDevice): Promise<SearchKernels> {
    let kernels = SearchKernels.#loaded.get(device);
    if (!kernels) {
      kernels = SearchKernels.#load(device);
      SearchKernels.#loaded.set(device, kernels);
    }
    return kernels;
  }

  static async #load(device: GPUDevice): Promise<SearchKernels> {
    const [scan, [plan, settle], [boxes], [elements], [leaves, nodes], [mark, gather, pairs], [walk]] =
      await Promise.all([
        ScanKernels.load(device),
        Kernel.load(device, 'search/plan', ['planSearch', 'settleSearch']),
        Kernel.load(device, 'search/trust-boxes', ['fillTrustBoxes']),
        Kernel.load(device, 'search/element-boxes', ['boxElements']),
        Kernel.load(device, 'search/refit', ['refitLeaves', 'refitNodes']),
        Kernel.load(device, 'search/keep-pairs', ['markKept', 'gatherKept', 'settlePairs']),
        Kernel.load(device, 'search/walk-pairs', ['walkPairs']),
      ]);
    return new SearchKernels(scan, plan, settle, boxes, elements, leaves, nodes, mark, gather, pairs, walk);
  }

  /** Every kernel there is. */
  get all(): readonly Kernel[] {
    const { plan, scanBlocks, addBlocks } = this.scan;
    return [
      ...[plan, scanBlocks, addBlocks, this.planSearch, this.settleSearch, this.fillTrustBoxes, this.boxElements],
      ...[this.refitLeaves, this.refitNodes, this.markKept, this.gatherKept, this.settlePairs, this.walkPairs],
    ];
  }
}
