import t from 'tap';
import { PHASE } from '../../../gpu/kernels/constants.js';
import { VERTEX_STEP } from '../../../gpu/kernels/structs.js';
import { EdgeLimits } from '../../../src/solver/cpu/edge-limits.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import { KeptBounds } from '../../../src/solver/cpu/kept-bounds.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';
import { openTestDevice } from '../../support/gpu.js';
import { StageBench } from '../../support/gpu-step.js';
import { CLOCK, colouredEdges, lone, PLAN, sheet, withPairs } from '../../support/pull-back-bench.js';
import { type Random, seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

/** What holds a step back with edges: the edges that may do so, and the pair that is reported to hold a vertex. */

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const SIGMA = 1.1;

/**
 * Ends of edges that the device lists (gpu/kernels/pull-back/hold-back.wgsl): longer than their limit at a corner of
 * [0, α_i] × [0, α_j].
 *
 * @param bounds α that pairs and boxes leave @param onlyAtBounds of the corners the last one only
 */
function listed(
  ends: Uint32Array,
  rest: Float32Array,
  x: Float32Array,
  y: Float32Array,
  bounds: Float32Array,
  onlyAtBounds = false,
): Uint8Array {
  const f = Math.fround;
  const lengthsOf = (at: (k: number) => number, i: number, j: number) =>
    Math.hypot(...[0, 1, 2].map((c) => at(3 * i + c) - at(3 * j + c)));
  return Uint8Array.from({ length: ends.length / 2 }, (_, n) => {
    const [i, j] = [ends[2 * n]!, ends[2 * n + 1]!];
    const most = Math.max(
      SIGMA * lengthsOf((k) => rest[k]!, i, j),
      lengthsOf((k) => x[k]!, i, j),
    );
    const reached = [bounds[i]!, bounds[j]!] as const;
    const corners = onlyAtBounds ? [reached] : [reached, [reached[0], 0], [0, reached[1]]];
    const lengths = corners.map(([a, b]) =>
      lengthsOf((k) => x[k]! + (Math.floor(k / 3) === i ? a! : b!) * f(y[k]! - x[k]!), i, j),
    );
    return lengths.some((length) => length > most) ? 1 : 0;
  });
}

/** A sheet whose vertices all move by `common`, and each also by `own`; a third of them are bounded. */
function moving(random: Random, common: number, own: number) {
  const { mesh, rest, x } = sheet(random, 30, 0.02);
  const y = x.map((value, k) => Math.fround(value + (k % 3 === 1 ? common : 0) + own * random.between(-1, 1)));
  const bounds = Float32Array.from({ length: mesh.vertexCount }, () => (random() < 1 / 3 ? random() : 1));
  return { mesh, rest, x, y, bounds };
}

for (const [name, common, own] of [
  ['each by itself', 0, 0.5],
  ['together, far beyond the limits of edges', 20, 0.05],
  ['together, with hardly any motion of their own', 3, 1e-6],
  ['together, within the limits of edges', 0.05, 0.01],
] as const) {
  t.test(`an unlisted edge shortens no step when vertices move ${name}`, async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const { mesh, rest, x, y, bounds } = moving(random, common, own);
    const all = { ends: mesh.edges, offsets: Uint32Array.of(0, mesh.edges.length / 2), colours: 1 };
    const isListed = listed(mesh.edges, rest, x, y, bounds);
    const alphaWith = (has: (n: number) => boolean): Float32Array => {
      const alpha = bounds.slice();
      const numbers = new Map(Array.from(isListed, (_, n) => [`${mesh.edges[2 * n]} ${mesh.edges[2 * n + 1]}`, n]));
      const hasLimit = (a: number, b: number) => has(numbers.get(`${a} ${b}`)!);
      new EdgeLimits(all, mesh.inverseMasses, rest, SIGMA, new Scratch(), hasLimit).holdBack(x, y, alpha);
      return alpha;
    };
    const count = isListed.reduce((sum, one) => sum + one, 0);
    t.comment(`${count} of ${isListed.length} edges are listed`);
    const expected = alphaWith(() => true);
    t.strictSame(
      alphaWith((n) => isListed[n] === 1),
      expected,
    );
    if (common < 1) return;
    // The fault to guard against: ends that move alike up to their bounds may differ once one is held further back.
    const atBounds = listed(mesh.edges, rest, x, y, bounds, true);
    const shortened = expected.filter((alpha, v) => alpha < bounds[v]!).length;
    t.ok(shortened > 100, `${shortened} steps are shortened`);
    t.notSame(
      alphaWith((n) => atBounds[n] === 1),
      expected,
      'fewer edges would not suffice',
    );
  });
}

