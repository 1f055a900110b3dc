import t from 'tap';
import { launch } from '../../../gpu/device/dispatch.js';
import type { Bindings, Kernel } from '../../../gpu/device/kernel.js';
import { OwnRecording } from '../../../gpu/device/recording.js';

/** What a device was told, in order. */
function listen(): { readonly device: GPUDevice; readonly calls: string[] } {
  const calls: string[] = [];
  let encoders = 0;
  const createCommandEncoder = () => {
    const name = `encoder ${encoders++}`;
    return {
      beginComputePass: (descriptor?: GPUComputePassDescriptor) => {
        calls.push(`${name} begins ${descriptor?.label ?? 'a pass'}`);
        return {
          setPipeline: () => undefined,
          setBindGroup: () => undefined,
          dispatchWorkgroups: (x: number) => calls.push(`${name} dispatches ${x}`),
          end: () => calls.push(`${name} ends a pass`),
        };
      },
      finish: () => name,
    };
  };
  const queue = { submit: (names: string[]) => calls.push(`submits ${names.join()}`) };
  return { device: { createCommandEncoder, queue } as unknown as GPUDevice, calls };
}

const one = (x: number) => ({ kernel: {} as Kernel, bindings: {} as Bindings, size: [x, 1] as const, most: x });

t.test(
  'A recording submits its parts in order, each twice as long as the one before, inside a pass, too.',
  async (t) => {
    const { device, calls } = listen();
    const recording = new OwnRecording(device, 2);
    let passes = 0;
    const pass = recording.beginComputePass(() => ({ label: `pass ${passes++}` }));
    for (let n = 1; n <= 7; n++) launch(pass, one(n));
    pass.end();
    recording.submitPart();
    t.same(calls, [
      'encoder 0 begins pass 0',
      'encoder 0 dispatches 1',
      'encoder 0 dispatches 2',
      'encoder 0 ends a pass',
      'submits encoder 0',
      'encoder 1 begins pass 1',
      ...[3, 4, 5, 6].map((n) => `encoder 1 dispatches ${n}`),
      'encoder 1 ends a pass',
      'submits encoder 1',
      'encoder 2 begins pass 2',
      'encoder 2 dispatches 7',
      'encoder 2 ends a pass',
      'submits encoder 2',
    ]);
  },
);

t.test('Dispatches of several passes count together, and no pass is begun for nothing.', async (t) => {
  const { device, calls } = listen();
  const recording = new OwnRecording(device, 2);
  for (const n of [1, 2]) {
    const pass = recording.beginComputePass();
    launch(pass, one(n));
    pass.end();
  }
  t.notOk(
    calls.some((call) => call.startsWith('submits')),
    'a full part waits: nothing may follow it',
  );
  const last = recording.beginComputePass();
  launch(last, one(3));
  last.end();
  t.equal(calls.filter((call) => call.startsWith('submits')).length, 1);
  t.same(calls.slice(-3), ['encoder 1 begins a pass', 'encoder 1 dispatches 3', 'encoder 1 ends a pass']);
  t.notOk(calls.includes('encoder 0 begins a pass', calls.indexOf('encoder 0 dispatches 2')), 'an empty pass');
});
