import t from 'tap';
import { UnshownStates } from '../../src/solver/unshown-states.js';
import { team } from '../../src/threads/here.js';

const LENGTH = 3 * 1000;
const state = (number: number) => new Float32Array(LENGTH).fill(number);

t.test('states that wait are shown in order, as passed, and their memory is counted until then', (t) => {
  const { account } = team.memory;
  const free = account.own;
  const states = new UnshownStates();
  const x = state(1);
  states.add(x, { phase: 'PULL_BACK', step: 1 });
  x.fill(2);
  states.add(x, { phase: 'PULL_BACK', step: 2 });
  t.ok(account.own - free >= 2 * 4 * LENGTH, 'counted');
  states.add(x.fill(3), { phase: 'PULL_BACK', step: 3 });
  states.dropLast();
  const shown: unknown[] = [];
  states.show((x, from, isPassed) => shown.push([x[0], x.length, from?.step, isPassed]));
  t.same(shown, [
    [1, LENGTH, 1, true],
    [2, LENGTH, 2, true],
  ]);
  states.show(() => t.fail('they are shown once'));
  states.dropLast();
  states.add(x, { phase: 'SHORTENING', step: 4 });
  states.drop();
  states.show(() => t.fail('they were dropped'));
  team.memory.trim(0);
  t.equal(account.own, free, 'and returned');
  t.end();
});
