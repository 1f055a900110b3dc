import { BUFFER_USAGE, MAP_MODE } from '../../../gpu/device/flags.js';
import type { DeviceMemory } from '../../../gpu/device/memory.js';
import { type Place, write } from '../../../gpu/device/place.js';
import type { StructValues } from '../../../gpu/device/struct.js';
import { toFours, VECTOR_BYTES } from '../../../gpu/device/vectors.js';
import { SEARCH_CONTROL } from '../../../gpu/kernels/structs.js';
import { DeviceSearch, type SearchStatus } from '../../../gpu/search/device-search.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import type { Settings } from '../../../src/solver/settings.js';
import { keyOf } from '../../support/trust-oracle.js';

const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;

/** The result of a search on the device. */
export interface Found {
  readonly control: StructValues<typeof SEARCH_CONTROL>;
  /** float32[6·V] */
  readonly box: Float32Array<ArrayBuffer>;
  /** uint8[V] */
  readonly mask: Uint8Array;
  /** the first `count` pairs */
  readonly count: number;
  readonly vertex: Int32Array;
  readonly info: Uint32Array;
  readonly normal: Float32Array;
  readonly distance: Uint32Array;
}

export async function readBuffer(device: GPUDevice, { buffer }: Place, bytes = buffer.size): Promise<ArrayBuffer> {
  const readback = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, readback, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(MAP_MODE.READ);
  const copy = readback.getMappedRange().slice(0, bytes);
  readback.destroy();
  return copy;
}

/** Kind and vertices of every pair, in the order of P. */
export function keysFound({ count, info, vertex }: Found): string[] {
  return Array.from({ length: count }, (_, p) => {
    const ids = [...vertex.subarray(4 * p, 4 * p + CORNERS[info[p]])];
    const side = SIDE_A[info[p]];
    return keyOf(info[p], ids.slice(0, side), ids.slice(side));
  });
}

/** The buffers of one scene with a search over them. */
export class DeviceScene {
  readonly x: Place;
  readonly y: Place;
  readonly inverseMass: Place;
  readonly wanted: Place;
  readonly box: Place;
  readonly motions: Place;
  pairVertex!: Place;
  pairInfo!: Place;
  pairNormal!: Place;
  pairDistance!: Place;
  candidates!: Place;
  contacts!: Place;
  pairCapacity = 0;
  search!: DeviceSearch;

  readonly #memory: DeviceMemory;
  readonly #vertexCount: number;

  private constructor(memory: DeviceMemory, mesh: CollisionMesh, capacity: number) {
    const state = STORAGE | COPY_SRC | COPY_DST;
    this.#memory = memory;
    this.#vertexCount = mesh.vertexCount;
    this.x = memory.place('x', 12 * mesh.vertexCount, state);
    this.y = memory.place('y', VECTOR_BYTES * mesh.vertexCount, state);
    this.inverseMass = memory.place('inverseMass', 4 * mesh.vertexCount, state);
    this.wanted = memory.place('wanted', 4 * mesh.vertexCount, state);
    this.box = memory.place('box', 24 * mesh.vertexCount, state);
    this.motions = memory.place('motions', 3 * VECTOR_BYTES * mesh.vertexCount, state);
    write(this.#queue, this.inverseMass, 0, Float32Array.from(mesh.inverseMasses));
    this.reserve(capacity);
  }

  static async open(
    memory: DeviceMemory,
    mesh: CollisionMesh,
    settings: Settings,
    x: Float32Array,
    capacity: number,
    status?: SearchStatus,
  ): Promise<DeviceScene> {
    const scene = new DeviceScene(memory, mesh, capacity);
    scene.search = await DeviceSearch.open(memory, mesh, settings, x, scene, status);
    return scene;
  }

  get #queue(): GPUQueue {
    return this.#memory.device.queue;
  }

  /** Everything that grows with P. */
  get pairBuffers(): readonly Place[] {
    const { pairVertex, pairInfo, pairNormal, pairDistance, candidates, contacts } = this;
    return [pairVertex, pairInfo, pairNormal, pairDistance, candidates, contacts];
  }

  /** Allocates new pair buffers and sets every byte to 0xab, which shows what a search has not written. */
  reserve(capacity: number): void {
    for (const buffer of this.pairBuffers) {
      if (buffer) this.#memory.release(buffer);
    }
    const fresh = (label: string, bytes: number): Place => {
      const buffer = this.#memory.place(label, bytes, STORAGE | COPY_SRC | COPY_DST);
      write(this.#queue, buffer, 0, new Uint8Array(buffer.size).fill(0xab));
      return buffer;
    };
    this.pairVertex = fresh('pairVertex', 16 * capacity);
    this.pairInfo = fresh('pairInfo', 4 * capacity);
    this.pairNormal = fresh('pairNormal', 16 * capacity);
    this.pairDistance = fresh('pairDistance', 4 * capacity);
    this.candidates = fresh('candidates', 16 * capacity);
    this.contacts = fresh('contacts', 16 * capacity);
    this.pairCapacity = capacity;
    this.search?.rebind();
    this.search?.carry();
  }

  place(x: Float32Array, y: Float32Array, wanted?: Uint8Array): void {
    write(this.#queue, this.x, 0, Float32Array.from(x));
    write(this.#queue, this.y, 0, toFours(y));
    if (wanted) write(this.#queue, this.wanted, 0, Uint32Array.from(wanted));
  }

  /** Overrides a word of the search's control block. */
  set(name: keyof StructValues<typeof SEARCH_CONTROL>, value: number): void {
    write(this.#queue, this.search.control, 4 * SEARCH_CONTROL.word(name), SEARCH_CONTROL.encode(name, value));
  }

  /** Records a search, runs it and reads its result. */
  async run(): Promise<Found> {
    const { device } = this.#memory;
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    this.search.record(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    return this.read();
  }

  async read(): Promise<Found> {
    const { device } = this.#memory;
    const control = SEARCH_CONTROL.unpack(await readBuffer(device, this.search.control));
    const count = control.pairCount;
    const bytes = (buffer: Place, size: number): Promise<ArrayBuffer> => readBuffer(device, buffer, size);
    return {
      control,
      box: new Float32Array(await bytes(this.box, 24 * this.#vertexCount)),
      mask: Uint8Array.from(new Uint32Array(await bytes(this.search.mask, 4 * this.#vertexCount))),
      count,
      vertex: new Int32Array(await bytes(this.pairVertex, 16 * count)),
      info: new Uint32Array(await bytes(this.pairInfo, 4 * count)),
      normal: new Float32Array(await bytes(this.pairNormal, 16 * count)),
      distance: new Uint32Array(await bytes(this.pairDistance, 4 * count)),
    };
  }

  close(): void {
    this.search.destroy();
    for (const buffer of [this.x, this.y, this.inverseMass, this.wanted, this.box, this.motions])
      this.#memory.release(buffer);
    for (const buffer of this.pairBuffers) this.#memory.release(buffer);
  }
}
