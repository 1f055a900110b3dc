import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import { Wire } from '../../bench/cluster/wire.js';
import { projectRoot } from '../../src/paths.js';
import { RedisLink } from '../../src/store/redis-link.js';
import type { RedisStore } from '../../src/store/redis-store.js';
import { STORE_DOWN } from '../../src/store/session-store.js';
import { makeAuthority, makeCertificate, skipWithoutOpenssl } from '../support/certificates.js';
import { refusalOf } from '../support/job.js';
import { startPair } from '../support/redis-pair.js';

/** How a real server is reached: encrypted, with passwords, with replicas. */

// A machine that does much else takes long to start servers; nothing is judged by time.
t.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), 'interstice-link-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** A file with this content. */
function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Patience beyond what a slow machine needs: none of these tests waits for it. */
const PATIENT = { timeoutMs: 30_000 };
/** ms of what a test waits for, long enough to connect on a slow machine */
const BRIEF_MS = 6000;

t.test('a store is reached over TLS', { skip: lacksRedis || skipWithoutOpenssl }, async (t) => {
  const authority = makeAuthority(folder, 'store-ca');
  const other = makeAuthority(folder, 'other-ca');
  const { files } = makeCertificate(folder, 'store', authority);
  const redis = await Redis.start([], { tls: { ...files, ca: authority.files.cert } });
  t.teardown(() => redis.stop());
  t.match(redis.url, /^rediss:/);

  const store = await redis.open('p', { ...PATIENT, caFile: authority.files.cert });
  t.teardown(() => store.close());
  t.equal(store.health.isUp, true);
  t.equal(await store.peek({ tenant: 'a', id: 'b' }), undefined);

  const refused = (more: Parameters<Redis['open']>[1]) => refusalOf(redis.open('p', { ...PATIENT, ...more }));
  for (const [what, more] of [
    ['an authority that the system does not know', {}],
    ['another authority', { caFile: other.files.cert }],
    ['a file that is not there', { caFile: join(folder, 'nowhere.crt') }],
    // A server that speaks no TLS here might just start.
    ['an address without encryption', { url: redis.url.replace('rediss:', 'redis:'), timeoutMs: 500 }],
  ] as const) {
    t.match(await refused(more), { code: 'INVALID_PARAMETER', hint: /INTERSTICE_STORE/ }, what);
  }
});

t.test(
  'a store that asks for certificates of its clients is refused in plain words',
  { skip: lacksRedis || skipWithoutOpenssl },
  async (t) => {
    const authority = makeAuthority(folder, 'mutual-ca');
    const { files } = makeCertificate(folder, 'mutual', authority);
    const redis = await Redis.start([], { tls: { ...files, ca: authority.files.cert } });
    t.teardown(() => redis.stop());
    redis.cli('CONFIG', 'SET', 'tls-auth-clients', 'yes');
    const refused = await refusalOf(redis.open('p', { ...PATIENT, caFile: authority.files.cert }));
    t.match(refused, { code: 'INVALID_PARAMETER', hint: /tls-auth-clients no/ });
    t.notMatch(refused.message, /\n/, 'one line');
  },
);

/** The rights that docs/operations.md names, as a user needs them for the prefix p. */
const RIGHTS = (() => {
  const page = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const line = /ACL SETUSER interstice on '>PASSWORD' '~interstice:\*' (.+)$/m.exec(page);
  return line![1]!.split(' ');
})();

t.test(
  'the rights that the guide names are enough, and fewer are refused at the start',
  { skip: lacksRedis },
  async (t) => {
    const redis = await Redis.start(['--appendonly', 'yes']);
    t.teardown(() => redis.stop());
    const passwordFile = fileOf('limited', 'its-own\n');
    const open = (user: string, rights: readonly string[], more: Parameters<Redis['open']>[1] = {}) => {
      t.equal(redis.cli('ACL', 'SETUSER', user, 'on', '>its-own', '~p:*', ...rights), 'OK');
      return redis.open('p', { ...PATIENT, url: redis.url.replace('//', `//${user}@`), passwordFile, ...more });
    };
    const store = await open('enough', RIGHTS, { durability: 'everysec' });
    t.teardown(() => store.close());
    const name = { tenant: 'a', id: 'b' };
    await createIn(store, name);
    t.ok(await store.claim(name));
    t.equal((await store.list('a')).length, 1);
    t.equal(await store.remove(name), true);

    const refused = await refusalOf(open('fewer', ['+@read', '+@write', '+@connection']));
    t.match(refused, { code: 'INVALID_PARAMETER', message: /NOPERM/, hint: /rights/ });
  },
);

