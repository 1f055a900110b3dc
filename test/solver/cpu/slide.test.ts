import t from 'tap';
import { measurePair } from '../../../src/solver/cpu/certificate.js';
import { Forward } from '../../../src/solver/cpu/forward.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { Slide } from '../../../src/solver/cpu/slide.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { KIND_NAMES, KINDS, lonePair, placeTangent } from '../../support/pair-shapes.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const settings = makeSettings({ delta: 0.1 });
const ONE = Uint32Array.of(0);

/** Four vertices of which some are held by pair 0. */
function heldBy(stuck: readonly number[], steps: number, slide = new Slide(4, settings)): Slide {
  const forward = new Forward(4);
  forward.alpha.fill(1);
  forward.limiter.fill(-1);
  for (const v of stuck) {
    forward.alpha[v] = 0.005;
    forward.limiter[v] = 0;
  }
  for (let n = 0; n < steps; n++) slide.observe(forward, new Float32Array(4).fill(1), new Uint8Array(4).fill(1));
  return slide;
}

function makeTouch(kind: number): { pairs: PairSet; x: Float32Array; y: Float32Array } {
  const x = placeTangent(random, kind, 1, settings.floor * random.between(0.5, 30));
  const pairs = lonePair(kind);
  measurePair(pairs, 0, x, 0);
  return { pairs, x, y: x.map((value) => value + random.between(-0.5, 0.5)) };
}

/** Heights of the vertices along the pair's normal at x, of the front of both sides, and the ways along it in y. */
function alongNormal(
  pairs: PairSet,
  x: Float32Array,
  y: Float32Array,
): { slack: number[]; approach: number[]; gap: number } {
  const kind = pairs.kind[0];
  const n = pairs.normal;
  const dot = (p: (c: number) => number): number => p(0) * n[0] + p(1) * n[1] + p(2) * n[2];
  const height = Array.from({ length: CORNERS[kind] }, (_, v) => dot((c) => x[3 * v + c] - x[c]));
  const lo = Math.min(...height.slice(0, SIDE_A[kind]));
  const hi = Math.max(...height.slice(SIDE_A[kind]));
  return {
    slack: height.map((h, v) => (v < SIDE_A[kind] ? h - lo : hi - h)),
    approach: height.map((_, v) => (v < SIDE_A[kind] ? -1 : 1) * dot((c) => y[3 * v + c] - x[3 * v + c])),
    gap: lo - hi,
  };
}

for (const kind of KINDS) {
  t.test(
    `${KIND_NAMES[kind]}: the part of the motion that would cross the plane is removed from y, and the rest remains`,
    async (t) => {
      let changed = 0;
      for (let n = 0; n < 300; n++) {
        const { pairs, x, y } = makeTouch(kind);
        const stuck = [0, 1, 2, 3].filter((v) => v < CORNERS[kind] && random() < 0.6);
        const before = y.slice();
        const inverseMass = Float32Array.from({ length: 4 }, () => (random() < 0.2 ? 0 : 1));
        heldBy(stuck, 4).apply(pairs, ONE, 1, x, y, inverseMass);
        const old = alongNormal(pairs, x, before);
        const now = alongNormal(pairs, x, y);
        const room = 0.5 * settings.gamma * Math.max(0, old.gap - settings.floor);
        for (let v = 0; v < CORNERS[kind]; v++) {
          const limit = settings.gamma * old.slack[v] + room;
          const isBound = stuck.includes(v) && inverseMass[v] > 0 && old.approach[v] > limit + 1e-5;
          const change = [0, 1, 2].map((c) => y[3 * v + c] - before[3 * v + c]);
          if (!isBound) {
            if (Math.hypot(...change) > 2e-5) t.fail(`vertex ${v} had nothing to give up`);
            continue;
          }
          changed++;
          if (Math.abs(now.approach[v] - limit) > 1e-5)
            t.fail(`vertex ${v} approaches by ${now.approach[v]}, may by ${limit}`);
          const along = change.reduce((sum, value, c) => sum + value * pairs.normal[c], 0);
          const aside = Math.hypot(...change.map((value, c) => value - along * pairs.normal[c]));
          if (aside > 1e-5) t.fail(`vertex ${v} was moved aside by ${aside}`);
        }
      }
      t.ok(changed > 50, `${changed} ways were cut`);
    },
  );
}

t.test('a vertex is stuck if a pair holds it four steps in a row', async (t) => {
  const { pairs, x, y } = makeTouch(0);
  for (let c = 0; c < 3; c++) y[c] = x[c] - pairs.normal[c];
  const isCut = (slide: Slide): boolean => {
    const trial = y.slice();
    slide.apply(pairs, ONE, 1, x, trial, new Float32Array(4).fill(1));
    return trial.some((value, k) => value !== y[k]);
  };
  t.strictSame(
    [0, 3, 4, 10].map((steps) => isCut(heldBy([0], steps))),
    [false, false, true, true],
  );
  t.notOk(isCut(heldBy([0], 3, heldBy([], 1, heldBy([0], 3)))), 'a step of motion in between');
  const restarted = heldBy([0], 4);
  restarted.begin();
  t.notOk(isCut(restarted), 'a new request');

  const observe = (change: (forward: Forward, residual: Float32Array, moving: Uint8Array) => void): boolean => {
    const slide = new Slide(4, settings);
    const forward = new Forward(4);
    forward.limiter.fill(0);
    const residual = new Float32Array(4).fill(1);
    const moving = new Uint8Array(4).fill(1);
    change(forward, residual, moving);
    for (let n = 0; n < 4; n++) slide.observe(forward, residual, moving);
    return isCut(slide);
  };
  t.ok(
    observe(() => undefined),
    'α = 0 because of a pair',
  );
  t.notOk(
    observe((forward) => forward.alpha.fill(0.02)),
    'it gets on',
  );
  t.notOk(
    observe((forward) => forward.limiter.fill(-1)),
    'no pair holds it',
  );
  t.notOk(
    observe((_, residual) => residual.fill(settings.epsilon / 2)),
    'it has used up its way',
  );
  t.notOk(
    observe((_, __, moving) => moving.fill(0)),
    'it wants nothing',
  );
});
