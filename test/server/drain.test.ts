import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { makeSwap } from '../../bench/load/cloth.js';
import { readHoldings, settleHoldings } from '../../bench/load/gauges.js';
import { ServerProcess } from '../../bench/prove/server.js';
import { GrpcClient, readStep } from '../../src/load/grpc-client.js';
import { HttpClient } from '../../src/load/http-client.js';
import { stepMessage } from '../../src/load/messages.js';
import type { WireMessage } from '../../src/transport/messages/wire-message.js';
import { decodeMessage } from '../../src/transport/protobuf/decode.js';
import { encodeMessage } from '../../src/transport/protobuf/encode.js';

/** So few that a slow machine opens them at once and tests their states within the time that is left for that. */
const VERTICES = 2000;
/** Their swap takes half a minute of processor time, a step a fifth of a second: far longer than it takes for all to be at work. */
const PARAMETERS = { preset: 'PAPER', sweepsPerStep: 1000 };
const PROTOBUF = 'application/x-protobuf';

/** Waits until so many jobs run and so many wait. */
async function untilAtWork(server: ServerProcess, running: number, waiting: number): Promise<void> {
  for (;;) {
    const holdings = await readHoldings(server);
    if (holdings.running >= running && holdings.waiting >= waiting) return;
    await wait(20);
  }
}

/** What an answer says of its end. */
function endOf(answer: WireMessage | undefined): object {
  const report = answer?.report as unknown as { status: number; warnings: { code: string }[] } | undefined;
  return { status: report?.status, warnings: report?.warnings.map(({ code }) => code) };
}

/** the number of DEADLINE in the contract */
const DEADLINE = 4;
const CUT = { status: DEADLINE, warnings: ['SERVER_SHUTS_DOWN'] };

t.test('SIGTERM: steps that run return their safe states, the rest is refused, and nobody sees a reset', async (t) => {
  const server = await ServerProcess.start({
    engine: 'cpu',
    program: fileURLToPath(new URL('./patient-service.js', import.meta.url)),
    environment: { INTERSTICE_DRAIN_SECONDS: '0.2', INTERSTICE_THREADS: '5', INTERSTICE_CORES: '1' },
  });
  t.teardown(() => server.kill());
  const { cloth, target } = makeSwap(VERTICES);
  const grpc = new GrpcClient(server.grpcAddress);
  const http = [0, 1].map(() => new HttpClient(server.address));
  t.teardown(() => {
    grpc.close();
    for (const client of http) client.close();
  });
  const swap = { mesh: cloth.mesh, start: { data: cloth.start, scalar: 'FLOAT32' }, parameters: PARAMETERS };
  const open = async (): Promise<string> => {
    const { bytes } = await grpc.call('CreateSession', encodeMessage('CreateSessionRequest', swap));
    return String(decodeMessage('Session', bytes!).id);
  };
  const ids = await Promise.all([open(), open(), open()]);
  const [byHttp, byCall, byStream] = ids as [string, string, string];
  const whole = encodeMessage('ResolveRequest', { ...swap, target: { data: target, scalar: 'FLOAT32' } });
  // The threads of resolves are started: what has not begun when the time is over has no state to return.
  const stop = new AbortController();
  const begun = [1, 2].map(() => grpc.call('Resolve', whole, undefined, stop.signal));
  await untilAtWork(server, 2, 0);
  stop.abort();
  await Promise.all(begun);
  await settleHoldings(server);

  const step = http[0]!.post(`/v1/sessions/${byHttp}/steps`, stepMessage(byHttp, target), PROTOBUF);
  const call = grpc.call('Step', stepMessage(byCall, target), byCall);
  const heard: WireMessage[] = [];
  const stream = grpc.openStream();
  stream.on('data', (bytes: Uint8Array) => heard.push(decodeMessage('StepStreamResponse', bytes)));
  const streamEnd = once(stream, 'end');
  stream.write(stepMessage(byStream, target));
  // Each on the home lane of its session; the others take the lanes that are free then.
  await untilAtWork(server, 3, 0);
  const resolve = grpc.call('Resolve', whole);
  const hard = http[1]!.post('/v1/resolve', whole, PROTOBUF, {
    'interstice-time-budget-ms': '300000',
    'interstice-on-budget': 'FAIL',
  });
  await untilAtWork(server, 5, 0);
  const behind = grpc.call('Step', stepMessage(byCall, cloth.start), byCall);
  await untilAtWork(server, 5, 1);
  server.signal('SIGTERM');

  const answer = await step;
  t.equal(answer.status, 200);
  t.match(endOf(readStep(answer.body)), CUT, 'a step over HTTP');
  const called = await call;
  t.equal(called.code, 'OK');
  t.match(endOf(readStep(called.bytes!)), CUT, 'a step over gRPC');
  const resolved = await resolve;
  t.equal(resolved.code, 'OK');
  t.match(endOf(decodeMessage('ResolveResponse', resolved.bytes!)), CUT, 'a resolve over gRPC');
  await streamEnd;
  t.match(endOf(heard[0]?.response as unknown as WireMessage), CUT, 'a step of a stream');
  t.match(heard[1]?.error, { code: 'DRAINING' }, 'and the stream says why it ends');
  t.equal((await behind).code, 'DRAINING', 'a step that waited');
  const refused = await hard;
  t.equal(refused.status, 503, 'a resolve that may not return an earlier state');
  t.match(JSON.parse(refused.body.toString()), { code: 'DRAINING', retryable: true });
  while (server.isAlive) await wait(20);
  t.pass('the process ends by itself');
});
