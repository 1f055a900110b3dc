import t from 'tap';
import { throttle } from '../../src/lanes/throttle.js';

t.test('the first value passes, later ones once per interval', async (t) => {
  let now = 0;
  const seen: number[] = [];
  const offer = throttle(
    (value: number) => seen.push(value),
    50,
    () => now,
  );
  for (const time of [0, 10, 49, 50, 51, 99.9, 120, 300, 301]) {
    now = time;
    offer(time);
  }
  t.same(seen, [0, 50, 120, 300]);
});
