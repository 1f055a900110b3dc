import { connect } from 'node:net';
import t from 'tap';
import { type Cloth, makeCloth, makeSwap } from '../../bench/load/cloth.js';
import { readHoldings, settleHoldings } from '../../bench/load/gauges.js';
import { openSessions } from '../../bench/load/sessions.js';
import { asBuffer, createMessage, resolveMessage, stepMessage } from '../../src/load/messages.js';
import { readMetric } from '../../src/load/metrics-page.js';
import { seeded } from '../support/random.js';
import { openConnection } from './grpc-attacks.js';
import { pick } from './mutate.js';
import { deleteAllSessions, prepareTwin, startService } from './service.js';

/** Calls that are cancelled, and how many at a time. */
const CANCELS = 1000;
const AT_ONCE = 10;
/** Before memory is looked at: buffers and heaps have grown to their working size only after about so many. */
const WARM_UP = 1000;
const VERTICES = 800;
/** Latest moment of a cancel, ms: beyond the end of most steps, so that every stage is hit. */
const LATEST_MS = 60;
/**
 * What resident memory may grow by over 1,000 cancels, bytes. The heaps of three threads and the allocator's gaps
 * fluctuate by up to 60 MiB while nothing is kept; over five batches in a row the growth ends.
 */
const MEMORY_ROOM = 96 * 2 ** 20;
/** The same for the heap of the main thread after garbage collection: compiled code, a few buffers. */
const HEAP_ROOM = 16 * 2 ** 20;
/** How often sessions are deleted until none is left: one that is counted but not listed stays, and fails the test. */
const LOOKS = 20;
/** Collections of garbage before the heap is read. */
const COLLECTIONS = 4;
/** Less fluctuation: fewer pools of the allocator, small nurseries; and the test triggers garbage collection. */
const CALM_MEMORY = {
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: `--max-semi-space-size=4 --import=${new URL('../support/collect-garbage.js', import.meta.url).href}`,
};

interface Call {
  readonly path: string;
  readonly http: { readonly type: string; readonly body: Uint8Array } | undefined;
  readonly grpc: { readonly path: string; readonly messages: readonly Uint8Array[] };
}

function calls(sessions: readonly string[], cloth: Cloth): Call[] {
  const { cloth: swap, target } = makeSwap(VERTICES);
  const resolve = resolveMessage(swap, target, { deadline: 2 });
  const method = (name: string) => `/interstice.v1.CollisionService/${name}`;
  const protobuf = 'application/x-protobuf';
  return [
    {
      path: '/v1/resolve',
      http: { type: protobuf, body: resolve },
      grpc: { path: method('Resolve'), messages: [resolve] },
    },
    {
      path: '/v1/sessions',
      http: { type: protobuf, body: createMessage(cloth) },
      grpc: { path: method('CreateSession'), messages: [createMessage(cloth)] },
    },
    ...sessions.flatMap((id): Call[] => {
      const steps = cloth.targets.map((goal) => stepMessage(id, goal));
      const http = { type: 'application/octet-stream', body: asBuffer(cloth.targets[0]) };
      const path = `/v1/sessions/${id}/steps`;
      return [
        { path, http, grpc: { path: method('Step'), messages: [steps[0]!] } },
        { path, http: undefined, grpc: { path: method('StepStream'), messages: [...steps, ...steps, ...steps] } },
      ];
    }),
  ];
}

