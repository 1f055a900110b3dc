import { writeFileSync } from 'node:fs';
import t from 'tap';
import { makeKey } from '../../../src/transport/auth/key-file.js';
import { Keyring } from '../../../src/transport/auth/keyring.js';

const keys = Array.from({ length: 5 }, (_, k) => makeKey(`tenant-${k}`, k % 2 === 0 ? 'NORMAL' : 'BATCH'));
const content = keys.map(({ line }) => line).join('\n');
const ask = (ring: Keyring, headers: Record<string, string>) => ring.authenticate((name) => headers[name]);

t.test('each key is its tenant, wherever it stands in the file and whichever header brings it', async (t) => {
  const ring = Keyring.open(`${t.testdir({ keys: content })}/keys`);
  for (const [k, { key }] of keys.entries()) {
    const caller = { tenant: `tenant-${k}`, maxPriority: k % 2 === 0 ? 'NORMAL' : 'BATCH' };
    t.same(ask(ring, { authorization: `Bearer ${key}` }), caller);
    t.same(ask(ring, { authorization: `bearer  ${key}` }), caller);
    t.same(ask(ring, { 'x-api-key': key }), caller);
    t.same(ask(ring, { authorization: `Bearer ${key}`, 'x-api-key': key }), caller);
  }
});

t.test('any other key is refused without repeating it', async (t) => {
  const ring = Keyring.open(`${t.testdir({ keys: content })}/keys`);
  const [first, second] = [keys[0]!.key, keys[1]!.key];
  const cases: Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: first },
    { authorization: `Basic ${first}` },
    { authorization: `Bearer ${first}x` },
    { authorization: `Bearer ${first.slice(0, -1)}` },
    { authorization: `Bearer ${first} ${first}` },
    { 'x-api-key': '' },
    { 'x-api-key': keys[0]!.line.split(':')[1]! },
    { authorization: `Bearer ${first}`, 'x-api-key': second },
    { authorization: 'Basic x', 'x-api-key': first },
  ];
  for (const headers of cases) {
    const thrown = t.throws(() => ask(ring, headers), { code: 'UNAUTHENTICATED' }) as Error;
    t.notOk(thrown.message.includes(first.slice(4, -1)), JSON.stringify(headers));
  }
});

t.test('a file read again takes the place of the old one, unless it has a mistake', async (t) => {
  const path = `${t.testdir({ keys: keys[0]!.line })}/keys`;
  const ring = Keyring.open(path);
  writeFileSync(path, keys[1]!.line);
  ring.reload();
  t.throws(() => ask(ring, { 'x-api-key': keys[0]!.key }), { code: 'UNAUTHENTICATED' });
  t.equal(ask(ring, { 'x-api-key': keys[1]!.key }).tenant, 'tenant-1');
  writeFileSync(path, `${keys[0]!.line}\nbroken`);
  t.throws(() => ring.reload(), { code: 'INVALID_PARAMETER', message: /Line 2/ });
  t.throws(() => ask(ring, { 'x-api-key': keys[0]!.key }), { code: 'UNAUTHENTICATED' });
  t.equal(ask(ring, { 'x-api-key': keys[1]!.key }).tenant, 'tenant-1');
  t.throws(() => Keyring.open(`${path}-none`), { code: 'INVALID_PARAMETER', message: /ENOENT/ });
});
