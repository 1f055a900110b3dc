import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { credentials, Server } from '@grpc/grpc-js';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { projectRoot } from '../../../src/paths.js';
import {
  explainHandshake,
  HANDSHAKE_REASONS,
  type HandshakeReason,
  watchHandshakes,
} from '../../../src/transport/grpc/handshakes.js';
import { connectionUnder, findsConnections, http2ServersOf } from '../../../src/transport/grpc/library-internals.js';
import { ConnectionCap } from '../../../src/transport/intake/connection-cap.js';
import { makeAuthority, makeCertificate, skipWithoutOpenssl as skip } from '../../support/certificates.js';
import { callRaw, openGrpc } from './door.js';

/** A door that demands certificates, and who comes to it. */
async function openGuarded(t: Test, connections?: ConnectionCap) {
  const folder = t.testdir();
  const [ca, otherCa] = [makeAuthority(folder, 'ca'), makeAuthority(folder, 'other-ca')];
  const server = makeCertificate(folder, 'server', ca);
  const refused: HandshakeReason[] = [];
  let heard: () => void = () => {};
  const onTlsRefused = (reason: HandshakeReason) => {
    refused.push(reason);
    heard();
  };
  const tls = { cert: server.cert, key: server.key, ca: ca.cert, requireClientCert: true };
  const door = await openGrpc(t, { tls, onTlsRefused, ...(connections ? { connections } : {}) });
  return {
    ...door,
    refused,
    certificates: {
      ca,
      known: makeCertificate(folder, 'known', ca),
      old: makeCertificate(folder, 'old', ca, -1),
      stranger: makeCertificate(folder, 'stranger', otherCa),
    },
    /** Waits until so many have been refused in all. */
    until: async (count: number) => {
      while (refused.length < count) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    },
  };
}

/** Errors are what these connections are for. */
const quiet = (socket: Socket): Socket => socket.on('error', () => {});

