import { runInNewContext } from 'node:vm';
import t from 'tap';
import { Client, type ClientOptions, type Mesh, ServiceError, type SessionOptions } from '../../src/client/index.js';

/* What the client refuses to be told. clients/python/test_settings.py and clients/cpp/test/settings.cpp refuse the same. */

const URL = 'http://127.0.0.1:8080';
const MESH: Mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
const START = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
const LONGEST = 2_147_483;
const BEYOND = [Number.NaN, -1, Infinity, LONGEST + 1];

/** A client whose service is a function; it has `requests`. */
function clientOf(options: ClientOptions = {}, answer: () => Response = () => new Response('{"id":"x"}')) {
  const requests: Headers[] = [];
  const send = (async (_: unknown, init: RequestInit) => {
    requests.push(new Headers(init.headers));
    return answer();
  }) as typeof fetch;
  return { client: new Client(URL, { fetch: send, ...options }), requests };
}

t.test('addresses', async (t) => {
  for (const url of [
    'localhost:8080',
    'ftp://host',
    'http://',
    'http://host:port',
    ` ${URL}`,
    `${URL}?a=b`,
    `${URL}/#a`,
  ])
    t.throws(() => new Client(url), {
      name: 'TypeError',
      message: `${url} is not an address of the form http://host:port.`,
    });
  t.throws(() => new Client('http://me:secret@host'), {
    name: 'TypeError',
    message: /^An address has no user name and/,
  });
  for (const url of [URL, `${URL}/`, `${URL}/behind/a/proxy`, 'https://[::1]:1']) t.ok(new Client(url));
});

t.test('keys', async (t) => {
  for (const apiKey of ['key\n', 'a b', ' ', 'clé', '€']) {
    const message = 'apiKey has spaces, line breaks or letters beyond ASCII, which no key of a service has.';
    t.throws(() => new Client(URL, { apiKey }), { name: 'TypeError', message });
  }
  for (const [apiKey, sent] of [
    ['a+/=~!', 'Bearer a+/=~!'],
    ['', null],
  ] as const) {
    const { client, requests } = clientOf({ apiKey });
    await client.submit(MESH, START, START);
    t.equal(requests[0]!.get('authorization'), sent);
  }
});

t.test('times of a client', async (t) => {
  const refuses = (options: ClientOptions, message: string) =>
    t.throws(() => new Client(URL, options), { name: 'TypeError', message });
  const upTo = (longest: number, unit = 's') => `from 0 to ${longest} ${unit} are possible.`;
  for (const time of [...BEYOND, 0])
    refuses({ timeoutSeconds: time }, `timeoutSeconds is ${time}; more than 0 and at most ${LONGEST} s are possible.`);
  for (const time of [Number.NaN, -1])
    refuses({ allowanceSeconds: time }, `allowanceSeconds is ${time}, expected a number of seconds from 0.`);
  for (const attempts of [0, -1, 1.5, Number.NaN, Infinity])
    refuses({ retry: { attempts } }, `retry.attempts is ${attempts}, expected a whole number from 1.`);
  for (const time of BEYOND) {
    const ms = time * 1000;
    refuses({ retry: { firstPauseMs: ms } }, `retry.firstPauseMs is ${ms}; ${upTo(LONGEST * 1000, 'ms')}`);
    refuses({ retry: { longestPauseMs: ms } }, `retry.longestPauseMs is ${ms}; ${upTo(LONGEST * 1000, 'ms')}`);
    refuses(
      { retry: { longestRetryAfterSeconds: time } },
      `retry.longestRetryAfterSeconds is ${time}; ${upTo(LONGEST)}`,
    );
  }
  t.ok(
    new Client(URL, { timeoutSeconds: LONGEST, allowanceSeconds: Infinity, retry: { attempts: 1, firstPauseMs: 0 } }),
  );
});

t.test('times of a call', async (t) => {
  const { client, requests } = clientOf();
  const session = await client.session(MESH, START);
  const sent = requests.length;
  for (const time of [...BEYOND, 0]) {
    const options = { timeBudgetSeconds: time };
    const message = `timeBudgetSeconds is ${time}; more than 0 and at most ${LONGEST} s are possible.`;
    const calls: (() => Promise<unknown>)[] = [
      () => session.step(START, options),
      () => session.check(options),
      () => client.resolve(MESH, START, START, options),
      () => client.check(MESH, START, options),
      () => client.diagnose(MESH, START, options),
      () => client.untangle(MESH, START, options),
      () => client.submit(MESH, START, START, options),
      () => client.submitUntangling(MESH, START, options),
    ];
    for (const call of calls) await t.rejects(call(), { name: 'TypeError', message });
    const kept = client.submit(MESH, START, START, { keepForSeconds: time });
    await t.rejects(kept, { message: message.replace('timeBudget', 'keepFor') });
  }
  const opening = (options: object) => client.session(MESH, START, options as SessionOptions);
  for (const time of BEYOND) {
    const message = `idleTimeoutSeconds is ${time}; from 0 to ${LONGEST} s are possible.`;
    await t.rejects(opening({ idleTimeoutSeconds: time }), { name: 'TypeError', message });
  }
  await t.rejects(opening({ onFrameLost: 'ignore' }), {
    message: 'onFrameLost is "ignore"; "recreate" or "throw" is expected.',
  });
  t.equal(requests.length, sent, 'nothing of this was sent');
});

t.test('a pause that the service asks for is kept, also by a client that makes none of its own', async (t) => {
  const refusal = { type: 'urn:interstice:error:QUEUE_FULL', code: 'QUEUE_FULL', message: 'full', retryable: true };
  const pauses: number[] = [];
  t.intercept(globalThis, 'setTimeout', {
    value: (then: () => void, ms: number) => {
      pauses.push(ms);
      return setImmediate(then);
    },
  });
  const full = () => new Response(JSON.stringify(refusal), { status: 429, headers: { 'retry-after': '7' } });
  const { client } = clientOf({ retry: { attempts: 2, firstPauseMs: 0, longestPauseMs: 0 } }, full);
  await t.rejects(client.info(), ServiceError);
  t.same(pauses, [7000]);
});

t.test('arrays of another type, whose bits would be other numbers, are refused', async (t) => {
  const { client, requests } = clientOf();
  const whole = new Int32Array(9) as never;
  const masses = Int32Array.of(1, 1, 1) as never;
  const positions = /^Positions are in a Float32Array or a Float64Array, not in Int32Array\.$/;
  await t.rejects(client.check(MESH, whole), { name: 'TypeError', message: positions });
  await t.rejects(client.resolve(MESH, START, whole), { name: 'TypeError', message: positions });
  await t.rejects(client.session({ ...MESH, masses }, START), { name: 'TypeError', message: /^Masses are/ });
  const restLengths = { edges: Uint32Array.of(0, 1), lengths: Uint32Array.of(1) as never };
  await t.rejects(client.session({ ...MESH, restLengths }, START), { name: 'TypeError', message: /^Lengths are/ });
  t.equal(requests.length, 0);
  const session = await client.session(MESH, START);
  for (const options of [{ masses: [1, 1, 1] as never }, { kinematic: [1, 1, 1] as never }])
    await t.rejects(session.step(START, options), { name: 'TypeError', message: /not (in )?Array/ });
  const foreign = runInNewContext('new Float64Array(9)') as Float64Array<ArrayBuffer>;
  await t.rejects(client.resolve(MESH, START, foreign), { code: 'UNEXPECTED_ANSWER' }, 'one of another frame is sent');
});
