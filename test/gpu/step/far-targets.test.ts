import t from 'tap';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { looseScene } from '../../support/loose-scene.js';
import { meetsOnPiece } from '../../support/piece-judge.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const random = seeded();
t.comment(`seed ${random.seed}`);

const STEP_WORDS = 4;

/** Of what length motions are: where their heights may overflow, where they are out of the range of y, and far below both. */
const SIZES = [3.4e38, 2 ** 121, 1e20];

if (!gpu) t.test('kernels of a step', options, async () => undefined);
else {
  for (const guard of ['BOXES', 'RADIUS'] as const) {
    for (const forward of ['PLANAR', 'ISOTROPIC'] as const) {
      t.test(
        `${guard}, ${forward}: targets at the limit of float32 give finite positions and no meeting`,
        async (t) => {
          let [moved, judged] = [0, 0];
          for (const size of SIZES) {
            const settings = makeSettings({ delta: 0.2, guard, forward });
            const options = { elements: 220, side: 6, travel: 1.5, kinematic: 0.15, still: 0.2 };
            const { mesh, x, y: near } = looseScene(random, options);
            const proximity = new Proximity(mesh, settings);
            proximity.renew(x, near);
            const { pairs, boxes } = proximity;
            // Along the axes too, where a height is a single product, and with opposite signs, where sums may cancel.
            const y = near.map((value) => (random() < 0.5 ? value : size * random.between(-1, 1)));
            const bench = new StageBench(gpu.memory, gpu.kernels, {
              mesh,
              settings,
              pairs,
              box: boxes.box,
              x,
              y,
              clock: 7,
            });
            bench.run((pass) => bench.recorder.advance(pass));
            const next = await bench.floats('x');
            const steps = await bench.floats('vertexStep');
            bench.close();
            t.ok(next.every(Number.isFinite), 'every position is one');
            for (let v = 0; v < mesh.vertexCount; v++) {
              const alpha = steps[STEP_WORDS * v]!;
              if (!(alpha >= 0 && alpha <= 1)) t.fail(`α of vertex ${v} is ${alpha}`);
              if (guard === 'BOXES') {
                for (let c = 0; c < 3; c++) {
                  const [lo, hi] = [boxes.box[6 * v + c]!, boxes.box[6 * v + 3 + c]!];
                  if (!(next[3 * v + c]! >= lo && next[3 * v + c]! <= hi)) t.fail(`vertex ${v} left its box`);
                }
              }
            }
            moved += next.filter((value, k) => value !== x[k]).length;
            for (let p = 0; p < pairs.count; p++) {
              if (meetsOnPiece(pairs, p, x, x)) continue;
              judged++;
              if (meetsOnPiece(pairs, p, x, next)) t.fail(`pair ${p} meets with motions of ${size}`);
            }
          }
          t.ok(moved > 100, `${moved} coordinates moved`);
          t.ok(judged > 500, `${judged} pairs were judged`);
        },
      );
    }
  }
}
