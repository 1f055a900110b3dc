import t from 'tap';
import { ConnectionCap } from '../../../src/transport/intake/connection-cap.js';

function open(maxConnections: number, maxPerAddress = 0) {
  const events: string[] = [];
  const observer = { closed: (...words: string[]) => void events.push(words.join(' ')) };
  const cap = new ConnectionCap({ maxConnections, maxPerAddress }, observer);
  const closed: string[] = [];
  const enter = (name: string, address = '10.0.0.1', door = 'http') =>
    cap.enter(door, address, () => void closed.push(name));
  return { cap, enter, events, closed };
}

t.test('a new connection takes the place of the one that is idle for longest', async (t) => {
  const { cap, enter, closed, events } = open(3, 3);
  const [a, b] = [enter('a'), enter('b'), enter('c')];
  a!.begin();
  a!.end();
  t.ok(enter('d', '10.0.0.2', 'grpc'));
  t.same(closed, ['b'], 'a was used later');
  cap.leave(b!);
  t.equal(cap.countOf('http'), 2, 'its own close event changes nothing');
  t.equal(cap.countOf('grpc'), 1);
  t.ok(enter('e', '10.0.0.2'));
  t.same(closed, ['b', 'c']);
  t.same(events, ['idle http 10.0.0.1', 'idle http 10.0.0.1']);
});

t.test('a connection with a request in progress keeps its place', async (t) => {
  const { cap, enter, closed, events } = open(2, 2);
  const [a, b] = [enter('a')!, enter('b')!];
  a.begin();
  a.begin();
  b.begin();
  t.equal(enter('c', '10.0.0.2'), undefined);
  t.same(events, ['limit http 10.0.0.2']);
  a.end();
  t.equal(enter('c'), undefined, 'one of its two requests has ended');
  t.equal(events.at(-1), 'address http 10.0.0.1');
  a.end();
  t.ok(enter('c'));
  t.same(closed, ['a']);
  cap.leave(b);
  b.end();
  t.ok(enter('d'));
  t.ok(enter('e'), 'b has left, and is not closed a second time');
  t.same(closed, ['a', 'c']);
});

t.test('a connection that closes before its request has ended is neither kept nor replaced', async (t) => {
  const { cap, enter, closed, events } = open(1, 1);
  const vanished = enter('vanished')!;
  vanished.begin();
  cap.leave(vanished);
  vanished.end();
  enter('busy')!.begin();
  t.equal(enter('next'), undefined, 'there is no idle connection whose place it could take');
  t.same(closed, []);
  t.same(events, ['address http 10.0.0.1']);
});

t.test('an address may have half of all connections, and displaces only its own', async (t) => {
  const { enter, closed } = open(4);
  for (const name of ['a', 'b', 'c', 'd']) t.ok(enter(name));
  t.same(closed, ['a', 'b']);
  t.ok(enter('e', '10.0.0.2'));
  t.ok(enter('f', '10.0.0.2'));
  t.same(closed, ['a', 'b']);
  t.ok(enter('g', '10.0.0.3'), 'all are taken, so the longest idle of any address goes');
  t.same(closed, ['a', 'b', 'c']);
});

t.test('without a limit every connection is accepted', async (t) => {
  const { enter, closed, cap } = open(0);
  for (let i = 0; i < 10_000; i++) enter(String(i));
  t.equal(cap.countOf('http'), 10_000);
  t.same(closed, []);
});
