import t from 'tap';
import { fillTrustBoxes } from '../../../src/solver/cpu/boxes.js';
import { measurePair } from '../../../src/solver/cpu/certificate.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import { CORNERS, EE, SIDE_A, VT } from '../../../src/solver/pair-kinds.js';
import { checkCommit, inputOf } from '../../support/forward-input.js';
import { looseScene } from '../../support/loose-scene.js';
import { KIND_NAMES, KINDS, lonePair, pairsOf, placeTangent } from '../../support/pair-shapes.js';
import { meetsOnPiece, mixStates } from '../../support/piece-judge.js';
import { type Random, seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { slowDistance } from '../../support/slow-distance.js';
import { allPairs } from '../../support/trust-oracle.js';

// forward.ts judged by what it is for: no piece of a path meets. What its numbers are is in forward.test.ts.

const f = Math.fround;
const random = seeded();
t.comment(`seed ${random.seed}`);

const RULES = ['PLANAR', 'ISOTROPIC'] as const;

function aim(random: Random, x: Float32Array, size: number): Float32Array {
  const y = x.slice();
  for (let v = 0; v < x.length / 3; v++) {
    if (random() < 0.2) continue;
    for (let c = 0; c < 3; c++) y[3 * v + c] += size * random.between(-1, 1);
  }
  return y;
}

for (const rule of RULES) {
  t.test(`${rule}: crowds with wild targets never meet, whatever share of its way each vertex goes`, async (t) => {
    const met: string[] = [];
    let judged = 0;
    let moved = 0;
    for (let round = 0; round < 25; round++) {
      const { mesh, x } = looseScene(random, { elements: 16, side: [2, 3, 30][round % 3], travel: 0 });
      const pairs = pairsOf(allPairs(mesh).map(({ kind, a, b }) => [kind, ...a, ...b]));
      const forward = new Forward(mesh.vertexCount);
      const settings = makeSettings({ delta: 0.05 });
      const none = new Uint8Array(mesh.vertexCount);
      for (let step = 0; step < 4; step++) {
        const y = aim(random, x, [0.1, 3, 1e3][random.int(3)]);
        const boxes = { box: new Float32Array(6 * mesh.vertexCount), growth: 0 };
        fillTrustBoxes(boxes, x, y, mesh.kinematic, settings, 2, 0.2, none);
        const before = x.slice();
        // A pair that meets in x must not be moved into something worse, but it cannot be judged.
        const apart = Array.from({ length: pairs.count }, (_, p) => p).filter((p) => !meetsOnPiece(pairs, p, x, x));
        const guard = random() < 0.5 ? { box: boxes.box } : { radius: 1 };
        const gamma = f([0.5, 0.9, 0.999][random.int(3)]);
        const input = inputOf(pairs, x, y, { rule, step, delta: f(0.05), floor: f(5e-4), gamma, ...guard });
        forward.advance(input);
        checkCommit(t, forward, before, input);
        if (forward.largestMove > 0) moved++;
        for (let n = 0; n < 4; n++) {
          const mixed = mixStates(random, before, x);
          for (const p of apart) {
            judged++;
            if (meetsOnPiece(pairs, p, before, mixed))
              t.fail(`round ${round}: ${KIND_NAMES[pairs.kind[p]]} ${p} meets`);
          }
        }
      }
    }
    t.strictSame(met.slice(0, 5), []);
    t.ok(judged > 20_000 && moved > 50, `${judged} pieces, motion in ${moved} of 100 steps`);
  });

  for (const kind of KINDS) {
    t.test(`${rule}, ${KIND_NAMES[kind]}: long elements near and below the floor, far from the origin`, async (t) => {
      let certified = 0;
      let moves = 0;
      let pieces = 0;
      for (let n = 0; n < 150; n++) {
        const length = 10 ** random.between(-1, 1.5);
        const centre = [0, 1, 2].map(() => random.between(-8, 8));
        const roundoff = 2 ** -24 * (8 + length);
        const floor = f(roundoff * [4, 100, 1e4][n % 3]);
        const x = placeTangent(
          random,
          kind,
          length,
          [roundoff * random.between(0, 30), floor * random.between(0.3, 3)][n % 2],
          centre,
        );
        const pairs = lonePair(kind);
        if (meetsOnPiece(pairs, 0, x, x)) continue;
        const forward = new Forward(4);
        for (let step = 0; step < 8; step++) {
          // Slides along, presses on, or both; a few roundings up to a whole length.
          measurePair(pairs, 0, x, step);
          const { normal } = pairs;
          const y = x.slice();
          const press = random() < 0.5 ? 0 : length * 10 ** random.between(-6, 0);
          for (let v = 0; v < CORNERS[kind]; v++) {
            const slide = [0, 1, 2].map(() => random.between(-1, 1) * length * 10 ** random.between(-3, 0));
            const across =
              slide.reduce((sum, value, c) => sum + value * normal[c], 0) + (v < SIDE_A[kind] ? press : -press);
            for (let c = 0; c < 3; c++) y[3 * v + c] = x[3 * v + c] + slide[c] - across * normal[c];
          }
          const before = x.slice();
          const gap = pairs.gap[0];
          if (gap > 2 * pairs.error[0]) certified++;
          const input = inputOf(pairs, x, y, { rule, step, floor, delta: f(16 * floor), radius: 0.5 * length });
          forward.advance(input);
          checkCommit(t, forward, before, input);
          if (forward.largestMove > 0) moves++;
          for (let m = 0; m < 3; m++) {
            pieces++;
            const mixed = mixStates(random, before, x);
            if (meetsOnPiece(pairs, 0, before, mixed)) t.fail(`gap ${gap}, floor ${floor}: meets in step ${step}`);
          }
          const ids = Array.from({ length: CORNERS[kind] }, (_, v) => v);
          const least = slowDistance(x, ids.slice(0, SIDE_A[kind]), ids.slice(SIDE_A[kind]));
          // e allows for the rounding of the heights that both the gap and the check are made of.
          if (gap >= floor && least < 0.5 * floor - 2 * pairs.error[0])
            t.fail(`${least} is left of a gap of ${gap}, floor ${floor}`);
        }
      }
      t.ok(certified > 300 && moves > 200 && pieces > 1000, `${certified} certified, ${moves} moves, ${pieces} pieces`);
    });
  }
}

t.test('a gap of at most 2e counts as touching: frozen, even if all want to part', async (t) => {
  for (const rule of RULES) {
    let doubtful = 0;
    for (let n = 0; n < 400; n++) {
      const kind = [VT, EE][n % 2];
      const length = 10 ** random.between(0, 2);
      const x = placeTangent(random, kind, length, length * 2 ** -24 * random.between(0, 30));
      const pairs = lonePair(kind);
      measurePair(pairs, 0, x, 0);
      const [gap, error] = [pairs.gap[0], pairs.error[0]];
      if (!(gap > 0)) continue;
      const y = x.slice();
      for (let v = 0; v < 4; v++)
        for (let c = 0; c < 3; c++) y[3 * v + c] += (v < SIDE_A[kind] ? 1 : -1) * pairs.normal[c];
      const before = x.slice();
      const forward = new Forward(4);
      forward.advance(inputOf(pairs, x, y, { rule, floor: 0 }));
      const isFrozen = x.every((value, k) => value === before[k]);
      if (gap <= 2 * error) {
        doubtful++;
        if (!isFrozen || forward.touching !== 1) t.fail(`a gap of ${gap} with e = ${error} let go`);
      } else if (isFrozen || forward.touching !== 0) t.fail(`a gap of ${gap} with e = ${error} was frozen`);
    }
    t.ok(doubtful > 20, `${doubtful} were in doubt`);
  }
});

t.test('gaps smaller than the rounding of a written position survive sliding', async (t) => {
  for (const rule of RULES) {
    let slides = 0;
    let moved = 0;
    for (let n = 0; n < 6000; n++) {
      const kind = [VT, EE][n % 2];
      const length = 10 ** random.between(-2, -1);
      const centre = [0, 1, 2].map(() => random.between(4, 8) * (random() < 0.5 ? 1 : -1));
      const x = placeTangent(random, kind, length, 2 ** -22 * random.between(0, 4), centre);
      const pairs = lonePair(kind);
      measurePair(pairs, 0, x, 0);
      // Rounding fl(x + αD) moves a vertex along n by up to √3·2⁻²².
      if (!(pairs.gap[0] > 2 * pairs.error[0] && pairs.gap[0] < 3 * 2 ** -22)) continue;
      if (meetsOnPiece(pairs, 0, x, x)) continue;
      slides++;
      const y = x.slice();
      for (let v = 0; v < 4; v++) {
        const slide = [0, 1, 2].map(() => random.between(-10, 10) * length);
        // Away by enough that rounding y makes no approach of it.
        const lift = (v < SIDE_A[kind] ? 1 : -1) * 4 * 2 ** -22;
        const across = slide.reduce((sum, value, c) => sum + value * pairs.normal[c], 0) - lift;
        for (let c = 0; c < 3; c++) y[3 * v + c] += slide[c] - across * pairs.normal[c];
      }
      const before = x.slice();
      const forward = new Forward(4);
      const room = rule === 'PLANAR' ? { floor: f(1e-5) } : { floor: 0 };
      forward.advance(inputOf(pairs, x, y, { rule, delta: f(1e-3), radius: length, ...room }));
      if (forward.largestMove > 0) moved++;
      for (let m = 0; m < 4; m++) {
        if (meetsOnPiece(pairs, 0, before, mixStates(random, before, x))) t.fail(`${pairs.gap[0]} did not survive`);
      }
    }
    t.ok(slides > 200, `${slides} slides, ${moved} with motion`);
  }
});

t.test('planar: at the floor neither sliding nor separation is limited', async (t) => {
  const floor = f(1e-4);
  let held = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 400; n++) {
    const isUnder = n % 2 === 0;
    const centre = [0, 1, 2].map(() => random.between(-2, 2));
    const x = placeTangent(
      random,
      VT,
      1,
      floor * (isUnder ? random.between(0.8, 1) : random.between(1.01, 1.1)),
      centre,
    );
    const pairs = lonePair(VT);
    measurePair(pairs, 0, x, 0);
    const y = x.slice();
    // Without the lift the rounding of y is an approach, and under the floor there is no room for any.
    const lift = isUnder ? 1e-6 : 0;
    const slide = [0, 1, 2].map(() => random.between(-0.1, 0.1));
    const across = slide.reduce((sum, value, c) => sum + value * pairs.normal[c], 0) - lift;
    for (let c = 0; c < 3; c++) y[c] += slide[c] - across * pairs.normal[c];
    const forward = new Forward(4);
    forward.advance(inputOf(pairs, x, y, { floor, delta: f(1e-2) }));
    if (forward.alpha[0] !== 1) held++;
    least = Math.min(least, slowDistance(x, [0], [1, 2, 3]));
  }
  t.equal(held, 0, 'all arrive');
  t.ok(least >= 0.5 * floor, `never closer than ${least}`);
});

t.test('targets at the limit of float32 give finite positions and no meeting', async (t) => {
  for (const rule of RULES) {
    for (let n = 0; n < 200; n++) {
      const kind = KINDS[n % 4];
      const x = placeTangent(random, kind, 1, 10 ** random.between(-4, 0));
      const pairs = lonePair(kind);
      const y = x.map((value) => (random() < 0.3 ? value : 3.4e38 * random.between(-1, 1)));
      const before = x.slice();
      const forward = new Forward(4);
      // Within a radius, or the verifier could not tell: its doubles end 16 digits below the largest coordinate.
      forward.advance(inputOf(pairs, x, y, { rule, radius: 1 }));
      if (!x.every(Number.isFinite)) t.fail('not finite');
      if (meetsOnPiece(pairs, 0, before, x)) t.fail('meets');
    }
  }
  t.pass('400 pairs');
});
