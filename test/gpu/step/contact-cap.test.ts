import t from 'tap';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const CLOCK = 7;
/** Limits of gpu/kernels/common/pair.wgsl. */
const CONTACTS_PER_VERTEX = 24;
const MIN_MOVABLE_WEIGHT = Math.fround(0.01);

if (!gpu) t.test('the limit on contacts at a vertex', options, async () => undefined);
else {
  for (const isAlone of [false, true]) {
    const how = isAlone ? 'in one workgroup' : 'in whole dispatches';
    t.test(
      `Duplicates are dropped, and each vertex keeps exactly the closest contacts by the distances of the device, ${how}.`,
      async (t) => {
        if (isAlone && !gpu.kernels.has('selectAlone')) return t.comment('this adapter allows too few storage buffers');
        const random = seeded();
        t.comment(`seed ${random.seed}`);
        const settings = makeSettings({ delta: 0.5 });
        const { mesh, x, y } = looseScene(random, { elements: 260, side: 4, travel: 0.5, kinematic: 0.15, still: 0.1 });
        const proximity = new Proximity(mesh, settings);
        proximity.renew(x, y);
        const { pairs, boxes } = proximity;
        const bench = new StageBench(gpu.memory, gpu.kernels, {
          mesh,
          settings,
          x,
          y,
          pairs,
          box: boxes.box,
          clock: CLOCK,
        });
        t.teardown(() => bench.close());
        bench.run((pass) => bench.recorder.findContacts(pass));
        const found = new Map((await bench.candidates()).map((candidate) => [candidate.pair, candidate]));
        bench.run((pass) => bench.recorder.selectContacts(pass, isAlone));
        const { rowCount } = await bench.control();
        const kept = await bench.pairsIn('row', rowCount);

        const ids = (p: number) => [0, 1, 2, 3].map((s) => pairs.vertex[4 * p + s]);
        const weight = (p: number, s: number) => found.get(p)?.weight[s] ?? 0;
        const isMovable = (v: number) => v >= 0 && mesh.inverseMasses[v] > 0;
        const distance = (p: number) => found.get(p)?.distance ?? Number.NaN;
        const features = (p: number) =>
          ids(p)
            .filter((_, s) => weight(p, s) > 0)
            .sort((a, b) => a - b)
            .join();
        const candidates = [...found.keys()];
        t.ok(candidates.every((p) => ids(p).some((v, s) => isMovable(v) && weight(p, s) >= MIN_MOVABLE_WEIGHT)));
        candidates.sort((p, q) => distance(p) - distance(q) || p - q);
        const seen = new Set<string>();
        const unique = candidates.filter((p) => !seen.has(features(p)) && seen.add(features(p)));
        const before = new Int32Array(mesh.vertexCount);
        const expected = unique.filter((p) => {
          const at = ids(p).filter((v, s) => isMovable(v) && weight(p, s) > 0);
          const isKept = at.every((v) => before[v] < CONTACTS_PER_VERTEX);
          for (const v of at) before[v]++;
          return isKept;
        });
        t.ok(unique.length < candidates.length, `${candidates.length - unique.length} duplicates`);
        t.ok(
          expected.length < unique.length && expected.length > 0,
          `${unique.length - expected.length} beyond the limit`,
        );
        const ascending = (list: Iterable<number>) => [...list].sort((a, b) => a - b);
        t.strictSame(ascending(kept), ascending(expected), 'exactly the contacts that are kept become rows');
      },
    );
  }
}
