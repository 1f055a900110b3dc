import fc from 'fast-check';
import t from 'tap';
import { findDuplicate } from '../../../src/transport/json/duplicates.js';
import { seeded } from '../../support/random.js';

const find = (text: string) => findDuplicate(text, JSON.parse(text));

t.test('a repeated name is found, with its path and place', async (t) => {
  const cases: [text: string, path: string, offset: number][] = [
    ['{"a":1,"a":2}', 'a', 7],
    ['{"a":1,"a":1}', 'a', 7],
    ['{"a":null,"b":0,"a":null}', 'a', 16],
    ['{"a":{"b":1},"a":2}', 'a', 13],
    ['{"a":2,"a":{"b":1}}', 'a', 7],
    ['{"p":{"x":1,"y":[{"z":0},{"z":0,"z":1}]}}', 'p.y[1].z', 32],
    ['[1,[2,{"a":1 , "a" : 2}]]', '[1][1].a', 15],
    ['{"a":1,"\\u0061":2}', 'a', 7],
    ['{"\\u0061":1,"a":2}', 'a', 12],
    ['{"a/b":1,"a\\/b":2}', '["a/b"]', 9],
    ['{"":1,"":2}', '[""]', 6],
    ['{"__proto__":1,"__proto__":2}', '__proto__', 15],
    ['{"1":1,"1":2}', '["1"]', 7],
    ['{"a\\\\":":","a\\\\":1}', '["a\\\\"]', 11],
    ['{"a":"x\\"{","b":[],"c":{},"b":1}', 'b', 26],
    ['{"é":1,"\\u00E9":2}', '["é"]', 7],
  ];
  for (const [text, path, offset] of cases) t.same(find(text), { path, offset }, text);
});

t.test('the same name in different objects, and names inside of strings, are no duplicates', async (t) => {
  const texts = [
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":"::::","b":":"}',
    '"a:b"',
  ];
  for (const text of texts) t.equal(find(text), undefined, text);
});

t.test('duplicates are found in deep nesting, long names and large texts', async (t) => {
  const deep = 100_000;
  const nested = `${'{"a":['.repeat(deep)}{"b":1,"b":2}${']}'.repeat(deep)}`;
  t.match(find(nested)?.path, /^….*\.b$/);
  t.ok((find(nested)?.path.length ?? 0) < 300);
  const name = 'n'.repeat(1_000_000);
  t.ok((find(`{"${name}":1,"${name}":2}`)?.path.length ?? 0) < 300);
  const large = `{"data":[${'0.125,'.repeat(1_000_000)}1],"text":"${'A:'.repeat(1_000_000)}"`;
  t.equal(find(`${large}}`), undefined);
  t.same(find(`${large},"data":0}`), { path: 'data', offset: large.length + 1 });
});

t.test('a member that is written twice is found wherever it stands', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), fc.jsonValue(), (outer, name, one, other) => {
      const whole = JSON.stringify({ outer, inner: [outer, { before: outer }] });
      if (find(whole) !== undefined) return false;
      const key = JSON.stringify(name);
      const pair = `{${key}:${JSON.stringify(one)},${key}:${JSON.stringify(other)}}`;
      const found = find(`{"outer":${JSON.stringify(outer)},"inner":[0,${pair}]}`);
      return found?.path.startsWith('inner[1]') === true;
    }),
    { seed: random.seed | 0, numRuns: 500 },
  );
});
