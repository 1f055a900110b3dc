import { EE, VE, VT, VV } from '../../src/solver/cpu/pairs.js';
import { ScanKernels } from '../scan.js';
import { Kernel } from './kernel.js';
import type { SearchLayout } from './layout.js';

/** All kernels of a search. Walks are compiled for each kind of pair on first need. */
export class SearchKernels {
  static readonly #loaded = new WeakMap<GPUDevice, Promise<SearchKernels>>();

  readonly #walks = new Map<number, Promise<Kernel>>();

  private constructor(
    readonly device: GPUDevice,
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
    const [scan, [plan, settle], [boxes], [elements], [leaves, nodes], [mark, gather, pairs]] = await Promise.all([
      ScanKernels.load(device),
      Kernel.load(device, 'search-plan', ['planSearch', 'settleSearch']),
      Kernel.load(device, 'boxes', ['fillTrustBoxes']),
      Kernel.load(device, 'element-boxes', ['boxElements']),
      Kernel.load(device, 'refit', ['refitLeaves', 'refitNodes']),
      Kernel.load(device, 'keep-pairs', ['markKept', 'gatherKept', 'settlePairs']),
    ]);
    return new SearchKernels(device, scan, plan, settle, boxes, elements, leaves, nodes, mark, gather, pairs);
  }

  /** Everything that any mesh may need, compiled. */
  async all(): Promise<readonly Kernel[]> {
    const { plan, scanBlocks, addBlocks } = this.scan;
    return [
      ...[plan, scanBlocks, addBlocks, this.planSearch, this.settleSearch, this.fillTrustBoxes, this.boxElements],
      ...[this.refitLeaves, this.refitNodes, this.markKept, this.gatherKept, this.settlePairs],
      ...(await Promise.all([VT, EE].map((kind) => this.#walk(kind)))),
    ];
  }

  /** The walks that a mesh needs, by kind. */
  async walksOf({ walks }: SearchLayout): Promise<ReadonlyMap<number, Kernel>> {
    const kinds = [VT, EE, VE, VV].filter((kind) => walks.some((walk) => walk.kind === kind));
    return new Map(await Promise.all(kinds.map(async (kind) => [kind, await this.#walk(kind)] as const)));
  }

  /** Free points are walked by the kernel of edges. */
  #walk(ofKind: number): Promise<Kernel> {
    const kind = ofKind === VT ? VT : EE;
    let kernel = this.#walks.get(kind);
    if (!kernel) {
      kernel = Kernel.load(this.device, 'walk-pairs', ['walkPairs'], { KIND: kind }).then(([loaded]) => loaded);
      this.#walks.set(kind, kernel);
    }
    return kernel;
  }
}
