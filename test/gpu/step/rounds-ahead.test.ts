import t from 'tap';
import { PHASE } from '../../../gpu/kernels/constants.js';
import { RoundsAhead } from '../../../gpu/step/rounds-ahead.js';
import { MORE_SWEEPS } from '../../../src/solver/constants.js';

t.test('A step is recorded with the rounds that both of the last two steps of its phase have made.', async (t) => {
  const rounds = new RoundsAhead();
  const observe = (made: number) => rounds.observe(PHASE.PULL, made);
  const next = () => rounds.next(PHASE.PULL, 0);
  t.equal(next(), 1, 'nothing is known of the first step');
  observe(5);
  t.equal(next(), 1, 'one step may be an exception');
  observe(3);
  t.equal(next(), 3);
  observe(7);
  t.equal(next(), 3);
  observe(8);
  t.equal(next(), 7);
  t.equal(rounds.next(PHASE.SHORTEN, 0), 1, 'nothing is known of another phase');
});

t.test('A step that has paused gets as many again, up to the most that it may make.', async (t) => {
  const rounds = new RoundsAhead();
  const next = (done: number) => rounds.next(PHASE.SHORTEN, done);
  const pauses: number[] = [];
  for (let done = 1; done < MORE_SWEEPS.rounds; done += next(done)) pauses.push(done);
  t.ok(pauses.length <= 1 + Math.log2(MORE_SWEEPS.rounds), `pauses after ${pauses.join()} rounds`);
  t.equal(pauses.at(-1)! + next(pauses.at(-1)!), MORE_SWEEPS.rounds);
});
