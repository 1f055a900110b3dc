import { createHash } from 'node:crypto';
import t from 'tap';
import { makeKey, parseKeys } from '../../../src/transport/auth/key-file.js';

const hex = (key: string) => createHash('sha256').update(key).digest('hex');

t.test('a line is a tenant, a digest and the most that it may ask for', async (t) => {
  const entries = parseKeys(
    `# who may call\n\nacme:${hex('a')}\r\n  b.c-d_1 : ${hex('b').toUpperCase()} : batch  # slow\nacme:${hex('c')}:NORMAL\n`,
    'keys',
  );
  t.same(
    entries.map(({ caller, digest }) => ({ ...caller, digest: digest.toString('hex') })),
    [
      { tenant: 'acme', maxPriority: 'INTERACTIVE', digest: hex('a') },
      { tenant: 'b.c-d_1', maxPriority: 'BATCH', digest: hex('b') },
      { tenant: 'acme', maxPriority: 'NORMAL', digest: hex('c') },
    ],
  );
});

t.test('every line at fault is named, no digest is', async (t) => {
  const lines = [
    'acme',
    `acme:${hex('a').slice(1)}`,
    `a b:${hex('a')}`,
    `:${hex('a')}`,
    `${'x'.repeat(65)}:${hex('a')}`,
    `acme:${hex('a')}:urgent`,
    `acme:${hex('a')}:BATCH:more`,
    `acme:${hex('b')}`,
    `other:${hex('b').toUpperCase()}`,
  ];
  const thrown = t.throws(() => parseKeys(lines.join('\n'), 'keys'), { code: 'INVALID_PARAMETER' }) as Error;
  const numbers = [...thrown.message.matchAll(/Line (\d+)/g)].map(([, number]) => Number(number));
  t.same(numbers, [1, 2, 3, 4, 5, 6, 7, 9]);
  t.notOk(/[0-9a-f]{60}/i.test(thrown.message));
  t.throws(() => parseKeys('# nobody\n', 'keys'), { message: /contains no key/ });
});

t.test('a new key is accepted by its line', async (t) => {
  const { key, line } = makeKey('acme', 'batch');
  t.match(key, /^isk_[A-Za-z0-9_-]{43}$/);
  t.match(parseKeys(line, 'keys'), [{ caller: { tenant: 'acme', maxPriority: 'BATCH' } }]);
  t.equal(parseKeys(line, 'keys')[0]?.digest.toString('hex'), hex(key));
  t.not(makeKey('acme').key, key);
  t.throws(() => makeKey('a:b'), { code: 'INVALID_PARAMETER' });
  t.throws(() => makeKey('acme', 'urgent'), { code: 'INVALID_PARAMETER' });
});
