import t from 'tap';
import { readMesh } from '../../../src/mesh/files/index.js';
import { MAX_RECORD_BYTES } from '../../../src/mesh/files/types.js';

const read = (text: string) => readMesh([Buffer.from(text, 'latin1')], 'obj');
const CORNERS = 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n';
const faces = async (statements: string): Promise<number[]> => [...(await read(CORNERS + statements)).triangles];

t.test('a plain file is read', async (t) => {
  const file = await read('v 1 2 3\nv 4 5 6\nv 7 8 9.5\nf 1 3 2\n');
  t.match(file, { format: 'obj', scalar: 'FLOAT64', vertexCount: 3 });
  t.equal(file.plyEncoding, undefined);
  t.type(file.positions, Float64Array);
  t.same([...file.positions], [1, 2, 3, 4, 5, 6, 7, 8, 9.5]);
  t.same([...file.triangles], [0, 2, 1]);
  t.same([...file.faceSizes], [3]);
  t.same([...file.faceVertices], [0, 2, 1]);
  t.equal(file.segments.length + file.particles.length, 0);
});

t.test('vertices are read in the forms that programs write', async (t) => {
  const file = await read(
    [
      '\xef\xbb\xbfv 1 2 3',
      'v\t-1.5e-3\t+2.  .25  ',
      '  v 0.1 0.2 0.3 1.0',
      'v 1 2 3 0.5 0.5 0.5',
      'v 1 2 3 1 1 1 1 1',
      'v 7 8 9 # a corner',
      'v 1e-310 -0 123456789.123456789',
    ].join('\r\n'),
  );
  t.same(
    [...file.positions],
    [1, 2, 3, -0.0015, 2, 0.25, 0.1, 0.2, 0.3, 1, 2, 3, 1, 2, 3, 7, 8, 9, 1e-310, -0, 123456789.12345679],
  );
  t.ok(Object.is(file.positions[19], -0));
});

t.test('faces of every form are read', async (t) => {
  t.same(await faces('f 1 2 3'), [0, 1, 2]);
  t.same(await faces('f 1/1 2/2 3/3\nf 1/1/1 2/2/2 4/3/3\nf 1//1 2//1 5//1'), [0, 1, 2, 0, 1, 3, 0, 1, 4]);
  t.same(await faces('f -1 -2 -5\nf -1/-1/-1 2 3'), [4, 3, 0, 4, 1, 2]);
  t.same(await faces('f 2 3 4 1'), [1, 2, 3, 1, 3, 0], 'a fan around the first corner');
  t.same(await faces('f 1 2 3 4 5'), [0, 1, 2, 0, 2, 3, 0, 3, 4]);
  t.same(await faces('fo 1 2 3 # the old spelling'), [0, 1, 2]);
  const file = await read(`${CORNERS}f 1 2 3 4\nf 1 2 5`);
  t.same([...file.faceSizes], [4, 3]);
  t.same([...file.faceVertices], [0, 1, 2, 3, 0, 1, 4]);
});

t.test('negative indices count back from where they stand, positive ones may look ahead', async (t) => {
  const file = await read('v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nf 1 2 4\nv 0 0 1\nf -1 -2 -3\n');
  t.same([...file.triangles], [0, 1, 2, 0, 1, 3, 3, 2, 1]);
});

t.test('polylines are segments, points are particles', async (t) => {
  const file = await read(`${CORNERS}l 1 2 3\nl 5/1 4/2\np 1 -1\np 3`);
  t.same([...file.segments], [0, 1, 1, 2, 4, 3]);
  t.same([...file.particles], [0, 4, 2]);
  t.equal(file.triangles.length, 0);
});

t.test('statements that do not describe the shape are ignored', async (t) => {
  const text = `# made by hand\nmtllib a.mtl\no thing\ng a b\n${CORNERS}vt 0 0\nvn 0 0 1\nusemtl red\ns off\n\n   \nf 1 2 3\n#end`;
  t.same([...(await read(text)).triangles], [0, 1, 2]);
});

t.test('all line ends and continued lines are read', async (t) => {
  const text = `${CORNERS}f 1 \\\n2 3\nl 1 2\\\n 3 \\\n 4\n`;
  for (const end of ['\n', '\r\n', '\r']) {
    const file = await read(text.replaceAll('\n', end));
    t.same([...file.triangles], [0, 1, 2], JSON.stringify(end));
    t.same([...file.segments], [0, 1, 1, 2, 2, 3]);
  }
  t.same(await faces('# C:\\scenes\\\nf 1 2 3'), [0, 1, 2], 'a comment that ends in a backslash ends there');
  t.same(await faces('f 1 2 3 \\'), [0, 1, 2], 'at the end of the file');
});

t.test('a file reads the same however it is divided into chunks', async (t) => {
  const bytes = Buffer.from(`${CORNERS}f 1 2 \\\r\n3\r\nl 1 -1\r\np 2\r\nv 1e-5 2.5 -3`);
  const expected = await readMesh([bytes], 'obj');
  for (const size of [1, 2, 3, 7]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    t.same(await readMesh(chunks, 'obj'), expected, `${size}`);
  }
});

t.test('chunks may be reused by their sender', async (t) => {
  const text = Buffer.from(`${CORNERS}f 1 2 3\n`);
  const buffer = Buffer.alloc(7);
  async function* reuse(): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < text.length; start += 7)
      yield buffer.subarray(0, text.copy(buffer, 0, start, start + 7));
  }
  t.same([...(await readMesh(reuse(), 'obj')).triangles], [0, 1, 2]);
});

t.test('an empty file is an empty mesh', async (t) => {
  t.match(await read('# nothing\n'), { vertexCount: 0, positions: { length: 0 }, triangles: { length: 0 } });
});

