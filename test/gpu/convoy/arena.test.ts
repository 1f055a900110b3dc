import t from 'tap';
import { MOST_SCENES, UNIFORM_BYTES } from '../../../gpu/convoy/address.js';
import { Arena } from '../../../gpu/convoy/arena.js';
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

t.test('Places do not touch, begin empty, and keep what they hold when a buffer grows.', options, async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const { memory } = gpu!;
  const account = memory.fork();
  const arena = new Arena(account);
  const reader = new Reader(memory);
  const read = async (place: Place): Promise<Uint8Array> => {
    const encoder = memory.device.createCommandEncoder();
    const reading = reader.record(encoder, [sliceOf(place)]);
    memory.device.queue.submit([encoder.finish()]);
    return new Uint8Array((await reading.wait())[0]!);
  };
  const held: { readonly place: Place; readonly byte: number }[] = [];
  for (let round = 0; round < 60; round++) {
    if (held.length > 0 && random() < 0.4) {
      arena.give(held.splice(random.int(held.length), 1)[0]!.place);
      continue;
    }
    const bytes = 1 + random.int(30_000);
    const place = arena.take('x', bytes);
    t.ok(place.size >= bytes && place.offset % 256 === 0);
    t.ok(
      (await read(place)).every((byte) => byte === 0),
      'empty',
    );
    const byte = 1 + random.int(255);
    write(memory.device.queue, place, 0, new Uint8Array(place.size).fill(byte));
    held.push({ place, byte });
  }
  for (const { place, byte } of held) t.ok((await read(place)).every((one) => one === byte));
  for (const { place } of held) arena.give(place);
  t.equal(account.bytes, 0, 'the memory is free when the last place is');
  reader.close();
});

t.test('An arena says when no other scene finds room in a uniform binding.', options, async (t) => {
  const arena = new Arena(gpu!.memory.fork());
  const places: Place[] = [];
  while (arena.hasRoom) places.push(arena.take('parameters', PARAMETERS.bytes));
  t.ok(places.length >= 2 * MOST_SCENES);
  t.ok(places.every(({ offset, size }) => offset + size <= UNIFORM_BYTES));
  arena.give(places.pop()!);
  t.ok(arena.hasRoom, 'one has left');
  for (const place of places) arena.give(place);
});

t.test('A scene is read while others make its buffers move.', options, async (t) => {
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
  t.not(buffers.pairVertex.buffer, before, 'it has moved');
  const { pairs } = await reading;
  t.ok(vertex.every((word, n) => pairs?.vertex[n] === word));
  own.freeAll();
  others.freeAll();
});
