import t, { type Test } from 'tap';
import { makeCloth } from '../../../bench/load/cloth.js';
import { openEcho } from '../../../bench/load/echo.js';
import { readHoldings, settleHoldings } from '../../../bench/load/gauges.js';
import { runStreams, runUnary } from '../../../bench/load/grpc-driver.js';
import { runHttp, shareOf } from '../../../bench/load/http-driver.js';
import { readWork } from '../../../bench/load/late-echo.js';
import { deleteSessions, openSessions } from '../../../bench/load/sessions.js';
import { ServerProcess } from '../../../bench/prove/server.js';
import { GrpcClient, StreamClient } from '../../../src/load/grpc-client.js';
import { HttpClient, timingsIn } from '../../../src/load/http-client.js';
import { asBuffer, stepMessage } from '../../../src/load/messages.js';
import { readMetric } from '../../../src/load/metrics-page.js';
import { SPLIT_PARTS, summarise } from '../../../src/load/sample.js';

t.test('every session has one worker at least, and every worker a session', async (t) => {
  t.same(
    [0, 1, 2].map((index) => shareOf('abcdefg'.split(''), 3, index)),
    [
      [0, 3, 6],
      [1, 4],
      [2, 5],
    ],
  );
  t.same(
    [0, 1, 2, 3].map((index) => shareOf(['a', 'b'], 4, index)),
    [[0], [1], [0], [1]],
  );
});

t.test('server-timing becomes microseconds', async (t) => {
  t.same(timingsIn(['Server-Timing', 'queue;dur=1.500, total;dur=20', 'x', 'y']), { queue: 1500, total: 20_000 });
  t.equal(timingsIn(['x', 'server-timing']), undefined, 'a value of this name is no header');
});

t.test('a metric is summed over its labels', async (t) => {
  const page = '# HELP a b\na{x="1"} 2\na{x="2"} 3\nab 7\n';
  t.equal(readMetric(page, 'a'), 5);
  t.throws(() => readMetric(page, 'b'), /no b/);
});

/** A client of each door of an echo; all of it ends with the test. */
function connectTo(t: Test, echo: Awaited<ReturnType<typeof openEcho>>) {
  const http = new HttpClient(echo.address);
  const unary = new GrpcClient(echo.grpcAddress);
  const stream = new StreamClient(echo.grpcAddress);
  t.teardown(async () => {
    for (const client of [http, unary, stream]) client.close();
    await echo.close();
  });
  return { http, unary, stream };
}

t.test('the echo returns what it was sent, at every door', async (t) => {
  const { http, unary, stream } = connectTo(t, await openEcho());
  const { targets } = makeCloth(50);
  t.same((await http.post('/v1/sessions/a/steps', asBuffer(targets[0]))).body, asBuffer(targets[0]));
  const message = Buffer.from(stepMessage('a', targets[1]));
  t.same((await unary.call('Step', message)).bytes, message);
  t.same(await stream.send(message), message);
  t.same(await stream.send(message), message, 'and again');
});

t.test('a stream whose server has gone fails, and nobody waits for its answer', async (t) => {
  const echo = await openEcho();
  const stream = new StreamClient(echo.grpcAddress);
  t.teardown(() => stream.close());
  const message = Buffer.from(stepMessage('a', makeCloth(50).targets[0]));
  t.same(await stream.send(message), message);
  await echo.close();
  await t.rejects(stream.send(message));
  await t.rejects(stream.send(message), 'again');
});

t.test('the late echo returns what it was sent, and the time that its thread worked', async (t) => {
  const { http, unary, stream } = connectTo(t, await openEcho({ isLate: true }));
  const { targets } = makeCloth(50);
  const body = asBuffer(targets[0]);
  const message = Buffer.from(stepMessage('a', targets[1]));
  const answers: [Buffer, Uint8Array][] = [
    [body, (await http.post('/v1/sessions/a/steps', body)).body],
    [message, (await unary.call('Step', message)).bytes!],
    [message, await stream.send(message)],
    [body, (await http.post('/v1/sessions/a/steps', body)).body],
  ];
  for (const [sent, answer] of answers) {
    t.same(answer.subarray(0, -8), sent.subarray(0, -8));
    t.equal(answer.byteLength, sent.byteLength);
    t.ok(readWork(answer) > 0, `${readWork(answer)} ms`);
  }
});

t.test('each driver makes steps of each session, with the time of every stage', async (t) => {
  const server = await ServerProcess.start({ engine: 'cpu', environment: { INTERSTICE_THREADS: '1' } });
  t.teardown(() => server.stop());
  const cloth = makeCloth(50);
  const sessions = await openSessions(server.grpcAddress, cloth, 2);
  t.equal((await readHoldings(server)).sessions, 2);
  const load = { sessions, cloth, seconds: 1, steps: 4 };
  const runs = {
    http: await runHttp({ ...load, address: server.address, connections: 2 }),
    unary: await runUnary({ ...load, address: server.grpcAddress, concurrency: 4 }),
    stream: await runStreams({ ...load, address: server.grpcAddress, window: 2 }),
  };
  for (const [door, samples] of Object.entries(runs)) {
    const summary = summarise(samples, 1);
    t.equal(samples.length, door === 'unary' ? 16 : 8, `${door}: four steps of each worker`);
    t.same(summary.refused, {}, `${door}: nothing is refused`);
    t.same([...new Set(samples.map(({ session }) => session))].sort(), [0, 1], `${door}: both sessions`);
    t.ok(
      SPLIT_PARTS.every((part) => Number.isFinite(summary.split[part])),
      `${door}: every part is known`,
    );
    t.ok(summary.split.compute > 0 && summary.split.verify > 0, `${door}: compute and verify are not nothing`);
  }
  const paced = await runUnary({
    ...load,
    address: server.grpcAddress,
    concurrency: 2,
    period: 250,
    steps: undefined,
  });
  t.ok(paced.length > 0 && paced.length <= 8, `${paced.length} calls: no loop makes more than its four turns`);
  const stopper = new AbortController();
  const client = new GrpcClient(server.grpcAddress);
  t.teardown(() => client.close());
  const cancelled = client.call('Step', stepMessage(sessions[0]!, cloth.targets[0]), undefined, stopper.signal);
  stopper.abort();
  t.equal((await cancelled).code, 'GRPC_1', 'cancelled by the caller');
  await deleteSessions(server.grpcAddress, sessions);
  // The thread may still be in the step that was cancelled.
  t.match(await settleHoldings(server), { sessions: 0 });
  while ((await readHoldings(server)).deviceBytes > 0);
  const [lost] = await runUnary({ ...load, address: server.grpcAddress, concurrency: 1, sessions: [sessions[0]!] });
  t.equal(lost?.code, 'SESSION_NOT_FOUND', 'a refusal has its name');
});
