import t from 'tap';
import { PHASE } from '../../../gpu/kernels/constants.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { EXCESS_WEIGHT, KEPT } from '../../../src/solver/constants.js';
import { EdgeLimits } from '../../../src/solver/cpu/edge-limits.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { planPullBack } from '../../../src/solver/scattered-targets.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { CLOCK, colouredEdges, lone, PLAN, sheet, unitOf, withPairs } from '../../support/pull-back-bench.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

if (!gpu) t.test('kernels of the pull-back', options, async () => undefined);
else {
  t.test('multipliers stay with their pairs through a partial search', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ delta: 0.2, sigma: 0, pullBack: PLAN });
    const input = withPairs(random, settings, 220);
    const { mesh, pairs } = input;
    const bench = new StageBench(gpu.memory, gpu.kernels, input);
    const { count } = pairs;
    // A third of the pairs were rows of the last step.
    for (let p = 0; p < count; p++) pairs.lambda[p] = random() < 1 / 3 ? random() : 0;
    const before = pairs.lambda.slice(0, count);
    const mask = Uint8Array.from({ length: mesh.vertexCount }, () => (random() < 0.8 ? KEPT : 0));
    const isTaken = (p: number): boolean =>
      [...pairs.vertex.subarray(4 * p, 4 * p + 4)].every((v) => v < 0 || mask[v] === KEPT);
    const origins = Array.from({ length: count }, (_, p) => p).filter(isTaken);
    pairs.keepOnly(mask, KEPT);
    t.equal(pairs.count, origins.length);
    t.ok(origins.length > 20 && origins.length < count - 20, `${origins.length} of ${count} pairs are kept`);
    // What the search leaves where distances were (search/keep-pairs.wgsl); then come pairs that it has found.
    const found = 7;
    const expected = [...pairs.lambda.subarray(0, pairs.count), ...new Array<number>(found).fill(0)];
    const words = Uint32Array.from({ length: count }, (_, p) => (p < origins.length ? origins[p] + 1 : 0));
    bench.write('kept', before);
    bench.write('pairDistance', new Float32Array(words.buffer));
    await bench.writeControl({ keptAt: CLOCK, pairCount: expected.length });
    bench.run((pass) => bench.pullBack.afterSearch(pass));
    const kept = await bench.floats('kept');
    bench.close();
    t.ok(expected.some((lambda) => lambda > 0));
    for (const [p, lambda] of expected.entries()) {
      if (kept[p] !== lambda) t.fail(`pair ${p} has ${kept[p]}, the reference ${lambda}`);
    }
  });

  t.test('hold-back gives the α of the reference, never above its bound, and no edge exceeds its limit', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ sigma: 1.1, pullBack: PLAN });
    const { mesh, rest, x } = sheet(random, 30, 0.02);
    const y = x.map((value) => value + 0.5 * random.between(-1, 1));
    const input = lone(mesh, settings, x, y);
    // A third of the boxes stop their vertices.
    for (let i = 0; i < mesh.vertexCount; i++) {
      if (random() > 1 / 3) continue;
      for (let c = 0; c < 3; c++) {
        input.box[6 * i + c] = x[3 * i + c] - 0.05;
        input.box[6 * i + 3 + c] = x[3 * i + c] + 0.05;
      }
    }
    const bench = new StageBench(gpu.memory, gpu.kernels, input);
    bench.write('target', rest);
    bench.run((pass) => bench.recorder.linearise(pass));
    bench.beginPullBack(input, PHASE.PULL);
    const alphaOf = async (): Promise<Float32Array> =>
      (await bench.floats('vertexStep')).filter((_, word) => word % 4 === 0).slice(0, mesh.vertexCount);
    bench.run((pass) => bench.recorder.bound(pass));
    const bound = await alphaOf();
    bench.run((pass) => bench.pullBack.holdBack(pass));
    const alpha = await alphaOf();
    const held = await bench.words('heldEdges');
    const colours = bench.edges.colours.length - 1;
    t.ok(
      held.subarray(0, colours).every((count) => count === 0),
      'the lists are empty for the next step',
    );
    const { ends } = bench.edges;
    bench.close();

    const expected = Float32Array.from(bound);
    new EdgeLimits(colouredEdges(bench.edges), mesh.inverseMasses, rest, settings.sigma, new Scratch()).holdBack(
      x,
      y,
      expected,
    );
    const lowered = expected.filter((a, i) => a < bound[i]).length;
    t.ok(lowered > 30, `${lowered} steps were shortened`);
    t.ok(
      alpha.every((a, i) => a >= 0 && a <= bound[i]),
      'α only falls',
    );
    // Both stop after the same passes in the same order; a rounding may decide whether one more edge is touched.
    const differing = alpha.filter((a, i) => Math.abs(a - expected[i]) > 1e-4).length;
    t.ok(differing <= 0.01 * mesh.vertexCount, `${differing} of ${mesh.vertexCount} differ`);
    const at = (k: number): number => x[k] + alpha[(k - (k % 3)) / 3] * (y[k] - x[k]);
    let overlong = 0;
    for (let n = 0; n < ends.length; n += 2) {
      const [i, j] = [3 * ends[n], 3 * ends[n + 1]];
      const length = (of: (k: number) => number): number => Math.hypot(...[0, 1, 2].map((c) => of(i + c) - of(j + c)));
      const most = Math.max(
        1.1 * length((k) => rest[k]),
        length((k) => x[k]),
      );
      const ahead = alpha[i / 3] > alpha[j / 3] ? i / 3 : j / 3;
      // A kinematic vertex is not held back.
      const isHeldBehind = alpha[i / 3] !== alpha[j / 3] && mesh.inverseMasses[ahead] > 0;
      if (isHeldBehind && length(at) > most * (1 + 1e-4) && length(at) > length((k) => y[k]) * (1 + 1e-4)) overlong++;
    }
    t.ok(overlong <= 0.005 * ends.length, `${overlong} edges grow past their limits because an end is held`);
  });

  t.test('the merit and its change from that of the best state match the reference', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    for (const distance of [1e-3, 1, 100, 1e15]) {
      const settings = makeSettings({ sigma: 1.1, pullBack: PLAN });
      const { mesh, rest, x } = sheet(random, 40, 0.3);
      // One vertex is far from its target, the others near theirs.
      const target = Float32Array.from(rest);
      const far = mesh.inverseMasses.findIndex((w) => w > 0);
      target[3 * far] += distance;
      const input = lone(mesh, settings, x, x);
      const bench = new StageBench(gpu.memory, gpu.kernels, input);
      bench.write('target', target);
      bench.run((pass) => bench.recorder.linearise(pass));
      bench.beginPullBack(input, PHASE.PULL);
      const unit = 2 ** Math.floor(Math.log2(unitOf(mesh, x, target)));
      const edges = new EdgeLimits(
        colouredEdges(bench.edges),
        mesh.inverseMasses,
        target,
        settings.sigma,
        new Scratch(),
      );
      const phi = (at: Float32Array): number => meritOf(mesh, at, target) + EXCESS_WEIGHT * edges.excess(at);
      const { bestMerit } = await bench.control();
      const first = phi(x) / unit ** 2;
      t.ok(Math.abs(bestMerit - first) < 1e-4 * first, `Φ ${bestMerit}, in double ${first}`);
      // Every vertex but the far one comes a little nearer.
      const nearer = x.map((value, k) =>
        Math.floor(k / 3) === far ? value : Math.fround(value + 0.01 * (target[k] - value)),
      );
      bench.write('x', nearer);
      bench.run((pass) => bench.pullBack.weigh(pass));
      const [, , loss, excess, near, nearLoss] = (await bench.merit()) as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      bench.close();
      const expected = differenceOf(mesh, nearer, x, target) / unit ** 2;
      t.ok(loss < 0, `a gain is detected beside a distance of ${distance}`);
      t.ok(Math.abs(loss - expected) < 1e-4 * Math.abs(expected), `${loss}, in double ${expected}`);
      const change = (edges.excess(nearer) - edges.excess(x)) / unit ** 2;
      t.ok(Math.abs(excess - change) <= 1e-3 * Math.abs(change), `excess ${excess}, in double ${change}`);
      const leap = planPullBack(mesh, settings, x, x)!.longest;
      const [besideMesh, isBeside] = [onlyNear(mesh, x, target, leap), distance > 2 * leap];
      t.equal(besideMesh.inverseMasses[far] === 0, isBeside, 'the far vertex is beyond a leap, or is not');
      const ofNear = meritOf(besideMesh, x, target) / unit ** 2;
      // In the unit of a distance of 1e15 edges, squares of edges are below the smallest number of float32.
      if (distance > 1e10) t.ok(near >= 0 && near <= 1e-20, `${near}`);
      else {
        const gained = differenceOf(besideMesh, nearer, x, target) / unit ** 2;
        t.ok(Math.abs(near - ofNear) < 1e-4 * ofNear, `near vertices ${near}, in double ${ofNear}`);
        t.ok(Math.abs(nearLoss - gained) < 1e-4 * Math.abs(gained), `their change ${nearLoss}, in double ${gained}`);
      }
    }
  });
}

