import t from 'tap';
import { KernelSet, serialThreads } from '../../../gpu/device/kernel.js';
import { STEP_STAGES } from '../../../gpu/kernels/table.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { pairDelta } from '../../../src/solver/cpu/candidates.js';
import { heights, measureHeights, measurePair } from '../../../src/solver/cpu/certificate.js';
import { Contacts } from '../../../src/solver/cpu/contacts.js';
import { EdgeLengths } from '../../../src/solver/cpu/edges.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { selectContacts } from '../../../src/solver/cpu/select-contacts.js';
import { Slide } from '../../../src/solver/cpu/slide.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import type { Settings } from '../../../src/solver/settings.js';
import { openTestDevice } from '../../support/gpu.js';
import { NO_ROUNDS, StageBench } from '../../support/gpu-step.js';
import { looseScene } from '../../support/loose-scene.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { placeOf } from '../../support/sweep-order.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const { gpu, options } = await openTestDevice();
t.teardown(() => gpu?.close());

const CLOCK = 7;
/** Words of Limit and Motion, and the stamp in pairInfo (gpu/kernels/common/pair.wgsl). */
const LIMIT = { words: 4, low: 0, high: 1, error: 2, entry: 3 } as const;
const STEP_WORDS = 4;
const STAMP_SHIFT = 2;
/** As in pair.wgsl: a contact whose movable vertices all weigh less is no candidate. */
const MIN_MOVABLE_WEIGHT = 0.01;

/** Unit roundoff of float32. */
const U = 2 ** -24;

interface Fixture {
  readonly mesh: CollisionMesh;
  readonly settings: Settings;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly pairs: PairSet;
  readonly box: Float32Array;
}

/** Random elements, some of them touching, with the pairs and boxes of the reference engine's search. */
function fixture(overrides: Partial<Settings> = {}, seed?: number): Fixture {
  const random = seeded(seed);
  t.comment(`seed ${random.seed}`);
  const settings = makeSettings({ delta: 0.2, ...overrides });
  const { mesh, x, y } = looseScene(random, { elements: 220, side: 6, travel: 1.5, kinematic: 0.15, still: 0.2 });
  const proximity = new Proximity(mesh, settings);
  proximity.renew(x, y);
  return { mesh, settings, x, y, pairs: proximity.pairs, box: proximity.boxes.box };
}

/** Weights below this may be 0 on the device: they err by u times the aspect ratio of an element, which is below 2^10 here. */
const TIED_WEIGHT = 2 ** -13;

/**
 * A fixture without a contact whose closest feature is a tie: the form VOLUME depends on which feature it is, so that device
 * and reference could push such a contact in different directions.
 */
function fixtureWithoutTies(overrides: Partial<Settings>): Fixture {
  const seeds = seeded();
  for (;;) {
    const seed = Math.floor(seeds() * 2 ** 31);
    const f = fixture(overrides, seed);
    const { pairs, settings } = f;
    let hasTie = false;
    for (let p = 0; p < pairs.count; p++) {
      measurePair(pairs, p, f.x, 1);
      const isNear = pairs.distance[p] < 2 * settings.delta;
      hasTie ||= isNear && pairs.weight.subarray(4 * p, 4 * p + 4).some((w) => w > 0 && w < TIED_WEIGHT);
    }
    // Measuring leaves normals behind, which would be the last ones of the pairs.
    if (!hasTie) return fixture(overrides, seed);
  }
}

const moves = (x: Float32Array, y: Float32Array, v: number): boolean =>
  v >= 0 && [0, 1, 2].some((c) => x[3 * v + c] !== y[3 * v + c]);

function isActive({ pairs }: Fixture, x: Float32Array, y: Float32Array, p: number): boolean {
  return [...pairs.vertex.subarray(4 * p, 4 * p + 4)].some((v) => moves(x, y, v));
}

/** Exact gap along a float32 vector, in double. */
function exactGap({ pairs, x }: Fixture, p: number, n: ArrayLike<number>): number {
  const kind = pairs.kind[p];
  const height = (s: number): number => {
    const v = pairs.vertex[4 * p + s];
    return [0, 1, 2].reduce((sum, c) => sum + n[c] * (x[3 * v + c] - x[3 * pairs.vertex[4 * p] + c]), 0);
  };
  const all = Array.from({ length: CORNERS[kind] }, (_, s) => height(s));
  return Math.min(...all.slice(0, SIDE_A[kind])) - Math.max(...all.slice(SIDE_A[kind]));
}

