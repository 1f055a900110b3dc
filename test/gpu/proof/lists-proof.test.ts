import t from 'tap';
import { type AdapterOpening, openAdapter } from '../../../gpu/device/adapter.js';
import { KernelSet } from '../../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { findListObjection, judgeList } from '../../../gpu/proof/lists-proof.js';
import type { GpuScene } from '../../../gpu/scene.js';
import { loadKernel } from '../../../gpu/shaders.js';
import { stackSwap } from '../../solver/cases.js';
import { needAdapter, openSpecialEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import { shareOf } from '../../support/share.js';

/** The proof that a forward step examines every pair that it has to. */

t.setTimeout(600_000);

const { open, options } = await needAdapter();

/** What a driver could make of the rule by which pairs are left out, and of the operations that give out places, with subgroups and without. */
const FAULTS = [
  {
    name: 'motions count for a little less than they are',
    from: 'motion.w * heightOf(n, motion.xyz)',
    to: '0.999 * motion.w * heightOf(n, motion.xyz)',
    verdict: /counted/,
  },
  {
    name: 'the second vertex of an edge is left out',
    from: 'lo = min(lo, to1);',
    to: '',
    verdict: /counted/,
  },
  {
    name: 'a gap of almost δ is enough',
    from: 'return gap > max(delta,',
    to: 'return gap > max(0.995 * delta,',
    verdict: /counted/,
  },
  {
    name: 'threads of a subgroup share a place',
    subgroups: true,
    from: 'subgroupBroadcastFirst(first) + before',
    to: 'subgroupBroadcastFirst(first)',
    verdict: /twice|should not be/,
  },
  {
    name: 'a subgroup uses the places of another one',
    subgroups: true,
    from: 'subgroupBroadcastFirst(first) + before',
    to: 'before',
    verdict: /twice|should not be/,
  },
  {
    name: 'threads that list nothing count',
    subgroups: true,
    from: 'let all = subgroupAdd(size);',
    to: 'let all = subgroupAdd(1u);',
    verdict: /counted/,
  },
  {
    name: 'not all threads that list are counted',
    subgroups: true,
    from: 'let all = subgroupAdd(size);',
    to: 'let all = min(subgroupAdd(size), 1u);',
    verdict: /counted/,
  },
  {
    name: 'two threads get one place',
    subgroups: false,
    from: 'place = atomicAdd(counter, size);',
    to: 'place = atomicAdd(counter, size) & 0xfffffffeu;',
    verdict: /twice|should not be/,
  },
  {
    name: 'a place is lost',
    subgroups: false,
    from: 'place = atomicAdd(counter, size);',
    to: 'place = atomicAdd(counter, 2u * size);',
    verdict: /counted/,
  },
] as const;

t.test('The judge rejects a list with an extra, a duplicate or a missing pair.', async (t) => {
  const isListed = [true, false, true, true];
  const judge = (...list: number[]) => judgeList(isListed, list.length, Uint32Array.from(list));
  t.equal(judge(3, 0, 2), undefined, 'in any order');
  t.match(judge(0, 2), /2 pairs were counted, not 3/);
  t.match(judge(0, 1, 2), /pair 1 .* should not be/);
  t.match(judge(0, 2, 2), /pair 2 is twice/);
});

t.test('The proof detects faults that would lose pairs, and accepts the kernels as they are.', options, async (t) => {
  for (const subgroups of [false, true]) {
    const opened = await open({ subgroups });
    t.teardown(() => opened.close());
    const { device } = await opened.requestDevice();
    const has = device.features.has('subgroups');
    if (has !== subgroups) {
      t.comment('the adapter has no subgroups');
      continue;
    }
    const prove = async (edit = (text: string) => text): Promise<string | undefined> => {
      const load = (file: string) => (file === 'forward/list-bounded-pairs' ? edit : String)(loadKernel(file, has));
      const kernels = await KernelSet.compile(device, ['forward'], { load });
      return findListObjection(new DeviceMemory(device, new MemoryBudget()), kernels);
    };
    t.equal(await prove(), undefined);
    const faults = FAULTS.filter((fault) => !('subgroups' in fault) || fault.subgroups === has);
    for (const { name, from, to, verdict } of shareOf(faults, 2)) {
      const plant = (text: string): string => {
        t.ok(text.includes(from), name);
        return text.replace(from, to);
      };
      t.match(await prove(plant), verdict, name);
    }
  }
});

t.test('A device whose subgroups fail is opened without them.', options, async (t) => {
  const devices: GPUDevice[] = [];
  const openFaulty = async (...[wishes]: Parameters<typeof openAdapter>): Promise<AdapterOpening> => {
    const { opened, reason } = await openAdapter({ ...wishes, subgroups: true });
    if (!opened) return { reason };
    const requestDevice = async (...wanted: Parameters<typeof opened.requestDevice>) => {
      const { device, lost } = await opened.requestDevice(...wanted);
      devices.push(device);
      return { device: withFaultySubgroups(device), lost };
    };
    return { opened: { ...opened, requestDevice } };
  };
  const engine = await openSpecialEngine(t, { open: openFaulty });
  if (!devices[0]!.features.has('subgroups')) return t.comment('the adapter has no subgroups');
  t.equal(devices.length, 2);
  t.match(await devices[0]!.lost, { reason: 'destroyed' });
  const { mesh, start, target } = stackSwap(3).build();
  const { scene, resolve } = await openCase(engine, mesh, start, target);
  t.equal((scene as GpuScene).memory.device.features.has('subgroups'), false);
  t.equal((await resolve()).status, 'CONVERGED');
  scene.close();
});

const withFaultySubgroups = (device: GPUDevice): GPUDevice =>
  new Proxy(device, {
    get(own, key) {
      if (key === 'createShaderModule') {
        return ({ code, ...rest }: GPUShaderModuleDescriptor) =>
          own.createShaderModule({ ...rest, code: code.replace('subgroupBroadcastFirst(first) + before', 'before') });
      }
      const value: unknown = Reflect.get(own, key, own);
      return typeof value === 'function' ? value.bind(own) : value;
    },
  });
