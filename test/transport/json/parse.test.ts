import fc from 'fast-check';
import t from 'tap';
import { IntersticeError } from '../../../src/contract/errors.js';
import { findJsonError, parseJson } from '../../../src/transport/json/parse.js';
import { MAX_FIELDS } from '../../../src/transport/messages/wire-message.js';
import { seeded } from '../../support/random.js';

const refusal = (text: string | Uint8Array): string => {
  try {
    parseJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof IntersticeError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};

t.test('a body that is no JSON is refused with the place', async (t) => {
  t.match(refusal('{\n  "a": 1,\n  "b": nan\n}'), /MALFORMED_BODY: .*unexpected "n" at line 3, column 8 \(offset 19\)/);
  t.match(refusal('{"a": [1, 2'), /it ends too early at line 1, column 12/);
  t.match(refusal(''), /it ends too early at line 1, column 1/);
  t.match(refusal(Uint8Array.of(0x22, 0xff, 0x22)), /MALFORMED_BODY: .*UTF-8/);
  t.equal(refusal('\ufeff{}'), 'accepted', 'a byte order mark is no fault');
});

t.test('the place is where no text could go on', async (t) => {
  for (const [text, offset] of [
    ['{"a":}', 5],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['[1 2]', 3],
    ['{} x', 3],
    ['[01]', 2],
    ['[1.]', 2],
    ["['a']", 1],
    ['["\\x"]', 2],
    ['[tru]', 1],
    ['[[[]]', 5],
    ['"a\nb"', 2],
  ] as const) {
    t.equal(findJsonError(text), offset, text);
  }
});

t.test('deep nesting and long strings need no stack', async (t) => {
  t.equal(findJsonError('['.repeat(1_000_000)), 1_000_000);
  t.equal(findJsonError(`["${'A'.repeat(20_000_000)}" x]`), 20_000_004);
});

t.test('a body cannot become a large heap of objects', async (t) => {
  const list = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`;
  const crowd = /^TOO_LARGE: The body has more than 1048576 members, objects and lists/;
  t.match(refusal(list('{}', MAX_FIELDS)), crowd);
  t.match(refusal(list('[]', MAX_FIELDS)), crowd);
  t.match(refusal('['.repeat(MAX_FIELDS + 1)), crowd, 'also a text that is no JSON');
  t.match(refusal(list('{"a":0}', MAX_FIELDS / 2)), crowd, 'a member counts beside its object');
  t.match(refusal(`{${Array.from({ length: MAX_FIELDS }, (_, i) => `"${i}":0`).join()}}`), crowd, 'of one object');
  t.equal(refusal(list('{}', MAX_FIELDS - 1)), 'accepted');
  t.equal(refusal(list('0', 2 * MAX_FIELDS)), 'accepted', 'numbers are no objects');
  t.equal(refusal(list('"{[:\\""', MAX_FIELDS)), 'accepted', 'nor is anything in a string');
  t.match(refusal(`"${':'.repeat(MAX_FIELDS + 1)}`), /MALFORMED_BODY: .*ends too early/, 'a string without an end');
});

t.test('the place is never before what could still go on, nor beyond the fault', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, cut) => {
      if (findJsonError(text) !== text.length) return false;
      // A control character can stand nowhere in JSON. Tokens are reported by their beginning: -1.5e+7, \\u0041, true.
      const at = cut % (text.length + 1);
      const found = findJsonError(`${text.slice(0, at)}\u0001`);
      return found <= at && !/[\s,:{}[\]]/.test(text.slice(found, at).replace(/^[\s,:{}[\]]/, ''));
    }),
    { seed: random.seed | 0, numRuns: 500 },
  );
});
