// Tests of the client's TLS against a running service: `node tls-test.mjs FOLDER KEY TLS MTLS MISNAMED PLAIN`. FOLDER
// contains the certificates; the other arguments are an API key and URLs. Ends with "N passed, N failed, 0 skipped".
import { join } from 'node:path';
import { Client, ServiceError } from '@interstice-ccd/interstice/client';

const [folder, apiKey, url, mutual, misnamed, plain] = process.argv.slice(2);
const at = (name) => join(folder, name);
const of = (name) => ({ cert: at(`${name}.crt`), key: at(`${name}.key`) });
const ca = at('ca.crt');
/** Enough attempts that the test would time out if a refusal were retried. */
const retry = { attempts: 1e6, firstPauseMs: 5, longestPauseMs: 5 };

const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.1, 1.2, 0.2, 0.1, 0.2, 1.2, 0.1);
const kinematic = Uint8Array.of(1, 1, 1, 0, 0, 0);
const MESH = { vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5), kinematic };
const lowered = (by) => START.map((value, i) => (i >= 9 && i % 3 === 2 ? value - by : value));

const total = { passed: 0, failed: 0 };
const check = (isRight, what, detail = '') => {
  total[isRight ? 'passed' : 'failed'] += 1;
  console.log(`${isRight ? ' ok  ' : 'FAIL '} typescript: ${what} ${isRight ? '' : detail}`);
};
const refused = async (what, address, options, code, hint) => {
  const thrown = await new Client(address, { apiKey, retry, ...options }).info().catch((error) => error);
  const isRight = thrown instanceof ServiceError && thrown.code === code && hint.test(thrown.hint);
  check(isRight, `${what}: ${thrown.message} ${thrown.hint}`, thrown.stack);
};
const mistaken = (what, address, options) => {
  try {
    new Client(address, options);
    check(false, what);
  } catch (thrown) {
    check(thrown instanceof TypeError, `${what}: ${thrown.message}`, thrown.stack);
  }
};
const steps = async (what, address, tls, target) => {
  const session = await new Client(address, { apiKey, tls, retry }).session(MESH, target(0));
  const held = await session.step(target(0.2));
  check(
    held.frame === 1 && held.positions.some((value, i) => value !== target(0.2)[i]),
    `${what}: a step is held back`,
  );
  const full = await session.step(target(0.05), { include: { contacts: true } });
  check(full.frame === 2 && full.contacts !== undefined, `${what}: a step is sent as JSON`);
  check(
    (await session.check()).intersectionFree && session.recreations === 0,
    `${what}: the state is free of intersections`,
  );
  check(await session.close(), `${what}: the session is closed`);
};

await steps('TLS', url, { ca }, lowered);
await new Promise(setImmediate);
const held = process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name));
check(held.length === 0, 'TLS: an idle connection does not keep the program running', held.join());
await steps('mTLS', mutual, { ca, ...of('client') }, lowered);
// Large enough for many TLS records and an answer in many pieces.
const many = 20_000;
MESH.vertexCount += many;
MESH.particles = Uint32Array.from({ length: many }, (_, i) => i + 6);
MESH.kinematic = new Uint8Array(MESH.vertexCount).fill(1, 0, 3);
const afar = Float32Array.from(
  { length: 3 * many },
  (_, i) => [(0.5 * (i % 300)) / 3, 5, 0.5 * Math.floor(i / 300)][i % 3],
);
await steps('TLS, a large mesh', url, { ca }, (by) => Float32Array.of(...lowered(by), ...afar));

await refused('no key', mutual, { tls: { ca, ...of('client') }, apiKey: undefined }, 'UNAUTHENTICATED', /./);
await refused('no authority', url, {}, 'TLS_REFUSED', /tls\.ca/);
await refused('another authority', url, { tls: { ca: at('other-ca.crt') } }, 'TLS_REFUSED', /tls\.ca/);
await refused('another name', misnamed, { tls: { ca } }, 'TLS_REFUSED', /name/);
await refused('no certificate', mutual, { tls: { ca } }, 'TLS_REFUSED', /tls\.cert/);
await refused('a stranger', mutual, { tls: { ca, ...of('stranger') } }, 'TLS_REFUSED', /tls\.cert/);
await refused('no TLS there', plain.replace('http:', 'https:'), { tls: { ca } }, 'TLS_REFUSED', /port/);
await refused('plain to TLS', url.replace('https:', 'http:'), { retry: { attempts: 2 } }, 'UNREACHABLE', /TLS/);

mistaken('a missing file', url, { tls: { ca: at('none.crt') } });
mistaken('a file that is not a certificate', url, { tls: { cert: at('server.ext'), key: at('client.key') } });
mistaken('a key of another certificate', url, { tls: { ...of('client'), key: at('server.key') } });
mistaken('a certificate without its key', url, { tls: { cert: at('client.crt') } });
mistaken('certificates without TLS', plain, { tls: { ca } });

console.log(`${total.passed} passed, ${total.failed} failed, 0 skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
