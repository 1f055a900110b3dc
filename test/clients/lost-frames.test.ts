import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { lacksRedis, Redis } from '../../bench/cluster/redis.js';
import {
  Client,
  type Mesh,
  ServiceError,
  type Session,
  type SessionOptions,
  type StepResult,
} from '../../src/client/index.js';
import { projectRoot } from '../../src/paths.js';
import { openService } from './service.js';

/** Services with a store that has lost its last second, after the process that computed the frames has ended too. */

const MESH: Mesh = {
  vertexCount: 6,
  triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
  kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0),
};
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1);
const lowered = (by: number) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value - by : value));
/** of frames 1 to 4 */
const TARGETS = [0.02, 0.05, 0.2, 0.06].map(lowered);

interface Opened {
  readonly session: Session;
  readonly step: (target: Float32Array) => Promise<StepResult>;
}

t.test('a client notices frames that the store has lost', { skip: lacksRedis }, async (t) => {
  const redis = await Redis.start();
  t.teardown(() => redis.stop());
  let count = 0;

  /** A session of three answered frames, of which the service has only the first. */
  async function forgetful(t: Test, open: (client: Client) => Promise<Opened>) {
    const prefix = `p${++count}`;
    const start = async () => {
      const service = await openService(0, 'cpu', { sessions: await redis.open(prefix), onFailure: 'refuse' });
      t.teardown(() => service.close());
      return service;
    };
    let service = await start();
    // One address, as a proxy has it, whatever process is behind it.
    const reach: typeof fetch = (url, init) => fetch(String(url).replace('http://service.test', service.url), init);
    const client = new Client('http://service.test', { retry: { firstPauseMs: 5 }, fetch: reach });
    const { session, step } = await open(client);
    t.teardown(() => session.close());
    const keys = ['session', 'log'].map((kind) => `${prefix}:${kind}:default:${session.id}`);
    const answers = [await step(TARGETS[0]!)];
    // In one script: a checkpoint that is written meanwhile changes both.
    redis.cli(
      'EVAL',
      "for _, key in ipairs(KEYS) do redis.call('COPY', key, 'old:' .. key, 'REPLACE') end",
      '2',
      ...keys,
    );
    for (const target of TARGETS.slice(1, 3)) answers.push(await step(target));
    const received = answers.map(({ positions }) => positions.slice());
    await service.close();
    redis.cli(
      'EVAL',
      "for _, key in ipairs(KEYS) do redis.call('COPY', 'old:' .. key, key, 'REPLACE') end",
      '2',
      ...keys,
    );
    service = await start();
    const lose = () => fetch(`${service.url}/v1/sessions/${session.id}`, { method: 'DELETE' });
    return { client, session, step, received, lose };
  }

  const opening = (options: SessionOptions) => async (client: Client) => {
    const session = await client.session(MESH, START, options);
    return { session, step: (target: Float32Array) => session.step(target) };
  };

  t.test('the client makes the session again at the last answer, and says what was lost', async (t) => {
    const { client, session, received } = await forgetful(t, opening({}));
    t.equal(session.lastLoss, undefined);
    const fourth = await session.step(TARGETS[3]!);
    t.equal(fourth.frame, 4);
    t.same(session.lastLoss, { kept: 1, answered: 3 });
    t.equal(session.recreations, 1);
    const { positions } = await client.resolve(MESH, received[2]!, TARGETS[3]!);
    t.same(fourth.positions, positions, 'it goes on from the last answer');
  });

  t.test('with onFrameLost throw the lost frames can be sent again and give the same bytes', async (t) => {
    const { session, received } = await forgetful(t, opening({ onFrameLost: 'throw' }));
    const error = await session.step(TARGETS[3]!).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.ok(error instanceof ServiceError);
    t.match(error, { code: 'FRAME_LOST', frame: 1, retryable: false, isUncertain: false });
    t.same(session.lastLoss, { kept: 1, answered: 3 });
    const again = [];
    for (const target of TARGETS.slice(1, 3)) again.push(await session.step(target));
    t.same(
      again.map(({ positions }) => positions),
      received.slice(1),
    );
    t.equal(again[0]!.report.sessionRebuilt, false);
    t.equal(session.recreations, 0);
    await session.step(TARGETS[3]!);
  });

  t.test('the example of the documentation sends lost frames again', async (t) => {
    const blocks = [
      ...readFileSync(join(projectRoot, 'docs', 'clients.md'), 'utf8').matchAll(/^ *```ts\n([\s\S]*?)^ *```/gm),
    ];
    const [code] = blocks.flatMap(([, text]) => (text!.includes('onFrameLost') ? [text!] : []));
    const folder = t.testdir({
      'example.mjs': `export async function open(client, mesh, start) {\n${code}\nreturn { session, step };\n}\n`,
    });
    const { open } = (await import(pathToFileURL(join(folder, 'example.mjs')).href)) as {
      open: (client: Client, mesh: Mesh, start: Float32Array) => Promise<Opened>;
    };
    const { client, session, step, lose } = await forgetful(t, (client) => open(client, MESH, START));
    const fourth = await step(TARGETS[3]!);
    t.equal(session.recreations, 0);
    t.same(session.lastLoss, { kept: 1, answered: 3 });
    const undisturbed = await client.session(MESH, START);
    for (const target of TARGETS.slice(0, 3)) await undisturbed.step(target);
    t.same(
      fourth.positions,
      (await undisturbed.step(TARGETS[3]!)).positions,
      'the bytes of a session that nothing has happened to',
    );
    // The whole session is lost, with all frames, also those that were sent again.
    t.ok((await lose()).ok);
    const fifth = await step(lowered(0.25));
    t.equal(session.lastLoss?.kept, 0);
    t.same(fifth.positions, (await undisturbed.step(lowered(0.25))).positions);
    await undisturbed.close();
  });
});

