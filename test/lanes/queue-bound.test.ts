import t from 'tap';
import { explainRefusal, QueueBound } from '../../src/lanes/queue-bound.js';

t.test('a tenant alone may fill the queue, but no more', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) t.equal(bound.enter('a'), 'ADMITTED');
  t.equal(bound.enter('a'), 'FULL');
  bound.leave('a');
  t.equal(bound.count, 3);
});

t.test('while another tenant waits, no tenant gets more than half', async (t) => {
  const bound = new QueueBound(8);
  t.equal(bound.enter('b'), 'ADMITTED');
  for (let k = 0; k < 4; k++) t.equal(bound.enter('a'), 'ADMITTED');
  t.equal(bound.enter('a'), 'SHARE_USED');
  t.equal(bound.enter('b'), 'ADMITTED');
  bound.leave('b');
  bound.leave('b');
  t.equal(bound.enter('a'), 'ADMITTED', 'alone again');
});

t.test('a refused tenant is admitted before the tenant that filled the queue gets more places', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) bound.enter('a');
  t.equal(bound.enter('b'), 'FULL');
  bound.leave('a');
  t.equal(bound.enter('a'), 'SHARE_USED', 'the free place is not theirs');
  t.equal(bound.enter('b'), 'ADMITTED');
});

t.test('a refusal counts for as many departures as the queue has places', async (t) => {
  const bound = new QueueBound(4);
  for (let k = 0; k < 4; k++) bound.enter('a');
  bound.enter('b');
  for (let k = 0; k < 4; k++) {
    bound.leave('a');
    bound.enterUnchecked('a');
  }
  bound.leave('a');
  t.equal(bound.enter('a'), 'ADMITTED');
});

t.test('a queue without places still admits jobs that need not wait', async (t) => {
  const bound = new QueueBound(0);
  t.equal(bound.enter('a'), 'FULL');
  bound.enterUnchecked('a');
  bound.leave('a');
  t.equal(bound.count, 0);
});

t.test('waiting jobs are also bounded by bytes, and leave with the bytes with which they entered', async (t) => {
  const bound = new QueueBound(10, 100);
  t.equal(bound.enter('a', 60), 'ADMITTED');
  t.equal(bound.enter('a', 41), 'FULL_OF_BYTES');
  t.equal(bound.enter('a', 40), 'ADMITTED');
  t.equal(bound.bytes, 100);
  t.equal(bound.enter('a', 1), 'FULL_OF_BYTES');
  t.equal(bound.enter('a', 0), 'ADMITTED', 'a request without bytes takes only a place');
  bound.leave('a', 60);
  t.equal(bound.bytes, 40);
  t.equal(bound.preflight('a', 50, { count: 1, bytes: 20 }), 'FULL_OF_BYTES', 'those ahead count');
  t.equal(bound.preflight('a', 50, { count: 1, bytes: 10 }), 'ADMITTED');
  bound.leave('a', 40);
  bound.leave('a', 0);
  t.same([bound.bytes, bound.count], [0, 0]);
});

t.test('one request may always wait, however large; 0 means no limit', async (t) => {
  const bound = new QueueBound(10, 100);
  t.equal(bound.enter('a', 1000), 'ADMITTED');
  t.equal(bound.enter('b', 1), 'FULL_OF_BYTES');
  bound.leave('a', 1000);
  t.equal(bound.enter('b', 1), 'ADMITTED');
  const boundless = new QueueBound(3);
  for (let k = 0; k < 3; k++) t.equal(boundless.enter('a', 2 ** 40), 'ADMITTED');
  t.equal(boundless.enter('a', 0), 'FULL');
});

t.test(
  'while another tenant waits, no tenant gets more than half of the bytes, but each may have one request',
  async (t) => {
    const bound = new QueueBound(100, 100);
    t.equal(bound.enter('b', 10), 'ADMITTED');
    t.equal(bound.enter('a', 60), 'ADMITTED', 'its only one');
    t.equal(bound.enter('a', 1), 'SHARE_USED');
    t.equal(bound.enter('b', 30), 'ADMITTED');
    bound.leave('b', 10);
    bound.leave('b', 30);
    t.equal(bound.enter('a', 1), 'ADMITTED', 'alone again');
  },
);

t.test('a refusal says in words how many requests wait', async (t) => {
  const waiting = (count: number) => explainRefusal('FULL', { count, bytes: 0 }, 1, 0);
  t.equal(waiting(1), '1 request is waiting already.');
  t.equal(waiting(2), '2 requests are waiting already.');
  t.match(waiting(0), /^No request may wait here/);
});
