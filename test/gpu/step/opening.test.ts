import t from 'tap';
import { SEARCH_MODE } from '../../../gpu/kernels/constants.js';
import { PARTIAL_SHARE } from '../../../src/solver/constants.js';
import { markCut } from '../../../src/solver/cpu/boxes.js';
import { isFew } from '../../../src/solver/cpu/motion.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import type { Settings } from '../../../src/solver/settings.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const random = seeded();
t.comment(`seed ${random.seed}`);

if (!gpu) t.test('the opening of a request', options, async () => undefined);
else {
  /**
   * Opens a request with the P of another one.
   *
   * @param grown how much longer motions are than those for which P was searched, for this share of the vertices
   * @param hasPrescribed whether kinematic vertices move, so that Algorithm 1 makes steps
   */
  async function opened(grown: number, share: number, hasPrescribed: boolean, overrides: Partial<Settings> = {}) {
    const settings = makeSettings({ delta: 0.2, leap: 1.2, ...overrides });
    const { mesh, x, y: near } = looseScene(random, { elements: 220, side: 6, travel: 0.4, kinematic: 0.15 });
    const proximity = new Proximity(mesh, settings);
    proximity.renew(x, near);
    const y = near.slice();
    for (let i = 0; i < mesh.vertexCount; i++) {
      const isGrown = random() < share;
      for (let k = 3 * i; k < 3 * i + 3; k++) {
        if (mesh.kinematic[i] && !hasPrescribed) y[k] = x[k]!;
        else if (isGrown) y[k] = x[k]! + grown * (near[k]! - x[k]!);
      }
    }
    const { pairs, boxes } = proximity;
    const bench = new StageBench(gpu!.memory, gpu!.kernels, { mesh, settings, pairs, box: boxes.box, x, y, clock: 7 });
    await bench.writeControl({ isReused: 1 });
    bench.run((pass) => bench.recorder.begin(() => pass, mesh.vertexCount, true));
    const wanted = (await bench.words('wanted')).slice(0, mesh.vertexCount);
    const { wantsSearch, isReused } = await bench.control();
    bench.close();
    const cut = new Uint8Array(mesh.vertexCount);
    if (settings.guard === 'BOXES') markCut(boxes.box, x, y, settings.leap, cut);
    return { wanted: [...wanted], cut: [...cut], isFew: isFew(cut, PARTIAL_SHARE), wantsSearch, isReused };
  }

  t.test('Vertices whose boxes would cut their motions get new ones first, as in the reference.', async (t) => {
    const { wanted, cut, isFew, ...control } = await opened(4, 0.2, true);
    t.ok(cut.includes(1));
    t.ok(isFew);
    t.same(wanted, cut);
    t.match(control, { wantsSearch: SEARCH_MODE.PART, isReused: 1 });
  });

  t.test('For many of them everything is searched.', async (t) => {
    const { wanted, cut, isFew, ...control } = await opened(4, 0.9, true);
    t.notOk(isFew);
    t.same(wanted, cut);
    t.match(control, { wantsSearch: SEARCH_MODE.ALL, isReused: 1 });
  });

  t.test('Motions that the boxes hold cost no search.', async (t) => {
    const { wanted, cut, ...control } = await opened(0.9, 1, true);
    t.notOk(cut.includes(1));
    t.same(wanted, cut);
    t.match(control, { wantsSearch: SEARCH_MODE.NONE, isReused: 1 });
  });

  t.test('Where the pull-back follows at once, its own rule decides.', async (t) => {
    const { cut, ...control } = await opened(4, 0.2, false);
    t.ok(cut.includes(1));
    t.match(control, { wantsSearch: SEARCH_MODE.NONE, isReused: 1 });
  });

  t.test('Under the guard RADIUS no box stops a vertex.', async (t) => {
    const { wanted, wantsSearch } = await opened(4, 0.2, true, { guard: 'RADIUS' });
    t.notOk(wanted.includes(1));
    t.not(wantsSearch, SEARCH_MODE.PART);
  });
}
