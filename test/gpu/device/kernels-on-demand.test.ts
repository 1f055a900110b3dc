import t from 'tap';
import type { OpenedAdapter } from '../../../gpu/device/adapter.js';
import { CONVOY_VERTICES } from '../../../gpu/device/company.js';
import { constantsOf, KernelSet, serialThreads } from '../../../gpu/device/kernel.js';
import { LiveDevice, type LiveDeviceOptions } from '../../../gpu/device/live-device.js';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { SMALL_VERTICES } from '../../../gpu/kernels/constants.js';
import { STEP_STAGES } from '../../../gpu/kernels/table.js';
import { proveSweeps } from '../../../gpu/proof/sweeps-proof.js';
import { buildMesh } from '../../../src/mesh/build.js';
import { needAdapter } from '../../support/gpu.js';
import { shareOf } from '../../support/share.js';
import { ShortMemory } from '../../support/short-device.js';

// A software driver compiles every kernel on first use, and those with a fault each time: minutes on a busy machine.
t.setTimeout(600_000);

/** Threads of a workgroup that every adapter allows. */
const LEAST_THREADS = 256;
const SMALL = { vertexCount: SMALL_VERTICES };
const LARGE = { vertexCount: SMALL_VERTICES + 1 };
const IN_COMPANY = { vertexCount: CONVOY_VERTICES };
const { strain } = buildMesh({
  vertexCount: 3,
  triangles: Uint32Array.of(0, 1, 2),
  strainLimits: { rest: Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), max: 1.1 },
});
const STRAINED = { vertexCount: 3, strain };

type Pipeline = GPUComputePipelineDescriptor;

/** The adapter with a watch over the pipelines that its devices make. @param refuses what the driver does not take */
function watched(
  opened: OpenedAdapter,
  refuses: (wanted: Pipeline, device: GPUDevice) => boolean,
): [OpenedAdapter, labels: string[]] {
  const labels: string[] = [];
  const requestDevice: OpenedAdapter['requestDevice'] = async () => {
    const { device, lost } = await opened.requestDevice();
    const create = device.createComputePipelineAsync.bind(device);
    device.createComputePipelineAsync = async (wanted) => {
      if (refuses(wanted, device)) throw new Error('out of registers');
      labels.push(wanted.label ?? '');
      return create(wanted);
    };
    return { device, lost };
  };
  return [{ ...opened, requestDevice }, labels];
}

const { open, options } = await needAdapter();

/** @param lacks the buffers, by label, of which those in the device's account find no memory */
async function openWatched(
  refuses: (wanted: Pipeline, device: GPUDevice) => boolean = () => false,
  special: LiveDeviceOptions = {},
  lacks?: string,
) {
  const [short, budget] = [new ShortMemory(), new MemoryBudget()];
  // Proofs have accounts of their own.
  short.isRefused = (label) => label === lacks && budget.total > 0;
  const opened = await open({}, lacks === undefined ? undefined : short.open);
  t.teardown(() => opened.close());
  const [adapter, labels] = watched(opened, refuses);
  return { device: await LiveDevice.open(adapter, budget, special), labels };
}

/** Opens a device for scenes that submit together; their kernels of a stage are compiled after those for a scene alone. */
async function openTogether(
  refuses: (wanted: Pipeline, isShared: boolean, device: GPUDevice) => boolean,
  { storageBuffers, lacks }: { readonly storageBuffers?: number; readonly lacks?: string } = {},
  warnings: string[] = [],
) {
  const compiled = new Set<string>();
  const { device } = await openWatched(
    (wanted, device) => {
      const label = wanted.label ?? '';
      const isShared = compiled.has(label);
      compiled.add(label);
      return refuses(wanted, isShared, device);
    },
    { convoy: { scenes: 8, delay: 1 }, storageBuffers, warn: (message) => warnings.push(message) },
    lacks,
  );
  return { device, warnings };
}

t.test('sweeps in one workgroup are compiled once, for the first mesh that needs them', options, async (t) => {
  const { device, labels } = await openWatched();
  const count = (file: string) => labels.filter((label) => label.startsWith(`${file}/`)).length;
  const counts = () => ({ small: count('small'), few: count('few'), strain: count('strain') > 0 });
  t.strictSame(counts(), { small: 0, few: 0, strain: false });
  if (device.memory.device.limits.maxStorageBuffersPerShaderStage < 16)
    return t.comment('this adapter allows too few storage buffers');
  const strained = await device.forMesh(STRAINED);
  t.strictSame(counts(), { small: 0, few: 0, strain: true }, 'strain limits are swept by other kernels');
  t.notOk(strained.kernels.has('sweepSmall'));
  const [first, second] = await Promise.all([device.forMesh(SMALL), device.forMesh(SMALL)]);
  t.strictSame(counts(), { small: 1, few: 0, strain: true });
  for (const { kernels } of [first, second]) t.ok(kernels.has('sweepSmall') && !kernels.has('sweepFew'));
  const large = await device.forMesh(LARGE);
  t.strictSame(counts(), { small: 1, few: 1, strain: true });
  t.ok(large.kernels.has('sweepFew') && !large.kernels.has('sweepSmall'));
});

