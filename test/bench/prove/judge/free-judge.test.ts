import t from 'tap';
import { FREE, judgeFree } from '../../../../bench/prove/judge/free-judge.js';

t.test('vertices that nothing holds end at their targets, whatever the others do', async (t) => {
  const target = Float64Array.of(0, 0, 0, 1, 0, 0, 9, 9, 9);
  const judge = (away: number): string[] => {
    const found: string[] = [];
    judgeFree([0, 1], Float64Array.of(0, 0, 0, 1, away, 0, 0, 0, 0), target, 0.1, (promise) => found.push(promise));
    return found;
  };
  t.same(judge(0), []);
  t.same(judge(0.004), [], 'within a twentieth of δ');
  t.same(judge(0.006), [FREE]);
  t.same(judge(Number.NaN), [FREE], 'what is not a number is nowhere');
});
