import t from 'tap';
import { SHORTFALL_WEIGHT } from '../../../src/solver/constants.js';
import { Merit } from '../../../src/solver/cpu/merit.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';

const LEAP = 3;
/** root of Σ m |x − y*|² beyond which a mesh is on its way */
const FAR = 10;
/** 2 s √Σm, with s the least progress of a step on the way */
const PROGRESS = 0.5;
const NO_PAIRS = {} as PairSet;

/** Vertices on the x axis, at these coordinates; all targets are at the origin. */
const at = (...places: number[]): Float32Array => Float32Array.from(places.flatMap((place) => [place, 0, 0]));

/** A merit whose contacts lack what `lacking` says, by vertex. */
function meritOf(inverseMasses: readonly number[], lacking = new Float32Array(inverseMasses.length)) {
  const short = new Float32Array(inverseMasses.length);
  const shortfalls = { of: short, measure: () => short.set(lacking) };
  const merit = new Merit(
    Float32Array.from(inverseMasses),
    { longest: LEAP, far: FAR, progress: PROGRESS },
    undefined,
    shortfalls,
    new Scratch(),
  );
  const target = new Float32Array(3 * inverseMasses.length);
  return {
    merit,
    weigh: (x: Float32Array) => merit.of(x, target, NO_PAIRS),
    keep: (x: Float32Array) => merit.keep(x, target),
  };
}

t.test('Φ sums the squared distances by mass, without kinematic vertices', async (t) => {
  const { weigh } = meritOf([1, 0.5, 0]);
  t.equal(weigh(at(2, 3, 100)), 4 + 2 * 9);
});

t.test('near vertices tell their own gain beside one that is far away', async (t) => {
  const { merit, weigh, keep } = meritOf([1, 1, 0, 1]);
  const first = weigh(at(1, 2, 1, 1000));
  t.equal(merit.nearGain, 0, 'there is no best state yet');
  keep(at(1, 2, 1, 1000));
  t.ok(weigh(at(0.5, 2, 0, 1000)) > (1 - 1e-6) * first, 'hardly a share of Φ');
  t.equal(merit.nearGain, 0.75 / 5);
  weigh(at(1, 2.5, 0, 500));
  t.equal(merit.nearGain, -2.25 / 5, 'what the far one gains does not count');
  keep(at(1, 2.5, 0, 2.5));
  weigh(at(1, 2.5, 0, 0));
  t.equal(merit.nearGain, 6.25 / 13.5, 'it has come near');
});

t.test('a vertex within a leap of its target is near, and what its contacts lack is in its term', async (t) => {
  const lacking = new Float32Array([0.5, 0.5]);
  const { merit, weigh, keep } = meritOf([1, 1], lacking);
  const x = at(LEAP, 1.01 * LEAP);
  weigh(x);
  keep(x);
  lacking.fill(0);
  weigh(x);
  t.equal(merit.nearGain, 1 - (LEAP / (LEAP + 0.5 * SHORTFALL_WEIGHT)) ** 2, 'of the first vertex alone');
});

t.test('a mesh is on its way while all of it together is far from its targets', async (t) => {
  const { merit, weigh, keep } = meritOf([1, 0.5, 0]);
  const keepAt = (...places: number[]) => {
    weigh(at(...places));
    keep(at(...places));
    return merit.leastGain;
  };
  t.equal(merit.leastGain, undefined, 'there is no best state yet');
  t.equal(keepAt(2, 7, 1000), PROGRESS / Math.sqrt(4 + 2 * 49));
  t.equal(keepAt(1, 7, 1000), undefined, '1 + 2 · 49 is not more than 10²');
  const far = keepAt(0, 8, 0);
  t.ok(far);
  weigh(at(0, 1, 0));
  t.equal(merit.leastGain, far, 'that of the best state counts, not that of the last one');
});