t.test('the client does not continue from an accepted step whose answer it never received', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const session = await new Client(service.url, { retry: { firstPauseMs: 5 } }).session(MESH, START);
  await session.step(TARGETS[0]!);
  // Somebody else's step stands for one that the client has given up.
  const unseen = {
    method: 'POST',
    body: Buffer.from(lowered(0.08).buffer),
    headers: { 'content-type': 'application/octet-stream' },
  };
  t.equal((await fetch(`${service.url}/v1/sessions/${session.id}/steps`, unseen)).status, 200);
  const { positions } = await session.step(TARGETS[1]!);
  t.equal(session.recreations, 1);
  t.ok(positions[11]! > 0);
  await session.close();
});

/** A client of a service of its own; `during` runs when the service has done what a POST asks for, and before its answer arrives. */
async function intercepted(t: Test, during: (path: string) => void) {
  const service = await openService();
  t.teardown(() => service.close());
  const reach: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === 'POST') during(new URL(String(url)).pathname);
    init?.signal?.throwIfAborted();
    return answer;
  };
  const client = new Client(service.url, { retry: { firstPauseMs: 5 }, fetch: reach });
  const lose = ({ id }: Session) => fetch(`${service.url}/v1/sessions/${id}`, { method: 'DELETE' });
  return { client, lose };
}

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

t.test('a session that is lost altogether is computed again from its opening, to the same bytes', async (t) => {
  const { client, lose } = await intercepted(t, () => {});
  const session = await client.session(MESH, START, { onFrameLost: 'throw' });
  await lose(session);
  const answers = [];
  for (const target of TARGETS.slice(0, 3)) answers.push((await session.step(target)).positions.slice());
  t.equal(session.recreations, 1, 'nothing was lost before the first answer');
  t.equal(session.lastLoss, undefined);
  await lose(session);
  const error = await refusalOf(session.step(TARGETS[3]!));
  t.match(error, { code: 'FRAME_LOST', frame: 0, retryable: false, isUncertain: false });
  t.match(error, { cause: { code: 'SESSION_NOT_FOUND' } });
  t.same(session.lastLoss, { kept: 0, answered: 3 });
  for (const [k, target] of TARGETS.slice(0, 3).entries()) t.same((await session.step(target)).positions, answers[k]);
  await session.close();
});

