import t from 'tap';
import { LineSplitter, quote, Words } from '../../../src/mesh/files/lines.js';
import { MAX_RECORD_BYTES } from '../../../src/mesh/files/types.js';

function split(chunks: readonly string[]): [string, number][] {
  const lines: [string, number][] = [];
  const splitter = new LineSplitter((line, lineNumber) => lines.push([line, lineNumber]));
  for (const chunk of chunks) splitter.push(Buffer.from(chunk, 'latin1'));
  splitter.finish();
  return lines;
}

t.test('lines are split at every kind of line end, wherever the chunks are cut', async (t) => {
  const text = 'a\nb\r\nc\rd\r\r\n\n\re\xe4';
  const expected = ['a', 'b', 'c', 'd', '', '', '', 'e\xe4'].map((line, i) => [line, i + 1]);
  t.same(split([text]), expected);
  t.same(split([...text]), expected, 'byte by byte');
  for (let cut = 1; cut < text.length; cut++) t.same(split([text.slice(0, cut), text.slice(cut)]), expected, `${cut}`);
});

t.test('no line after the last line end', async (t) => {
  t.same(split(['a\n']), [['a', 1]]);
  t.same(split(['a\r', '\n']), [['a', 1]]);
  t.same(split([]), []);
});

t.test('a chunk may be far longer than what is decoded at once', async (t) => {
  const words = Array.from({ length: 200_000 }, (_, i) => `${i}`);
  t.same(
    split([words.join('\r\n')]).map(([line]) => line),
    words,
  );
});

t.test('a line without an end is refused before it fills the memory', async (t) => {
  t.throws(() => split(['ok\n', 'x'.repeat(MAX_RECORD_BYTES + 1)]), { code: 'MALFORMED_BODY', message: /^Line 2 / });
  const splitter = new LineSplitter(() => t.fail('no line is complete'));
  const chunk = Buffer.alloc(1000, 'x');
  let taken = 0;
  t.throws(() => {
    for (; taken < 10 * MAX_RECORD_BYTES; taken += chunk.length) splitter.push(chunk);
  });
  t.ok(taken <= MAX_RECORD_BYTES);
});

t.test('blanks and tabs separate words', async (t) => {
  const words = new Words(' \ta  bb\tccc ');
  t.same([words.next(), words.next(), words.next(), words.next(), words.next()], ['a', 'bb', 'ccc', '', '']);
  t.equal(new Words('\0a\0b').next(), '\0a\0b', 'a zero is no blank');
});

t.test('quotations are short and harmless', async (t) => {
  t.equal(quote('a\x1b[2J\n\x9b"'), '"a\\u001b[2J\\n?\\""');
  t.ok(quote('x'.repeat(1000)).length < 50);
});
