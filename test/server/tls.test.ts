import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { Client, credentials, status } from '@grpc/grpc-js';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/server/server.js';
import { createOperations } from '../../src/session/operations.js';
import { makeKey } from '../../src/transport/auth/key-file.js';
import {
  type Certificate,
  makeAuthority,
  makeCertificate,
  skipWithoutOpenssl as skip,
} from '../support/certificates.js';
import { LIMITS } from '../support/job.js';
import { FakeOperations } from '../transport/fake-operations.js';
import { call, callRaw, detailsOf } from '../transport/grpc/door.js';

const environment = {
  INTERSTICE_HTTP_PORT: '0',
  INTERSTICE_GRPC_PORT: '0',
  INTERSTICE_ADMIN_PORT: '0',
  INTERSTICE_LOG_LEVEL: 'info',
};

const filesOf = ({ files }: Certificate) => ({
  INTERSTICE_GRPC_TLS_CERT: files.cert,
  INTERSTICE_GRPC_TLS_KEY: files.key,
});

/** A client with a connection of its own, closed with the test. */
function comer(t: Test, address: string | undefined, channel: ReturnType<typeof credentials.createSsl>): Client {
  const client = new Client(`${address}`, channel, { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 });
  t.teardown(() => client.close());
  return client;
}

const ask = (client: Client) => callRaw(client, 'GetServerInfo', new Uint8Array(), { deadline: Date.now() + 200_000 });

t.test('API keys over TLS without client certificates separate the tenants', { skip }, async (t) => {
  const folder = t.testdir();
  const ca = makeAuthority(folder, 'ca');
  const [red, blue, stranger] = ['red', 'blue', 'stranger'].map((tenant) => makeKey(tenant));
  writeFileSync(`${folder}/keys`, `${red!.line}\n${blue!.line}\n`);
  const settings = { ...filesOf(makeCertificate(folder, 'server', ca)), INTERSTICE_API_KEYS: `${folder}/keys` };
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const operations = await createOperations({ engine: 'cpu', threads: 1, limits: LIMITS, allowUnverified: false });
  await operations.ready();
  const config = readConfig({ ...environment, ...settings });
  const server = await startServer(config, operations, { log, handleSignals: false });
  t.teardown(() => server.close());
  const client = comer(t, server.grpcAddress, credentials.createSsl(ca.cert));
  const as = (key: string) => ({ metadata: { authorization: `Bearer ${key}` } });

  const mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
  const start = { data: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), scalar: 'FLOAT32' };
  const opened = await call(client, 'createSession', { mesh, start }, as(red!.key));
  t.equal(opened.error, undefined, 'the right key');
  const { id: sessionId } = opened.answer as { id: string };
  t.ok(sessionId);
  for (const [what, options] of [
    ['no key', {}],
    ['a wrong key', as(stranger!.key)],
  ] as const) {
    const refused = await call(client, 'createSession', { mesh, start }, options);
    t.match(detailsOf(refused.error), { code: status.UNAUTHENTICATED, error: { code: 'UNAUTHENTICATED' } }, what);
  }

  t.equal((await call(client, 'getSession', { sessionId }, as(red!.key))).error, undefined, 'its own');
  const inventedId = sessionId.replace(/[0-9a-z](?=[^0-9a-z]*$)/i, (last) => (last === '0' ? '1' : '0'));
  const told = async (id: string) => {
    const { error } = await call(client, 'getSession', { sessionId: id }, as(blue!.key));
    const { code, error: said } = detailsOf(error);
    // The two must differ in the ids and in the request only.
    return JSON.stringify({ code, ...said, requestId: undefined }).replaceAll(id, 'ID');
  };
  const foreign = await told(sessionId);
  t.match(foreign, /SESSION_NOT_FOUND/);
  t.equal(foreign, await told(inventedId), 'the same answer as for an id that does not exist');
  t.match(detailsOf((await call(client, 'deleteSession', { sessionId }, as(blue!.key))).error), {
    error: { code: 'SESSION_NOT_FOUND' },
  });
  t.equal((await call(client, 'getSession', { sessionId }, as(red!.key))).error, undefined, 'still there');

  const plain = await ask(comer(t, server.grpcAddress, credentials.createInsecure() as never));
  t.equal(plain.error?.code, status.UNAVAILABLE, 'refused without TLS');
  const page = await (await fetch(`${server.adminAddress}/metrics`)).text();
  t.match(page, /^interstice_tls_refused_total\{reason="not-tls"\} [1-9]/m);
  t.notOk(
    [red, blue, stranger].some((one) => lines.join('').includes(one!.key)),
    'no key in the log',
  );
});

