import type { LeftOutPairs } from '../../src/mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import type { Settings } from '../../src/solver/settings.js';
import { DISPATCH_BYTES, type Dispatch, recordDispatch, UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import { type BoundRange, type Kernel, KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import type { StructValues } from '../device/struct.js';
import type { SearchMode } from '../kernels/constants.js';
import { SEARCH_CONTROL } from '../kernels/structs.js';
import { type DispatchPlan, findWords, planDispatches, type SearchStatus, searchLengthsOf } from './dispatch-plan.js';
import { bitsOf, composeTail, layOutSearch, type SearchLayout, type TopologyTail } from './layout.js';
import { DeviceScan, scanLevels } from './scan.js';

export type { SearchStatus };

type ControlValues = StructValues<typeof SEARCH_CONTROL>;

/** What the dispatches bind of the buffers that grow with P. */
interface SizedBindings {
  readonly plan: DispatchPlan;
  readonly buffers: Readonly<Record<'offsets' | 'sizes' | 'fixed' | 'total', GPUBuffer>>;
  /** by the number of the uniform in the plan */
  readonly uniforms: readonly BoundRange[];
}

const { STORAGE, UNIFORM, INDIRECT, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** The scene's buffers that a search reads and writes, by the names of scene-buffers.ts. */
export interface SearchBuffers {
  /** float32[3·V] */
  readonly x: GPUBuffer;
  readonly y: GPUBuffer;
  /** float32[V] */
  readonly inverseMass: GPUBuffer;
  /** uint32[V] 1 = needs a new box; read in a partial search */
  readonly wanted: GPUBuffer;
  /** float32[6·V] lo xyz, hi xyz */
  readonly box: GPUBuffer;
  readonly pairVertex: GPUBuffer;
  readonly pairInfo: GPUBuffer;
  readonly pairNormal: GPUBuffer;
  /** 4 bytes per pair, all 0 after a search */
  readonly pairDistance: GPUBuffer;
  /** at least 16 bytes per pair; a search overwrites them */
  readonly candidates: GPUBuffer;
  readonly contacts: GPUBuffer;
  readonly pairCapacity: number;
}

/**
 * Records the proximity search on the device: new trust boxes, then P, complete or not at all. It is recorded ahead; the
 * device decides from `control`, or from a status block, whether it runs and how large its dispatches are. Kernels:
 * gpu/kernels/search.
 *
 * A search that finds more pairs than there is room for writes none, sets `overflow` and `isValid` = 0 and states the
 * demand; the caller makes room (rebind), or requests smaller boxes, and records it again. P has a fixed order: pairs
 * taken over, then by kind, each in the order of the trees.
 */
export class DeviceSearch {
  readonly layout: SearchLayout;
  /** SearchControl; STORAGE, readable */
  readonly control: GPUBuffer;
  /** uint32[V] PASSIVE | KEPT of the last search */
  readonly mask: GPUBuffer;

  readonly #memory: DeviceMemory;
  readonly #kernels: KernelSet;
  readonly #buffers: SearchBuffers;
  readonly #status: SearchStatus | undefined;
  /** buffers that live as long as the search */
  readonly #owned: GPUBuffer[] = [];
  readonly #mesh: CollisionMesh;
  /** the words of the layout and, behind them, the tail */
  #topology: GPUBuffer;
  #tail: TopologyTail;
  #settings: Settings;
  #excluded: LeftOutPairs | undefined;
  /** float32[8·slots] grown boxes of the elements */
  readonly #tree: GPUBuffer;
  /** uint32[4·(nodes + slots)] nodes and slots as the walks read them (gpu/kernels/search/cells.wgsl) */
  readonly #cells: GPUBuffer;
  /** uint32[6] the bounds of all boxes (gpu/kernels/search/extent.wgsl) */
  readonly #extent: GPUBuffer;
  /** float32[12·V] x and the box of each vertex, in vectors of four as the walks read them */
  readonly #vertices: GPUBuffer;
  /** stands in for a status block where there is none */
  readonly #spare: GPUBuffer;
  /** buffers whose size depends on the pair capacity, and what is bound to them */
  #sized: GPUBuffer[] = [];
  #sizedBindings: SizedBindings | undefined;
  #scan: DeviceScan | undefined;
  /** counts of the queries and, from word #finds on, what they found */
  #offsets: GPUBuffer | undefined;
  #finds = 0;
  /** dispatches before and after the prefix sum */
  #counting: Dispatch[] = [];
  #writing: Dispatch[] = [];

  private constructor(
    memory: DeviceMemory,
    kernels: KernelSet,
    layout: SearchLayout,
    mesh: CollisionMesh,
    settings: Settings,
    buffers: SearchBuffers,
    status: SearchStatus | undefined,
  ) {
    this.#memory = memory;
    this.#kernels = kernels;
    this.#buffers = buffers;
    this.#status = status;
    this.layout = layout;
    this.#mesh = mesh;
    this.#settings = settings;
    const { vertexCount } = mesh;
    const own = (label: string, bytes: number, usage: number): GPUBuffer => {
      const buffer = memory.allocate(label, bytes, usage);
      this.#owned.push(buffer);
      return buffer;
    };
    this.control = own('search control', SEARCH_CONTROL.bytes, STORAGE | UNIFORM | COPY_SRC | COPY_DST);
    this.mask = own('mask', 4 * vertexCount, STORAGE | COPY_SRC);
    this.#tail = this.#composeTail(undefined);
    this.#topology = this.#makeTopology();
    this.#tree = own('search boxes', 32 * layout.slots, STORAGE);
    this.#cells = own('search trees', 16 * (layout.nodes + layout.slots), STORAGE);
    this.#extent = own('search extent', 24, STORAGE);
    this.#vertices = own('search vertices', 48 * vertexCount, STORAGE);
    this.#spare = own('search status', 16, STORAGE);
    this.#write({
      ...searchLengthsOf(settings),
      budget: 0xffffffff,
      vertices: vertexCount,
      queries: layout.queries,
    });
    this.#build();
  }

  /**
   * @param x float32[3·V] any state, preferably that of the first request: it fixes the order of the trees
   * @throws Error when a kernel does not compile
   */
  static async open(
    memory: DeviceMemory,
    mesh: CollisionMesh,
    settings: Settings,
    x: Float32Array,
    buffers: SearchBuffers,
    status?: SearchStatus,
  ): Promise<DeviceSearch> {
    const kernels = await KernelSet.load(memory.device, 'search');
    const layout = layOutSearch(mesh, x);
    return new DeviceSearch(memory, kernels, layout, mesh, settings, buffers, status);
  }

  /**
   * Adapts the search to new pair buffers. P is void: the next search starts over, or resumes the search that
   * overflowed, whose counts and finds are carried over.
   */
  rebind(): void {
    const earlier = this.#offsets;
    const earlierFinds = this.#finds;
    const kept = this.#sized.filter((buffer) => buffer !== earlier);
    this.#sized = earlier ? [earlier] : [];
    for (const buffer of kept) this.#memory.free(buffer);
    this.#scan?.destroy();
    this.#scan = undefined;
    this.#build();
    if (!earlier) return;
    const { device } = this.#memory;
    const { queries } = this.layout;
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(earlier, 0, this.#offsets as GPUBuffer, 0, 4 * queries);
    const finds = 4 * findWords(queries);
    encoder.copyBufferToBuffer(earlier, 4 * earlierFinds, this.#offsets as GPUBuffer, 4 * this.#finds, finds);
    device.queue.submit([encoder.finish()]);
    this.#sized = this.#sized.filter((buffer) => buffer !== earlier);
    this.#memory.free(earlier);
  }

  /** Bytes of the old buffer that rebind() keeps until the new ones exist. */
  get carriedBytes(): number {
    return this.#offsets?.size ?? 0;
  }

  #build(): void {
    const { pairCapacity } = this.#buffers;
    this.#write({ capacity: pairCapacity, pairCount: 0, isValid: 0 });
    const entries = pairCapacity + this.layout.queries;
    const plan = planDispatches(this.layout, scanLevels(entries), entries, this.#status, this.#tail);
    this.#finds = entries;
    const offsets = this.#allocateSized(
      'search offsets',
      4 * (entries + findWords(this.layout.queries)),
      STORAGE | COPY_SRC | COPY_DST,
    );
    this.#offsets = offsets;
    const sizes = this.#allocateSized(
      'search sizes',
      DISPATCH_BYTES * plan.groups.length,
      STORAGE | INDIRECT | COPY_SRC,
    );
    const fixed = this.#allocateSized('search groups', 4 * plan.groups.length, STORAGE | COPY_DST);
    const uniforms = this.#allocateSized('search uniforms', UNIFORM_STRIDE * plan.uniforms.length, UNIFORM | COPY_DST);
    const { queue } = this.#memory.device;
    queue.writeBuffer(fixed, 0, Uint32Array.from(plan.groups));
    plan.uniforms.forEach((words, n) => {
      queue.writeBuffer(uniforms, UNIFORM_STRIDE * n, words);
    });
    this.#scan = new DeviceScan(this.#memory, this.#kernels, {
      data: offsets,
      capacity: entries,
      count: { buffer: this.control, word: SEARCH_CONTROL.word('entries') },
      sizes: { buffer: sizes, offset: DISPATCH_BYTES * plan.scan },
    });
    const ranges = plan.uniforms.map((words, n) => ({
      buffer: uniforms,
      offset: UNIFORM_STRIDE * n,
      size: words.byteLength,
    }));
    this.#sizedBindings = { plan, buffers: { offsets, sizes, fixed, total: this.#scan.total }, uniforms: ranges };
    this.#bindDispatches();
  }

  /** The buffers hold a complete P with its boxes, as another search of the same layout has left them. */
  adopt(pairCount: number): void {
    this.#write({ pairCount, isValid: 1 });
  }

  /** The pairs that searches exclude, besides those of ignored parts; undefined = none. */
  get excluded(): LeftOutPairs | undefined {
    return this.#excluded;
  }

  /** Adapts the search to new buffers `candidates` and `contacts`: P stays valid. */
  rebindShared(): void {
    this.#bindDispatches();
  }

  /** Sets what the next recorded search does, unless a status block says so. Lengths in engine units. */
  request(
    mode: SearchMode,
    limits: { readonly leap?: number; readonly reach?: number; readonly budget?: number } = {},
  ): void {
    this.#write({ ...limits, mode });
  }

  /** Sets lengths and rules; P is void, and the next search starts over. */
  configure(settings: Settings): void {
    this.#write({ ...searchLengthsOf(settings), pairCount: 0, isValid: 0 });
    this.#settings = settings;
    const distances = distancesByVertex(this.#mesh, settings);
    if (!distances) return;
    this.#memory.device.queue.writeBuffer(this.#topology, 4 * this.#tail.distances, bitsOf(distances));
  }

  /**
   * Excludes these pairs, and no others, from all later searches: P is void, and the next search starts over.
   * No work of the search may be pending.
   *
   * @throws OUT_OF_DEVICE_MEMORY, and nothing has changed
   */
  exclude(excluded: LeftOutPairs | undefined): void {
    const tail = this.#composeTail(excluded);
    this.#memory.budget.assertFits(4 * (tail.words.length - this.#tail.words.length), 'the list of excluded pairs');
    this.#excluded = excluded;
    this.#tail = tail;
    this.#memory.free(this.#topology);
    this.#topology = this.#makeTopology();
    this.#release();
    this.#build();
  }

  /** Whether these, and no others, are the excluded pairs. */
  excludes(excluded: LeftOutPairs | undefined): boolean {
    const present = this.#excluded;
    return present ? present.isSameAs(excluded) : !excluded || excluded.isSameAs(undefined);
  }

  #composeTail(excluded: LeftOutPairs | undefined): TopologyTail {
    const { vertexCount } = this.#mesh;
    const distances = distancesByVertex(this.#mesh, this.#settings);
    return composeTail(this.layout.topology.length, vertexCount, distances, excluded);
  }

  #makeTopology(): GPUBuffer {
    const { topology } = this.layout;
    const { words } = this.#tail;
    const bytes = topology.byteLength + words.byteLength;
    const buffer = this.#memory.allocate('search topology', bytes, STORAGE | COPY_DST);
    const { queue } = this.#memory.device;
    queue.writeBuffer(buffer, 0, topology);
    queue.writeBuffer(buffer, topology.byteLength, words);
    return buffer;
  }

  /** Dispatches that record() records. */
  get dispatches(): number {
    return this.#counting.length + this.#writing.length + (this.#scan?.dispatches ?? 0);
  }

  /** Records a whole search; it runs only if one is requested when the device gets there. */
  record(pass: GPUComputePassEncoder): void {
    for (const dispatch of this.#counting) recordDispatch(pass, dispatch);
    this.#scan?.record(pass);
    for (const dispatch of this.#writing) recordDispatch(pass, dispatch);
  }

  destroy(): void {
    this.#release();
    for (const buffer of this.#owned) this.#memory.free(buffer);
    this.#owned.length = 0;
    this.#memory.free(this.#topology);
  }

  /** Binds every kernel to its buffers, in the order of their dispatches. */
  #bindDispatches(): void {
    if (!this.#sizedBindings) return;
    const { plan, buffers, uniforms } = this.#sizedBindings;
    const kernels = this.#kernels;
    const { refits, walks } = this.layout;
    const { x, y, inverseMass, wanted, box, pairVertex, pairInfo, pairNormal, pairDistance } = this.#buffers;
    const named = {
      ...{ x, y, inverseMass, wanted, box, pairVertex, pairInfo, pairNormal, pairDistance, ...buffers },
      ...{ keptVertex: this.#buffers.candidates, keptNormal: this.#buffers.contacts },
      ...{
        control: this.control,
        mask: this.mask,
        topology: this.#topology,
        tree: this.#tree,
        vertices: this.#vertices,
      },
      ...{ cells: this.#cells, extent: this.#extent },
      ...{ plan: uniforms[0], slots: uniforms[1], status: this.#status?.buffer ?? this.#spare },
    };
    let slot = 0;
    const sized = (kernel: Kernel, uniform: Record<string, BoundRange> = {}): Dispatch => ({
      kernel,
      group: kernel.bind({ ...named, ...uniform }),
      size: { buffer: buffers.sizes, offset: DISPATCH_BYTES * slot++ },
    });
    const single = (kernel: Kernel): Dispatch => ({ kernel, group: kernel.bind(named), size: undefined });
    const walk = (first: number): Dispatch[] =>
      walks.map((_, n) => sized(kernels.get('walkPairs'), { walk: uniforms[first + n] }));
    this.#counting = [
      single(kernels.get('planSearch')),
      sized(kernels.get('fillTrustBoxes')),
      sized(kernels.get('boxElements')),
      ...refits.map(({ entry }, n) => sized(kernels.get(entry), { refit: uniforms[2 + n] })),
      sized(kernels.get('markKept')),
      ...walk(2 + refits.length),
    ];
    slot = plan.gather;
    this.#writing = [
      single(kernels.get('settleSearch')),
      sized(kernels.get('gatherKept')),
      sized(kernels.get('settlePairs')),
      ...walk(2 + refits.length + walks.length),
    ];
  }

  #write(values: Partial<ControlValues>): void {
    const { queue } = this.#memory.device;
    for (const [name, value] of Object.entries(values) as [keyof ControlValues, number][]) {
      queue.writeBuffer(this.control, 4 * SEARCH_CONTROL.word(name), SEARCH_CONTROL.encode(name, value));
    }
  }

  #allocateSized(label: string, bytes: number, usage: number): GPUBuffer {
    const buffer = this.#memory.allocate(label, bytes, usage);
    this.#sized.push(buffer);
    return buffer;
  }

  #release(): void {
    this.#scan?.destroy();
    this.#scan = undefined;
    for (const buffer of this.#sized) this.#memory.free(buffer);
    this.#sized = [];
    this.#sizedBindings = undefined;
    this.#counting = [];
    this.#writing = [];
  }
}
