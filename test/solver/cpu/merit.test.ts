import t from 'tap';
import { SHORTFALL_WEIGHT } from '../../../src/solver/constants.js';
import { Merit } from '../../../src/solver/cpu/merit.js';
import type { PairSet } from '../../../src/solver/cpu/pair-set.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';

const LEAP = 3;
const NO_PAIRS = {} as PairSet;

/** Vertices on the x axis, at these coordinates; all targets are at the origin. */
const at = (...places: number[]): Float32Array => Float32Array.from(places.flatMap((place) => [place, 0, 0]));

/** A merit whose contacts lack what `lacking` says, by vertex. */
function meritOf(inverseMasses: readonly number[], lacking = new Float32Array(inverseMasses.length)) {
  const short = new Float32Array(inverseMasses.length);
  const shortfalls = { of: short, measure: () => short.set(lacking) };
  const merit = new Merit(Float32Array.from(inverseMasses), LEAP, undefined, shortfalls, new Scratch());
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