/** Bytes that the main thread holds, in its heap and beside it, without garbage. */
async function readHeap({
  pid,
  adminAddress,
}: {
  readonly pid: number;
  readonly adminAddress: string;
}): Promise<number> {
  // External memory is released after the objects that refer to it: one more collection each.
  for (let n = 0; n < COLLECTIONS; n++) {
    process.kill(pid, 'SIGWINCH');
    // The event loop handles the signal before it answers a request that arrives after it.
    await (await fetch(`${adminAddress}/livez`)).text();
  }
  const page = await (await fetch(`${adminAddress}/metrics`)).text();
  return readMetric(page, 'nodejs_heap_size_used_bytes') + readMetric(page, 'nodejs_external_memory_bytes');
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a part of a request, or all of it, and hangs up. */
async function hangUp(port: number, { path, http }: Call, share: number, ms: number): Promise<void> {
  const { type, body } = http!;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${body.byteLength}\r\n\r\n`,
  );
  socket.write(body.subarray(0, Math.ceil(body.byteLength * share)));
  await sleep(ms);
  socket.destroy();
}

/** Sends messages and cancels the call, lets its deadline pass, or closes the whole connection. */
async function cancelCall(
  port: number,
  { grpc }: Call,
  how: 'cancel' | 'deadline' | 'tear',
  ms: number,
): Promise<void> {
  const session = openConnection(port);
  const stream = session.request({
    ':method': 'POST',
    ':path': grpc.path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(how === 'deadline' ? { 'grpc-timeout': `${Math.ceil(ms)}m` } : {}),
  });
  stream.on('error', () => {});
  stream.resume();
  for (const message of grpc.messages) {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.byteLength, 1);
    stream.write(Buffer.concat([prefix, message]));
  }
  await sleep(how === 'deadline' ? 2 * ms : ms);
  if (how === 'cancel') {
    stream.close(8);
    await sleep(1);
  }
  session.destroy();
}

t.test(`after ${CANCELS} calls that were cancelled at random moments nothing is held any more`, async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const { server, faults } = await startService(t, CALM_MEMORY);
  const playTwin = await prepareTwin(server);
  await deleteAllSessions(server);
  const base = await settleHoldings(server);
  const cloth = makeCloth(VERTICES);
  const ports = {
    http: Number(new URL(server.address).port),
    grpc: Number(server.grpcAddress.split(':').pop()),
  };

  /** Opens sessions, cancels calls on them, deletes all sessions, and reads what is still held. */
  const cancelCalls = async (count: number) => {
    const known = calls(await openSessions(server.grpcAddress, cloth, 4), cloth);
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        const call = pick(known, random);
        const ms = random.between(0, LATEST_MS);
        if (call.http && random() < 0.5) await hangUp(ports.http, call, random() < 0.3 ? random() : 1, ms);
        else await cancelCall(ports.grpc, call, pick(['cancel', 'deadline', 'tear'] as const, random), ms);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    let holdings = await settleHoldings(server);
    // On a busy machine a creation may arrive when nothing else is in progress, also after the last deletion.
    for (let look = 0; look < LOOKS && holdings.sessions > 0; look++) {
      await deleteAllSessions(server);
      holdings = await settleHoldings(server);
    }
    return { ...holdings, heapBytes: await readHeap(server) };
  };

  const warm = await cancelCalls(WARM_UP);
  const cold = await cancelCalls(CANCELS);
  const grown = cold.rssBytes - warm.rssBytes;
  const MiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  t.comment(`resident: ${MiB(base.rssBytes)} at first, ${MiB(warm.rssBytes)} warm, ${MiB(cold.rssBytes)} after`);
  t.comment(`main thread: ${MiB(warm.heapBytes)} warm, ${MiB(cold.heapBytes)} after`);
  for (const name of ['sessions', 'waiting', 'running', 'inFlight', 'deviceBytes', 'hostBytes'] as const) {
    t.equal(cold[name], base[name], `${name} are back at their base`);
  }
  t.ok(
    cold.heapBytes - warm.heapBytes < HEAP_ROOM,
    `the main thread holds ${MiB(cold.heapBytes - warm.heapBytes)} more`,
  );
  t.ok(grown < MEMORY_ROOM, `resident memory grew by ${MiB(grown)}`);
  t.same(faults, [], 'it logged no fault of its own');
  const { different } = await playTwin(() => true);
  t.equal(different, 0, 'a session gets the bytes that it got before');
  t.ok((await readHoldings(server)).running === 0);
});
