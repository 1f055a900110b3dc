import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { IntersticeError } from '../../../src/contract/errors.js';
import { type CoderOptions, JsonCoder } from '../../../src/transport/json/coder.js';
import { appendMember, type Reading } from '../../../src/transport/json/coder-work.js';
import { encodeJson } from '../../../src/transport/json/encode.js';
import { arraysRequest, base64Request } from '../fixtures.js';

const open = (t: Test, options: CoderOptions = {}) => {
  const coder = new JsonCoder(options);
  t.teardown(() => coder.close());
  return coder;
};

const body = (text: string, type: string | undefined = 'ResolveRequest') => ({
  type,
  // Memory of its own, as a large body has.
  bytes: Uint8Array.from(Buffer.from(text)),
  what: 'The body',
  path: '',
});

/** What a reading says, with typed arrays of any kind as lists of bytes. */
const told = (reading: Reading) => {
  if ('error' in reading) return { isJson: reading.isJson, ...reading.error.toPlain() };
  return JSON.parse(
    JSON.stringify(reading.decoded, (_key, value) => {
      if (typeof value === 'bigint') return `${value}n`;
      if (value?.type === 'Buffer') return value.data;
      return ArrayBuffer.isView(value) ? [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] : value;
    }),
  );
};

const TEXTS: readonly (readonly [string, string])[] = [
  ['arrays', JSON.stringify(arraysRequest())],
  ['base64', JSON.stringify(base64Request())],
  ['long base64', JSON.stringify({ start: { data: Buffer.alloc(60_000, 7).toString('base64') } })],
  [
    'times, enums and booleans',
    '{"timeBudget": "1.5s", "onBudget": "FAIL", "parameters": {"preset": "PAPER", "reach": 0.5}}',
  ],
  ['parts', '{"mesh": {"parts": [{"name": "ä", "firstVertex": 1}, {"kinematic": true}]}}'],
  ['no JSON', `{\n  "a": [${'1,'.repeat(100)}]}`],
  ['cut off', '{"mesh": {"triangles": [0, 1'],
  ['no UTF-8', '{"mesh": "\ufffd"}'],
  ['unknown field', '{"mesh": {"triangels": []}}'],
  ['bad element', '{"mesh": {"triangles": [0, 1, -2]}}'],
  ['not finite', '{"start": {"data": [0, 1e99]}}'],
  ['no object', '[1]'],
  ['empty', ''],
];

t.test('the thread reads the same values and refusals as a direct call', async (t) => {
  const near = open(t, { largeBytes: Number.POSITIVE_INFINITY });
  const far = open(t, { largeBytes: 0 });
  for (const [name, text] of TEXTS) {
    const [one, other] = [body(text), body(text)];
    if (name === 'no UTF-8') for (const { bytes } of [one, other]) bytes[bytes.length - 3] = 0xff;
    t.same(told(await far.read(one)), told(await near.read(other)), name);
  }
  t.match(told(await far.read(body('{\n "a": nan}'))), {
    isJson: false,
    code: 'MALFORMED_BODY',
    message: /unexpected "n" at line 2, column 7 \(offset 8\)/,
  });
  const frame = '{"frame": "18446744073709551615"}';
  t.same(told(await far.read(body(frame, 'StepRequest'))), told(await near.read(body(frame, 'StepRequest'))));
  const nobodyAsks = { ...body('{"a": 1}'), type: undefined };
  t.same(await far.read(nobodyAsks), { decoded: { message: {}, usedArrays: false } });
});

t.test('a long list of numbers comes as numbers', async (t) => {
  const vertices = Array.from({ length: 5000 }, (_, i) => 4294967295 - i);
  const reading = await open(t, { largeBytes: 0 }).read(
    body(JSON.stringify({ kinematicVertices: vertices }), 'Options'),
  );
  t.ok('decoded' in reading);
  if ('decoded' in reading) t.same([...(reading.decoded.message.kinematicVertices as Iterable<number>)], vertices);
});

t.test('the thread writes the same text as a direct call, and arrays stay usable', async (t) => {
  const data = Float64Array.from({ length: 300_000 }, (_, i) => Math.sin(i) / 3);
  data[5] = -0;
  const contacts = { kinds: Uint8Array.of(1, 2), weights: Float32Array.of(0.1, Number.NaN, 3) };
  const message = { frame: 7n, positions: { data, scalar: 'FLOAT64' }, contacts };
  for (const arrays of [true, false]) {
    const wanted = JSON.stringify({ ...encodeJson('StepResponse', message, { arrays }), report: { ä: 1 } });
    for (const largeBytes of [0, Number.POSITIVE_INFINITY]) {
      const written = await open(t, { largeBytes }).write('StepResponse', message, arrays);
      t.ok(
        appendMember(written, 'report', '{"ä":1}').toString() === wanted,
        `arrays: ${arrays}, from ${largeBytes} bytes`,
      );
    }
  }
  t.equal(data.length, 300_000, 'the arrays were copied');
});

t.test('a last member is added whether or not the buffer has room for it', async (t) => {
  for (const room of [0, 5, 100]) {
    for (const text of ['{}', '{"a":1}']) {
      const bytes = Buffer.alloc(text.length + room);
      bytes.write(text);
      const whole = appendMember({ bytes, length: text.length }, 'b', '"ö"');
      t.equal(whole.toString(), text === '{}' ? '{"b":"ö"}' : '{"a":1,"b":"ö"}');
    }
  }
});

t.test('small bodies do not wait for large ones', async (t) => {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const thread = () => new Worker(new URL('./gated-thread.js', import.meta.url), { workerData: gate.buffer });
  const coder = open(t, { largeBytes: 40, thread });
  const order: string[] = [];
  const large = coder.read(body(JSON.stringify(arraysRequest()))).then(() => order.push('large'));
  for (let i = 0; i < 3; i++) await coder.read(body('{}')).then(() => order.push('small'));
  release(gate);
  await large;
  t.same(order, ['small', 'small', 'small', 'large']);
});

