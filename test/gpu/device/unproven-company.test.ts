import t from 'tap';
import type { OpenedAdapter } from '../../../gpu/device/adapter.js';
import { CONVOY_VERTICES } from '../../../gpu/device/company.js';
import { LiveDevice } from '../../../gpu/device/live-device.js';
import { MemoryBudget } from '../../../gpu/device/memory.js';
import { needAdapter } from '../../support/gpu.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { open, options } = await needAdapter();

t.test('if kernels of a convoy round differently, a warning says so, and scenes submit alone', options, async (t) => {
  const opened = await open();
  t.teardown(() => opened.close());
  let planted = 0;
  const requestDevice: OpenedAdapter['requestDevice'] = async () => {
    const { device, lost } = await opened.requestDevice();
    const create = device.createShaderModule.bind(device);
    device.createShaderModule = ({ code, ...rest }) => {
      // Those of a convoy only.
      const isShared = code.includes('scenePlaces');
      const faulty = isShared
        ? code.replace('n.x * d.x + n.y * d.y + n.z * d.z', 'n.z * d.z + n.y * d.y + n.x * d.x')
        : code;
      if (faulty !== code) planted++;
      return create({ ...rest, code: faulty });
    };
    return { device, lost };
  };
  const warnings: string[] = [];
  const device = await LiveDevice.open({ ...opened, requestDevice }, new MemoryBudget(), {
    convoy: { scenes: 8, delay: 1 },
    warn: (message) => warnings.push(message),
  });
  t.ok(planted > 0);
  t.equal(device.together, undefined);
  t.equal(warnings.length, 1);
  t.match(warnings[0], /Every scene submits alone: .*heights: scene 1 of 2 does not have the bytes that it has alone/);
  t.notOk((await device.forMesh({ vertexCount: CONVOY_VERTICES })).convoy);
  t.ok(device.isUsable);
});
