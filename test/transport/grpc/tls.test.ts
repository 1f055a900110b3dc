import { spawnSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials, status } from '@grpc/grpc-js';
import t from 'tap';
import { callRaw, openGrpc } from './door.js';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const skip = hasOpenssl ? false : 'no openssl to make certificates with';

/** A certificate for localhost, its own authority. */
function selfSigned(folder: string, name: string): { cert: Buffer; key: Buffer } {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const made = spawnSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

const ask = (client: Parameters<typeof callRaw>[0]) =>
  callRaw(client, 'GetServerInfo', new Uint8Array(), { deadline: Date.now() + 20_000 });

t.test('TLS: who trusts the certificate is served, who does not or speaks plainly is not', { skip }, async (t) => {
  const server = selfSigned(t.testdir(), 'server');
  const { client } = await openGrpc(t, { tls: server }, credentials.createSsl(server.cert));
  t.equal((await ask(client)).error, undefined);
  const stranger = await openGrpc(t, { tls: server }, credentials.createSsl());
  t.equal((await ask(stranger.client)).error?.code, status.UNAVAILABLE);
  const plain = await openGrpc(t, { tls: server });
  t.equal((await ask(plain.client)).error?.code, status.UNAVAILABLE);
});

t.test('mutual TLS: only clients with a certificate of the authority are served', { skip }, async (t) => {
  const folder = t.testdir();
  const [server, known, other] = ['server', 'known', 'other'].map((name) => selfSigned(folder, name));
  const tls = { ...server!, ca: known!.cert, requireClientCert: true };
  const friend = await openGrpc(t, { tls }, credentials.createSsl(server!.cert, known!.key, known!.cert));
  t.equal((await ask(friend.client)).error, undefined);
  const stranger = await openGrpc(t, { tls }, credentials.createSsl(server!.cert, other!.key, other!.cert));
  t.equal((await ask(stranger.client)).error?.code, status.UNAVAILABLE);
  const nobody = await openGrpc(t, { tls }, credentials.createSsl(server!.cert));
  t.equal((await ask(nobody.client)).error?.code, status.UNAVAILABLE);
});

t.test('a key of another certificate, or with a pass phrase, is named as such', { skip }, async (t) => {
  const folder = t.testdir();
  const [one, other] = ['one', 'other'].map((name) => selfSigned(folder, name));
  const mismatch = openGrpc(t, { tls: { cert: one!.cert, key: other!.key } });
  await t.rejects(mismatch, {
    code: 'INVALID_PARAMETER',
    message: /TLS.*key values mismatch/,
    hint: /matching PEM files/,
  });
  const locked = createPrivateKey(one!.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-128-cbc',
    passphrase: 'x',
  });
  const secret = openGrpc(t, { tls: { cert: one!.cert, key: Buffer.from(locked) } });
  await t.rejects(secret, { code: 'INVALID_PARAMETER', message: /TLS/, hint: /pass phrase/ });
});

t.test('TLS that cannot work is refused when the door is built', async (t) => {
  const nothing = Buffer.from('');
  await t.rejects(openGrpc(t, { tls: { cert: nothing, key: nothing, requireClientCert: true } }), {
    code: 'INVALID_PARAMETER',
    message: /no certificate authority/,
  });
  const nonsense = Buffer.from('no certificate');
  await t.rejects(openGrpc(t, { tls: { cert: nonsense, key: nonsense } }), { code: 'INVALID_PARAMETER' });
});
