import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { LargeTransfers } from '../../src/store/large-transfers.js';
import type { Client } from '../../src/store/redis-client.js';
import type { RedisStore } from '../../src/store/redis-store.js';
import type { StoreEvent } from '../../src/store/session-store.js';

/** Large values on a slow wire delay nobody but those who wait for them. */

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

/** ms of what a test waits for, long enough to connect on a slow machine */
const BRIEF_MS = 6000;

/** Bytes in one direction of a connection, after which a {@link Strait} holds them up. */
const HELD_BYTES = 200_000;
const LARGE = new Uint8Array(10 * HELD_BYTES).fill(7);
const SMALL = new Uint8Array(9).fill(3);
/** Compared without being printed. */
const isLarge = (bytes: Uint8Array): boolean => Buffer.compare(bytes, LARGE) === 0;
const QUOTAS = { maxSessions: 9, maxSessionsPerTenant: 9 };

/** A wire on which little passes at once, and much not before it is opened. */
class Strait {
  private isOpen = false;
  private readonly held = new Set<() => void>();
  readonly sockets = new Set<Socket>();

  static async to(t: Test, target: number): Promise<{ readonly strait: Strait; readonly url: string }> {
    const strait = new Strait();
    const server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      strait.join(near, far);
      strait.join(far, near);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      for (const socket of strait.sockets) socket.destroy();
      server.close();
    });
    return { strait, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}/0` };
  }

  get heldCount(): number {
    return this.held.size;
  }

  open(): void {
    this.isOpen = true;
    for (const release of this.held) release();
    this.held.clear();
  }

  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    let passed = 0;
    const pass = (data: Buffer) => {
      to.write(data);
      passed += data.byteLength;
      if (this.isOpen || passed < HELD_BYTES) return;
      from.pause();
      this.held.add(() => from.resume());
    };
    from.on('data', pass);
    from.on('error', () => {});
    from.on('close', () => to.destroy());
  }
}

t.test('large values on a slow wire', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const near = await redis.open('p');
  t.teardown(() => near.close());

  async function farStore(t: Test, timeoutMs = 30_000, prefix = 'p') {
    const { strait, url } = await Strait.to(t, redis.port);
    const store = await redis.open(prefix, { url, timeoutMs });
    t.teardown(() => store.close());
    const events: StoreEvent[] = [];
    store.watch((event) => events.push(event));
    return { strait, store, events };
  }

  async function create(store: RedisStore, id: string, mesh: Uint8Array) {
    const name = { tenant: 'a', id };
    const content = { meshHash: `${id}-mesh`, mesh: () => mesh, opening: SMALL, settings: SMALL, info: SMALL };
    const verdict = await store.create({ ...name, ...content, quotas: QUOTAS, ttlMs: 0 });
    t.equal(verdict.kind, 'created');
    return name;
  }

  /** That the store is used by others as if nothing large was on its way. */
  async function useOtherwise(t: Test, store: RedisStore, id: string) {
    const name = await create(store, id, SMALL);
    t.same(Buffer.from((await store.claim(name))!.mesh), Buffer.from(SMALL));
    const fields = { head: SMALL, info: SMALL, entry: SMALL };
    const commit = { ...name, ...fields, epoch: 2, from: 0n, frame: 1n, token: 't', ttlMs: 0 };
    t.equal(await store.commit(commit), 'stored');
    t.match(await store.peek(name), { epoch: 2, frame: 1n });
    t.equal(await store.remove(name), true);
  }

  t.test('a claim whose answer is slow delays its session only', async (t) => {
    const name = await create(near, 'large', LARGE);
    const { strait, store, events } = await farStore(t);
    const claimed = store.claim(name);
    while (strait.heldCount === 0) await sleep(5);
    for (const round of [1, 2, 3]) await useOtherwise(t, store, `small-${round}`);
    t.match(await store.peek(name), { epoch: 2 }, 'the claim itself has been made');
    const fenced = await near.touch({ ...name, epoch: 1 }, 0);
    t.equal(fenced, 'fenced', 'and fences the owner before it');
    strait.open();
    const { epoch, frame, base, mesh } = (await claimed)!;
    t.match({ epoch, frame, base }, { epoch: 2, frame: 0n, base: 'opening' });
    t.ok(isLarge(mesh));
    t.notOk(events.some(({ type }) => type === 'health'));
    await store.remove(name);
  });

  t.test('a claim that another process overtakes has the earlier epoch', async (t) => {
    const name = await create(near, 'overtaken', LARGE);
    const { strait, store } = await farStore(t);
    const claimed = store.claim(name);
    while (strait.heldCount === 0) await sleep(5);
    t.equal((await near.claim(name))!.epoch, 3);
    strait.open();
    t.equal((await claimed)!.epoch, 2);
    t.equal(await store.touch({ ...name, epoch: 2 }, 0), 'fenced');
    await store.remove(name);
  });

  t.test('a claim whose answer does not come fails alone', async (t) => {
    const name = await create(near, 'lost', LARGE);
    const { strait, store, events } = await farStore(t, BRIEF_MS);
    await t.rejects(store.claim(name), { name: 'StoreDown', message: /no answer within/ });
    t.equal(store.health.isUp, true);
    await useOtherwise(t, store, 'small');
    t.notOk(events.some(({ type }) => type === 'health'));
    strait.open();
    t.ok(isLarge((await store.claim(name))!.mesh), 'a later one has another connection');
    await store.remove(name);
  });

  t.test('a mesh that is slow to arrive delays its session only', async (t) => {
    const { strait, store, events } = await farStore(t);
    const created = create(store, 'sent', LARGE);
    while (strait.heldCount === 0) await sleep(5);
    await useOtherwise(t, store, 'small');
    strait.open();
    const name = await created;
    t.ok(isLarge((await near.claim(name))!.mesh));
    t.notOk(events.some(({ type }) => type === 'health'));
    await store.remove(name);
  });

  t.test('a large frame that is slow to arrive delays its session only', async (t) => {
    const { strait, store, events } = await farStore(t, 30_000, 'v');
    const name = await create(store, 'frame', SMALL);
    const fields = { head: LARGE, info: SMALL, entry: SMALL };
    const committed = store.commit({ ...name, ...fields, epoch: 1, from: 0n, frame: 1n, token: 't', ttlMs: 0 });
    while (strait.heldCount === 0) await sleep(5);
    await useOtherwise(t, store, 'small');
    strait.open();
    t.equal(await committed, 'stored');
    t.ok(isLarge((await store.claim(name))!.head!));
    t.notOk(events.some(({ type }) => type === 'health'));
    await store.remove(name);
  });

  t.test(
    'a large frame that does not arrive in time fails alone, and is stored once when it is sent again',
    async (t) => {
      const { strait, store, events } = await farStore(t, BRIEF_MS, 'w');
      const name = await create(store, 'frame', SMALL);
      const fields = { head: LARGE, info: SMALL, entry: SMALL };
      const commit = { ...name, ...fields, epoch: 1, from: 0n, frame: 1n, token: 't', ttlMs: 0 };
      await t.rejects(store.commit(commit), { name: 'StoreDown', message: /no answer within/ });
      t.equal(store.health.isUp, true);
      await useOtherwise(t, store, 'small');
      strait.open();
      t.equal(await store.commit(commit), 'stored');
      t.equal(await store.commit(commit), 'stored');
      t.equal((await store.claim(name))!.log.length, 1);
      t.notOk(events.some(({ type }) => type === 'health'));
      await store.remove(name);
    },
  );

  t.test('a checkpoint on its way does not hold up the checks whether the store answers', async (t) => {
    const { strait, store, events } = await farStore(t, 30_000, 'q');
    const name = await create(store, 'copied', SMALL);
    const written = store.checkpoint({ ...name, epoch: 1, frame: 0n, bytes: LARGE, logged: 0 });
    while (strait.heldCount === 0) await sleep(5);
    // A check begins only after the one before it has ended.
    for (const _check of [1, 2, 3]) {
      redis.cli('DEL', 'q:probe');
      while (redis.cli('EXISTS', 'q:probe') === '0' && store.health.isUp) await sleep(50);
    }
    strait.open();
    t.equal(await written, 'stored');
    t.notOk(events.some(({ type }) => type === 'health'));
    await store.remove(name);
  });

  t.test('a checkpoint that does not arrive in time fails alone', async (t) => {
    const { strait, store, events } = await farStore(t, BRIEF_MS, 'r');
    const name = await create(store, 'copied', SMALL);
    const checkpoint = { ...name, epoch: 1, frame: 0n, bytes: LARGE, logged: 0 };
    await t.rejects(store.checkpoint(checkpoint), { name: 'StoreDown', message: /no answer within/ });
    t.equal(store.health.isUp, true);
    await useOtherwise(t, store, 'small');
    t.notOk(events.some(({ type }) => type === 'health'));
    strait.open();
    t.equal(await store.checkpoint(checkpoint), 'stored', 'a later one has another connection');
    await store.remove(name);
  });

  t.test('a session that is written as a whole and does not arrive in time fails alone', async (t) => {
    const { strait, store, events } = await farStore(t, BRIEF_MS, 's');
    const name = await create(store, 'whole', SMALL);
    const content = { meshHash: 'whole-mesh', mesh: () => SMALL, opening: SMALL, settings: SMALL, info: SMALL };
    const position = { epoch: 1, frame: 1n, token: 't', order: 1, base: 'checkpoint', logged: 1, ttlMs: 0 } as const;
    const session = { ...name, ...content, ...position, checkpoint: LARGE };
    await t.rejects(store.replace(session), { name: 'StoreDown', message: /no answer within/ });
    t.notOk(events.some(({ type }) => type === 'health'));
    strait.open();
    t.equal(await store.replace(session), 'stored');
    await store.remove(name);
  });

  t.test('checkpoints that wait for their turn are not late', async (t) => {
    const { strait, store, events } = await farStore(t, 30_000, 'u');
    const name = await create(store, 'copied', SMALL);
    const checkpoint = { ...name, epoch: 1, frame: 0n, bytes: LARGE, logged: 0 };
    const written = [1, 2, 3].map(() => store.checkpoint(checkpoint));
    while (strait.heldCount === 0) await sleep(5);
    t.equal(strait.heldCount, 1, 'one at a time');
    await useOtherwise(t, store, 'small');
    strait.open();
    t.same(await Promise.all(written), ['stored', 'stored', 'stored']);
    t.notOk(events.some(({ type }) => type === 'health'));
    await store.remove(name);
  });

  t.test('more transfers than connections take turns, and end with the store', async (t) => {
    const names = await Promise.all([...Array(9)].map((_, k) => create(near, `turn-${k}`, LARGE)));
    const { strait, store } = await farStore(t);
    const claims = names.map((name) => store.claim(name));
    while (strait.heldCount < 4) await sleep(5);
    strait.open();
    for (const claim of await Promise.all(claims)) t.ok(isLarge(claim!.mesh));

    const other = await farStore(t);
    const lost = names.map((name) => t.rejects(other.store.claim(name), { name: 'StoreDown' }));
    while (other.strait.heldCount < 4) await sleep(5);
    await other.store.close();
    await Promise.all(lost);
  });
});

t.test('an idle connection that has lost the server is given up, and another one is opened', async (t) => {
  const made: { isReady: boolean; isOpen: boolean }[] = [];
  const connect = () => {
    const client = { isReady: true, isOpen: true, connect: async () => {}, destroy: () => (client.isOpen = false) };
    made.push(client);
    return client as unknown as Client;
  };
  const transfers = new LargeTransfers(connect, 1, BRIEF_MS, () => {});
  const use = () => transfers.run(1, async (client) => made.indexOf(client as unknown as (typeof made)[number]));
  t.equal(await use(), 0);
  t.equal(await use(), 0, 'it is used again');
  made[0]!.isReady = false;
  t.equal(await use(), 1);
  t.notOk(made[0]!.isOpen, 'it does not go on connecting');
  t.equal(transfers.clients.length, 1);
});

t.test('after a renewal no transfer uses a connection from before it, and none is interrupted', async (t) => {
  const made: { isReady: boolean; isOpen: boolean }[] = [];
  const connect = () => {
    const client = { isReady: true, isOpen: true, connect: async () => {}, destroy: () => (client.isOpen = false) };
    made.push(client);
    return client as unknown as Client;
  };
  const transfers = new LargeTransfers(connect, 2, BRIEF_MS, () => {});
  const numberOf = (client: Client) => made.indexOf(client as unknown as (typeof made)[number]);
  let end = () => {};
  const long = transfers.run(1, async (client) => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return numberOf(client);
  });
  t.equal(await transfers.run(1, async (client) => numberOf(client)), 1);
  transfers.renew();
  t.notOk(made[1]!.isOpen, 'the idle one is closed');
  t.ok(made[0]!.isOpen, 'the one in use is not');
  end();
  t.equal(await long, 0);
  t.notOk(made[0]!.isOpen, 'until its transfer ends');
  t.equal(await transfers.run(1, async (client) => numberOf(client)), 2);
});