if (!gpu) t.test('hold-back on the device', options, async () => undefined);
else {
  t.test('hold-back in a common motion gives the α of the reference', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ sigma: SIGMA, pullBack: PLAN });
    const { mesh, rest, x, y } = moving(random, 3, 0.02);
    const input = lone(mesh, settings, x, y);
    for (let i = 0; i < mesh.vertexCount; i++) {
      if (random() < 1 / 3) for (let c = 0; c < 3; c++) input.box[6 * i + 3 + c] = x[3 * i + c]! + 2 * random();
    }
    const bench = new StageBench(gpu.memory, gpu.kernels, input);
    bench.write('target', rest);
    bench.run((pass) => bench.recorder.linearise(pass));
    bench.beginPullBack(input, PHASE.PULL);
    bench.run((pass) => bench.recorder.bound(pass));
    const bound = await alphasOf(bench, mesh.vertexCount);
    bench.run((pass) => bench.pullBack.holdBack(pass));
    const alpha = await alphasOf(bench, mesh.vertexCount);
    bench.close();
    const expected = bound.slice();
    new EdgeLimits(colouredEdges(bench.edges), mesh.inverseMasses, rest, SIGMA, new Scratch()).holdBack(x, y, expected);
    t.ok(expected.filter((a, i) => a < bound[i]!).length > 100, 'steps are shortened');
    const differing = alpha.filter((a, i) => Math.abs(a - expected[i]!) > 1e-4).length;
    t.ok(differing <= 0.01 * mesh.vertexCount, `${differing} of ${mesh.vertexCount} differ`);
  });

  t.test('on both engines a pair holds a vertex if no edge holds it further back', async (t) => {
    const random = seeded();
    t.comment(`seed ${random.seed}`);
    const settings = makeSettings({ delta: 0.2, sigma: SIGMA, pullBack: PLAN });
    const input = withPairs(random, settings, 400);
    const { mesh, pairs, x, y, box } = input;
    const { vertexCount, inverseMasses } = mesh;
    const bench = new StageBench(gpu.memory, gpu.kernels, input);
    // The target has the lengths of x and lies away from it.
    const target = x.map((value) => value + 1);
    bench.write('target', target);
    bench.run((pass) => bench.recorder.linearise(pass));
    bench.beginPullBack(input, PHASE.PULL);
    bench.run((pass) => bench.recorder.bound(pass));
    const bound = await alphasOf(bench, vertexCount);
    bench.run((pass) => bench.pullBack.holdBack(pass));
    const held = await alphasOf(bench, vertexCount);
    bench.run((pass) => bench.recorder.commit(pass));
    const steps = new Int32Array((await bench.words('vertexStep')).buffer);
    const limiter = Int32Array.from(
      { length: vertexCount },
      (_, v) => steps[VERTEX_STEP.words * v + VERTEX_STEP.word('limiter')]!,
    );
    bench.close();

    const forward = new Forward(vertexCount);
    const kept = new KeptBounds(forward);
    const limits = new EdgeLimits(colouredEdges(bench.edges), inverseMasses, target, SIGMA, new Scratch());
    const isMoving = Uint8Array.from({ length: vertexCount }, (_, v) =>
      [0, 1, 2].some((c) => x[3 * v + c] !== y[3 * v + c]) ? 1 : 0,
    );
    const active = Uint32Array.from({ length: pairs.count }, (_, p) => p).filter((p) =>
      pairs.vertex.subarray(4 * p, 4 * p + 4).some((v) => v >= 0 && isMoving[v] === 1),
    );
    const { gamma, delta, floor } = settings;
    const from = Float32Array.from(x);
    forward.advance({
      ...{ x: from, y, box, pairs, active, activeCount: active.length, moving: isMoving, step: CLOCK, radius: 0 },
      ...{ rule: 'PLANAR', gamma, delta, floor },
      limitFurther: (alpha) => {
        kept.begin(alpha);
        limits.holdBack(from, y, alpha);
        kept.end(alpha);
      },
    });
    const told = kept.limiter;
    const isLowered = (v: number) => held[v]! < bound[v]!;
    // Bounds differ by rounding, and other closest points of parallel elements give other normals.
    const lowered = [...limiter.keys()].filter((v) => isLowered(v) && forward.limiter[v]! >= 0);
    t.ok(lowered.length > 20, `edges further restrict ${lowered.length} vertices that a pair has bounded`);
    const agreeing = (names: Int32Array, among: readonly number[]) =>
      among.filter((v) => names[v] === limiter[v]).length;
    t.ok(agreeing(told, lowered) > 0.9 * lowered.length, `the engines agree on ${agreeing(told, lowered)} of them`);
    t.ok(agreeing(forward.limiter, lowered) < 0.1 * lowered.length, 'with the first bound they would not agree');
    const others = [...limiter.keys()].filter((v) => !isLowered(v));
    t.ok(agreeing(told, others) > 0.9 * others.length, `${agreeing(told, others)} of ${others.length} others`);
  });
}

async function alphasOf(bench: StageBench, vertexCount: number): Promise<Float32Array> {
  const floats = await bench.floats('vertexStep');
  return Float32Array.from({ length: vertexCount }, (_, v) => floats[VERTEX_STEP.words * v]!);
}
