import t from 'tap';
import { FilterKernels } from '../../../gpu/filter/kernels.js';
import { findFilterObjection, loadProvenKernels } from '../../../gpu/filter/proof.js';
import { openFilterDevice } from './filter-device.js';

const { device, options, close } = await openFilterDevice();
t.teardown(close);

t.test('this adapter may filter', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  t.equal(await findFilterObjection(gpu, await FilterKernels.load(gpu)), undefined);
  t.equal(await loadProvenKernels(gpu), await loadProvenKernels(gpu), 'asked once a device');
});

t.test('an adapter whose rounding the bound does not cover may not', options, async (t) => {
  if (!device) return;
  const gpu = device.memory.device;
  for (const constants of [{ MARGIN: 0 }, { SLACK_SHARE: 0 }] as Record<string, number>[]) {
    const objection = await findFilterObjection(gpu, await FilterKernels.compile(gpu, constants));
    t.match(objection, /lost \d+ of \d+ intersections/, JSON.stringify(constants));
  }
  const useless = await findFilterObjection(gpu, await FilterKernels.compile(gpu, { MARGIN: 1e6 }));
  t.match(useless, /doubts .* of all pairs/, 'nor one that is never certain');
});
