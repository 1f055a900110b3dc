import t from 'tap';
import { UNIFORM_BYTES } from '../../../gpu/convoy/address.js';
import { DispatchEncoder } from '../../../gpu/convoy/encode.js';
import type { DeviceMemory } from '../../../gpu/device/memory.js';
import type { Launch } from '../../../gpu/device/recording.js';

/** A plan names buffers and needs no device. */
const memory = { allocate: () => ({}) } as unknown as DeviceMemory;

/** A dispatch of a kernel without buffers, whose size lies at this byte of a buffer. */
function sizedAt(offset: number, uniforms: 'uniform' | 'read-only-storage'): Launch {
  const shared = { placeBytes: 32, bindings: [], uniforms };
  const place = { buffer: {} as GPUBuffer, offset, size: 256 };
  const kernel = { entryPoint: 'sweepSmall', file: 'small/sweeps', shared };
  return { kernel, bindings: { ranges: [] }, size: { place, offset: 0 }, most: 1 } as unknown as Launch;
}

t.test('sizes beyond the range of a uniform binding are refused', async (t) => {
  const encoder = new DispatchEncoder(memory, true);
  const last = UNIFORM_BYTES - 256;
  t.equal(encoder.plan([[sizedAt(last, 'uniform')]]).words[2], last / 4);
  t.throws(() => encoder.plan([[sizedAt(UNIFORM_BYTES, 'uniform')]]), /size of a dispatch lies behind the end/);
  t.equal(
    encoder.plan([[sizedAt(UNIFORM_BYTES, 'read-only-storage')]]).words[2],
    UNIFORM_BYTES / 4,
    'a storage buffer has no such limit',
  );
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
