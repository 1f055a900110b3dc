import t from 'tap';
import { everyNth } from './share.js';

t.test('the shares of a table have each of its entries once, and none is empty', async (t) => {
  for (const count of [1, 2, 3, 7, 30]) {
    const entries = Array.from({ length: count }, (_, k) => k);
    for (const parts of [1, 2, 3, 4]) {
      const step = Math.min(parts, count);
      const shares = Array.from({ length: step }, (_, k) => everyNth(entries, parts, 1000 * step + k));
      t.ok(shares.every(({ length }) => length >= Math.floor(count / step)));
      t.same(
        shares.flat().sort((a, b) => a - b),
        entries,
        `${count} entries in ${parts} parts`,
      );
    }
  }
  t.same(everyNth([], 3, 5), []);
});
