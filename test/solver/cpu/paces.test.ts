import t from 'tap';
import { LEAP_PROGRESS } from '../../../src/solver/constants.js';
import { Paces } from '../../../src/solver/cpu/paces.js';
import { Scratch } from '../../../src/solver/cpu/workspace.js';

const LEAP = 3;

/** Vertices on the x axis, at these coordinates; all targets are at the origin. */
const at = (...places: number[]): Float32Array => Float32Array.from(places.flatMap((place) => [place, 0, 0]));

t.test('what came nearer by too little of a leap, from farther than one, is kept and rests', async (t) => {
  const masses = Float32Array.from([1, 1, 1, 1, 0]);
  const paces = new Paces(masses, LEAP, undefined, new Scratch());
  const target = at(0, 0, 0, 0, 0);
  const begin = at(10, 10, 10, LEAP, 10);
  paces.rebuild(begin, new Float32Array(15), target, 0.5);
  const [little, enough] = [0.99 * LEAP_PROGRESS * LEAP, 1.01 * LEAP_PROGRESS * LEAP];
  // Pushed away, hardly nearer, on its way, within a leap, kinematic.
  const x = at(11, 10 - little, 10 - enough, LEAP, 10);
  t.ok(paces.findKept(x, target));
  const y = at(1, 2, 3, 4, 5);
  paces.restKept(x, y);
  t.same(y, Float32Array.from([...x.subarray(0, 6), ...at(3, 4, 5)]));
  const arrived = at(0, 0, 0, 0, 10);
  t.notOk(paces.findKept(arrived, target));
  paces.restKept(arrived, y);
  t.same(y.subarray(0, 3), x.subarray(0, 3), 'none rests any more');
});
