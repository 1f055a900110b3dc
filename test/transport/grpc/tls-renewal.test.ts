import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { Client, credentials, status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import {
  type Certificate,
  makeAuthority,
  makeCertificate,
  skipWithoutOpenssl as skip,
} from '../../support/certificates.js';
import { callRaw, openGrpc } from './door.js';

const ask = (client: Client) => callRaw(client, 'GetServerInfo', new Uint8Array(), { deadline: Date.now() + 200_000 });

/** A client with a connection of its own: the library would share one that is open. */
function comer(t: Test, port: number, channel: ReturnType<typeof credentials.createSsl>): Client {
  const client = new Client(`localhost:${port}`, channel, {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  });
  t.teardown(() => client.close());
  return client;
}

t.test('after a renewal new connections get the new certificate, and open ones stay', { skip }, async (t) => {
  const folder = t.testdir();
  const [ca, nextCa] = [makeAuthority(folder, 'ca'), makeAuthority(folder, 'next-ca')];
  const [first, second] = [makeCertificate(folder, 'first', ca), makeCertificate(folder, 'second', nextCa)];
  const { client, port, server } = await openGrpc(t, { tls: first }, credentials.createSsl(ca.cert));
  t.equal((await ask(client)).error, undefined);
  const before = Date.now();
  const facts = server.renewTls!(second);
  t.match(facts, { subject: 'CN=second', issuer: 'CN=next-ca' });
  t.ok(Date.parse(facts.validTo) > before);
  t.equal((await ask(client)).error, undefined, 'the connection that was open');
  t.equal((await ask(comer(t, port, credentials.createSsl(nextCa.cert)))).error, undefined);
  const refused = await ask(comer(t, port, credentials.createSsl(ca.cert)));
  t.equal(refused.error?.code, status.UNAVAILABLE, 'who trusts the old authority alone');
});

t.test('files with a mistake change nothing', { skip }, async (t) => {
  const folder = t.testdir();
  const [ca, nextCa] = [makeAuthority(folder, 'ca'), makeAuthority(folder, 'next-ca')];
  const [own, other] = [makeCertificate(folder, 'own', ca), makeCertificate(folder, 'other', nextCa)];
  const old = makeCertificate(folder, 'old', ca, -1);
  const oldCa = makeCertificate(folder, 'old-ca', ca, -1);
  const known = makeCertificate(folder, 'known', ca);
  const tls = { ...own, ca: ca.cert, requireClientCert: true };
  const { port, server } = await openGrpc(t, { tls });
  const nonsense = Buffer.from('no certificate');
  const broken = Buffer.from(ca.cert.toString().replace(/\n.{20}/, '\n!!!!!!!!!!!!!!!!!!!!'));
  const mistakes: [string, Parameters<NonNullable<typeof server.renewTls>>[0], RegExp][] = [
    ['key of another', { ...tls, cert: other.cert }, /key values mismatch/],
    ['no PEM', { ...tls, cert: nonsense }, /TLS cannot be set up/],
    ['key and certificate exchanged', { ...tls, cert: own.key, key: own.cert }, /TLS cannot be set up/],
    ['expired', { ...tls, cert: old.cert, key: old.key }, /has expired/],
    ['no authority', { ...tls, ca: nonsense }, /contains no PEM certificate/],
    ['second of two authorities broken', { ...tls, ca: Buffer.concat([ca.cert, broken]) }, /Certificate 2 of the auth/],
    ['expired authority', { ...tls, ca: oldCa.cert }, /No certificate authority .* valid now/],
    ['no demand any more', { ...own }, /cannot be changed/],
  ];
  for (const [what, files, message] of mistakes) {
    t.throws(() => server.renewTls!(files), { code: 'INVALID_PARAMETER', message }, what);
  }
  const comes = (who: Certificate) => ask(comer(t, port, credentials.createSsl(ca.cert, who.key, who.cert)));
  t.equal((await comes(known)).error, undefined, 'as before');
  t.equal((await comes(other)).error?.code, status.UNAVAILABLE, 'as before');
});

t.test('a client of an authority that is no longer trusted is not let in by what it remembers', { skip }, async (t) => {
  const folder = t.testdir();
  const [ca, nextCa] = [makeAuthority(folder, 'ca'), makeAuthority(folder, 'next-ca')];
  const own = makeCertificate(folder, 'own', ca);
  const known = makeCertificate(folder, 'known', ca);
  const tls = { ...own, ca: ca.cert, requireClientCert: true };
  const { port, server, lines } = await openGrpc(t, { tls });
  const open = (session?: Buffer): TLSSocket =>
    connect({
      port,
      host: '127.0.0.1',
      ca: ca.cert,
      cert: known.cert,
      key: known.key,
      ALPNProtocols: ['h2'],
      ...(session ? { session } : {}),
    }).on('error', () => {});
  const first = open();
  const [ticket] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  // HTTP/2 begins with settings of the server: who gets them is in.
  const again = open(ticket);
  await once(again, 'data');
  t.ok(again.isSessionReused(), 'it is remembered while nothing has changed');
  again.destroy();
  server.renewTls!({ ...tls, ca: nextCa.cert });
  const late = open(ticket);
  const outcome = await Promise.race([
    once(late, 'data').then(() => 'let in'),
    once(late, 'close').then(() => 'turned away'),
  ]);
  late.destroy();
  t.equal(outcome, 'turned away');
  t.match(
    lines.filter(({ event }) => event === 'tls-refused'),
    [{ reason: 'unknown-authority' }],
  );
});

t.test(
  'a door without TLS has nothing to renew; one whose certificate is old says so at the start',
  { skip },
  async (t) => {
    t.equal((await openGrpc(t)).server.renewTls, undefined);
    const folder = t.testdir();
    const ca = makeAuthority(folder, 'ca');
    const { lines } = await openGrpc(t, { tls: makeCertificate(folder, 'old', ca, -1) });
    t.match(lines, [{ level: 40, reason: /has expired/ }]);
    const noCa = { ...makeCertificate(folder, 'own', ca), ca: Buffer.from('nonsense'), requireClientCert: true };
    await t.rejects(openGrpc(t, { tls: noCa }), { code: 'INVALID_PARAMETER', message: /contains no PEM certificate/ });
  },
);
