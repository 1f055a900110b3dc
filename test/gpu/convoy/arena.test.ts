import t from 'tap';
import { MOST_SCENES, UNIFORM_BYTES } from '../../../gpu/convoy/address.js';
import { Arena } from '../../../gpu/convoy/arena.js';
import { DispatchEncoder } from '../../../gpu/convoy/encode.js';
import { BUFFER_USAGE } from '../../../gpu/device/flags.js';
import { Bindings, type Kernel } from '../../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { type Place, sliceOf, write } from '../../../gpu/device/place.js';
import { Reader } from '../../../gpu/device/readback.js';
import { PARAMETERS } from '../../../gpu/kernels/structs.js';
import { readScene } from '../../../gpu/saved-scene.js';
import { planEdges } from '../../../gpu/step/edge-plan.js';
import { SceneBuffers } from '../../../gpu/step/scene-buffers.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { stackSwap } from '../../solver/cases.js';
import { openTestDevice } from '../../support/gpu.js';
import { seeded } from '../../support/random.js';

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const MIB = 2 ** 20;
/** Usages that do not go together. */
const MAP_AND_STORAGE = BUFFER_USAGE.MAP_READ | BUFFER_USAGE.STORAGE;

async function read(place: Place): Promise<Uint8Array> {
  const { memory } = gpu!;
  const reader = new Reader(memory);
  const reading = await reader.read([sliceOf(place)]);
  const [bytes] = await reading.wait();
  reader.close();
  return new Uint8Array(bytes!);
}

const fill = (place: Place, byte: number): void =>
  write(gpu!.memory.device.queue, place, 0, new Uint8Array(place.size).fill(byte));

const holds = async (place: Place, byte: number): Promise<boolean> => (await read(place)).every((one) => one === byte);

/** The device, which has no memory while `isFull`: then its buffers are invalid, and so is every call with them. */
const deviceThatMayBeFull = (isFull: () => boolean): GPUDevice =>
  new Proxy(gpu!.memory.device, {
    get(device, key) {
      if (key === 'createBuffer' && isFull()) {
        return ({ label, size }: GPUBufferDescriptor) => {
          device.pushErrorScope('validation');
          const buffer = device.createBuffer({ label: label ?? '', size, usage: MAP_AND_STORAGE });
          void device.popErrorScope();
          return buffer;
        };
      }
      if (key === 'popErrorScope') {
        const refusal = isFull() ? ({ message: 'full' } as GPUError) : null;
        return () => device.popErrorScope().then((error) => error ?? refusal);
      }
      const value: unknown = Reflect.get(device, key, device);
      return typeof value === 'function' ? value.bind(device) : value;
    },
  });

t.test('Places do not overlap, begin empty, and keep their content when a buffer grows.', options, async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const { memory } = gpu!;
  const account = memory.fork();
  const arena = new Arena(account);
  const held: { readonly place: Place; readonly byte: number }[] = [];
  for (let round = 0; round < 60; round++) {
    if (held.length > 0 && random() < 0.4) {
      arena.give(held.splice(random.int(held.length), 1)[0]!.place);
      continue;
    }
    const bytes = 1 + random.int(30_000);
    const place = arena.take('x', bytes);
    t.ok(place.size >= bytes && place.offset % 256 === 0);
    t.ok(await holds(place, 0), 'empty');
    const byte = 1 + random.int(255);
    fill(place, byte);
    held.push({ place, byte });
  }
  for (const { place, byte } of held) t.ok(await holds(place, byte));
  for (const { place } of held) arena.give(place);
  t.equal(account.bytes, 0, 'the memory is free when the last place is');
});

t.test('An arena reports when a uniform binding has no room for another scene.', options, async (t) => {
  const arena = new Arena(gpu!.memory.fork());
  const places: Place[] = [];
  while (arena.hasRoom) places.push(arena.take('parameters', PARAMETERS.bytes));
  t.throws(() => arena.take('parameters', PARAMETERS.bytes), { code: 'OUT_OF_DEVICE_MEMORY' });
  t.ok(places.length >= 2 * MOST_SCENES);
  t.ok(places.every(({ offset, size }) => offset + size <= UNIFORM_BYTES));
  arena.give(places.pop()!);
  t.ok(arena.hasRoom, 'one scene has left');
  for (const place of places) arena.give(place);
});

t.test('A scene can be read while others make its buffers move.', options, async (t) => {
  const { memory } = gpu!;
  const arena = new Arena(memory.fork());
  const [own, others] = [memory.fork(arena), memory.fork(arena)];
  const mesh = buildMesh(stackSwap(3).build().mesh);
  const count = 1000;
  const buffers = new SceneBuffers(own, mesh, planEdges(mesh, true), count);
  const vertex = Int32Array.from({ length: 4 * count }, (_, n) => n);
  write(memory.device.queue, buffers.pairVertex, 0, vertex);
  const { vertexCount } = mesh;
  const orderedAt = new Float32Array(3 * vertexCount);
  const reading = readScene(own, buffers, { orderedAt, excluded: undefined, vertexCount, pairs: { count, radius: 1 } });
  const before = buffers.pairVertex.buffer;
  await others.checkAllocations('a larger scene', () => others.place('pairVertex', 2 * before.size, 0));
  t.not(buffers.pairVertex.buffer, before, 'the buffer has moved');
  const { pairs } = await reading;
  t.ok(vertex.every((word, n) => pairs?.vertex[n] === word));
  own.freeAll();
  others.freeAll();
});