const release = (gate: Int32Array) => {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
};

t.test('tenants take turns', async (t) => {
  const coder = open(t, { largeBytes: 0 });
  const order: string[] = [];
  const send = (tenant: string) => coder.read(body('{}'), { tenant }).then(() => order.push(tenant));
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(send));
  t.same(order, ['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

t.test('the waiting texts are bounded, but one may always wait', async (t) => {
  const coder = open(t, { largeBytes: 0, maxWaitingBytes: 10 });
  const running = coder.read(body('{}'));
  const waiting = coder.read(body(JSON.stringify(arraysRequest())));
  await t.rejects(coder.read(body('{"a": 1}')), { code: 'QUEUE_FULL', retryable: true, retryAfterSeconds: 1 });
  await Promise.all([running, waiting]);
  t.same(await coder.read(body('{}')), { decoded: { message: {}, usedArrays: false } }, 'there is room again');
});

t.test('a text whose caller has left is dropped', async (t) => {
  const coder = open(t, { largeBytes: 0, maxWaitingBytes: 10 });
  const leaver = new AbortController();
  const other = new AbortController();
  const running = coder.read(body('{}'), { signal: leaver.signal });
  const waiting = coder.read(body('{"frame": 1}'), { signal: other.signal });
  other.abort();
  leaver.abort();
  await t.rejects(running, { code: 'CANCELLED' });
  await t.rejects(waiting, { code: 'CANCELLED' });
  await t.rejects(coder.read(body('{}'), { signal: other.signal }), { code: 'CANCELLED' });
  // Its place is free, and the answer to what was left behind is nobody else's.
  t.match(told(await coder.read(body('{"a": 1}'))), { code: 'UNKNOWN_FIELD' });
});

t.test('a thread that dies takes one task with it, and is replaced', async (t) => {
  let started = 0;
  const thread = () => {
    started++;
    return new Worker(new URL('./dying-thread.js', import.meta.url));
  };
  const coder = open(t, { largeBytes: 0, thread });
  for (const how of ['exit', 'throwing']) {
    const fatal = coder.read(body(`"die by ${how}"`));
    const next = coder.read(body('{}'));
    await t.rejects(fatal, { code: 'DEVICE_LOST', retryable: true, hint: /send the request again/ });
    t.same(await next, { decoded: { message: {}, usedArrays: false } }, 'what waited behind it is done');
  }
  t.equal(started, 3);
  await t.rejects(
    coder.write(
      'StepResponse',
      { frame: 1n, positions: { data: new Uint8Array(4) }, vertices: {}, report: { engine: 'die by exit' } },
      true,
    ),
    {
      code: 'DEVICE_LOST',
      hint: /same frame/,
    },
  );
});

t.test('a thread that cannot be started takes nothing else with it', async (t) => {
  let isBroken = true;
  const thread = () => {
    if (isBroken) throw new Error('planted: no more threads');
    return new Worker(new URL('../../../src/transport/json/coder-thread.js', import.meta.url));
  };
  const told: IntersticeError[] = [];
  const coder = open(t, { largeBytes: 0, thread, onLost: (reason) => told.push(reason) });
  const [first, behind] = [coder.read(body('{}')), coder.read(body('{"a": 1}'))];
  for (const one of [first, behind])
    await t.rejects(one, {
      code: 'DEVICE_LOST',
      retryable: true,
      message: /could not be started/,
      hint: /send.*again/,
    });
  const answer = { positions: { data: new Uint8Array(4) } };
  await t.rejects(coder.write('StepResponse', answer, true), { code: 'DEVICE_LOST', hint: /same frame/ });
  t.match(told[0]?.cause, { message: /no more threads/ }, 'for the log');
  t.equal(told.length, 3);
  isBroken = false;
  t.same(await coder.read(body('{}')), { decoded: { message: {}, usedArrays: false } });
});

t.test('a thread that runs out of memory fails its text and is replaced', async (t) => {
  const resourceLimits = { maxOldGenerationSizeMb: 24 };
  const thread = () =>
    new Worker(new URL('../../../src/transport/json/coder-thread.js', import.meta.url), { resourceLimits });
  const coder = open(t, { largeBytes: 0, thread });
  const many = coder.read(body(`[${'{},'.repeat(1_000_000)}{}]`));
  await t.rejects(many, { code: 'OUT_OF_DEVICE_MEMORY', retryable: true });
  t.same(await coder.read(body('{}')), { decoded: { message: {}, usedArrays: false } });
});

t.test('closing ends what waits, and later calls are refused', async (t) => {
  const coder = open(t, { largeBytes: 0 });
  const both = [coder.read(body('{}')), coder.read(body('{}'))];
  const closed = coder.close();
  for (const one of both) await t.rejects(one, { code: 'DRAINING', retryable: true });
  await closed;
  await t.rejects(coder.read(body('{}')), { code: 'DRAINING' });
  await open(t).close();
});

t.test('an idle thread does not keep the process alive', async (t) => {
  const source = `
    import { JsonCoder } from ${JSON.stringify(new URL('../../../src/transport/json/coder.js', import.meta.url).href)};
    const coder = new JsonCoder({ largeBytes: 0 });
    const text = { type: 'StepRequest', bytes: Uint8Array.from(Buffer.from('{"frame": 5}')), what: 'It', path: '' };
    console.log((await coder.read(text)).decoded.message.frame);`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
  });
  t.equal(stdout, '5n\n', stderr);
  t.equal(status, 0);
});
