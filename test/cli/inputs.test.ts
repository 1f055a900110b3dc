import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listKinematic, markKinematicFile, markKinematicList, readInputs } from '../../src/cli/inputs.js';

function read(text: string, vertexCount = 10): number[] {
  const marks = new Uint8Array(vertexCount);
  markKinematicList(text, 'pins.txt', marks);
  return listKinematic(marks);
}

t.test('ids and ranges, both ends included, in any order and more than once', async (t) => {
  t.strictSame(read('3\n'), [3]);
  t.strictSame(read('7-9\n0\n8'), [0, 7, 8, 9]);
  t.strictSame(read('4-4'), [4]);
  t.strictSame(read('1 - 3'), [1, 2, 3]);
});

t.test('comments, empty lines, indents, a byte order mark and every line ending', async (t) => {
  t.strictSame(read('\uFEFF# pins\n\n  2  # left\r\n5-6\r9'), [2, 5, 6, 9]);
  t.strictSame(read(''), []);
});

t.test('vertices that are already marked stay marked', async (t) => {
  const marks = new Uint8Array([1, 0, 0]);
  markKinematicList('2', 'pins.txt', marks);
  t.strictSame(listKinematic(marks), [0, 2]);
});

t.test('a line that is neither an id nor a range is refused with its number', async (t) => {
  for (const line of ['x', '-1', '1,2', '1 2', '1.5', '1-', '1-2-3', '0x1']) {
    t.throws(() => read(`0\n\n${line}\n`), { code: 'MALFORMED_BODY', message: /^pins\.txt, line 3: / }, line);
  }
});

t.test('a range that ends before it begins is refused with the right one', async (t) => {
  t.throws(() => read('5-2'), { code: 'MALFORMED_BODY', message: /line 1/, hint: 'Write 2-5.' });
});

t.test('an id that is not in the mesh is refused with the element', async (t) => {
  t.throws(() => read('9\n10'), {
    code: 'INDEX_OUT_OF_RANGE',
    message: /pins\.txt, line 2: Vertex 10 .* 10 vertices, 0 to 9/,
    element: { kind: 'vertex', index: 10, vertices: [10] },
  });
  t.throws(() => read('3-99999999999999999999'), { code: 'INDEX_OUT_OF_RANGE' });
});

t.test('a file is read, and one that is missing is a mistake of the command line', async (t) => {
  const path = join(t.testdir(), 'pins.txt');
  writeFileSync(path, '1\n');
  const marks = new Uint8Array(2);
  await markKinematicFile(path, marks);
  t.strictSame(listKinematic(marks), [1]);
  await t.rejects(markKinematicFile(`${path}x`, marks), { name: 'UsageError', message: /does not exist/ });
});

t.test('a file that is too large to be read as a whole is a mistake of the command line, not a fault', async (t) => {
  const path = join(t.testdir({ 'huge.glb': '' }), 'huge.glb');
  truncateSync(path, 2 ** 31 + 1);
  await t.rejects(readInputs('check', path, undefined, {}), {
    name: 'UsageError',
    message: /^Cannot read .*huge\.glb: the file has more than 2 GiB/,
  });
});
