import t from 'tap';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { seeded } from '../../support/random.js';
import { PROTECT } from '../../verify/make-mesh.js';
import { compare, openFilterDevice } from './filter-device.js';
import { nearTouches } from './soups.js';

/** The tests of the filter must notice a missing bound: these use the same soups. */

const { device, options, close } = await openFilterDevice();
t.teardown(close);
const random = seeded();
t.comment(`seed ${random.seed}`);

t.test('without the margin for rounding, pairs that meet are cleared', options, async (t) => {
  if (!device) return;
  const kernels = await KernelSet.compile(device.memory.device, ['filter'], {
    constants: { 'filter/walk': { MARGIN: 0 } },
  });
  const { mesh, x } = nearTouches(random, 4000);
  const single = Float32Array.from(x);
  const faulty = await compare(device, mesh, single, PROTECT, { kernels });
  const missed = faulty.exact.intersectionCount - faulty.filtered.intersectionCount;
  t.ok(missed > 0, `${missed} of ${faulty.exact.intersectionCount} missed`);
  const sound = await compare(device, mesh, single, PROTECT);
  t.equal(sound.filtered.intersectionCount, sound.exact.intersectionCount, 'none with it');
});

t.test('without the slack for rounded coordinates, pairs that meet are cleared', options, async (t) => {
  if (!device) return;
  const kernels = await KernelSet.compile(device.memory.device, ['filter'], {
    constants: { 'filter/walk': { SLACK_SHARE: 0 } },
  });
  const { mesh, x } = nearTouches(random, 4000, 0, 1e-3);
  // Doubles that float32 cannot hold: the images move by far more than they are apart, and than the margin for rounding
  // allows to elements so small.
  const double = x.map((value) => 1000 + 1.1 * value);
  const faulty = await compare(device, mesh, double, PROTECT, { kernels });
  const missed = faulty.exact.intersectionCount - faulty.filtered.intersectionCount;
  t.ok(missed > 0, `${missed} of ${faulty.exact.intersectionCount} missed`);
  const sound = await compare(device, mesh, double, PROTECT);
  t.equal(sound.filtered.intersectionCount, sound.exact.intersectionCount, 'none with it');
});
