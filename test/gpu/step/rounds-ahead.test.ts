import t from 'tap';
import { RoundsAhead } from '../../../gpu/step/rounds-ahead.js';
import { MORE_SWEEPS } from '../../../src/solver/constants.js';

t.test('A step is recorded with the rounds that both of the last two steps have made.', async (t) => {
  const rounds = new RoundsAhead();
  t.equal(rounds.next(0), 1, 'nothing is known of the first step');
  rounds.observe(5);
  t.equal(rounds.next(0), 1, 'one step may be an exception');
  rounds.observe(3);
  t.equal(rounds.next(0), 3);
  rounds.observe(7);
  t.equal(rounds.next(0), 3);
  rounds.observe(8);
  t.equal(rounds.next(0), 7);
  rounds.enter();
  t.equal(rounds.next(0), 1, 'another phase begins anew');
});

t.test('A step that has paused gets as many again, up to the most that it may make.', async (t) => {
  const rounds = new RoundsAhead();
  const pauses: number[] = [];
  for (let done = 1; done < MORE_SWEEPS.rounds; done += rounds.next(done)) pauses.push(done);
  t.ok(pauses.length <= 1 + Math.log2(MORE_SWEEPS.rounds), `pauses after ${pauses.join()} rounds`);
  t.equal(pauses.at(-1)! + rounds.next(pauses.at(-1)!), MORE_SWEEPS.rounds);
});