t.test('a driver that refuses a kernel', options, async (t) => {
  const refused = /^(small|strain)\/|^few\//;
  const { device } = await openWatched(
    ({ label, compute }) =>
      refused.test(label ?? '') ||
      Object.values(compute.constants ?? {}).some((value) => Number(value) > LEAST_THREADS),
  );
  for (const mesh of [SMALL, LARGE]) {
    const { kernels } = await device.forMesh(mesh);
    t.notOk(kernels.has('sweepSmall') || kernels.has('sweepFew'), 'steps go without it where others do the same');
    t.ok(kernels.has('warmTail'));
  }
  await t.rejects(
    device.forMesh(STRAINED),
    {
      code: 'INTERNAL',
      message: /no strain limits.* the kernel strain\/.*out of registers/,
      hint: /INTERSTICE_ENGINE/,
    },
    'and is named where none does',
  );
  t.ok(device.isUsable);
});

t.test('scenes submit together from the start, and sweep with the kernels of scenes alone', options, async (t) => {
  for (const refused of shareOf(['small of both', 'small of a convoy', undefined], 3)) {
    const { device, warnings } = await openTogether(
      ({ label }, isShared) =>
        /^small\//.test(label ?? '') && (isShared ? refused !== undefined : refused === 'small of both'),
    );
    t.strictSame(device.together, { jobs: 8, vertices: CONVOY_VERTICES });
    t.strictSame(warnings, []);
    const [alone, together] = [await device.forMesh(IN_COMPANY, false), await device.forMesh(IN_COMPANY)];
    t.ok(together.convoy && !alone.convoy);
    const hasSmall = refused === undefined && device.memory.device.limits.maxStorageBuffersPerShaderStage >= 16;
    t.equal(together.kernels.has('sweepSmall'), hasSmall);
    device.memory.device.destroy();
    await device.settle();
    device.close();
    t.equal(device.memory.budget.total, 0, 'a device that is gone holds nothing');
  }
});

t.test('if scenes cannot submit together, a warning says so, and each submits alone', options, async (t) => {
  const obstacles = [
    [/Every scene submits alone: .*forward\/write.*out of registers/, {}, true],
    [/Every scene submits alone: .* 11 storage buffers .* 12 are needed/, { storageBuffers: 11 }, false],
    [/Every scene submits alone: The device has no memory for the convoy/, { lacks: 'no sizes' }, false],
  ] as const;
  const given = shareOf([...obstacles, undefined], 4);
  if (given.includes(undefined)) {
    const warnings: string[] = [];
    const opening = openTogether(
      ({ label }, isShared, device) => {
        if (isShared && /^forward\/write/.test(label ?? '')) device.destroy();
        return false;
      },
      {},
      warnings,
    );
    await t.rejects(opening, { code: 'DEVICE_LOST' });
    t.strictSame(warnings, [], 'not of a device that is lost');
  }
  for (const [reason, adapter, isRefused] of given.filter((one) => one !== undefined)) {
    const { device, warnings } = await openTogether(
      ({ label }, isShared) => isRefused && isShared && /^forward\/write/.test(label ?? ''),
      adapter,
    );
    t.equal(device.together, undefined);
    t.equal(warnings.length, 1);
    t.match(warnings[0], reason);
    t.equal(device.memory.budget.total, 0, 'and what scenes would have shared is free');
    t.notOk((await device.forMesh(IN_COMPANY)).convoy);
  }
});

t.test('workgroups have as many threads as a card allows, and few on a processor', async (t) => {
  const threadsWith = (x: number, all: number, isFallbackAdapter = false) =>
    constantsOf({
      adapterInfo: { isFallbackAdapter },
      limits: { maxComputeWorkgroupSizeX: x, maxComputeInvocationsPerWorkgroup: all },
    } as GPUDevice);
  t.strictSame(threadsWith(256, 256), serialThreads(256));
  t.strictSame(threadsWith(1024, 512), serialThreads(512));
  t.strictSame(threadsWith(4096, 4096), serialThreads(1024));
  t.strictSame(threadsWith(1024, 1024, true), serialThreads(64));
});

t.test(
  'if the device refuses many threads per workgroup, it gets as many as every device allows',
  options,
  async (t) => {
    const opened = await open({ workgroupThreads: LEAST_THREADS });
    t.teardown(() => opened.close());
    const { device } = await opened.requestDevice();
    t.equal(device.limits.maxComputeInvocationsPerWorkgroup, LEAST_THREADS);
    const kernels = await KernelSet.compile(device, STEP_STAGES, { constants: serialThreads(4 * LEAST_THREADS) });
    const memory = new DeviceMemory(device, new MemoryBudget());
    t.strictSame(await proveSweeps(memory, kernels, ['rounds', 'lists']), { rounds: true, lists: true }, 'and works');
  },
);
