import t from 'tap';
import type { OpenedAdapter } from '../../../gpu/device/adapter.js';
import { CONVOY_VERTICES } from '../../../gpu/device/company.js';
import { LiveDevice } from '../../../gpu/device/live-device.js';
import { MemoryBudget } from '../../../gpu/device/memory.js';
import { stackSwap } from '../../solver/cases.js';
import { needAdapter, openSpecialEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';

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

t.test(
  'if the limit on device memory is too small for scenes together, a warning names a limit that is not',
  options,
  async (t) => {
    const limit = 3_000_000;
    const warnings: string[] = [];
    const listen = ({ message }: Error) => warnings.push(message);
    process.on('warning', listen);
    t.teardown(() => process.off('warning', listen));
    const special = { convoy: { scenes: 8, delay: 1 } };
    const { mesh, start, target } = stackSwap(2).build();
    const tight = await openSpecialEngine(t, { ...special, maxDeviceBytes: limit });
    t.equal(tight.together, undefined);
    t.equal(warnings.length, 1);
    const least = /^Every scene submits alone: .* take (\d+) bytes .* 3000000 .*INTERSTICE_MAX_DEVICE_BYTES/.exec(
      warnings[0]!,
    );
    t.ok(Number(least?.[1]) > limit, warnings[0]);
    const alone = await openCase(tight, mesh, start, target, { stepLimit: 4 });
    const { positions } = await alone.resolve();
    const ample = await openSpecialEngine(t, { ...special, maxDeviceBytes: Number(least?.[1]) });
    t.ok(ample.together);
    t.equal(warnings.length, 1);
    const together = await openCase(ample, mesh, start, target, { stepLimit: 4 });
    t.strictSame((await together.resolve()).positions, positions);
    t.ok(ample.convoyCounts!.submissions > 0, 'it has submitted in the convoy');
  },
);
