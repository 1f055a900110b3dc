import t, { type Test } from 'tap';
import { Client, type Mesh } from '../../src/client/index.js';
import { openService } from './service.js';

/** Sessions that the service has created when their caller gives up: nobody knows their ids. */

const MESH: Mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);

/** A client whose answers to creations are held back, once the service has given them, until the caller has given up. */
async function withHeldCreations(t: Test, timeoutSeconds?: number) {
  const service = await openService();
  t.teardown(() => service.close());
  let isHolding = false;
  let giveUp: () => void = () => {};
  let tellDeleted: (status: number) => void = () => {};
  const deleted = new Promise<number>((resolve) => {
    tellDeleted = resolve;
  });
  const reach: typeof fetch = async (url, init) => {
    // The service is asked without the signal of the caller: what it has answered is on the way when the caller leaves.
    const answer = await fetch(url, { ...init, signal: null });
    if (init?.method === 'DELETE') tellDeleted(answer.status);
    if (!isHolding || init?.method !== 'POST' || !String(url).endsWith('/v1/sessions')) return answer;
    const signal = init.signal!;
    const ended = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    giveUp();
    if (!signal.aborted) await ended;
    throw signal.reason;
  };
  const client = new Client(service.url, {
    retry: { firstPauseMs: 5 },
    fetch: reach,
    ...(timeoutSeconds ? { timeoutSeconds } : {}),
  });
  return {
    client,
    service,
    deleted,
    hold: (work: () => void = () => {}) => {
      isHolding = true;
      giveUp = work;
    },
    countSessions: async () => {
      const { sessions } = (await (await fetch(`${service.url}/v1/sessions`)).json()) as { sessions?: unknown[] };
      return sessions?.length ?? 0;
    },
  };
}

t.test('a cancelled opening leaves no session', async (t) => {
  const { client, deleted, hold, countSessions } = await withHeldCreations(t);
  const caller = new AbortController();
  hold(() => caller.abort());
  await t.rejects(client.session(MESH, START, { signal: caller.signal }), { code: 'CANCELLED' });
  t.equal(await deleted, 204, 'there was a session, and it is deleted');
  t.equal(await countSessions(), 0);
});

t.test('an opening that exceeds its time leaves no session', async (t) => {
  const { client, deleted, hold, countSessions } = await withHeldCreations(t, 0.02);
  hold();
  await t.rejects(client.session(MESH, START), { code: 'TIMEOUT' });
  t.equal(await deleted, 204);
  t.equal(await countSessions(), 0);
});

t.test('a session that is closed after a step that had to create it anew was given up', async (t) => {
  const { client, service, hold, countSessions } = await withHeldCreations(t);
  const session = await client.session(MESH, START);
  await fetch(`${service.url}/v1/sessions/${session.id}`, { method: 'DELETE' });
  const caller = new AbortController();
  hold(() => caller.abort());
  await t.rejects(session.step(START, { signal: caller.signal }), { code: 'CANCELLED' });
  t.equal(await countSessions(), 1);
  t.equal(await session.close(), true);
  t.equal(await countSessions(), 0);
});

t.test('a refused opening asks for nothing further', async (t) => {
  const { client, service } = await withHeldCreations(t);
  await t.rejects(client.session(MESH, START.slice(3)), { code: 'SIZE_MISMATCH' });
  await client.info();
  t.notOk(service.seen.some(({ line }) => line.startsWith('DELETE')));
});
