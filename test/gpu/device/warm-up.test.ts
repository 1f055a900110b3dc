import t, { type Test } from 'tap';
import type { OpenedAdapter, OpenedDevice } from '../../../gpu/device/adapter.js';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { warmUp } from '../../../gpu/device/warm-up.js';
import { needAdapter } from '../../support/gpu.js';

// A software driver compiles the kernels of the search several times: seconds on a quiet machine.
t.setTimeout(600_000);

const { open, options } = await needAdapter();

/** Watches which pipelines a device makes, of how many modules, and how often it is given work. */
function watch({ device, lost }: OpenedDevice) {
  const made: string[] = [];
  let submits = 0;
  let modules = 0;
  const createModule = device.createShaderModule.bind(device);
  device.createShaderModule = (wanted) => {
    modules++;
    return createModule(wanted);
  };
  const create = device.createComputePipelineAsync.bind(device);
  device.createComputePipelineAsync = async (wanted) => {
    made.push(wanted.label ?? '');
    return create(wanted);
  };
  const submit = device.queue.submit.bind(device.queue);
  device.queue.submit = (...work) => {
    submits++;
    return submit(...work);
  };
  return { opened: { device, lost }, made, submits: () => submits, modules: () => modules };
}

/** Refuses every device, and counts how often one is requested. */
function refusing() {
  let requests = 0;
  const requestHelper = async () => {
    requests++;
    throw new Error('no more devices');
  };
  return { requestHelper, requests: () => requests };
}

async function openSearch(t: Test): Promise<{ opened: OpenedAdapter; kernels: KernelSet; submits: () => number }> {
  const opened = await open();
  t.teardown(() => opened.close());
  const { opened: own, submits } = watch(await opened.requestDevice());
  return { opened, kernels: await KernelSet.compile(own.device, ['search']), submits };
}

t.test('Other devices compile a part of the kernels, and are gone afterwards.', options, async (t) => {
  const { opened, kernels, submits } = await openSearch(t);
  const helpers: ReturnType<typeof watch>[] = [];
  const requestHelper = async () => {
    const helper = watch(await opened.requestDevice());
    helpers.push(helper);
    return helper.opened;
  };
  await warmUp(kernels, { requestHelper, helpers: 2, compilingMs: 0 });
  t.equal(helpers.length, 2);
  const all = kernels.all.map(({ file, entryPoint }) => `${file}: ${entryPoint}`);
  const made = helpers.flatMap(({ made }) => made);
  t.equal(new Set(made).size, made.length, 'no kernel is compiled by two helpers');
  t.same(
    made.filter((label) => !all.includes(label)),
    [],
    'they compile kernels of this set only',
  );
  for (const { made, modules } of helpers) t.equal(modules(), made.length, 'they translate no other texts');
  // The kernels of this device one by one, and at the end all of them.
  t.equal(submits() - 1, all.length - made.length, 'each kernel is compiled by one device');
  const ends = await Promise.all(helpers.map(({ opened: { lost } }) => lost));
  t.same(
    ends.map(({ reason }) => reason),
    ['destroyed', 'destroyed'],
  );
});

t.test('Where kernels come from the driver without being compiled, no other device is opened.', options, async (t) => {
  const { kernels, submits } = await openSearch(t);
  const { requestHelper, requests } = refusing();
  await warmUp(kernels, { requestHelper, helpers: 1, compilingMs: Number.POSITIVE_INFINITY });
  await warmUp(kernels, { requestHelper, helpers: 0, compilingMs: 0 });
  const one = kernels.without(kernels.all.slice(1).map(({ entryPoint }) => entryPoint));
  await warmUp(one, { requestHelper, helpers: 1, compilingMs: 0 });
  t.equal(requests(), 0, 'nor where nothing is left for it');
  t.equal(submits(), kernels.all.length + 2, 'a device without helpers makes them all ready at once');
});

t.test('A helper that cannot be opened, or is lost, leaves its kernels to the device.', options, async (t) => {
  const { opened, kernels } = await openSearch(t);
  const { requestHelper, requests } = refusing();
  await warmUp(kernels, { requestHelper, helpers: 2, compilingMs: 0 });
  t.equal(requests(), 2);
  const lose = async () => {
    const helper = await opened.requestDevice();
    helper.device.destroy();
    return helper;
  };
  await warmUp(kernels, { requestHelper: lose, helpers: 1, compilingMs: 0 });
});

t.test('If the device itself fails, its helpers are gone before that is reported.', options, async (t) => {
  const { opened, kernels } = await openSearch(t);
  const helpers: OpenedDevice[] = [];
  let isFirst = true;
  const submit = kernels.device.queue.submit.bind(kernels.device.queue);
  kernels.device.queue.submit = (...work) => {
    if (!isFirst) throw new Error('the device does not take any more work');
    isFirst = false;
    return submit(...work);
  };
  const requestHelper = async () => {
    const helper = await opened.requestDevice();
    helpers.push(helper);
    return helper;
  };
  await t.rejects(warmUp(kernels, { requestHelper, helpers: 1, compilingMs: 0 }), /any more work/);
  t.equal(helpers.length, 1);
  const none = Symbol('none');
  t.not(await Promise.race([helpers[0]!.lost, Promise.resolve(none)]), none, 'it is gone already');
});
