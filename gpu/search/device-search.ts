import type { LeftOutPairs } from '../../src/mesh/left-out-pairs.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { distancesByVertex } from '../../src/solver/part-distances.js';
import type { Settings } from '../../src/solver/settings.js';
import { DISPATCH_BYTES, type Dispatch, groupsFor, recordDispatch, UNIFORM_STRIDE } from '../device/dispatch.js';
import { BUFFER_USAGE } from '../device/flags.js';
import { type Kernel, KernelSet } from '../device/kernel.js';
import type { DeviceMemory } from '../device/memory.js';
import { OwnedPlaces } from '../device/owned-places.js';
import { type CopiedPart, copyParts, type Place, partOf, write } from '../device/place.js';
import type { Pass } from '../device/recording.js';
import type { StructValues } from '../device/struct.js';
import { MARKED_PAIRS, type SearchMode } from '../kernels/constants.js';
import { SEARCH_CONTROL } from '../kernels/structs.js';
import {
  type DispatchPlan,
  findWords,
  hasUpperNodes,
  packKinds,
  packRefits,
  planDispatches,
  type SearchStatus,
  searchLengthsOf,
} from './dispatch-plan.js';
import { bitsOf, composeTail, layOutSearch, type SearchLayout, type TopologyTail } from './layout.js';
import { DeviceScan, scanLevels } from './scan.js';

export type { SearchStatus };

type ControlValues = StructValues<typeof SEARCH_CONTROL>;

/** The resources of the dispatches whose buffers grow with P. */
interface SizedBindings {
  readonly plan: DispatchPlan;
  readonly buffers: Readonly<Record<'offsets' | 'sizes' | 'fixed' | 'total', Place>>;
  /** by the number of the uniform in the plan */
  readonly uniforms: readonly Place[];
}

const { STORAGE, UNIFORM, INDIRECT, COPY_SRC, COPY_DST } = BUFFER_USAGE;

/** The scene's buffers that a search reads and writes, by the names of scene-buffers.ts. */
export interface SearchBuffers {
  /** float32[3·V] */
  readonly x: Place;
  readonly y: Place;
  /** float32[V] */
  readonly inverseMass: Place;
  /** uint32[V] 1 = needs a new box; read in a partial search */
  readonly wanted: Place;
  /** float32[6·V] lo xyz, hi xyz */
  readonly box: Place;
  readonly pairVertex: Place;
  readonly pairInfo: Place;
  readonly pairNormal: Place;
  /** 4 bytes per pair: after a search 1 + the old place of a pair that was taken over, 0 for a new one */
  readonly pairDistance: Place;
  /** float32[12·V] x and the box of each vertex, in vectors of four as the walks read them; a search overwrites it */
  readonly motions: Place;
  /** at least 16 bytes per pair; a search overwrites them */
  readonly candidates: Place;
  readonly contacts: Place;
  readonly pairCapacity: number;
}

/**
 * Records the proximity search on the device: new trust boxes, then P, complete or not at all. It is recorded ahead;
 * the device decides from `control`, or from a status block, whether it runs and how large its dispatches are. Kernels:
 * gpu/kernels/search.
 *
 * A search that finds more pairs than there is room for writes none, sets `overflow` and `isValid` = 0 and states the
 * demand; the caller makes room (rebind), or requests smaller boxes, and records it again. P has a fixed order: kept
 * pairs first, then new ones by kind, each in the order of the trees.
 */
export class DeviceSearch {
  readonly layout: SearchLayout;
  /** SearchControl; STORAGE, readable */
  readonly control: Place;
  /** uint32[V] PASSIVE | KEPT of the last search */
  readonly mask: Place;

