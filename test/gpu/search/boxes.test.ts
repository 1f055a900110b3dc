import t from 'tap';
import { DeviceMemory, MemoryBudget } from '../../../gpu/device/memory.js';
import { SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { KEPT, PASSIVE } from '../../../src/solver/constants.js';
import { fillTrustBoxes } from '../../../src/solver/cpu/boxes.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { openSharedDevice } from '../../support/shared-device.js';
import { DeviceScene } from './device-scene.js';

/** Leap, quotient, product, sum and growth: a few u of coordinates of a few units. */
const ROUNDING = 16 * 2 ** -23;

const { device } = await openSharedDevice(t);

const random = seeded();
t.comment(`seed ${random.seed}`);

if (device) {
  const memory = new DeviceMemory(device, new MemoryBudget());

  for (const guard of ['BOXES', 'RADIUS'] as const) {
    for (const skipKinematicPairs of [true, false]) {
      for (const leap of [0, 0.2, 100]) {
        const name = `${guard}, ${skipKinematicPairs ? 'SKIP' : 'PROTECT'}, leap ${leap}`;
        t.test(`${name}: the CPU engine's boxes up to rounding, with x inside`, async (t) => {
          const settings = makeSettings({ delta: 0.05, guard, skipKinematicPairs, leap });
          const { mesh, x, y } = looseScene(random, { elements: 150, side: 4, travel: 1, kinematic: 0.5, still: 0.5 });
          // A target so far away that its squared distance has no float32.
          y.fill(3e30, 0, 1);
          const scene = await DeviceScene.open(memory, mesh, settings, x, 1);
          scene.place(x, y);
          scene.search.request(SEARCH_MODE.ALL);
          const { box, mask } = await scene.run();
          scene.close();
          const expected = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
          const none = new Uint8Array(mesh.vertexCount);
          fillTrustBoxes(expected, x, y, mesh.kinematic, settings, settings.leap, settings.reach, none);
          let points = 0;
          for (let i = 0; i < mesh.vertexCount; i++) {
            const moves = [0, 1, 2].some((c) => x[3 * i + c] !== y[3 * i + c]);
            const isPoint = guard === 'RADIUS' || (!moves && mesh.kinematic[i] !== 0);
            if (isPoint) points++;
            for (let c = 0; c < 3; c++) {
              const [lo, hi, at] = [box[6 * i + c], box[6 * i + 3 + c], x[3 * i + c]];
              if (!(lo <= at && at <= hi)) t.fail(`vertex ${i} is not in its box`);
              if (isPoint && (lo !== at || hi !== at)) t.fail(`the box of vertex ${i} is not its point`);
              for (const side of [c, c + 3]) {
                const off = Math.abs(box[6 * i + side] - expected.box[6 * i + side]);
                const size = Math.max(4, Math.abs(expected.box[6 * i + side]));
                if (!(off <= ROUNDING * size)) t.fail(`vertex ${i}, face ${side}: off by ${off}`);
              }
            }
            const isPassive = mesh.kinematic[i] !== 0 && (skipKinematicPairs || !moves);
            if (mask[i] !== (isPassive ? PASSIVE : 0)) t.fail(`vertex ${i}: mask ${mask[i]}`);
          }
          t.ok(points > 10 && (guard === 'RADIUS' || points < mesh.vertexCount), `${points} points`);
        });
      }
    }
  }

  t.test('A partial search renews only the requested boxes.', async (t) => {
    const settings = makeSettings({ delta: 0.05, leap: 0.2 });
    const { mesh, x, y } = looseScene(random, { elements: 60, side: 9, travel: 1 });
    const scene = await DeviceScene.open(memory, mesh, settings, x, 100_000);
    scene.place(x, y);
    scene.search.request(SEARCH_MODE.ALL);
    const before = await scene.run();
    const wanted = Uint8Array.from({ length: mesh.vertexCount }, () => random.int(2));
    scene.place(
      x,
      y.map((value) => -value),
      wanted,
    );
    scene.search.request(SEARCH_MODE.PART);
    const after = await scene.run();
    scene.close();
    for (let i = 0; i < mesh.vertexCount; i++) {
      const isSame = [0, 1, 2, 3, 4, 5].every((k) => before.box[6 * i + k] === after.box[6 * i + k]);
      if (isSame !== (wanted[i] === 0)) t.fail(`vertex ${i}: wanted ${wanted[i]}, same ${isSame}`);
      if (after.mask[i] !== (wanted[i] === 0 ? KEPT : 0)) t.fail(`vertex ${i}: mask ${after.mask[i]}`);
    }
    t.ok(wanted.includes(0) && wanted.includes(1));
  });
}