t.test('whoever is turned away at the handshake is in the log once, by address and in words', { skip }, async (t) => {
  const { port, lines, refused, certificates, until } = await openGuarded(t);
  const { ca, known, old, stranger } = certificates;
  const show = ({ cert, key }: { cert: Buffer; key: Buffer }) => ({ cert, key });
  const overTls = (options: ConnectionOptions) => () =>
    quiet(connect({ port, host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['h2'], ...options }));
  const plainly = (bytes: string | Uint8Array) => () => {
    const socket = quiet(connectPlain(port, '127.0.0.1'));
    socket.write(bytes);
    return socket;
  };
  const cases: [HandshakeReason, RegExp, () => Socket][] = [
    ['no-certificate', /sent no certificate/, overTls({})],
    ['unknown-authority', /not signed by an authority/, overTls(show(stranger))],
    ['unknown-authority', /not signed by an authority/, overTls({ ...show(stranger), maxVersion: 'TLSv1.2' })],
    ['expired', /expired/, overTls(show(old))],
    ['not-tls', /does not use TLS/, plainly('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
    ['not-tls', /does not use TLS/, plainly('GET / HTTP/1.1\r\n\r\n')],
    ['wrong-protocol', /HTTP\/2/, overTls({ ...show(known), ALPNProtocols: ['http/1.1'] })],
    ['wrong-protocol', /HTTP\/2/, overTls({ ...show(known), ALPNProtocols: undefined })],
    [
      'wrong-version',
      /TLS version/,
      overTls({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    ],
    ['gave-up', /may not trust/, overTls({ ...show(known), ca: stranger.cert })],
  ];
  t.ok(cases.length <= 10, 'more might not be written in one second');
  for (const [k, [reason, words, come]] of cases.entries()) {
    const before = lines.length;
    const socket = come();
    await once(socket, 'connect');
    const remote = `127.0.0.1:${socket.localPort}`;
    await until(k + 1);
    socket.destroy();
    t.equal(refused[k], reason);
    const written = lines.slice(before).filter(({ event }) => event === 'tls-refused');
    t.match(written, [{ level: 40, event: 'tls-refused', reason, remote, msg: words }], reason);
  }
  t.notMatch(JSON.stringify(lines), /BEGIN|PRI \*|GET \//, 'nothing of what was sent');
});

t.test('successful handshakes and port probes are not logged as refusals', { skip }, async (t) => {
  const { port, lines, refused, certificates, until } = await openGuarded(t);
  const { ca, known } = certificates;
  const probe = quiet(connectPlain(port, '127.0.0.1'));
  await once(probe, 'connect');
  probe.end();
  await until(1);
  t.same(refused, ['probe'], 'counted');
  const channel = credentials.createSsl(ca.cert, known.key, known.cert);
  const served = await openGrpc(
    t,
    {
      tls: { cert: known.cert, key: known.key, ca: ca.cert, requireClientCert: true },
      onTlsRefused: (reason) => t.fail(reason),
    },
    channel,
  );
  t.equal((await callRaw(served.client, 'GetServerInfo', new Uint8Array())).error, undefined);
  t.same(
    [...lines, ...served.lines].filter(({ event }) => event === 'tls-refused'),
    [],
    'no line for either',
  );
});

t.test('a flood of broken handshakes is counted whole, in few lines', { skip }, async (t) => {
  const { port, lines, refused, until, server } = await openGuarded(t);
  const FLOOD = 60;
  const sockets = Array.from({ length: FLOOD }, () => {
    const socket = quiet(connectPlain(port, '127.0.0.1'));
    socket.write('not TLS at all');
    return socket;
  });
  await until(FLOOD);
  for (const socket of sockets) socket.destroy();
  await server.close(0);
  const mine = lines.filter(({ event }) => event === 'tls-refused');
  const single = mine.filter(({ reason }) => reason !== undefined).length;
  const summed = mine.map(({ unlogged }) => (unlogged as Record<string, number> | undefined)?.['not-tls'] ?? 0);
  t.equal(single + summed.reduce((sum, more) => sum + more, 0), FLOOD, 'each is told, alone or in a sum');
  t.equal(refused.length, FLOOD);
});

t.test('a handshake that the cap on connections ends is told as such', { skip }, async (t) => {
  const connections = new ConnectionCap({ maxConnections: 1, maxPerAddress: 1 });
  const { port, lines, refused, until } = await openGuarded(t, connections);
  const first = quiet(connectPlain(port, '127.0.0.1'));
  // The head of a record whose body does not follow.
  first.write(Uint8Array.of(22, 3, 1, 2, 0));
  await once(first, 'connect');
  // Connections are accepted in their order, so the second one takes the place of the first.
  const second = quiet(connectPlain(port, '127.0.0.1'));
  await until(1);
  second.destroy();
  t.equal(refused[0], 'no-place');
  t.match(
    lines.filter(({ event }) => event === 'tls-refused'),
    [{ reason: 'no-place', remote: /^127\.0\.0\.1:\d+$/, msg: /This server closed/ }],
  );
});

t.test('a library without the field is told at the start', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  watchHandshakes({} as Server, log)();
  t.match(lines, [
    { level: 40, missing: 'http2Servers', msg: /grpc-js is unknown: failed handshakes are not reported/ },
  ]);
});

t.test('the fields of libraries are looked for, not assumed', async (t) => {
  t.ok(findsConnections(), 'as this version of Node is');
  t.notOk(findsConnections(() => undefined));
  t.equal(connectionUnder({} as TLSSocket), undefined);
  t.same(http2ServersOf({} as Server), []);
  t.same(http2ServersOf(new Server()), [], 'not bound yet');
});

t.test('failures that no client of this test causes have messages too', async (t) => {
  const nothing = { code: undefined, words: undefined, certificateFault: undefined, bytesIn: 9, isCapped: false };
  const cases: [Parameters<typeof explainHandshake>[0], HandshakeReason, RegExp][] = [
    [
      { ...nothing, code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', words: 'tlsv1 alert unknown ca' },
      'client-refused',
      /unknown ca/,
    ],
    [{ ...nothing, code: 'ERR_TLS_HANDSHAKE_TIMEOUT' }, 'timeout', /in time/],
    [{ ...nothing, code: 'ECONNRESET', certificateFault: 'INVALID_PURPOSE' }, 'bad-certificate', /INVALID_PURPOSE/],
    [{ ...nothing, code: 'ECONNRESET', certificateFault: 'CERT_NOT_YET_VALID' }, 'expired', /not valid yet/],
    [{ ...nothing, code: 'ECONNRESET', bytesIn: undefined }, 'gave-up', /disconnected/],
    [{ ...nothing, code: 'ERR_SSL_OF_THE_FUTURE', words: 'strange thing' }, 'other', /strange thing/],
    [{ ...nothing, code: 'ECONNRESET', isCapped: true }, 'no-place', /This server closed/],
    [nothing, 'other', /failed/],
  ];
  for (const [failed, reason, words] of cases) {
    t.match(explainHandshake(failed), { reason, words }, JSON.stringify(failed));
  }
});

t.test('the guide explains every reason, and no other', async (t) => {
  const guide = readFileSync(join(projectRoot, 'docs', 'operations.md'), 'utf8');
  const [, table = ''] = guide.split('| reason | meaning |\n|---|---|\n');
  const rows = table.split('\n\n')[0]!.split('\n');
  t.same(
    rows.map((row) => /^\| `([a-z-]+)` \| \S/.exec(row)?.[1]),
    HANDSHAKE_REASONS,
  );
});
