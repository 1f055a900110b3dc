import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { type AdapterOpening, openAdapter } from '../../../gpu/device/adapter.js';
import type { GpuEngine } from '../../../gpu/engine.js';
import type { GpuScene } from '../../../gpu/scene.js';
import { IntersticeError } from '../../../src/contract/errors.js';
import type { Scene } from '../../../src/solver/engine.js';
import { stackSwap } from '../../solver/cases.js';
import { openTestEngine } from '../../support/gpu.js';
import { openCase } from '../../support/open-case.js';
import { seeded } from '../../support/random.js';
import { roundsOf } from '../../support/share.js';

// A software driver compiles every kernel when a device opens, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

/** Losses at random moments; each costs a new device. */
const ROUNDS = roundsOf(3, 3);

const random = seeded();
t.comment(`seed ${random.seed}`);

const { engine, options } = await openTestEngine(undefined, { open: openAdapter });
t.teardown(() => engine?.close());

const deviceOf = (scene: Scene): GPUDevice => (scene as GpuScene).memory.device;
const settled = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
const { mesh, start, target } = stackSwap(8).build();
const openOn = (engine: GpuEngine) => openCase(engine, mesh, start, target);

/** Turns of the event loop that an undisturbed resolve takes. */
async function countTurns(engine: GpuEngine): Promise<number> {
  const { scene, resolve } = await openOn(engine);
  let isOver = false;
  const work = resolve().finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await nextTurn();
  await work;
  scene.close();
  return turns;
}

/** A device whose driver rounds more than the kernels allow for, where it is proven: elsewhere all would be compiled anew. */
const withoutErrors = (device: GPUDevice): GPUDevice =>
  new Proxy(device, {
    get(own, key) {
      if (key === 'createShaderModule') {
        return ({ code, ...rest }: GPUShaderModuleDescriptor) => {
          const planted = !code.includes('fn proveHeights')
            ? code
            : code.replace(/(fn errorOf\([^)]*\) -> f32 \{)[^}]*\}/, '$1 return 0.0; }');
          return own.createShaderModule({ ...rest, code: planted });
        };
      }
      const value: unknown = Reflect.get(own, key, own);
      return typeof value === 'function' ? value.bind(own) : value;
    },
  });

/** The only error that a caller may get for a lost device: DEVICE_LOST, retryable. */
const isLoss = (thrown: unknown): boolean =>
  thrown instanceof IntersticeError && thrown.code === 'DEVICE_LOST' && thrown.retryable;

