import t from 'tap';
import { addressByScene } from '../../../gpu/convoy/address.js';
import { Convoy } from '../../../gpu/convoy/convoy.js';
import { launch } from '../../../gpu/device/dispatch.js';
import { BUFFER_USAGE, SHADER_STAGE } from '../../../gpu/device/flags.js';
import { Bindings, Kernel } from '../../../gpu/device/kernel.js';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { type Place, sliceOf, write } from '../../../gpu/device/place.js';
import type { KernelFile } from '../../../gpu/kernels/table.js';
import { needAdapter } from '../../support/gpu.js';
import { ShortMemory } from '../../support/short-device.js';

/** What a convoy cannot submit is refused to as few scenes as possible, and leaves it as it was. */

const { options } = await needAdapter();

/** Each word of a scene counts its dispatches. */
const KERNEL = `
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn run(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) local: u32) {
  x[64u * group.x + local] += 1u;
}`;

async function compile(device: GPUDevice): Promise<Kernel> {
  const shared = addressByScene(KERNEL);
  const visibility = SHADER_STAGE.COMPUTE;
  const layout = device.createBindGroupLayout({
    entries: [
      ...shared.bindings.map(({ index, type }) => ({ binding: index, visibility, buffer: { type } })),
      { binding: shared.places, visibility, buffer: { type: 'uniform', hasDynamicOffset: true } },
      { binding: shared.sizes, visibility, buffer: { type: shared.uniforms } },
    ],
  });
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code: shared.code }), entryPoint: 'run' },
  });
  const name = { file: 'some/file' as KernelFile, entryPoint: 'run' as Kernel['entryPoint'] };
  return new Kernel(device, name, pipeline, layout, shared.bindings, shared);
}

t.test('A convoy continues after a refusal.', options, async (t) => {
  const short = new ShortMemory();
  const { opened } = await short.open({ allowSoftware: true, skipValidation: true });
  t.teardown(() => opened?.close());
  const { device } = await opened!.requestDevice();
  const reported: string[] = [];
  device.addEventListener('uncapturederror', (event) => {
    event.preventDefault();
    reported.push(event.error.message);
  });
  const kernel = await compile(device);
  const memory = new DeviceMemory(device, new MemoryBudget());
  const convoy = new Convoy(memory.fork(), true, { scenes: 8, delay: 1 });
  const scenes: { readonly account: DeviceMemory; readonly x: Place; count: number }[] = [];
  for (const first of [0, 1000, 2000, 3000, 4000]) {
    const account = memory.fork(convoy.arena);
    const x = await account.checkAllocations('x', () => account.place('x', 256, BUFFER_USAGE.STORAGE));
    write(device.queue, x, 0, new Uint32Array(64).fill(first));
    scenes.push({ account, x, count: first });
  }
  /** @returns what it was refused with; undefined = it has counted right */
  const step = (scene: (typeof scenes)[number], launches: number, shift: number): Promise<string | undefined> =>
    convoy.during(async () => {
      const recording = convoy.seat.begin();
      const pass = recording.beginComputePass();
      const { x } = scene;
      const place = { buffer: x.buffer, offset: x.offset + shift, size: x.size };
      const one = { kernel, bindings: new Bindings(kernel, [place]), size: [1, 1], most: 1 } as const;
      for (let n = 0; n < launches; n++) launch(pass, one);
      pass.end();
      try {
        const [words] = await (await convoy.seat.submit(recording, [sliceOf(x)])).wait();
        scene.count += launches;
        return new Uint32Array(words!).every((word) => word === scene.count) ? undefined : 'another count';
      } catch (thrown) {
        return (thrown as { code?: string }).code ?? String(thrown);
      }
    });
  const stepAll = (launches: number, misplaced = -1) =>
    Promise.all(scenes.map((scene, n) => step(scene, launches, n === misplaced ? 1 : 0)));
  const none = scenes.map(() => undefined);

  t.strictSame(await stepAll(1), none);
  short.isRefused = (label) => label === 'places of scenes';
  t.strictSame(
    await stepAll(50),
    scenes.map(() => 'OUT_OF_DEVICE_MEMORY'),
    'there is no room for so many dispatches',
  );
  short.clear();
  t.strictSame(await stepAll(50), none, 'afterwards there is');
  short.isRefused = (label, nth) => label === 'places of scenes' && nth === 0;
  t.strictSame(await stepAll(200), none, 'in parts, if there is no room for all at once');
  short.clear();
  const refused = await stepAll(2, 2);
  t.match(refused[2], /begins within an element/);
  t.strictSame(
    refused.filter((_, n) => n !== 2),
    none.slice(1),
    'the error of one scene does not affect the others',
  );
  t.strictSame(await stepAll(1), none);
  t.strictSame(reported, [], 'the device reports no error');
  for (const { account } of scenes) account.freeAll();
  convoy.close();
  t.equal(memory.budget.total, 0);
});