t.test('SIGHUP reloads keys and TLS files independently', { skip }, async (t) => {
  const folder = t.testdir();
  const [ca, nextCa] = [makeAuthority(folder, 'ca'), makeAuthority(folder, 'next-ca')];
  const server = makeCertificate(folder, 'server', ca);
  const next = makeCertificate(folder, 'next', nextCa);
  const [first, second] = [makeKey('red'), makeKey('red')];
  writeFileSync(`${folder}/keys`, first.line);
  const lines: Record<string, unknown>[] = [];
  let heard: () => void = () => {};
  const log = pino(
    { level: 'info' },
    {
      write: (line: string) => {
        lines.push(JSON.parse(line));
        heard();
      },
    },
  );
  const config = readConfig({ ...environment, ...filesOf(server), INTERSTICE_API_KEYS: `${folder}/keys` });
  const running = await startServer(config, new FakeOperations(), { log });
  t.teardown(() => running.close());
  /** The log lines about both. */
  const hangUp = async () => {
    const from = lines.length;
    const ofBoth = () => lines.slice(from).filter(({ msg }) => /were reloaded|are unchanged/.test(String(msg)));
    process.kill(process.pid, 'SIGHUP');
    while (ofBoth().length < 2) {
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
    return ofBoth();
  };
  const accepted = async (key: string, authority: Certificate) => {
    const client = comer(t, running.grpcAddress, credentials.createSsl(authority.cert));
    const metadata = { 'x-api-key': key };
    const { error } = await callRaw(client, 'ListSessions', new Uint8Array(), { metadata });
    return error?.code ?? status.OK;
  };
  const staying = comer(t, running.grpcAddress, credentials.createSsl(ca.cert));
  const stays = (key: string) => callRaw(staying, 'ListSessions', new Uint8Array(), { metadata: { 'x-api-key': key } });
  t.equal((await stays(first.key)).error, undefined);

  writeFileSync(`${folder}/keys`, second.line);
  copyFileSync(next.files.cert, server.files.cert);
  t.match(await hangUp(), [
    { level: 30, msg: 'The API keys were reloaded.' },
    { level: 50, msg: 'The TLS files are unchanged, because a file could not be used.', reason: /mismatch/ },
  ]);
  t.equal(await accepted(second.key, ca), status.OK, 'the new key at the old certificate');

  copyFileSync(next.files.key, server.files.key);
  writeFileSync(`${folder}/keys`, 'broken');
  t.match(await hangUp(), [
    { level: 50, msg: 'The API keys are unchanged, because a file could not be used.', reason: /Line 1/ },
    { level: 30, msg: 'The TLS files were reloaded.', certificate: { subject: 'CN=next', issuer: 'CN=next-ca' } },
  ]);
  t.equal(await accepted(second.key, nextCa), status.OK, 'the same key at the new certificate');
  t.equal(await accepted(second.key, ca), status.UNAVAILABLE);
  t.equal((await stays(second.key)).error, undefined, 'the earlier connection is open, with the current keys');
  t.notMatch(JSON.stringify(lines), /BEGIN/);
});

/** Starts the service in another process, which can be sent signals. */
async function spawnService(t: Test, settings: Record<string, string>) {
  const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { startServer } = await import(${here('../../src/server/server.js')});
    const { readConfig } = await import(${here('../../src/config/config.js')});
    const { FakeOperations } = await import(${here('../transport/fake-operations.js')});
    await startServer(readConfig(process.env), new FakeOperations());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...environment, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)));
  const log = createInterface({ input: child.stderr! })[Symbol.asyncIterator]();
  const until = async (words: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const { value, done } = await log.next();
      if (done) throw new Error(`the log ended before "${words}"`);
      if (value.includes(words)) return JSON.parse(value);
    }
  };
  return { child, exited, until, facts: await until('listening') };
}

t.test('SIGHUP reloads TLS files; without any file it drains', { skip }, async (t) => {
  const folder = t.testdir();
  const ca = makeAuthority(folder, 'ca');
  const guarded = await spawnService(t, filesOf(makeCertificate(folder, 'server', ca)));
  guarded.child.kill('SIGHUP');
  await guarded.until('The TLS files were reloaded.');
  const [host, port] = String(guarded.facts.grpcAddress).split(':');
  const socket = connect({ host: host!, port: Number(port), ca: ca.cert, ALPNProtocols: ['h2'] });
  t.teardown(() => socket.destroy());
  await new Promise((resolve, reject) => socket.on('secureConnect', resolve).on('error', reject));
  t.equal(guarded.child.exitCode, null, 'it goes on');
  const bare = await spawnService(t, {});
  bare.child.kill('SIGHUP');
  await bare.until('draining');
  t.equal(await bare.exited, 0);
});