if (!engine) t.test('the GPU engine', options, async () => undefined);
else {
  t.test('A device may be lost at any moment of a resolve.', async (t) => {
    let losses = 0;
    const turns = await countTurns(engine);
    for (let round = 0; round < ROUNDS; round++) {
      const at = random.int(turns);
      const bystander = await openOn(engine);
      const { scene, resolve } = await openOn(engine);
      const work = settled(resolve());
      for (let turn = 0; turn < at; turn++) await nextTurn();
      deviceOf(scene).destroy();
      const outcome = await work;
      if (isLoss(outcome)) losses++;
      else t.match(outcome, { status: 'CONVERGED' }, `round ${round}: over before turn ${at}`);
      const device = deviceOf(scene);
      t.ok(isLoss(await settled(bystander.resolve())), `round ${round}: the other scene is told as well`);
      bystander.scene.close();
      scene.close();
      t.equal(engine.memoryBudget.total, 0, 'a lost device leaves no bytes in the books');
      const anew = await openOn(engine);
      t.not(deviceOf(anew.scene), device);
      t.match(await anew.resolve(), { status: 'CONVERGED' }, 'a new device serves');
      anew.scene.close();
    }
    t.comment(`${losses} of ${ROUNDS} resolves were cut off, of about ${turns} turns each`);
  });

  t.test('A device may be lost while it is idle.', async (t) => {
    const { scene, resolve } = await openOn(engine);
    deviceOf(scene).destroy();
    await deviceOf(scene).lost;
    t.ok(isLoss(await settled(resolve())));
    t.ok(isLoss(await settled(resolve())), 'as often as it is tried');
    const openings = await Promise.all([openOn(engine), openOn(engine), openOn(engine)]);
    const devices = new Set(openings.map((opened) => deviceOf(opened.scene)));
    t.equal(devices.size, 1, 'all who come next share one new device');
    for (const opened of [...openings, { scene }]) opened.scene.close();
    t.equal(engine.memoryBudget.total, 0);
  });

  t.test('A device may be lost while a scene is opened.', async (t) => {
    const first = await openOn(engine);
    const opening = settled(openOn(engine));
    // open() makes the buffers before its first pause: this runs after them.
    await Promise.resolve();
    deviceOf(first.scene).destroy();
    const outcome = await opening;
    if (!isLoss(outcome)) {
      const { scene, resolve } = outcome as Awaited<ReturnType<typeof openOn>>;
      t.ok(isLoss(await settled(resolve())), 'or it is told with the first request');
      scene.close();
    }
    first.scene.close();
    t.equal(engine.memoryBudget.total, 0);
    const anew = await openOn(engine);
    t.match(await anew.resolve(), { status: 'CONVERGED' });
    anew.scene.close();
  });

  t.test('A device that has refused a call is no longer trusted.', async (t) => {
    const { scene, resolve } = await openOn(engine);
    const device = deviceOf(scene);
    // MAP_READ and STORAGE do not go together.
    device.createBuffer({ size: 16, usage: 0x81 });
    await device.queue.onSubmittedWorkDone();
    t.notOk(scene.isUsable, 'a session opens another scene before its next step');
    const outcome = await settled(resolve());
    t.ok(outcome instanceof IntersticeError);
    t.match(outcome, { code: 'INTERNAL', message: /The device reported: / });
    const anew = await openOn(engine);
    t.not(deviceOf(anew.scene), device);
    t.ok(anew.scene.isUsable);
    t.match(await anew.resolve(), { status: 'CONVERGED' });
    for (const opened of [anew.scene, scene]) opened.close();
  });

  t.test('An adapter may disappear and come back.', async (t) => {
    let isThere = true;
    const open = async (...[wishes]: Parameters<typeof openAdapter>): Promise<AdapterOpening> => {
      const { opened, reason } = await openAdapter(wishes);
      if (!opened) return { reason };
      const requestDevice = () =>
        isThere ? opened.requestDevice() : Promise.reject(new Error('the adapter is not there any more'));
      return { opened: { ...opened, requestDevice } };
    };
    const { engine: moved } = await openTestEngine(undefined, { open });
    if (!moved) throw new Error('the adapter opened once but not twice');
    t.teardown(() => moved.close());
    const { scene } = await openOn(moved);
    isThere = false;
    deviceOf(scene).destroy();
    await deviceOf(scene).lost;
    for (const attempt of [1, 2]) {
      const outcome = await settled(openOn(moved));
      t.ok(isLoss(outcome), `attempt ${attempt}`);
      t.match(outcome, { message: /cannot be opened again: the adapter is not there/ });
    }
    isThere = true;
    const anew = await openOn(moved);
    t.match(await anew.resolve(), { status: 'CONVERGED' }, 'and is back');
  });

  t.test('A device that replaces a lost one passes the same proofs, or is not used.', async (t) => {
    const devices: GPUDevice[] = [];
    let hasFault = false;
    const open = async (...[wishes]: Parameters<typeof openAdapter>): Promise<AdapterOpening> => {
      const { opened, reason } = await openAdapter(wishes);
      if (!opened) return { reason };
      const requestDevice = async () => {
        const { device, lost } = await opened.requestDevice();
        devices.push(device);
        return { device: hasFault ? withoutErrors(device) : device, lost };
      };
      return { opened: { ...opened, requestDevice } };
    };
    const { engine: moved } = await openTestEngine(undefined, { open });
    if (!moved) throw new Error('the adapter opened once but not twice');
    t.teardown(() => moved.close());
    const { scene } = await openOn(moved);
    hasFault = true;
    devices[0]!.destroy();
    await devices[0]!.lost;
    const outcome = await settled(openOn(moved));
    t.ok(isLoss(outcome));
    t.match(outcome, { message: /cannot be opened again: .* does not compute as certified gaps require/ });
    t.equal(devices.length, 2);
    t.match(await devices[1]!.lost, { reason: 'destroyed' }, 'it does not stay open');
    scene.close();
    t.equal(moved.memoryBudget.total, 0);
    hasFault = false;
    const anew = await openOn(moved);
    t.match(await anew.resolve(), { status: 'CONVERGED' });
  });

  t.test('An engine closes under load.', async (t) => {
    const turns = await countTurns(engine);
    const { engine: second } = await openTestEngine(undefined, { open: openAdapter });
    if (!second) throw new Error('the adapter opened once but not twice');
    const scenes = await Promise.all([openOn(second), openOn(second)]);
    const work = scenes.map(({ resolve }) => settled(resolve()));
    for (let turn = random.int(turns); turn > 0; turn--) await nextTurn();
    await Promise.all([second.close(), second.close()]);
    for (const outcome of await Promise.all(work)) {
      if (!isLoss(outcome)) t.match(outcome, { status: 'CONVERGED' });
    }
    const late = await settled(openOn(second));
    t.match(late, { code: 'INTERNAL', message: /closed/ });
  });
}