t.test('a cluster is refused at the start', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start(['--cluster-enabled', 'yes']);
  t.teardown(() => redis.stop());
  redis.cli('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!/cluster_state:ok/.test(redis.cli('CLUSTER', 'INFO'))) await sleep(50);
  t.match(await refusalOf(redis.open('p', PATIENT)), { code: 'INVALID_PARAMETER', hint: /not a cluster/ });
});

t.test('a store is reached with a user and a password', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start([], { password: 'first word' });
  t.teardown(() => redis.stop());
  redis.cli('ACL', 'SETUSER', 'service:1', 'on', '>its-own', '~*', '+@all');
  const named = redis.url.replace('//', '//service%3A1@');
  const passwordFile = fileOf('password', 'first word\nand nothing of this line\n');

  for (const [what, more] of [
    ['no password', {}],
    ['another password', { passwordFile: fileOf('wrong', 'second word\n') }],
    ['a file that is not there', { passwordFile: join(folder, 'nowhere') }],
    ['the password of another user', { url: named, passwordFile }],
  ] as const) {
    const refused = await refusalOf(redis.open('p', { ...PATIENT, ...more }));
    t.match(refused, { code: 'INVALID_PARAMETER' }, what);
    t.notMatch(`${refused.message} ${refused.hint}`, /first word|second word/, 'passwords are not told');
  }

  const user = await redis.open('p', { ...PATIENT, url: named, passwordFile: fileOf('own', 'its-own\n') });
  t.teardown(() => user.close());
  t.equal(user.health.isUp, true, 'a user of its own');

  const store = await redis.open('p', { ...PATIENT, passwordFile });
  t.teardown(() => store.close());
  fileOf('password', 'third word\n');
  redis.cli('CONFIG', 'SET', 'requirepass', 'third word');
  redis.knows('third word');
  redis.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await untilAnswered(store);
  t.pass('a password that is changed while the service runs');
});

t.test('while a store refuses the password, or is gone, its health says so', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start([], { password: 'first' });
  t.teardown(() => redis.stop());
  const passwordFile = fileOf('changed', 'first\n');
  const store = await redis.open('p', { timeoutMs: BRIEF_MS, passwordFile });
  t.teardown(() => store.close());
  const reasons: string[] = [];
  store.watch((event) => event.type === 'health' && reasons.push(event.reason));
  const untilTold = async (reason: RegExp) => {
    while (!reasons.some((one) => reason.test(one))) await sleep(20);
  };
  redis.cli('CONFIG', 'SET', 'requirepass', 'second');
  redis.knows('second');
  redis.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await untilTold(/^The store failed: WRONGPASS/);
  fileOf('changed', 'second\n');
  await untilTold(/answers/);
  await redis.kill();
  await untilTold(/^The store failed: connect ECONNREFUSED/);
  t.equal(reasons.filter((one) => /WRONGPASS/.test(one)).length, 1, 'each reason of an outage is told once');
});

