import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { encodeRpcStatus, STATUS_DETAILS_BYTES, shorten, statusOf } from '../../../src/transport/grpc/status.js';
import { fromError } from '../../../src/transport/messages/answers.js';
import { readDetails } from './door.js';

const pairs = Array.from({ length: 500 }, (_, i) => ({ kind: 'EDGE_EDGE', a: [i, i + 1], b: [i + 2, i + 3] }) as const);

t.test('pairs give way to the limit from the end, their count stays', async (t) => {
  const error = new IntersticeError('INTERSECTING_START', 'Many.', { pairs, pairCount: 12345 });
  const details = readDetails(encodeRpcStatus(9, fromError(error, 'id')));
  t.ok(details.bytes <= STATUS_DETAILS_BYTES && details.bytes > STATUS_DETAILS_BYTES - 64, `${details.bytes} bytes`);
  const kept = details.error.pairs as { a: number[] }[];
  t.ok(kept.length > 50 && kept.length < 500, `${kept.length} pairs`);
  t.same(kept.at(-1)!.a, [kept.length - 1, kept.length]);
  t.match(details.error, { pairCount: 12345n, message: 'Many.' });
});

t.test('endless texts are cut where they can be seen to be', async (t) => {
  const error = new IntersticeError('INVALID_PARAMETER', 'ä'.repeat(50_000), { hint: '😀'.repeat(50_000), pairs });
  const details = readDetails(encodeRpcStatus(3, fromError(error, 'x'.repeat(128))));
  t.ok(details.bytes <= STATUS_DETAILS_BYTES, `${details.bytes} bytes`);
  t.match(details.error, { message: /^ä+…$/, hint: /^(😀)+…$/u, pairCount: 500n, code: 'INVALID_PARAMETER' });
});

t.test('all trailers together stay below what other libraries take', async (t) => {
  const error = new IntersticeError('INVALID_PARAMETER', '\n'.repeat(50_000), { pairs, retryAfterSeconds: 0.1 });
  const status = statusOf(error, 'x'.repeat(128));
  const lengths = Object.entries(status.metadata.toHttp2Headers()).map(
    ([name, values]) => 32 + name.length + String(values).length,
  );
  const total = encodeURI(status.details).length + lengths.reduce((sum, length) => sum + length, 0);
  t.ok(total < 8192, `${total} bytes`);
});

t.test('texts are shortened between characters', async (t) => {
  t.equal(shorten('abcdef', 6), 'abcdef');
  t.equal(shorten('abcdefg', 6), 'abc…');
  t.equal(shorten('äääää', 8), 'ää…', 'no half of a character');
  t.equal(shorten('a\ud800b', 100), 'a\ufffdb', 'half a pair would break the header');
  t.doesNotThrow(() => encodeURI(shorten('😀'.repeat(300), 400)));
});
