import { Worker } from 'node:worker_threads';
import t from 'tap';
import { ByteAccount, MemoryShort, ProcessAccount } from '../../src/threads/account.js';
import { SharedMemory } from '../../src/threads/memory.js';

const view = (buffer: ArrayBufferLike) => new Uint8Array(buffer);

t.test('what a thread takes is counted until it is released, recycled memory included', (t) => {
  const memory = new SharedMemory();
  const { account } = memory;
  const [shared, own] = [view(memory.take(5000)), view(memory.takePrivate(3000))];
  t.equal(account.own, shared.buffer.byteLength + 3000);
  memory.give(own);
  memory.give(own);
  t.equal(account.own, shared.buffer.byteLength, 'counted once');
  memory.give(shared);
  t.equal(account.own, shared.buffer.byteLength, 'free to be taken again, but held');
  t.equal(view(memory.take(5000)).buffer, shared.buffer);
  memory.give(shared);
  memory.trim(0);
  t.equal(account.own, 0);
  t.equal(account.total, 0);
  t.end();
});

t.test('a demand beyond the limit is refused with demand and capacity, and takes nothing', (t) => {
  const memory = new SharedMemory();
  memory.open(new ByteAccount(undefined, 100_000));
  const first = view(memory.take(40_000));
  const held = memory.account.own;
  for (const take of [() => memory.take(70_000), () => memory.takePrivate(70_000)]) {
    t.throws(take, { name: 'MemoryShort', taken: held, limit: 100_000 });
    t.equal(memory.account.own, held);
  }
  t.throws(() => memory.takePrivate(70_000), { name: 'MemoryShort', demand: 70_000 });
  memory.give(first);
  t.ok(memory.freeBytes > 0);
  memory.takePrivate(90_000);
  t.equal(memory.account.own, 90_000, 'recycled memory goes before a demand is refused');
  t.throws(() => memory.open(new ByteAccount()), /cannot change its account/);
  t.end();
});

t.test('threads of a process share one limit, and a thread that is gone holds nothing', (t) => {
  const common = new ProcessAccount(100_000);
  const connections = [common.connect(), common.connect()];
  const [one, two] = connections.map(({ link }) => new ByteAccount(link));
  t.ok(one!.charge(60_000));
  t.notOk(two!.charge(50_000));
  t.ok(two!.charge(40_000));
  t.equal(common.total, 100_000);
  t.match(two!.shortOf(1), { demand: 1, taken: 100_000, limit: 100_000 });
  t.ok(two!.shortOf(1) instanceof MemoryShort);
  connections[0]!.forget();
  connections[0]!.forget();
  t.equal(common.total, 40_000);
  two!.refund(40_000);
  t.equal(common.total, 0);
  t.equal(new ProcessAccount().connect().link.common.byteLength, 16);
  t.ok(new ByteAccount(new ProcessAccount().connect().link).charge(2 ** 45), '0 = no limit');
  t.end();
});

t.test('threads that charge at the same time never hold more than the limit', async (t) => {
  const limit = 1000;
  const common = new ProcessAccount(limit);
  const module = new URL('../../src/threads/account.js', import.meta.url).href;
  const program = `
    const { workerData, parentPort } = require('node:worker_threads');
    import(workerData.module).then(({ ByteAccount }) => {
      const account = new ByteAccount(workerData.link);
      let most = 0;
      let granted = 0;
      for (let n = 0; n < 20000; n++) {
        if (!account.charge(300)) continue;
        granted++;
        most = Math.max(most, account.own);
        account.refund(300);
      }
      parentPort.postMessage({ most, granted, left: account.own });
    });`;
  const workers = [0, 1, 2, 3].map(() => {
    const { link } = common.connect();
    return new Worker(program, { eval: true, workerData: { module, link } });
  });
  const answers = await Promise.all(
    workers.map((worker) => new Promise<{ granted: number; left: number }>((done) => worker.once('message', done))),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
  for (const { granted, left } of answers) {
    t.ok(granted > 0);
    t.equal(left, 0);
  }
  t.equal(common.total, 0);
});