t.test('invalid statements are refused with their line', async (t) => {
  const cases: [string, { code: string; [key: string]: unknown }][] = [
    ['v 1 2', { code: 'MALFORMED_BODY', message: /Line 6: a number is missing/ }],
    ['v 1 2 # 3', { code: 'MALFORMED_BODY', message: /Line 6: a number is missing/ }],
    ['v 1 2 3#4', { code: 'MALFORMED_BODY', message: /Line 6: "3#4"/ }],
    ['v 1 2 0x3', { code: 'MALFORMED_BODY', message: /Line 6: "0x3"/ }],
    ['v 1,5 2,5 3,5', { code: 'MALFORMED_BODY', message: /Line 6: "1,5"/ }],
    ['v 1 2 3 4 5 6 7 8 9', { code: 'MALFORMED_BODY', message: /Line 6: more than 8/ }],
    [
      'v 1 nan 3',
      {
        code: 'NOT_FINITE',
        message: /Line 6: coordinate y of vertex 6 .*"nan"/,
        element: { kind: 'vertex', index: 5 },
      },
    ],
    ['v 1 2 -inf', { code: 'NOT_FINITE', message: /Line 6: coordinate z/ }],
    ['v 1e400 2 3', { code: 'NOT_FINITE', message: /Line 6: coordinate x/ }],
    ['v 1.#IND 2 3', { code: 'NOT_FINITE' }],
    ['f 1 2', { code: 'INVALID_MESH', message: /Line 6: face 0 has 2 corners/ }],
    [
      '\nf 1 2 3\nf 1 2 3 2',
      {
        code: 'INVALID_MESH',
        message: /Line 8: face 1 uses vertex 2 more than once \(counting from 1\)/,
        hint: /its ids count from 0, those of the file from 1/,
        element: { kind: 'face', index: 1, vertices: [0, 1, 2, 1] },
      },
    ],
    ['f 1 2 0', { code: 'INDEX_OUT_OF_RANGE', message: /Line 6: "0".*count from 1/ }],
    ['f 1 2 -6', { code: 'INDEX_OUT_OF_RANGE', message: /Line 6: "-6".*only 5/ }],
    [
      'f 1 2 3\nf 1 2 6',
      {
        code: 'INDEX_OUT_OF_RANGE',
        message: /Line 7: face 1 refers to vertex 6, but the file has 5 vertices \(counting from 1\)/,
        hint: /counts them from 1; ids of the element at fault count from 0/,
        element: { kind: 'face', index: 1, vertices: [0, 1, 5] },
      },
    ],
    ['f 1 2 9007199254740993', { code: 'INDEX_OUT_OF_RANGE', message: /Line 6: "9007199254740993" names no vertex/ }],
    ['l 1 9', { code: 'INDEX_OUT_OF_RANGE', message: /Line 6: segment 0/ }],
    ['p 9', { code: 'INDEX_OUT_OF_RANGE', message: /Line 6: particle 0/ }],
    ['f 1 2 x', { code: 'MALFORMED_BODY', message: /Line 6: "x"/ }],
    ['f 1 2 3.5', { code: 'MALFORMED_BODY', message: /Line 6: "3.5"/ }],
    ['f 1 2 /3', { code: 'MALFORMED_BODY' }],
    ['f 1 2 3/a', { code: 'MALFORMED_BODY' }],
    ['f 1 2 -', { code: 'MALFORMED_BODY' }],
    ['l 1', { code: 'INVALID_MESH', message: /Line 6: a polyline needs two/ }],
    ['l 1 2 2', { code: 'INVALID_MESH', message: /Line 6: segment 1 joins vertex 2 with itself/ }],
    ['curv 0 1 1 2', { code: 'UNIMPLEMENTED', message: /Line 6: .*"curv".*free-form/ }],
    ['vertex 1 2 3', { code: 'MALFORMED_BODY', message: /Line 6: "vertex"/ }],
    ['solid x', { code: 'MALFORMED_BODY', message: /Line 6/ }],
  ];
  for (const [text, expected] of cases) await t.rejects(read(CORNERS + text), expected, text);
  await t.rejects(readMesh([Buffer.from('v 12 3 4\n', 'utf16le')], 'obj'), { code: 'MALFORMED_BODY' }, 'UTF-16');
});

t.test('a large polygon is checked for repetitions, too', async (t) => {
  const count = 300;
  const corners = Array.from({ length: count }, (_, i) => i + 1);
  const vertices = corners.map((i) => `v ${i} 0 0\n`).join('');
  t.equal((await read(`${vertices}f ${corners.join(' ')}`)).triangles.length, 3 * (count - 2));
  await t.rejects(read(`${vertices}f ${corners.join(' ')} 150`), { code: 'INVALID_MESH', message: /vertex 150/ });
});

t.test('endless lines and statements are refused', async (t) => {
  await t.rejects(read(`f ${'1 '.repeat(MAX_RECORD_BYTES)}`), { code: 'MALFORMED_BODY', message: /Line 1/ });
  await t.rejects(read(`v 0 0 0\nf ${'1 \\\n'.repeat(MAX_RECORD_BYTES)}`), {
    code: 'MALFORMED_BODY',
    message: /Line 2/,
  });
});

t.test('limits hold while the file arrives', async (t) => {
  const bytes = [Buffer.from(`${CORNERS}f 1 2 3 4\np 5`)];
  await t.rejects(readMesh(bytes, 'obj', { maxVertices: 4, maxElements: 9 }), { code: 'TOO_LARGE' });
  await t.rejects(readMesh(bytes, 'obj', { maxVertices: 5, maxElements: 2 }), { code: 'TOO_LARGE' });
  t.match(await readMesh(bytes, 'obj', { maxVertices: 5, maxElements: 3 }), { vertexCount: 5 });
});
