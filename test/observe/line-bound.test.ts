import t from 'tap';
import { LineBound } from '../../src/observe/line-bound.js';

/** A clock that is wound by hand. */
function makeClock() {
  const alarms: { then: () => void }[] = [];
  return {
    after: (_milliseconds: number, then: () => void) => {
      const alarm = { then };
      alarms.push(alarm);
      return () => void alarms.splice(alarms.indexOf(alarm), 1);
    },
    alarms,
    ring: () => {
      for (const { then } of alarms.splice(0)) then();
    },
  };
}

t.test('a limited number of lines is written per second, and the others are counted by reason', async (t) => {
  const clock = makeClock();
  const told: object[] = [];
  const bound = new LineBound((unwritten) => told.push(unwritten), 3, clock.after);
  const pass = (reasons: string[]) => reasons.map((reason) => bound.allows(reason));
  t.same(pass(['a', 'b', 'a', 'a', 'b', 'a']), [true, true, true, false, false, false]);
  t.same(told, [], 'not yet');
  clock.ring();
  t.same(told, [{ a: 2, b: 1 }], 'when the second is over');
  t.same(pass(['a', 'a', 'a', 'b']), [true, true, true, false]);
  clock.ring();
  t.same(told.slice(1), [{ b: 1 }], 'each is told once');
});

t.test('no timer runs without events, and no summary is written if no line was suppressed', async (t) => {
  const clock = makeClock();
  const told: object[] = [];
  const bound = new LineBound((unwritten) => told.push(unwritten), 2, clock.after);
  t.equal(clock.alarms.length, 0);
  bound.allows('a');
  bound.allows('a');
  t.equal(clock.alarms.length, 1);
  clock.ring();
  t.equal(clock.alarms.length, 0);
  t.same(told, []);
});

t.test('closing writes the last summary at once, and only once', async (t) => {
  const clock = makeClock();
  const told: object[] = [];
  const bound = new LineBound((unwritten) => told.push(unwritten), 0, clock.after);
  bound.allows('a');
  bound.flush();
  bound.flush();
  t.same(told, [{ a: 1 }]);
  t.equal(clock.alarms.length, 0);
});
