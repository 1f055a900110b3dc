import t from 'tap';
import { UNIFORM_BYTES } from '../../../gpu/convoy/address.js';
import { DispatchEncoder } from '../../../gpu/convoy/encode.js';
import type { DeviceMemory } from '../../../gpu/device/memory.js';
import type { Launch } from '../../../gpu/device/recording.js';

/** A plan names buffers and needs no device. */
const memory = { allocate: () => ({}) } as unknown as DeviceMemory;

/** Bytes of the sizes of a scene with many colours of edges; they do not divide a uniform binding. */
const SIZES = 768;

/** Dispatches of scenes, of a kernel without buffers, whose sizes lie one after the other in one buffer. */
function sizedDispatches(count: number, uniforms: 'uniform' | 'read-only-storage'): Launch[] {
  const shared = { placeBytes: 32, bindings: [], uniforms };
  const kernel = { entryPoint: 'sweepSmall', file: 'small/sweeps', shared };
  // A device may allow buffers of any length.
  const buffer = { size: SIZES * count + 4 } as GPUBuffer;
  return Array.from({ length: count }, (_, n) => {
    const place = { buffer, offset: SIZES * n, size: SIZES };
    return { kernel, bindings: { ranges: [] }, size: { place, offset: 12 }, most: 1 } as unknown as Launch;
  });
}

t.test('sizes beyond the range of a uniform binding are bound in windows', async (t) => {
  const encoder = new DispatchEncoder(memory, true);
  const windowsOf = (launches: readonly Launch[]) => {
    const { merged, offsets, words } = encoder.plan(launches.map((one) => [one]));
    return merged.map(([{ sizes, launch }, ...others], n) => {
      [launch, ...others.map((one) => one.launch)].forEach(({ size }, scene) => {
        const at = 4 * words[offsets[n]! / 4 + 8 * scene + 2]!;
        if ('place' in size) t.equal(sizes.offset + at, size.place.offset + size.offset);
        t.ok(at + 12 <= UNIFORM_BYTES && sizes.offset + UNIFORM_BYTES <= sizes.buffer.size);
      });
      return [sizes.offset, 1 + others.length];
    });
  };
  const launches = sizedDispatches(250, 'uniform');
  t.strictSame(windowsOf(launches.slice(0, 60)), [[0, 60]], 'those in one window share a dispatch');
  const across = 85 * SIZES;
  t.strictSame(windowsOf(launches.slice(80, 140)), [
    [0, 5],
    [across, 1],
    [UNIFORM_BYTES, 54],
  ]);
  const last = 250 * SIZES - UNIFORM_BYTES;
  t.strictSame(windowsOf(launches.slice(190)), [[last, 60]]);
  const stored = sizedDispatches(250, 'read-only-storage').slice(80, 140);
  t.equal(encoder.plan(stored.map((one) => [one])).merged.length, 1, 'a storage buffer needs none');
});

t.test(
  'dispatches over the same buffers are merged, and their places are looked up again after they have moved',
  async (t) => {
    const encoder = new DispatchEncoder(memory, true);
    const bindings = [{ name: 'x', index: 0, type: 'storage', stride: 4 }];
    const kernel = {
      entryPoint: 'bound',
      file: 'forward/bound',
      shared: { placeBytes: 32, bindings, uniforms: 'uniform' },
    };
    const [first, second] = [{} as GPUBuffer, {} as GPUBuffer];
    const places = [0, 64, 128].map((offset) => ({ buffer: first, offset }));
    const launches = places.map(
      (range) => ({ kernel, bindings: { ranges: [range] }, size: [3, 1], most: 3 }) as unknown as Launch,
    );
    const plan = () => encoder.plan(launches.map((one) => [one]));
    const scenesOf = ({ merged }: ReturnType<typeof plan>) =>
      merged.map((scenes) => scenes.map(({ launch }) => launches.indexOf(launch)));

    const before = plan();
    t.strictSame(scenesOf(before), [[0, 1, 2]]);
    t.strictSame([...before.words.subarray(0, 5)], [3, 1, 0, 0, 0], 'workgroups, and the element of the first scene');
    t.strictSame(
      [8 + 4, 16 + 4].map((at) => before.words[at]),
      [16, 32],
      'the elements of the others',
    );

    Object.assign(places[1]!, { buffer: second, offset: 256 });
    encoder.forget();
    const after = plan();
    t.strictSame(scenesOf(after), [[0, 2], [1]], 'the scene in another buffer has a dispatch of its own');
    t.equal(after.words[after.offsets[1]! / 4 + 4], 64);
  },
);

t.test('a place that begins within an element is refused', async (t) => {
  const bindings = [{ name: 'motions', index: 0, type: 'storage', stride: 16 }];
  const kernel = {
    entryPoint: 'bound',
    file: 'forward/bound',
    shared: { placeBytes: 32, bindings, uniforms: 'uniform' },
  };
  const ranges = [{ buffer: {}, offset: 8 }];
  const launch = { kernel, bindings: { ranges }, size: [1, 1], most: 1 } as unknown as Launch;
  t.throws(() => new DispatchEncoder(memory, true).plan([[launch]]), /The place of motions begins within an element/);
});
