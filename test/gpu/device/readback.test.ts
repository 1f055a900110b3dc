import t from 'tap';
import { BUFFER_USAGE } from '../../../gpu/device/flags.js';
import { Reader } from '../../../gpu/device/readback.js';
import { openTestDevice } from '../../support/gpu.js';

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

t.test('Readings of many sizes keep little memory, and each gets its own bytes.', options, async (t) => {
  const memory = gpu!.memory.fork();
  const { device } = memory;
  const words = Uint32Array.from({ length: 4096 }, (_, n) => n);
  const source = memory.allocate('words', words.byteLength, BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST);
  device.queue.writeBuffer(source, 0, words);
  const reader = new Reader(memory);
  for (let count = 1; count < words.length; count += 37) {
    const reading = await reader.read([
      { buffer: source, bytes: 4 * count },
      { buffer: source, bytes: 4, offset: 4 * count },
    ]);
    const [all, last] = (await reading.wait()).map((bytes) => new Uint32Array(bytes));
    t.ok(all!.length === count && all!.every((word, n) => word === n) && last![0] === count && last!.length === 1);
  }
  t.ok(memory.bytes - source.size <= 4 * words.byteLength, `${memory.bytes} bytes`);
  reader.close();
  memory.free(source);
  t.equal(memory.bytes, 0);
});

t.test('Large readings whose sizes differ each time keep the memory of the largest.', options, async (t) => {
  const memory = gpu!.memory.fork();
  const source = memory.allocate('words', 2 ** 25, BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST);
  memory.device.queue.writeBuffer(source, 0, Uint32Array.of(7));
  const reader = new Reader(memory);
  // Beyond the sizes that are powers of two, up and down, with two readings at a time.
  const megabytes = [17, 19, 18, 21, 20, 23, 17, 22];
  for (const size of megabytes) {
    const slices = [{ buffer: source, bytes: size * 2 ** 20 }];
    const readings = [await reader.read(slices), await reader.read(slices)];
    readings[0]!.discard();
    const [bytes] = await readings[1]!.wait();
    t.equal(bytes!.byteLength, size * 2 ** 20);
    t.equal(new Uint32Array(bytes!, 0, 1)[0], 7);
  }
  const kept = memory.bytes - source.size;
  t.ok(kept <= 2 * Math.max(...megabytes) * 2 ** 20, `${kept} bytes`);
  reader.close();
  memory.free(source);
  t.equal(memory.bytes, 0);
});
