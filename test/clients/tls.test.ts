import t from 'tap';
import { Client, ServiceError } from '../../src/client/index.js';

/** Certificates and real connections are what `deploy/test-clients.sh` tries; here only what is made of their failures. */

const refusalOf = (client: Client): Promise<unknown> => client.info().catch((thrown: unknown) => thrown);

/** Fails as `fetch` of Node does. */
const failing = (code: string, message: string) => {
  const seen = { calls: 0, answersFirst: 0 };
  const ask = (async () => {
    seen.calls += 1;
    if (seen.calls <= seen.answersFirst)
      return new Response('{"code":"DEVICE_LOST","retryable":true}', { status: 503 });
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
  }) as typeof fetch;
  return { seen, ask };
};
const retry = { attempts: 12, firstPauseMs: 0.01, longestPauseMs: 0.01 };

t.test('what is wrong with a certificate is told at the first try, with what to do', async (t) => {
  const words: [string, string, RegExp][] = [
    ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', /tls\.ca/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', /tls\.ca/],
    ['CERT_HAS_EXPIRED', 'certificate has expired', /tls\.ca/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", /name/],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tlsv13 alert certificate required', /tls\.cert/],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tlsv1 alert unknown ca', /tls\.cert/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number', /http:/],
    ['EPROTO', 'write EPROTO 80CC:error:0A00010B:SSL routines:ssl3_get_record:wrong version number', /http:/],
  ];
  for (const [code, message, hint] of words) {
    const { seen, ask } = failing(code, message);
    const thrown = await refusalOf(new Client('https://there', { retry, fetch: ask }));
    t.match(thrown, { code: 'TLS_REFUSED', retryable: false, isUncertain: false, hint }, code);
    t.equal(seen.calls, 1, 'one try');
  }
});

t.test('connections that are only closed are given up after five, unless something was ever answered', async (t) => {
  const closed = failing('UND_ERR_SOCKET', 'other side closed');
  const client = new Client('https://there', { retry, fetch: closed.ask });
  t.match(await refusalOf(client), { code: 'TLS_REFUSED', hint: /tls\.cert/ });
  t.equal(closed.seen.calls, 5);

  const shaky = failing('UND_ERR_SOCKET', 'other side closed');
  shaky.seen.answersFirst = 1;
  t.match(await refusalOf(new Client('https://there', { retry, fetch: shaky.ask })), { code: 'UNREACHABLE' });
  t.equal(shaky.seen.calls, 12, 'a server that restarts');

  for (const [code, message] of [
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:8443'],
    ['ECONNRESET', 'Client network socket disconnected before secure TLS connection was established'],
  ] as const) {
    const starting = failing(code, message);
    t.match(await refusalOf(new Client('https://there', { retry, fetch: starting.ask })), { code: 'UNREACHABLE' });
    t.equal(starting.seen.calls, 12, 'a server that is starting');
  }

  const plain = failing('UND_ERR_SOCKET', 'other side closed');
  const thrown = await refusalOf(new Client('http://there', { retry, fetch: plain.ask }));
  t.match(thrown, { code: 'UNREACHABLE', hint: /https:/ });
  t.type(thrown, ServiceError);
  t.equal(plain.seen.calls, 12, 'nothing is encrypted: nothing of certificates');
});

t.test('options that do not go together are told when the client is made', async (t) => {
  const make = (url: string, options: ConstructorParameters<typeof Client>[1]) => () => new Client(url, options);
  t.throws(make('http://there', { tls: {} }), { name: 'TypeError', message: /https/ });
  t.throws(make('https://there', { tls: {}, fetch }), { name: 'TypeError', message: /exclude each other/ });
  t.throws(make('https://there', { tls: { cert: 'x' } }), { name: 'TypeError', message: /both/ });
  t.throws(make('https://there', { tls: { ca: '/nowhere.pem' } }), { name: 'TypeError', message: /tls\.ca.*nowhere/ });
  const file = t.testdir({ 'ca.pem': 'no certificate' });
  t.throws(make('https://there', { tls: { cert: `${file}/ca.pem`, key: `${file}/ca.pem` } }), { name: 'TypeError' });
});