t.test('the error says why a server was not reached', async (t) => {
  // As a Redis server in protected mode does.
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    socket.end('-DENIED Redis is running in protected mode\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { url: `redis://127.0.0.1:${port}/0`, prefix: 'p', timeoutMs: 500, replicas: 0 };
  const closing = await refusalOf(RedisLink.open(options));
  t.match(closing, { code: 'INVALID_PARAMETER', message: /closed/i, hint: /protected mode/ });
  await new Promise((resolve) => server.close(resolve));
  const absent = await refusalOf(RedisLink.open(options));
  t.match(absent, { code: 'INVALID_PARAMETER', message: /ECONNREFUSED/ });
  t.notMatch(absent.hint, /protected mode/);
});

t.test('writes wait for the replicas that the settings require', { skip: lacksRedis }, async (t) => {
  const { primary } = await startPair(t);

  const store = await primary.open('p', { ...PATIENT, replicas: 1 });
  t.teardown(() => store.close());
  const name = { tenant: 'a', id: 'b' };
  await store.remove(name);
  const impatient = await primary.open('p', { timeoutMs: BRIEF_MS, replicas: 2 });
  t.teardown(() => impatient.close());
  await t.rejects(impatient.remove(name), { name: 'StoreDown' }, 'a write that too few replicas have does not count');
});

t.test('a slow replica holds up only the writes that wait for it', { skip: lacksRedis }, async (t) => {
  const { primary, replica } = await startPair(t);
  // Longer than this test takes on any machine.
  const store = await primary.open('p', { timeoutMs: 200_000, replicas: 1 });
  t.teardown(() => store.close());
  const none = new Uint8Array(1);
  const names = ['one', 'two', 'three'].map((id) => ({ tenant: 'a', id }));
  const quotas = { maxSessions: 9, maxSessionsPerTenant: 9 };
  const content = { meshHash: 'm', mesh: () => none, opening: none, settings: none, info: none };
  for (const name of names) await store.create({ ...name, ...content, quotas, ttlMs: 0 });

  replica.signal('SIGSTOP');
  t.teardown(() => replica.signal('SIGCONT'));
  let ended = 0;
  const commits = names.map((name) => {
    const commit = {
      ...name,
      epoch: 1,
      from: 0n,
      frame: 1n,
      token: 't',
      head: none,
      info: none,
      entry: none,
      ttlMs: 0,
    };
    return store.commit(commit).finally(() => ended++);
  });
  for (const name of names) {
    // What waits for the replica is in the primary, and others are answered: none waits for the one before it.
    while ((await store.peek(name))?.frame !== 1n) await sleep(5);
  }
  t.equal(ended, 0, 'no commit counts without the replica');
  replica.signal('SIGCONT');
  t.same(await Promise.all(commits), ['stored', 'stored', 'stored']);
});

for (const [how, fail] of [
  ['has hung', (primary: Redis) => primary.signal('SIGSTOP')],
  [
    'has become a replica',
    (primary: Redis, replica: Redis) => primary.cli('REPLICAOF', '127.0.0.1', String(replica.port)),
  ],
] as const) {
  t.test(
    `a failover is followed although the former primary ${how} and keeps its connections`,
    { skip: lacksRedis },
    async (t) => {
      const { primary, replica } = await startPair(t);
      const wire = await Wire.open(primary.port);
      t.teardown(() => wire.close());
      const store = await primary.open('p', { url: `redis://127.0.0.1:${wire.port}/0`, timeoutMs: BRIEF_MS });
      t.teardown(() => store.close());
      const name = { tenant: 'a', id: 'b' };
      await createIn(store, name);
      while (replica.cli('EXISTS', 'p:session:a:b') !== '1') await sleep(20);

      replica.cli('REPLICAOF', 'NO', 'ONE');
      // A connection for large values that is idle now would read the former primary.
      t.equal((await store.claim(name))?.epoch, 2);
      wire.leadNewTo(replica.port);
      fail(primary, replica);
      while (store.health.isUp) await sleep(20);
      while (!store.health.isUp) await sleep(20);
      t.equal(replica.cli('HGET', 'p:session:a:b', 'epoch'), '1');
      t.equal((await store.claim(name))?.epoch, 2, 'it reads and writes the new primary');
      t.equal(replica.cli('HGET', 'p:session:a:b', 'epoch'), '2');
    },
  );
}

t.test('while too few replicas have a write the store is down, and says why', { skip: lacksRedis }, async (t) => {
  const { primary, replica } = await startPair(t);
  const store = await primary.open('p', { timeoutMs: BRIEF_MS, replicas: 1 });
  t.teardown(() => store.close());
  const changes: { isUp: boolean; reason: string }[] = [];
  store.watch((event) => event.type === 'health' && changes.push(event));
  await replica.kill();
  await t.rejects(store.remove({ tenant: 'a', id: 'b' }), { name: 'StoreDown' });
  t.match(changes, [{ isUp: false, reason: 'The store failed: only 0 of 1 replicas have the write.' }]);
  // Longer than an attempt to reach it takes.
  await sleep(2 * BRIEF_MS);
  t.notOk(
    changes.some(({ isUp }) => isUp),
    'it does not count as up in between',
  );
  await replica.restart();
  while (!store.health.isUp) await sleep(20);
  await store.remove({ tenant: 'a', id: 'b' });
});

t.test('a store that may remove sessions to make room is warned of', { skip: lacksRedis }, async (t) => {
  for (const [settings, warning] of [
    [['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru'], /volatile-lru.*noeviction/],
    [['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction'], undefined],
    [['--maxmemory', '0', '--maxmemory-policy', 'allkeys-lru'], undefined],
  ] as const) {
    const redis = await Redis.start(settings);
    t.teardown(() => redis.stop());
    const store = await redis.open('p', PATIENT);
    t.teardown(() => store.close());
    if (warning) t.match(store.warning, warning);
    else t.equal(store.warning, undefined, settings.join(' '));
  }
});

t.test('a command for which the store has no memory fails alone', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p', PATIENT);
  t.teardown(() => store.close());
  const changes: string[] = [];
  store.watch((event) => event.type === 'health' && changes.push(event.reason));
  const [small, large] = ['small', 'large'].map((id) => ({ tenant: 'a', id }));
  for (const name of [small!, large!]) await createIn(store, name);
  const step = (name: { tenant: string; id: string }, bytes: number) => {
    const parts = { head: new Uint8Array(bytes), info: NONE, entry: NONE };
    return store.commit({ ...name, ...parts, epoch: 1, from: 0n, frame: 1n, token: 't', ttlMs: 0 });
  };
  const used = Number(/used_memory:(\d+)/.exec(redis.cli('INFO', 'memory'))![1]);
  redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  // Room for the bytes of a large frame as they arrive, and not for what a script then makes of them.
  redis.cli('CONFIG', 'SET', 'maxmemory', String(used + 1_400_000));
  await t.rejects(step(large!, 900_000), { name: 'StoreDown', message: STORE_DOWN });
  t.equal(await step(small!, 1), 'stored');
  await t.rejects(step(large!, 900_000), { name: 'StoreDown' });
  t.same(changes, [], 'the store is up all the time');
  // Now it takes nothing.
  redis.cli('CONFIG', 'SET', 'maxmemory', '1');
  while (store.health.isUp) await sleep(20);
  t.match(store.health.reason, /OOM/);
  redis.cli('CONFIG', 'SET', 'maxmemory', '0');
  while (!store.health.isUp) await sleep(20);
  t.equal(await step(large!, 900_000), 'stored');
});

