import t from 'tap';
import { foldGroups } from '../../../gpu/device/dispatch.js';
import { BUFFER_USAGE, MAP_MODE } from '../../../gpu/device/flags.js';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { type Place, write } from '../../../gpu/device/place.js';
import { DeviceScan, scanLevels } from '../../../gpu/search/scan.js';
import { seeded } from '../../support/random.js';
import { openSharedDevice } from '../../support/shared-device.js';

const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
const MOST = 2 ** 32 - 1;

const { device } = await openSharedDevice(t);
const kernels = device && (await KernelSet.load(device, 'search'));

const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('The levels grow with the size.', async (t) => {
  for (const [size, levels] of [
    [0, 1],
    [1, 1],
    [1024, 1],
    [1025, 2],
    [2 ** 20, 2],
    [2 ** 20 + 1, 3],
    [2 ** 26, 3],
  ]) {
    t.equal(scanLevels(size), levels, `${size} entries`);
  }
});

t.test('Dispatches fold if one dimension is too short.', async (t) => {
  for (const groups of [0, 1, 65_535, 65_536, 100_000, 2 ** 20, 2 ** 26]) {
    const [x, y, z] = foldGroups(groups);
    t.ok(x <= 65_535 && y <= 65_535 && z === 1, `${groups}: ${x} × ${y}`);
    t.ok(x * y >= groups && (groups === 0 || x * (y - 1) < groups), 'enough, and no row too many');
  }
});

if (device && kernels) {
  const ledger = new MemoryBudget();
  const memory = new DeviceMemory(device, ledger);

  const read = async ({ buffer }: Place, words: number): Promise<Uint32Array> => {
    const size = Math.max(4, 4 * words);
    const readback = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, readback, 0, size);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(MAP_MODE.READ);
    const words32 = new Uint32Array(readback.getMappedRange().slice(0));
    readback.destroy();
    return words32.subarray(0, words);
  };

  /** Scans the first `count` of the values, with the count in word 3 of a buffer on the device. */
  const scan = async (values: Uint32Array<ArrayBuffer>, count: number) => {
    const data = memory.place('data', values.byteLength, STORAGE | COPY_SRC | COPY_DST);
    const counts = memory.place('counts', 16, STORAGE | COPY_DST);
    write(device.queue, data, 0, values);
    write(device.queue, counts, 0, Uint32Array.of(7, 7, 7, count));
    const prefix = new DeviceScan(memory, kernels, {
      data,
      capacity: values.length,
      count: { place: counts, word: 3 },
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    prefix.record(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    const sums = await read(data, values.length);
    const [total] = await read(prefix.total, 1);
    prefix.destroy();
    memory.release(data);
    memory.release(counts);
    return { sums, total };
  };

  const expected = (values: Uint32Array, count: number): { sums: Uint32Array; total: number } => {
    const sums = values.slice();
    let total = 0;
    for (let k = 0; k < count; k++) {
      sums[k] = total;
      total = Math.min(MOST, total + values[k]);
    }
    return { sums, total };
  };

  const isSame = (a: Uint32Array, b: Uint32Array): boolean =>
    Buffer.compare(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength),
      Buffer.from(b.buffer, b.byteOffset, b.byteLength),
    ) === 0;

  for (const [capacity, counts] of [
    [1, [0, 1]],
    [1024, [0, 1, 1023, 1024]],
    [1025, [0, 1, 1024, 1025]],
    [5000, [0, 7, 1024, 1025, 4999]],
    [2 ** 20 + 3000, [0, 12, 2 ** 20, 2 ** 20 + 1, 2 ** 20 + 3000]],
  ] as const) {
    t.test(`up to ${capacity} entries`, async (t) => {
      const values = Uint32Array.from({ length: capacity }, () => random.int(1000));
      for (const count of counts) {
        const { sums, total } = await scan(values, count);
        const wanted = expected(values, count);
        t.equal(total, wanted.total, `total of ${count}`);
        t.ok(isSame(sums, wanted.sums), `sums of ${count}, and nothing written beyond them`);
      }
    });
  }

  t.test('Sums that do not fit saturate, wherever they occur.', async (t) => {
    for (const size of [3, 2000, 1_100_000]) {
      const values = Uint32Array.from({ length: size }, () => (random() < 0.1 ? random.int(MOST) : random.int(3)));
      values[size - 1] = MOST;
      const { sums, total } = await scan(values, size);
      t.equal(total, MOST);
      t.ok(isSame(sums, expected(values, size).sums), `${size} entries`);
    }
  });

  t.test('A destroyed sum frees its memory.', async (t) => {
    t.equal(ledger.total, 0, [...ledger.byLabel].join(' '));
  });
}