/**
 * How much less than the reference's gap the device's normal may show. Of the places where two elements may be closest the
 * device takes the first whose squared distance is least, in float32: places that differ by less than the rounding of the
 * squares are a tie. Its foot then lies off by the root of that, the normal turns by as much of the distance, and shows less
 * of an element that is so long.
 */
function tieSlack({ pairs, x }: Fixture, p: number): number {
  const corners = [...pairs.vertex.subarray(4 * p, 4 * p + 4)].filter((v) => v >= 0);
  let extent = 0;
  for (const side of [corners.slice(0, SIDE_A[pairs.kind[p]]), corners.slice(SIDE_A[pairs.kind[p]])]) {
    for (const v of side)
      for (const w of side) extent = Math.max(extent, Math.hypot(...[0, 1, 2].map((c) => x[3 * v + c] - x[3 * w + c])));
  }
  return extent * Math.sqrt(4 * U * (1 + (2 * extent) / pairs.distance[p]));
}

if (!gpu) t.test('kernels of a step', options, async () => undefined);
else {
  t.test('The edge sweep moves y as the reference does.', async (t) => {
    const f = fixture();
    const expected = Float32Array.from(f.y);
    const edges = new EdgeLengths(f.mesh);
    edges.linearise(f.y, f.settings.sigma);
    // Stretched, so that the sweep has work: y differs from the target of which the rows were made.
    const stretched = expected.map((value, k) => value * (1 + 0.3 * Math.sin(k)));
    const bench = new StageBench(gpu.memory, gpu.kernels, { ...f, clock: CLOCK });
    bench.writeY(stretched);
    expected.set(stretched);
    edges.sweep(expected);
    edges.sweep(expected);
    bench.run((pass) => {
      bench.recorder.edgeSweep(pass, true);
      bench.recorder.edgeSweep(pass, false);
    });
    const y = await bench.floats('y');
    let worst = 0;
    let moved = 0;
    for (let k = 0; k < expected.length; k++) {
      worst = Math.max(worst, Math.abs(y[k] - expected[k]));
      if (expected[k] !== stretched[k]) moved++;
    }
    t.ok(moved > 100, `${moved} coordinates were pushed`);
    // Coordinates are below 10: a few dozen roundings of 1e-6 each.
    t.ok(worst < 3e-5, `worst difference ${worst}`);
    bench.close();
  });

  t.test('Geometry certifies the gaps that it reports, and finds the contacts of the reference.', async (t) => {
    const f = fixture();
    const bench = new StageBench(gpu.memory, gpu.kernels, { ...f, clock: CLOCK });
    bench.run((pass) => bench.recorder.findContacts(pass));
    const distances = await bench.floats('pairDistance');
    const info = await bench.words('pairInfo');
    const normal = await bench.floats('pairNormal');
    const found = new Map((await bench.candidates()).map((candidate) => [candidate.pair, candidate]));
    t.equal(found.size, (await bench.control()).candidateCount, 'every candidate is listed once');
    let contacts = 0;
    let measured = 0;
    let touching = 0;
    let ties = 0;
    for (let p = 0; p < f.pairs.count; p++) {
      const isFresh = info[p] >>> STAMP_SHIFT === CLOCK;
      if ((info[p] & 3) !== f.pairs.kind[p]) t.fail(`pair ${p} lost its kind`);
      const candidate = found.get(p);
      if (candidate && !isFresh) t.fail(`pair ${p} was not measured, but is a candidate`);
      if (!isActive(f, f.x, f.y, p)) {
        if (isFresh) t.fail(`pair ${p} does not move, but was measured`);
        continue;
      }
      measurePair(f.pairs, p, f.x, 1);
      const { distance, gap } = f.pairs;
      if (!isFresh) {
        if (!(distance[p] > 1.49 * f.settings.delta)) t.fail(`pair ${p} was passed over at ${distance[p]}`);
        continue;
      }
      measured++;
      const exact = exactGap(f, p, normal.subarray(4 * p, 4 * p + 3));
      const slack = 1e-5 + 1e-4 * distance[p];
      const measuredDistance = distances[p];
      if (Math.abs(measuredDistance - distance[p]) > slack) t.fail(`pair ${p}: distance ${measuredDistance}`);
      const shown = Math.min(exact, measuredDistance);
      const gapSlack = slack + tieSlack(f, p);
      if (shown < gap[p] - slack) ties++;
      if (shown < gap[p] - gapSlack) t.fail(`pair ${p}: the normal shows a gap of ${exact}, the reference's ${gap[p]}`);
      if (candidate && candidate.distance !== measuredDistance) t.fail(`pair ${p}: candidate at ${candidate.distance}`);
      if (!(gap[p] > 2 * f.pairs.error[p])) touching++;
      const own = pairDelta(f.pairs, p, f.x, f.settings.delta);
      if (Math.abs(gap[p] - own) < gapSlack) continue;
      const expected = gap[p] < own && gap[p] < f.settings.delta && distance[p] > 0;
      if (candidate && !expected) t.fail(`pair ${p} is a candidate, but no contact of the reference`);
      if (candidate) contacts++;
      if (!expected || candidate) continue;
      // Dropped only because it would move no vertex.
      const weight = f.pairs.weight.subarray(4 * p, 4 * p + 4);
      const heaviest = Math.max(
        ...[0, 1, 2, 3].map((s) => {
          const v = f.pairs.vertex[4 * p + s];
          return v >= 0 && f.mesh.inverseMasses[v] > 0 ? weight[s] : 0;
        }),
      );
      if (heaviest > MIN_MOVABLE_WEIGHT + 1e-3) t.fail(`pair ${p} is missing, with a movable weight of ${heaviest}`);
    }
    t.ok(measured > 300 && contacts > 100, `${measured} pairs measured, ${contacts} contacts, ${touching} touching`);
    t.ok(ties < 0.02 * measured, `${ties} normals show less than the reference's, as after a tie`);
    bench.close();
  });

  for (const contact of ['GAP', 'VOLUME'] as const) {
    t.test(`the contact sweep, ${contact}: all variants give the contacts and pushes of the reference`, async (t) => {
      const f = contact === 'VOLUME' ? fixtureWithoutTies({ contact }) : fixture({ contact });
      const runs: { y: Float32Array; rows: number[] }[] = [];
      let control: Record<string, number> = {};
      let delta: Float32Array = new Float32Array(0);
      const { device } = gpu.memory;
      const threads = Math.min(1024, device.limits.maxComputeInvocationsPerWorkgroup);
      const broad = await KernelSet.compile(device, STEP_STAGES, { constants: serialThreads(threads) });
      const ways = [...[0, 3, 24].map((rounds) => ({ rounds, kernels: gpu.kernels })), { rounds: 1, kernels: broad }];
      for (const { rounds, kernels } of ways) {
        const bench = new StageBench(gpu.memory, kernels, { ...f, clock: CLOCK });
        bench.run((pass) => {
          bench.recorder.findContacts(pass);
          bench.recorder.selectContacts(pass);
          // One dispatch has too few threads for its rounds, one too many.
          bench.recorder.contactSweep(pass, { ...NO_ROUNDS, rounds, threads: 64 });
          bench.recorder.contactSweep(pass, { ...NO_ROUNDS, rounds, threads: 1024 });
        });
        control = await bench.control();
        delta = await bench.floats('pairNormal');
        runs.push({ y: await bench.floats('y'), rows: await bench.pairsIn('row', control.rowCount) });
        bench.close();
      }
      for (const { y } of runs.slice(1))
        t.ok(Buffer.from(runs[0].y.buffer).equals(Buffer.from(y.buffer)), 'one workgroup or many: same bytes');
      const rows = runs[0].rows.sort((a, b) => a - b);
      t.strictSame(
        runs[1].rows.sort((a, b) => a - b),
        rows,
      );
      // The reference, on the same contacts: those that the device calls candidates are checked in the test above.
      const list: number[] = [];
      for (let p = 0; p < f.pairs.count; p++) {
        if (!isActive(f, f.x, f.y, p)) continue;
        measurePair(f.pairs, p, f.x, 1);
        f.pairs.delta[p] = delta[4 * p + 3];
        if (f.pairs.delta[p] > 0 && f.pairs.gap[p] < f.pairs.delta[p] && f.pairs.distance[p] > 0) list.push(p);
      }
      const { inverseMasses } = f.mesh;
      const kept = selectContacts(f.pairs, Uint32Array.from(list), list.length, inverseMasses);
      const common = [...kept].filter((p) => rows.includes(p)).length;
      // Weights within rounding of 0 or of the least movable weight may fall on either side, and ties of distance too.
      t.ok(common >= 0.93 * Math.max(kept.length, rows.length), `${common} of ${kept.length} and ${rows.length} agree`);
      t.ok(rows.length > 50, 'enough contacts');
      const expected = sweepInOrder(f, rows, contact);
      let worst = 0;
      let pushed = 0;
      for (let k = 0; k < expected.length; k++) {
        worst = Math.max(worst, Math.abs(expected[k] - runs[0].y[k]));
        if (Math.abs(expected[k] - f.y[k]) > 1e-3) pushed++;
      }
      t.ok(pushed > 50, `${pushed} coordinates were pushed`);
      // A push is a violation (below 2) over a weight of at least 0.05, and every contact errs by a few 1e-6 of it.
      t.ok(worst < 5e-3, `worst difference ${worst}`);
    });
  }

  t.test('Stuck vertices slide as in the reference.', async (t) => {
    const f = fixture();
    const bench = new StageBench(gpu.memory, gpu.kernels, { ...f, clock: CLOCK });
    bench.writeStuck(4);
    bench.run((pass) => {
      bench.recorder.findContacts(pass);
      bench.recorder.selectContacts(pass);
      bench.recorder.slide(pass);
    });
    const list = (await bench.candidates()).map(({ pair }) => pair).sort((p, q) => p - q);
    const normal = await bench.floats('pairNormal');
    const y = await bench.floats('y');
    bench.close();
    // The device's own candidates and normals: what is compared is the slide.
    for (let p = 0; p < f.pairs.count; p++) {
      for (let c = 0; c < 3; c++) f.pairs.normal[3 * p + c] = normal[4 * p + c];
    }
    const { vertexCount, inverseMasses } = f.mesh;
    const held = new Forward(vertexCount);
    held.limiter.fill(0);
    const slide = new Slide(vertexCount, f.settings);
    slide.begin();
    const ones = new Float32Array(vertexCount).fill(1);
    for (let n = 0; n < 4; n++) slide.observe(held, ones, new Uint8Array(vertexCount).fill(1));
    const expected = Float32Array.from(f.y);
    slide.apply(f.pairs, Uint32Array.from(list), list.length, f.x, expected, inverseMasses);
    let worst = 0;
    let slid = 0;
    for (let k = 0; k < expected.length; k++) {
      worst = Math.max(worst, Math.abs(y[k] - expected[k]));
      if (Math.abs(expected[k] - f.y[k]) > 1e-3) slid++;
    }
    t.ok(slid > 100, `${slid} coordinates were changed`);
    // Coordinates below 10 and some twenty corrections a vertex, each rounded once.
    t.ok(worst < 1e-4, `worst difference ${worst}`);
  });

  for (const [forward, keptShare] of [
    ['PLANAR', 0],
    ['ISOTROPIC', 0],
    ['PLANAR', 0.25],
  ] as const) {
    const kept = keptShare > 0 ? `, ${keptShare} δ kept` : '';
    t.test(`the forward step, ${forward}${kept}: α matches the reference, every half-space is respected`, async (t) => {
      const f = fixture({ forward });
      const keptGap = keptShare * f.settings.delta;
      const bench = new StageBench(gpu.memory, gpu.kernels, { ...f, clock: CLOCK, keptGap });
      bench.run((pass) => bench.recorder.advance(pass));
      const motion = await bench.words('vertexStep');
      const moved = await bench.floats('x');
      const normal = await bench.floats('pairNormal');
      const control = await bench.control();
      const limits = await bench.floats('candidates');
      const { mesh, pairs, settings } = f;
      const reference = new Forward(mesh.vertexCount);
      const x = Float32Array.from(f.x);
      const active = Uint32Array.from(
        Array.from({ length: pairs.count }, (_, p) => p).filter((p) => isActive(f, f.x, f.y, p)),
      );
      const moving = Uint8Array.from({ length: mesh.vertexCount }, (_, v) => (moves(f.x, f.y, v) ? 1 : 0));
      const { gamma, delta, floor } = settings;
      const common = {
        pairs,
        active,
        activeCount: active.length,
        moving,
        step: 1,
        rule: forward,
        gamma,
        delta,
        floor,
        keptGap,
      };
      reference.advance({ ...common, x, y: f.y, box: f.box, radius: 0 });
      let differing = 0;
      let limited = 0;
      for (let v = 0; v < mesh.vertexCount; v++) {
        const alpha = new Float32Array(motion.buffer, 4 * STEP_WORDS * v, 1)[0];
        if (!(alpha >= 0 && alpha <= 1)) t.fail(`α of vertex ${v} is ${alpha}`);
        if (alpha < 1) limited++;
        if (Math.abs(alpha - reference.alpha[v]) > 1e-3) differing++;
        for (let c = 0; c < 3; c++) {
          const k = 3 * v + c;
          if (moved[k] < f.box[6 * v + c] || moved[k] > f.box[6 * v + 3 + c]) t.fail(`vertex ${v} left its box`);
          if (alpha === 1 && !Object.is(moved[k], f.y[k])) t.fail(`vertex ${v}: no exact copy of y`);
          if (alpha === 0 && !Object.is(moved[k], f.x[k])) t.fail(`vertex ${v}: no exact copy of x`);
        }
      }
      t.ok(limited > 50, `${limited} vertices are limited`);
      // Other closest points of parallel elements give other normals, and touching pairs may certify on one side only.
      t.ok(differing < 0.05 * mesh.vertexCount, `α differs at ${differing} of ${mesh.vertexCount} vertices`);
      t.ok(Math.abs(control.touchingCount - reference.touching) <= 3, `touching ${control.touchingCount}`);
      // What was apart along its normal at x is apart along the same normal now.
      let apart = 0;
      for (const p of active) {
        const n = normal.subarray(4 * p, 4 * p + 3);
        const v = pairs.vertex.subarray(4 * p, 4 * p + 4);
        measureHeights(f.x, pairs.kind[p], v[0], v[1], v[2], v[3], n[0], n[1], n[2]);
        if (!(heights.gap > 2 * heights.error)) continue;
        apart++;
        const after = exactGap({ ...f, x: moved }, p, n);
        // The budget leaves what is kept; the check lets rounding have half of the floor.
        const least = Math.max(0, Math.min(heights.gap, keptGap) - floor / 2);
        if (!(after > least)) t.fail(`pair ${p} has gap ${after} after the step, ${heights.gap} before`);
      }
      t.ok(apart > 300, `${apart} pairs are apart`);
      // Limits of the check: e as the reference has it, and half-spaces that do not meet.
      const entries = new Uint32Array(limits.buffer);
      for (let place = 0; place < control.activeCount; place++) {
        const at = LIMIT.words * place;
        const p = entries[at + LIMIT.entry] & 0x1fffffff;
        const n = normal.subarray(4 * p, 4 * p + 3);
        const v = pairs.vertex.subarray(4 * p, 4 * p + 4);
        measureHeights(f.x, pairs.kind[p], v[0], v[1], v[2], v[3], n[0], n[1], n[2]);
        const touches = !(heights.gap > 2 * heights.error);
        if (touches) continue;
        const [low, high, e] = [limits[at + LIMIT.low], limits[at + LIMIT.high], limits[at + LIMIT.error]];
        if (Math.abs(heights.error - e) > 1e-6 * heights.error) t.fail(`pair ${p}: e ${e} instead of ${heights.error}`);
        if (!(low + e >= high - e)) t.fail(`pair ${p}: side a may sink to ${low}, side b rise to ${high}`);
      }
      t.ok(control.activeCount > 300, `${control.activeCount} pairs have limits`);
      bench.close();
    });
  }
}

/** Two sweeps of the given contacts in the order of their places, in double on float32 y. */
function sweepInOrder(f: Fixture, rows: readonly number[], contact: 'GAP' | 'VOLUME'): Float32Array {
  const y = Float32Array.from(f.y);
  const sorted = [...rows].sort((p, q) => placeOf(p, f.pairs.count, CLOCK) - placeOf(q, f.pairs.count, CLOCK));
  const each = sorted.map((p) => {
    const one = new Contacts(f.mesh.inverseMasses, contact);
    one.assemble(f.pairs, Uint32Array.of(p), 1, f.x, 1);
    return one;
  });
  for (let sweep = 0; sweep < 2; sweep++) for (const one of each) one.sweep(f.x, y);
  return y;
}
