import t from 'tap';
import { findTouching } from '../../../../bench/prove/judge/distances.js';
import { ExcludedMemory } from '../../../../bench/prove/judge/excluded.js';
import { findCollisions } from '../../../../bench/prove/judge/path-judge.js';
import { findMeetings } from '../../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';

const rules = { kinematicPairs: 'SKIP' } as const;
const MESH = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), segments: Uint32Array.of(0, 3) };
/** A rod at corner 0 of a triangle, with its end at (x, 0, z): beyond x = 1 it lies across the opposite side. */
const withEnd = (x: number, z: number) => Float64Array.from([0, 0, 0, 1, -1, 0, 1, 1, 0, x, 0, z]);
const named = (list: readonly { a: readonly number[]; b: readonly number[] }[]) =>
  list.map(({ a, b }) => `${a} with ${b}`);

t.test('pairs that touch without piercing anything are found exactly', async (t) => {
  const surface = readSurface(MESH);
  const told = (x: Float64Array) => {
    t.same(findMeetings(surface, x, rules), [], 'nothing for the test of a state');
    const { certain, possible } = findTouching(surface, x, rules);
    return { certain: named(certain), possible: named(possible) };
  };
  t.same(told(withEnd(1.5, 0)), { certain: ['1,2 with 0,3'], possible: [] }, 'across a side');
  t.same(told(withEnd(0.5, 0)), { certain: ['3 with 0,1,2'], possible: [] }, 'an end on the triangle');
  t.same(told(withEnd(1, 0)).certain.length, 2, 'an end on its side is both');
  t.same(told(withEnd(0.5, 2 ** -50)), { certain: [], possible: ['3 with 0,1,2'] }, 'within rounding');
  t.same(told(withEnd(0.5, 1e-9)), { certain: [], possible: [] }, 'apart');
});

t.test(
  'pairs that are not promised may touch: kinematic or ignored throughout, and so is everything at them',
  async (t) => {
    const x = withEnd(1.5, 0);
    const kinematic = Uint8Array.of(1, 1, 1, 1);
    t.same(findTouching(readSurface({ ...MESH, kinematic }), x, rules).certain, []);
    t.equal(findTouching(readSurface({ ...MESH, kinematic }), x, { kinematicPairs: 'PROTECT' }).certain.length, 1);
    const parts = [{ name: 'all', firstVertex: 0, vertexCount: 4 }];
    const ignoredPartPairs = Uint32Array.of(0, 0);
    t.same(findTouching(readSurface({ ...MESH, parts, ignoredPartPairs }), x, rules).certain, []);
  },
);

t.test('where paths are tested, pairs that touch in the start are excluded until they are apart', async (t) => {
  const surface = readSurface(MESH);
  const settle = (memory: ExcludedMemory, x: Float64Array, hasPaths = true) =>
    memory.settle(surface, x, rules, 0.01, hasPaths);
  t.match(settle(new ExcludedMemory(), withEnd(1.5, 0), false), { fewest: 0, most: 0 }, 'not where only states are');
  const memory = new ExcludedMemory();
  const { excused, fewest, most } = settle(memory, withEnd(1.5, 0));
  t.same([fewest, most], [1, 1]);
  t.ok(excused.has([0, 3], [1, 2]));
  t.notOk(excused.has([3], [0, 1, 2]), 'and nothing else');
  t.match(settle(memory, withEnd(1.5, 0.005)), { fewest: 0, most: 1 }, 'closer than the floor');
  t.match(settle(memory, withEnd(1.5, 0.1)), { fewest: 0, most: 0 });
  t.match(settle(memory, withEnd(1.5, 0.005)), { most: 0 }, 'guarded from then on');
  t.match(settle(new ExcludedMemory(), withEnd(0.5, 2 ** -50)), { fewest: 0, most: 1 }, 'rounding may count it or not');
});

/** Two triangles that are sewn together along 1, 2 in part 0, with 3 in part 1; a blade in part 2 comes from part 0's side. */
t.test(
  'ignored parts: a pair through which an element that spans parts would be met counts on a path, others do not',
  async (t) => {
    const mesh = {
      vertexCount: 7,
      triangles: Uint32Array.of(0, 1, 2, 1, 3, 2, 4, 5, 6),
      parts: [
        { name: 'left', firstVertex: 0, vertexCount: 3 },
        { name: 'right', firstVertex: 3, vertexCount: 1 },
        { name: 'blade', firstVertex: 4, vertexCount: 3 },
      ],
    };
    const blade = (x: number): number[] => [x, 0, -1, x, 0, 1, x - 0.1, 0, 1];
    const cloth = [-1, 0, 0, 0, -1, 0, 0, 1, 0, 1, 0, 0];
    const state = (x: number) => Float64Array.from([...cloth, ...blade(x)]);
    const meet = (ignored: number[], from: number, to: number) => {
      const surface = readSurface({ ...mesh, ignoredPartPairs: Uint32Array.from(ignored) });
      t.same(findMeetings(surface, state(from), rules), [], 'free at the start');
      return named(findCollisions(surface, state(from), state(to), rules));
    };
    t.same(meet([0, 2], -0.8, -0.5), [], 'through the ignored half');
    t.ok(meet([2, 0], -0.5, 0.5).includes('1,2 with 4,5'), 'the seam is a side of an element that spans parts');
    t.ok(meet([0, 2, 1, 2], 1.5, 0.5).includes('1,3 with 4,5'), 'what spans parts is ignored by none');
  },
);