t.test('a session that was made anew at an answer goes back to that answer', async (t) => {
  const caller = new AbortController();
  let isGivenUp = false;
  const { client, lose } = await intercepted(t, (path) => {
    if (isGivenUp && path.endsWith('/steps')) caller.abort();
  });
  const session = await client.session(MESH, START, { onFrameLost: 'throw' });
  for (const target of TARGETS.slice(0, 2)) await session.step(target);
  isGivenUp = true;
  t.match(await refusalOf(session.step(TARGETS[2]!, { signal: caller.signal })), { code: 'CANCELLED' });
  isGivenUp = false;
  const { frame, positions } = await session.step(TARGETS[2]!);
  const received = positions.slice();
  t.equal(frame, 4);
  await lose(session);
  t.match(await refusalOf(session.step(TARGETS[3]!)), { code: 'FRAME_LOST', frame: 2 });
  t.same(session.lastLoss, { kept: 2, answered: 4 });
  t.same((await session.step(TARGETS[2]!)).positions, received);
  await session.close();
});

/** The answer of a service that has lost the frames after one. */
const forgotten = (frame: number) =>
  Response.json(
    { type: 'urn:interstice:error:FRAME_LOST', code: 'FRAME_LOST', message: 'lost', frame: String(frame) },
    { status: 409 },
  );

t.test('a session that is lost while lost frames are sent again goes back to its opening', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const caller = new AbortController();
  const next: ('forget' | 'forget all' | 'give up')[] = [];
  const reach: typeof fetch = async (url, init) => {
    const now = String(url).includes('/steps') ? next.shift() : undefined;
    if (now === 'forget' || now === 'forget all') return forgotten(now === 'forget' ? 1 : 0);
    const answer = await fetch(url, init);
    if (now === 'give up') caller.abort();
    init?.signal?.throwIfAborted();
    return answer;
  };
  const client = new Client(service.url, { retry: { firstPauseMs: 5 }, fetch: reach });
  const lose = ({ id }: Session) => fetch(`${service.url}/v1/sessions/${id}`, { method: 'DELETE' });
  const open = async () => {
    const session = await client.session(MESH, START, { onFrameLost: 'throw' });
    t.teardown(() => session.close());
    const answers = [];
    for (const target of TARGETS.slice(0, 3)) answers.push((await session.step(target)).positions.slice());
    return { session, answers };
  };

  t.test('after a frame of unknown outcome', async (t) => {
    const { session, answers } = await open();
    next.push('forget', 'give up');
    t.match(await refusalOf(session.step(TARGETS[3]!)), { code: 'FRAME_LOST', frame: 1 });
    t.match(await refusalOf(session.step(TARGETS[1]!, { signal: caller.signal })), { code: 'CANCELLED' });
    t.match(await refusalOf(session.step(TARGETS[1]!)), { code: 'FRAME_LOST', frame: 0 });
    t.same(session.lastLoss, { kept: 0, answered: 3 });
    for (const [k, target] of TARGETS.slice(0, 3).entries()) t.same((await session.step(target)).positions, answers[k]);
    t.equal(session.recreations, 1);
  });

  t.test('after the loss of all frames', async (t) => {
    const { session, answers } = await open();
    next.push('forget all');
    t.match(await refusalOf(session.step(TARGETS[3]!)), { code: 'FRAME_LOST', frame: 0 });
    t.same(session.lastLoss, { kept: 0, answered: 3 });
    await lose(session);
    for (const [k, target] of TARGETS.slice(0, 3).entries()) t.same((await session.step(target)).positions, answers[k]);
    t.equal(session.recreations, 1);
  });
});
