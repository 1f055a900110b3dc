import t from 'tap';
import { ascendingRows, findRepeatedRow, forEachGroup, joinArrays, sortRows } from '../../src/mesh/rows.js';
import { seeded } from '../support/random.js';

t.test('ids of a row ascend, rows keep their places, the input stays', async (t) => {
  const rows = Uint32Array.of(3, 1, 2, 9, 9, 0);
  t.same([...ascendingRows(rows, 3)], [1, 2, 3, 0, 9, 9]);
  t.same([...rows], [3, 1, 2, 9, 9, 0]);
});

t.test('rows sort as tuples do, equal ones by index, whatever the range of ids', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (const limit of [1, 2, 7, 2 ** 11, 2 ** 11 + 1, 2 ** 20, 2 ** 32]) {
    for (const width of [1, 2, 3, 4]) {
      const rows = Uint32Array.from({ length: 150 * width }, () => random.int(limit));
      // Repetitions of whole rows are rare by chance, so half of them are copies.
      rows.copyWithin(75 * width, 0, 75 * width);
      const compare = (a: number, b: number): number => {
        for (let i = 0; i < width; i++) {
          const difference = rows[a * width + i]! - rows[b * width + i]!;
          if (difference !== 0) return difference;
        }
        return a - b;
      };
      const expected = Array.from({ length: 150 }, (_, i) => i).sort(compare);
      t.same([...sortRows(rows, width, limit)], expected, `width ${width}, ids below ${limit}`);
    }
  }
});

t.test('groups are the sets of equal rows', async (t) => {
  const rows = Uint32Array.of(5, 6, 1, 2, 5, 6, 1, 3, 5, 6);
  const order = sortRows(rows, 2, 7);
  const groups: number[][] = [];
  forEachGroup(rows, 2, order, (from, to) => groups.push([...order.subarray(from, to)]));
  t.same(groups, [[1], [3], [0, 2, 4]]);
});

t.test('the first repetition is found, with the earliest row that it repeats', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  for (let n = 0; n < 200; n++) {
    const width = 1 + random.int(4);
    const limit = 1 + random.int(n % 2 === 0 ? 4 : 60);
    // Many rows begin with id 0 now and then: those are sorted, not compared with each other.
    const count = 1 + random.int(90);
    const rows = ascendingRows(
      Uint32Array.from({ length: width * count }, (_, i) => (i % width === 0 && n % 3 === 0 ? 0 : random.int(limit))),
      width,
    );
    const seen = new Map<string, number>();
    let expected: { repeated: number; original: number } | undefined;
    for (let row = 0; row < count && !expected; row++) {
      const key = rows.subarray(width * row, width * (row + 1)).join();
      const original = seen.get(key);
      if (original === undefined) seen.set(key, row);
      else expected = { repeated: row, original };
    }
    t.same(findRepeatedRow(rows, width, limit), expected, `trial ${n}`);
  }
});

t.test('rows are joined', async (t) => {
  t.same([...joinArrays(Uint32Array.of(1, 2), Uint32Array.of(3))], [1, 2, 3]);
  t.same([...joinArrays(new Uint32Array(0), Uint32Array.of(3))], [3]);
});