t.test(
  'A scene for which the device has no memory does not change the places of the other scenes.',
  options,
  async (t) => {
    let isFull = false;
    const memory = new DeviceMemory(
      deviceThatMayBeFull(() => isFull),
      new MemoryBudget(),
    );
    const arena = new Arena(memory.fork());
    const accounts = Array.from({ length: 4 }, () => memory.fork(arena));
    const open = (n: number, bytes: number) =>
      accounts[n]!.checkAllocations('a scene', () => {
        const place = accounts[n]!.place('x', bytes, 0);
        write(memory.device.queue, place, 0, new Uint8Array(16));
        return place;
      });
    const reported: string[] = [];
    memory.device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      reported.push(event.error.message);
    });
    const first = await open(0, MIB);
    fill(first, 1);
    const { buffer, offset } = first;
    isFull = true;
    const refused = open(1, 8 * MIB);
    isFull = false;
    const besides = open(2, 8 * MIB);
    await t.rejects(refused, { code: 'OUT_OF_DEVICE_MEMORY' });
    await t.rejects(besides, { code: 'OUT_OF_DEVICE_MEMORY' }, 'its place was in the same buffer');
    t.strictSame(
      accounts.map(({ isExhausted }) => isExhausted),
      [false, true, true, false],
    );
    t.ok(first.buffer === buffer && first.offset === offset);
    t.strictSame(reported, [], 'the device reports no error');
    const second = await open(3, 8 * MIB);
    t.ok((await holds(first, 1)) && (await holds(second, 0)));
    t.equal(first.buffer, second.buffer, 'there was memory for both');
    for (const account of accounts) account.freeAll();
    t.equal(memory.budget.total, 0);
  },
);

t.test('Places that fit are not refused for lack of spare room or of one buffer for all.', options, async (t) => {
  const { device } = gpu!.memory;
  for (const [limit, binding] of [
    [5 * MIB, Number.POSITIVE_INFINITY],
    [Number.POSITIVE_INFINITY, 2 * MIB],
  ]) {
    const memory = new DeviceMemory(device, new MemoryBudget(limit), binding);
    const arena = new Arena(memory.fork());
    const places = Array.from({ length: 5 }, () => arena.take('x', MIB));
    t.ok(await arena.settle(places));
    for (const [n, place] of places.entries()) fill(place, 1 + n);
    for (const [n, place] of places.entries()) t.ok(await holds(place, 1 + n));
    t.throws(() => arena.take('x', 8 * MIB), { code: binding === 2 * MIB ? 'TOO_LARGE' : 'OUT_OF_DEVICE_MEMORY' });
    for (const place of places) arena.give(place);
    t.equal(memory.budget.total, 0);
  }
});

t.test('After most scenes have left, the others move to a smaller buffer.', options, async (t) => {
  const account = gpu!.memory.fork();
  let frees = 0;
  const arena = new Arena(account, () => frees++);
  const places = Array.from({ length: 64 }, () => arena.take('x', MIB / 4));
  t.ok(await arena.settle(places));
  const kept = [places[60]!, places[20]!, places[40]!];
  for (const [n, place] of kept.entries()) fill(place, 1 + n);
  const before = frees;
  for (const place of places) if (!kept.includes(place)) arena.give(place);
  while (account.bytes > 2 * MIB) await new Promise((resolve) => setImmediate(resolve));
  for (const [n, place] of kept.entries()) t.ok(await holds(place, 1 + n));
  t.ok(frees > before, 'the arena reports that a buffer was freed');
  for (const place of kept) arena.give(place);
  t.equal(account.bytes, 0);
});

t.test('No bind group outlives the buffers that it binds.', options, async (t) => {
  const memory = gpu!.memory.fork();
  let groups = 0;
  const pass = { setPipeline() {}, setBindGroup() {}, dispatchWorkgroups() {}, end() {} };
  const shared = {
    bindings: [{ name: 'x', type: 'storage', stride: 4 }],
    placeBytes: 32,
    uniforms: 'read-only-storage',
  };
  const kernel = {
    entryPoint: 'run',
    file: 'some/file',
    shared,
    groupOf: () => ({ number: groups++ }),
  } as unknown as Kernel;
  const encoder = new DispatchEncoder(memory, true);
  const arena = new Arena(memory.fork(), () => encoder.forget());
  const place = arena.take('x', 1);
  const launch = { kernel, bindings: new Bindings(kernel, [place]), size: [1, 1], most: 1 } as const;
  await encoder.reserve(encoder.plan([[launch]]));
  const encode = () =>
    encoder.encode({ beginComputePass: () => pass } as unknown as GPUCommandEncoder, encoder.plan([[launch]]));
  for (let n = 0; n < 3; n++) encode();
  t.equal(groups, 1);
  arena.give(arena.take('another', 1));
  encode();
  t.equal(groups, 2);
  arena.give(place);
  encoder.close();
});
