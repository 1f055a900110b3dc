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