/** The mesh with all vertices kinematic that are farther than this from their targets. */
const onlyNear = (mesh: CollisionMesh, x: Float32Array, target: Float32Array, most: number): CollisionMesh => ({
  ...mesh,
  inverseMasses: mesh.inverseMasses.map((w, i) =>
    Math.hypot(...[0, 1, 2].map((c) => x[3 * i + c] - target[3 * i + c])) > most ? 0 : w,
  ),
});

/** Σ m |x − y*|² in double. */
function meritOf({ inverseMasses }: CollisionMesh, x: Float32Array, target: Float32Array): number {
  let sum = 0;
  x.forEach((value, k) => {
    const w = inverseMasses[Math.floor(k / 3)];
    if (w > 0) sum += (value - target[k]) ** 2 / w;
  });
  return sum;
}

/** Σ m (|x − y*|² − |best − y*|²) in double, term by term. */
function differenceOf(
  { inverseMasses }: CollisionMesh,
  x: Float32Array,
  best: Float32Array,
  target: Float32Array,
): number {
  let sum = 0;
  x.forEach((value, k) => {
    const w = inverseMasses[Math.floor(k / 3)];
    if (w > 0) sum += ((value - best[k]) * (value + best[k] - 2 * target[k])) / w;
  });
  return sum;
}
