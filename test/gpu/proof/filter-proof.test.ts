import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { findFilterObjection, loadProvenKernels } from '../../../gpu/proof/filter-proof.js';
import { openFilterDevice } from '../filter/filter-device.js';

const { device, options, close } = await openFilterDevice();
t.teardown(close);

t.test('this adapter may filter', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  t.equal(await findFilterObjection(gpu, await KernelSet.load(gpu, 'filter')), undefined);
  t.equal(await loadProvenKernels(gpu), await loadProvenKernels(gpu), 'the proof runs once per device');
});

t.test('an adapter may not filter if the bound does not cover its rounding', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  for (const constants of [{ MARGIN: 0 }, { SLACK_SHARE: 0 }] as Record<string, number>[]) {
    const objection = await findFilterObjection(
      gpu,
      await KernelSet.compile(gpu, ['filter'], { constants: { 'filter/walk': constants } }),
    );
    t.match(objection, /lost \d+ of \d+ intersections/, JSON.stringify(constants));
  }
  const useless = await findFilterObjection(
    gpu,
    await KernelSet.compile(gpu, ['filter'], { constants: { 'filter/walk': { MARGIN: 1e6 } } }),
  );
  t.match(useless, /doubts .* of all pairs/, 'nor one that is never certain');
});
