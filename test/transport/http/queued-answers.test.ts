import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { MAX_UNANSWERED } from '../../../src/transport/http/queued-answers.js';
import { BodyLedger } from '../../../src/transport/intake/body-ledger.js';
import { encodeMessage } from '../../../src/transport/protobuf/encode.js';
import { openDoor } from '../door.js';
import { hangingResolve } from '../fake-operations.js';

t.test('all pipelined requests of a caller who disconnects are released', async (t) => {
  const bodies = new BodyLedger(1 << 20);
  const { app, state, operations, lines } = await openDoor(t, 65536, undefined, {}, { bodies });
  let aborted = 0;
  operations.onResolve = (request, context) => {
    const hanging = hangingResolve();
    void hanging.aborted.then(() => aborted++);
    return hanging.resolve(request, context);
  };
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const positions = { data: new Float32Array(9), scalar: 'FLOAT32' };
  const mesh = { vertexCount: 3, triangles: new Uint32Array([0, 1, 2]) };
  const body = encodeMessage('ResolveRequest', { mesh, start: positions, target: positions });
  const head = `POST /v1/resolve HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\ncontent-length: ${body.byteLength}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  for (let n = 0; n < 3; n++) socket.write(Buffer.concat([Buffer.from(head), body]));
  // Answers wait for their turn; requests do not.
  while (operations.resolves.length < 3) await pause(2);
  t.equal(state.inFlight, 3);
  t.equal(bodies.bytes, 3 * body.byteLength);
  socket.destroy();
  while (state.inFlight > 0 || bodies.bytes > 0 || aborted < 3) await pause(2);
  t.equal(aborted, 3, 'each resolve is told');
  t.equal(state.inFlight, 0);
  const answered = lines.filter(({ status }) => status === 499);
  t.equal(answered.length, 3, 'each has its log line');
});

t.test('a connection has a bounded number of pipelined requests; the next one is refused, and ends it', async (t) => {
  const { app, lines } = await openDoor(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const request = 'GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n';
  /** The statuses of the answers: of all of them, or until the service ends the connection. */
  const hear = async (requests: number, endsItself: boolean) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(request.repeat(requests));
    let text = '';
    const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+) [\w ]+\r\n/g)].map(([, status]) => status);
    for await (const chunk of socket) {
      text += chunk;
      if (!endsItself && statuses().length === requests && text.endsWith('}')) break;
    }
    return statuses();
  };
  const all = Array.from({ length: MAX_UNANSWERED }, () => '200');
  t.same(await hear(MAX_UNANSWERED, false), all);
  t.same(await hear(500, true), [...all, '429']);
  t.equal(lines.filter(({ status }) => status === 200).length, 2 * MAX_UNANSWERED, 'no other answer was made');
});