t.test('an answer that arrives while the thread is busy is not late', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const timeoutMs = BRIEF_MS;
  const store = await redis.open('p', { timeoutMs });
  t.teardown(() => store.close());
  const asked = store.peek({ tenant: 'a', id: 'b' });
  // The question leaves first.
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, timeoutMs + 300);
  // The server has answered what it was asked before this, and nobody reads it: the thread waits for redis-cli.
  t.equal(redis.cli('PING'), 'PONG');
  t.equal(await asked, undefined);
  t.equal(store.health.isUp, true);
});

t.test('a store that hangs is noticed without a request, and so is its return', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p', { timeoutMs: BRIEF_MS });
  t.teardown(() => store.close());
  redis.signal('SIGSTOP');
  while (store.health.isUp) await sleep(20);
  t.match(store.health.reason, /^The store failed: /);
  const asked = store.peek({ tenant: 'a', id: 'b' });
  await t.rejects(asked, {
    name: 'StoreDown',
    message: `The session store failed: no answer within ${BRIEF_MS / 1000} s.`,
  });
  redis.signal('SIGCONT');
  while (!store.health.isUp) await sleep(20);
  t.equal(await store.peek({ tenant: 'a', id: 'b' }), undefined);
});

t.test(
  'a link that is closed while the store is down opens no further connections',
  { skip: lacksRedis },
  async (t) => {
    const redis = await Redis.start();
    t.teardown(() => redis.stop());
    let opened = 0;
    // Takes connections and says nothing, as soon as it has taken the place of the server.
    const silent = createServer((socket) => {
      opened++;
      socket.on('error', () => {});
    });
    silent.listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    t.teardown(() => silent.close());
    const wire = await Wire.open(redis.port);
    t.teardown(() => wire.close());
    const url = `redis://127.0.0.1:${wire.port}/0`;
    const link = await RedisLink.open({ url, prefix: 'p', timeoutMs: 500, replicas: 0 });
    wire.leadTo((silent.address() as AddressInfo).port);
    while (opened < 3) await sleep(20);
    await link.close();
    // What was on its way arrives.
    await sleep(200);
    const before = opened;
    await sleep(1500);
    t.equal(opened, before);
  },
);

t.test('callers get no words of the store and of the system', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  const store = await redis.open('p', PATIENT);
  t.teardown(() => store.close());
  await redis.kill();
  while (store.health.isUp) await sleep(20);
  t.match(store.health.reason, /^The store failed: /);
  await t.rejects(store.peek({ tenant: 'a', id: 'b' }), { name: 'StoreDown', message: STORE_DOWN });
});

const NONE = new Uint8Array(1);

/** A session of the smallest content. */
async function createIn(store: RedisStore, name: { readonly tenant: string; readonly id: string }): Promise<void> {
  const content = { meshHash: 'm', mesh: () => NONE, opening: NONE, settings: NONE, info: NONE };
  await store.create({ ...name, ...content, quotas: { maxSessions: 9, maxSessionsPerTenant: 9 }, ttlMs: 0 });
}

/** Until the store takes a question again, after its connections have broken. */
async function untilAnswered(store: RedisStore): Promise<void> {
  for (;;) {
    try {
      await store.peek({ tenant: 'a', id: 'b' });
      return;
    } catch {
      await sleep(50);
    }
  }
}
