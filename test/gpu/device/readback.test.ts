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
