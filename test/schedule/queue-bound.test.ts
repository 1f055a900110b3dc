import t from 'tap';
import { QueueBound } from '../../src/schedule/queue-bound.js';

t.test('a tenant alone may fill the queue, and no more', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) t.equal(bound.enter('a'), 'IN');
  t.equal(bound.enter('a'), 'FULL');
  bound.leave('a');
  t.equal(bound.count, 3);
});

t.test('with another one waiting, nobody gets beyond half', async (t) => {
  const bound = new QueueBound(8);
  t.equal(bound.enter('b'), 'IN');
  for (let k = 0; k < 4; k++) t.equal(bound.enter('a'), 'IN');
  t.equal(bound.enter('a'), 'SHARE_USED');
  t.equal(bound.enter('b'), 'IN');
  bound.leave('b');
  bound.leave('b');
  t.equal(bound.enter('a'), 'IN', 'alone again');
});

t.test('who was turned away gets in before those who filled the queue get more', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) bound.enter('a');
  t.equal(bound.enter('b'), 'FULL');
  bound.leave('a');
  t.equal(bound.enter('a'), 'SHARE_USED', 'the free place is not theirs');
  t.equal(bound.enter('b'), 'IN');
});

t.test('who does not come back is not waited for longer than a queue full of departures', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) bound.enter('a');
  bound.enter('b');
  for (let k = 0; k < 4; k++) {
    bound.leave('a');
    bound.enterAnyway('a');
  }
  bound.leave('a');
  t.equal(bound.enter('a'), 'IN');
});

t.test('a queue without places still lets those start who need not wait', async (t) => {
  const bound = new QueueBound(0);
  t.equal(bound.enter('a'), 'FULL');
  bound.enterAnyway('a');
  bound.leave('a');
  t.equal(bound.count, 0);
});
