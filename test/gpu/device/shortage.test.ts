import t from 'tap';
import { openAdapter } from '../../../gpu/device/adapter.js';
import { BUFFER_USAGE } from '../../../gpu/device/flags.js';
import type { GpuEngine } from '../../../gpu/engine.js';
import { stackSwap } from '../../solver/cases.js';
import { openSpecialEngine, openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import { shareOf } from '../../support/share.js';
import { ShortMemory } from '../../support/short-device.js';

/** Buffers for which the device itself has no memory, while the binding is told to check no call, as in production. */

// A software driver compiles every kernel when an engine opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { engine, options } = await openTestEngine(undefined, { open: openAdapter });
await engine?.close();

const { mesh, start, target } = stackSwap(3).build();

/** A request during which the room grows, after which the scene is read as for parking. */
async function run(engine: GpuEngine): Promise<Buffer> {
  const { scene, resolve } = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
  try {
    const { positions } = await resolve();
    await scene.read?.();
    return Buffer.from(positions.buffer);
  } finally {
    scene.close();
  }
}

/** Requests after which a scene has tried every way to sweep its steps. */
const SETTLING = 10;

/** One of each moment: at the opening, with the first request, while the room grows, for a reading, for the copies of a scene that is parked. */
const REFUSED = [
  'x',
  'best',
  'search boxes',
  'pairNormal 1',
  'search offsets 1',
  'staging 0',
  'staging 1',
  'staging -1',
];

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test('Once a device had no memory for a buffer, the binding checks every call of that device.', async (t) => {
    const { opened } = await openAdapter({ allowSoftware: true, skipValidation: true });
    t.teardown(() => opened?.close());
    const { device } = await opened!.requestDevice();
    const usage = BUFFER_USAGE.COPY_SRC | BUFFER_USAGE.COPY_DST;
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const [there, missing] = [64, 2 ** 53 - 16].map((size) => device.createBuffer({ size, usage }));
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(there!, 0, missing!, 0, 64);
    device.queue.submit([encoder.finish()]);
    t.ok(await device.popErrorScope(), 'a shortage');
    t.match(await device.popErrorScope(), { message: /invalid/i }, 'and a copy that was not executed');
  });

  t.test('Whichever buffer has no memory, the request is refused, and others continue.', async (t) => {
    const short = new ShortMemory();
    const engine = await openSpecialEngine(t, {
      ...{ firstPairs: 1, firstCandidates: 1, skipValidation: true, open: short.open },
    });
    const bystander = await openCase(engine, mesh, start, target, { quality: 'BALANCED' });
    // It has all the room that it needs before anything is counted: how its steps are swept changes with what the
    // requests before have needed.
    for (let n = 0; n < SETTLING; n++) await bystander.resolve();
    short.clear();
    const expected = await run(engine);
    const asked = new Map(short.asked);
    t.comment([...asked].join(' '));
    const before = engine.memoryBudget.total;
    for (const what of shareOf(REFUSED, 2)) {
      const [, label, number] = /^(.*?)(?: (-?\d+))?$/.exec(what)!;
      const nth = number === '-1' ? asked.get(label!)! - 1 : Number(number ?? 0);
      short.clear();
      let isAsked = false;
      short.isRefused = (one, n) => {
        const isIt = one === label && n === nth;
        isAsked ||= isIt;
        return isIt;
      };
      const outcome = await run(engine).catch((thrown: unknown) => thrown);
      t.ok(isAsked, what);
      if (outcome instanceof Buffer) t.ok(outcome.equals(expected), `${what}: it found a way`);
      else t.match(outcome, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true }, what);
      short.clear();
      t.match(await bystander.resolve().catch((thrown: unknown) => thrown), { status: 'CONVERGED' }, `${what}: others`);
      const { total } = engine.memoryBudget;
      t.ok(total > 0 && total <= before, `${what}: ${total} of ${before} bytes`);
    }
  });
}