  readonly #memory: DeviceMemory;
  readonly #kernels: KernelSet;
  readonly #buffers: SearchBuffers;
  readonly #status: SearchStatus | undefined;
  /** buffers that live as long as the search */
  readonly #owned: OwnedPlaces;
  readonly #mesh: CollisionMesh;
  /** the words of the layout, of the tail and of the walks, one after the other */
  #topology: Place;
  #tail: TopologyTail;
  #settings: Settings;
  #excluded: LeftOutPairs | undefined;
  /** float32[8·slots] grown boxes of the elements */
  readonly #tree: Place;
  /** uint32[4·(nodes + slots)] nodes and slots as the walks read them (gpu/kernels/search/cells.wgsl) */
  readonly #cells: Place;
  /** the Refit of every tree (gpu/kernels/search/refit.wgsl) */
  readonly #refits: Place;
  /** uint32[6] the bounds of all boxes (gpu/kernels/search/extent.wgsl) */
  readonly #extent: Place;
  /** replaces a status block if there is none */
  readonly #spare: Place;
  /** buffers whose size depends on the pair capacity, and what is bound to them */
  #sized: Place[] = [];
  #sizedBindings: SizedBindings | undefined;
  #scan: DeviceScan | undefined;
  /** gpu/kernels/search/marks.wgsl; from word #finds on, what the queries found */
  #offsets: Place | undefined;
  #finds = 0;
  /** the copies to make before the next search */
  #carried:
    | { readonly earlier: Place; readonly parts: readonly CopiedPart[]; readonly between?: GPUBuffer | undefined }
    | undefined;
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
    this.#owned = new OwnedPlaces(memory);
    const own = this.#owned.add.bind(this.#owned);
    this.control = own('search control', SEARCH_CONTROL.bytes, STORAGE | UNIFORM | COPY_SRC | COPY_DST);
    this.mask = own('mask', 4 * vertexCount, STORAGE | COPY_SRC);
    this.#tail = this.#composeTail(undefined);
    this.#topology = this.#makeTopology(this.#tail);
    this.#tree = own('search boxes', 32 * layout.slots, STORAGE);
    this.#cells = own('search trees', 16 * (layout.nodes + layout.slots), STORAGE);
    const refits = packRefits(layout);
    this.#refits = own('search refits', refits.byteLength, STORAGE | COPY_DST);
    write(memory.device.queue, this.#refits, 0, refits);
    this.#extent = own('search extent', 24, STORAGE);
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
   * @param kernels of the search; default: those for one scene
   * @throws OUT_OF_DEVICE_MEMORY; Error if a kernel does not compile
   */
  static async open(
    memory: DeviceMemory,
    mesh: CollisionMesh,
    settings: Settings,
    x: Float32Array,
    buffers: SearchBuffers,
    status?: SearchStatus,
    kernels?: KernelSet,
  ): Promise<DeviceSearch> {
    const own = kernels ?? (await KernelSet.load(memory.device, 'search'));
    const layout = layOutSearch(mesh, x);
    const make = () => new DeviceSearch(memory, own, layout, mesh, settings, buffers, status);
    return memory.checkAllocations('the search', make);
  }

  /**
   * Adapts the search to new pair buffers. P is invalid: the next search starts over, or resumes the search that
   * overflowed, whose counts and finds {@link carry} copies once the device has reported that it has the memory.
   */
  rebind(): void {
    const earlier = this.#offsets;
    const earlierFinds = this.#finds;
    const kept = this.#sized.filter((buffer) => buffer !== earlier);
    this.#sized = earlier ? [earlier] : [];
    for (const buffer of kept) this.#memory.release(buffer);
    this.#scan?.destroy();
    this.#scan = undefined;
    this.#build();
    if (!earlier) return;
    const { queries } = this.layout;
    const to = this.#offsets as Place;
    const parts = [
      { from: earlier, at: 0, to, toAt: 0, bytes: 4 * queries },
      { from: earlier, at: 4 * earlierFinds, to, toAt: 4 * this.#finds, bytes: 4 * findWords(queries) },
    ];
    const { sharesBuffers } = this.#memory;
    const between = sharesBuffers
      ? this.#memory.allocate('carried', this.#largestPart, COPY_SRC | COPY_DST)
      : undefined;
    this.#carried = { earlier, parts, between };
  }

  /**
   * Copies the counts and finds of the buffers that {@link rebind} has replaced. No other method may be called between
   * the two.
   */
  carry(): void {
    if (!this.#carried) return;
    const { earlier, parts, between } = this.#carried;
    this.#carried = undefined;
    copyParts(this.#memory.device, parts, between);
    if (between) this.#memory.free(between);
    this.#sized = this.#sized.filter((buffer) => buffer !== earlier);
    this.#memory.release(earlier);
  }

  /**
   * Bytes that exist besides the new buffers until {@link carry} has returned: the old buffer, and the intermediate
   * one.
   */
  get carriedBytes(): number {
    if (!this.#offsets) return 0;
    return this.#offsets.size + (this.#memory.sharesBuffers ? this.#largestPart : 0);
  }

  /** Bytes of the larger of the two parts that are copied. */
  get #largestPart(): number {
    const { queries } = this.layout;
    return 4 * Math.max(queries, findWords(queries));
  }

  #build(): void {
    const { pairCapacity } = this.#buffers;
    this.#write({ capacity: pairCapacity, pairCount: 0, isValid: 0 });
    const blocks = Math.ceil(pairCapacity / MARKED_PAIRS);
    const entries = blocks + this.layout.queries;
    this.#finds = entries + blocks;
    const plan = planDispatches(this.layout, scanLevels(entries), this.#finds, this.#status, this.#tail);
    const offsets = this.#allocateSized(
      'search offsets',
      4 * (this.#finds + findWords(this.layout.queries)),
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
    write(queue, fixed, 0, Uint32Array.from(plan.groups));
    plan.uniforms.forEach((words, n) => {
      write(queue, uniforms, UNIFORM_STRIDE * n, words);
    });
    this.#scan = new DeviceScan(this.#memory, this.#kernels, {
      data: offsets,
      capacity: entries,
      count: { place: this.control, word: SEARCH_CONTROL.word('entries') },
      sizes: { place: sizes, offset: DISPATCH_BYTES * plan.scan },
    });
    const ranges = plan.uniforms.map((words, n) => partOf(uniforms, UNIFORM_STRIDE * n, words.byteLength));
    this.#sizedBindings = { plan, buffers: { offsets, sizes, fixed, total: this.#scan.total }, uniforms: ranges };
    this.#bindDispatches();
  }

  /** Declares that the buffers contain a complete P with its boxes, from another search of the same layout. */
  adopt(pairCount: number): void {
    this.#write({ pairCount, isValid: 1 });
  }

  /** The pairs that searches exclude, in addition to those of ignored parts; undefined = none. */
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

  /** Sets lengths and rules. P becomes invalid, and the next search starts over. */
  configure(settings: Settings): void {
    this.#write({ ...searchLengthsOf(settings), pairCount: 0, isValid: 0 });
    this.#settings = settings;
    const distances = distancesByVertex(this.#mesh, settings);
    if (!distances) return;
    write(this.#memory.device.queue, this.#topology, 4 * this.#tail.distances, bitsOf(distances));
  }

  /**
   * Excludes these pairs, and no others, from all later searches. P becomes invalid, and the next search starts over.
   * No work of the search may be pending.
   *
   * @throws OUT_OF_DEVICE_MEMORY, and nothing has changed
   */
  exclude(excluded: LeftOutPairs | undefined): void {
    const tail = this.#composeTail(excluded);
    const topology = this.#makeTopology(tail);
    this.#excluded = excluded;
    this.#tail = tail;
    this.#memory.release(this.#topology);
    this.#topology = topology;
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

  #makeTopology(tail: TopologyTail): Place {
    const parts = [this.layout.topology, tail.words, packKinds(this.layout, tail)];
    const bytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const buffer = this.#memory.place('search topology', bytes, STORAGE | COPY_DST);
    let at = 0;
    for (const words of parts) {
      write(this.#memory.device.queue, buffer, at, words);
      at += words.byteLength;
    }
    return buffer;
  }

  /** Dispatches that record() records. */
  get dispatches(): number {
    return this.#counting.length + this.#writing.length + (this.#scan?.dispatches ?? 0);
  }

  /** Records a whole search, which runs only if one is requested when the device reaches it. */
  record(pass: Pass): void {
    for (const dispatch of this.#counting) recordDispatch(pass, dispatch);
    this.#scan?.record(pass);
    for (const dispatch of this.#writing) recordDispatch(pass, dispatch);
  }

  destroy(): void {
    this.#release();
    this.#owned.close();
    this.#memory.release(this.#topology);
  }

  /** Binds every kernel to its buffers, in the order of their dispatches. */
  #bindDispatches(): void {
    if (!this.#sizedBindings) return;
    const { plan, buffers, uniforms } = this.#sizedBindings;
    const kernels = this.#kernels;
    const { x, y, inverseMass, wanted, box, pairVertex, pairInfo, pairNormal, pairDistance } = this.#buffers;
    const named = {
      ...{ x, y, inverseMass, wanted, box, pairVertex, pairInfo, pairNormal, pairDistance, ...buffers },
      ...{ keptVertex: this.#buffers.candidates, keptNormal: this.#buffers.contacts, vertices: this.#buffers.motions },
      ...{
        control: this.control,
        mask: this.mask,
        topology: this.#topology,
        tree: this.#tree,
      },
      ...{ cells: this.#cells, extent: this.#extent, refits: this.#refits },
      ...{ plan: uniforms[0], slots: uniforms[1], status: this.#status?.place ?? this.#spare },
    };
    let slot = 0;
    const { pairCapacity } = this.#buffers;
    const pairGroups = groupsFor(pairCapacity);
    const markGroups = groupsFor(Math.ceil(pairCapacity / MARKED_PAIRS));
    const sized = (kernel: Kernel, uniform: Record<string, Place> = {}): Dispatch => ({
      kernel,
      bindings: kernel.bindings({ ...named, ...uniform }),
      // For some dispatches the device computes it, from the number of pairs.
      most: slot === plan.mark ? Math.max(plan.groups[slot]!, markGroups) : plan.groups[slot] || pairGroups,
      size: { place: buffers.sizes, offset: DISPATCH_BYTES * slot++ },
    });
    const single = (kernel: Kernel): Dispatch => ({
      kernel,
      bindings: kernel.bindings(named),
      size: undefined,
      most: 1,
    });
    const walk = (isWriting: boolean): Dispatch =>
      sized(kernels.get('walkPairs'), { walk: uniforms[isWriting ? 3 : 2]! });
    this.#counting = [
      single(kernels.get('planSearch')),
      sized(kernels.get('fillTrustBoxes')),
      sized(kernels.get('boxElements')),
      sized(kernels.get('refitLeaves')),
      ...(hasUpperNodes(this.layout) ? [sized(kernels.get('refitNodes'))] : []),
      walk(false),
    ];
    slot = plan.gather;
    this.#writing = [
      single(kernels.get('settleSearch')),
      sized(kernels.get('gatherKept')),
      sized(kernels.get('settlePairs')),
      walk(true),
    ];
  }

  #write(values: Partial<ControlValues>): void {
    const { queue } = this.#memory.device;
    for (const [name, value] of Object.entries(values) as [keyof ControlValues, number][]) {
      write(queue, this.control, 4 * SEARCH_CONTROL.word(name), SEARCH_CONTROL.encode(name, value));
    }
  }

  #allocateSized(label: string, bytes: number, usage: number): Place {
    const buffer = this.#memory.place(label, bytes, usage);
    this.#sized.push(buffer);
    return buffer;
  }

  #release(): void {
    this.#scan?.destroy();
    this.#scan = undefined;
    for (const buffer of this.#sized) this.#memory.release(buffer);
    this.#sized = [];
    this.#sizedBindings = undefined;
    this.#counting = [];
    this.#writing = [];
  }
}
