import t from 'tap';
import { ExcludedMemory } from '../../../../bench/prove/judge/excluded.js';
import { findMeetings } from '../../../../bench/prove/judge/state-judge.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';

const rules = { kinematicPairs: 'SKIP' } as const;

/** A triangle, and one that hangs on vertex 3 and pierces it when `low` is below 0; a third one far away. */
const surface = readSurface({ vertexCount: 9, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8) });
const at = (low: number) =>
  Float64Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, low, 0.3, 0.2, 1, 0.2, 0.3, 1, 5, 5, 5, 6, 5, 5, 5, 6, 5]);

t.test('intersecting pairs are excused, with all that depend on the same proximity pairs, and no others', async (t) => {
  const { excused, fewest, most } = new ExcludedMemory().settle(surface, at(-0.1), rules, 0.01);
  t.equal(fewest, most);
  t.ok(excused.has([3, 4], [0, 1, 2]), 'an edge that pierces');
  t.ok(excused.has([4, 5], [0, 1, 2]), 'its ends are the ends of those that do');
  t.ok(excused.has([0, 1], [3, 4, 5]), 'a side that one of them may leave through');
  t.ok(excused.has([3], [0, 1, 2]) && excused.has([2, 0], [5, 3]));
  t.notOk(excused.has([6, 7], [0, 1, 2]));
  t.notOk(excused.has([3], [6, 7, 8]));
  t.equal(most, 6, 'three edges of either triangle with the other triangle');
  const judged = { ...surface, excused };
  t.same(findMeetings(judged, at(-0.1), rules), []);
  t.same(findMeetings(surface, at(-0.1), rules).length, 2);
});

t.test(
  'a pair that no longer intersects is guarded from the first start in which all of its five pairs are farther apart than the floor',
  async (t) => {
    const memory = new ExcludedMemory();
    memory.settle(surface, at(-0.1), rules, 0.01);
    const near = memory.settle(surface, at(0.005), rules, 0.01);
    t.match(near, { fewest: 0, most: 6 });
    t.ok(near.excused.has([3], [0, 1, 2]));
    t.match(memory.settle(surface, at(0.02), rules, 0.01), { fewest: 0, most: 0 });
    t.match(memory.settle(surface, at(0.005), rules, 0.01), { most: 0 }, 'and stays guarded when it comes near again');
    memory.settle(surface, at(-0.1), rules, 0.01);
    memory.forget();
    t.match(memory.settle(surface, at(0.005), rules, 0.01), { most: 0 }, 'nothing is remembered of another start');
  },
);
