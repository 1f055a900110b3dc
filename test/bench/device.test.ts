import t from 'tap';
import { deviceOptions } from '../../bench/device.js';

t.test('benchmarks open the adapter of the settings, with Vulkan prepared', async (t) => {
  delete process.env.LP_NATIVE_VECTOR_WIDTH;
  process.env.INTERSTICE_ADAPTER = 'llvmpipe';
  t.match(deviceOptions(), { name: 'llvmpipe', allowSoftware: true, skipValidation: true });
  if (process.platform === 'linux') t.equal(process.env.LP_NATIVE_VECTOR_WIDTH, '128');
});
