import t from 'tap';
import { readMesh } from '../../../src/mesh/files/index.js';
import type { MeshFile } from '../../../src/mesh/files/types.js';

const HEADER_END = 'end_header';
const read = (...chunks: (string | Uint8Array)[]): Promise<MeshFile> =>
  readMesh(
    chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk)),
    'ply',
  );
const ply = (format: string, ...declarations: string[]): string =>
  `${['ply', `format ${format} 1.0`, ...declarations, HEADER_END].join('\n')}\n`;
const xyz = (count: number, type = 'float'): string[] => [
  `element vertex ${count}`,
  `property ${type} x`,
  `property ${type} y`,
  `property ${type} z`,
];
const FACES = 'property list uchar int vertex_indices';

/** Little binary writer: pairs of a DataView setter's type and a value. */
function pack(
  isLittle: boolean,
  ...values: [type: 'Int8' | 'Uint8' | 'Int16' | 'Uint16' | 'Int32' | 'Uint32' | 'Float32' | 'Float64', value: number][]
): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * values.length));
  let length = 0;
  for (const [type, value] of values) {
    view[`set${type}`](length, value, isLittle);
    length += Number(/\d+/.exec(type)![0]) / 8;
  }
  return new Uint8Array(view.buffer, 0, length);
}

t.test('an ASCII file with a triangle and a quad is read', async (t) => {
  const text = `${ply('ascii', 'comment by hand', ...xyz(4), 'element face 2', FACES)}0 0 0\n1 0 0\n1 1 0\n0 1 0.1\n3 0 1 2\n4 0 1 2 3\n`;
  for (const end of ['\n', '\r\n', '\r']) {
    const file = await read(text.replaceAll('\n', end));
    t.match(file, { format: 'ply', plyEncoding: 'ascii', scalar: 'FLOAT32', vertexCount: 4 });
    t.same([...file.positions], [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, Math.fround(0.1)]);
    t.same([...file.triangles], [0, 1, 2, 0, 1, 2, 0, 2, 3]);
    t.same([...file.faceSizes], [3, 4]);
    t.equal(file.particles.length, 0);
  }
});

t.test('ASCII doubles stay doubles', async (t) => {
  const file = await read(ply('ascii', ...xyz(1, 'double')), '0.1 1e-300 -0');
  t.equal(file.scalar, 'FLOAT64');
  t.ok(Object.is(file.positions[2], -0));
  t.same([...file.positions], [0.1, 1e-300, -0]);
});

t.test('properties in any order, further properties and lists are read, in both byte orders', async (t) => {
  const declarations = [
    'element before 2',
    'property list ushort double weights',
    'property char flag',
    'element vertex 3',
    'property uchar red',
    'property double z',
    'property list uint8 float32 data',
    'property float64 x',
    'property short id',
    'property float64 y',
    'element face 1',
    'property int label',
    'property list uint uint16 vertex_index',
    'property list uchar float texcoord',
    'element tet 1',
    'property list uchar int vertex_indices',
    'element edge 1',
    'property uint vertex2',
    'property float weight',
    'property uint vertex1',
  ];
  for (const isLittle of [true, false]) {
    const vertex = (x: number, y: number, z: number) =>
      pack(
        isLittle,
        ['Uint8', 200],
        ['Float64', z],
        ['Uint8', 2],
        ['Float32', 1],
        ['Float32', 2],
        ['Float64', x],
        ['Int16', -3],
        ['Float64', y],
      );
    const body = Buffer.concat([
      pack(isLittle, ['Uint16', 3], ['Float64', 1], ['Float64', 2], ['Float64', 3], ['Int8', -1]),
      pack(isLittle, ['Uint16', 0], ['Int8', 1]),
      vertex(1, 2, 3),
      vertex(4, 5, 6),
      vertex(7, 8, 9),
      pack(
        isLittle,
        ['Int32', 5],
        ['Uint32', 3],
        ['Uint16', 2],
        ['Uint16', 0],
        ['Uint16', 1],
        ['Uint8', 1],
        ['Float32', 0.5],
      ),
      pack(isLittle, ['Uint8', 4], ['Int32', 0], ['Int32', 1], ['Int32', 2], ['Int32', 0]),
      pack(isLittle, ['Uint32', 2], ['Float32', 1], ['Uint32', 0]),
    ]);
    const encoding = isLittle ? 'binary_little_endian' : 'binary_big_endian';
    const bytes = Buffer.concat([Buffer.from(ply(encoding, ...declarations)), body]);
    for (const size of [bytes.length, 1, 5, 64]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const file = await read(...chunks);
      t.match(file, { plyEncoding: encoding, scalar: 'FLOAT64', vertexCount: 3 });
      t.same([...file.positions], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
      t.same([...file.triangles], [2, 0, 1]);
      t.same([...file.segments], [0, 2]);
    }
  }
});

t.test('every name of every scalar type is read', async (t) => {
  const integers = [
    'char',
    'int8',
    'uchar',
    'uint8',
    'short',
    'int16',
    'ushort',
    'uint16',
    'int',
    'int32',
    'uint',
    'uint32',
  ];
  const properties = [...integers, 'float', 'float32', 'double', 'float64'].map((type, i) => `property ${type} p${i}`);
  const bytes = 2 * (1 + 1 + 2 + 2 + 4 + 4 + 4 + 8);
  const file = await read(
    ply('binary_little_endian', 'element other 2', ...properties, ...xyz(1)),
    new Uint8Array(2 * bytes),
    pack(true, ['Float32', 1], ['Float32', 2], ['Float32', 3]),
  );
  t.same([...file.positions], [1, 2, 3]);
  for (const type of integers) {
    const list = `property list ${type} ${type} vertex_indices`;
    const read1 = await read(ply('ascii', ...xyz(3), 'element face 1', list), '0 0 0\n0 0 1\n0 1 0\n3 2 1 0');
    t.same([...read1.triangles], [2, 1, 0], type);
  }
});

t.test('integer coordinates keep every bit', async (t) => {
  const wide = await read(ply('ascii', ...xyz(1, 'int')), '16777217 -5 0');
  t.equal(wide.scalar, 'FLOAT64');
  t.equal(wide.positions[0], 16777217);
  const narrow = await read(ply('ascii', ...xyz(1, 'short')), '-300 2 1');
  t.equal(narrow.scalar, 'FLOAT32');
  t.same([...narrow.positions], [-300, 2, 1]);
});

t.test('without faces and edges all vertices are particles', async (t) => {
  for (const empty of [[], ['element face 0', FACES], ['element face 0']]) {
    const file = await read(ply('ascii', ...xyz(3), ...empty), '0 0 0\n1 0 0\n2 0 0\n');
    t.same([...file.particles], [0, 1, 2], JSON.stringify(empty));
  }
  const edges = ['element edge 1', 'property int vertex1', 'property int vertex2'];
  const rods = await read(ply('ascii', ...xyz(3), ...edges), '0 0 0\n1 0 0\n2 0 0\n0 1\n');
  t.equal(rods.particles.length, 0);
  t.same([...rods.segments], [0, 1]);
});

t.test('a foreign element "point" is skipped, one with vertex_index lists particles', async (t) => {
  const foreign = await read(ply('ascii', ...xyz(2), 'element point 1', 'property float size'), '0 0 0\n1 0 0\n0.5\n');
  t.equal(foreign.particles.length, 0);
  const own = await read(ply('ascii', ...xyz(2), 'element point 1', 'property int vertex_index'), '0 0 0\n1 0 0\n1\n');
  t.same([...own.particles], [1]);
});

t.test('faces may come before the vertices', async (t) => {
  const file = await read(ply('ascii', 'element face 1', FACES, ...xyz(3)), '3 0 1 2\n0 0 0\n1 0 0\n0 1 0');
  t.same([...file.triangles], [0, 1, 2]);
});

t.test('a binary body may begin with the bytes of a line end', async (t) => {
  // 0x0a as the first byte must not be taken for the rest of a CRLF that the header does not use.
  const vertex = pack(true, ['Uint8', 10], ['Uint8', 13], ['Uint8', 10]);
  const declarations = xyz(1, 'uchar');
  for (const end of ['\n', '\r\n', '\r']) {
    const header = ply('binary_little_endian', ...declarations).replaceAll('\n', end);
    t.same([...(await read(header, vertex)).positions], [10, 13, 10], JSON.stringify(end));
  }
});

t.test('blank lines in ASCII and blanks after a binary body are ignored', async (t) => {
  const ascii = await read(ply('ascii', ...xyz(1)), '\n1 2 3  \n\n \n');
  t.equal(ascii.vertexCount, 1);
  const binary = await read(ply('binary_little_endian', ...xyz(1, 'uchar')), Uint8Array.of(1, 2, 3, 10, 0));
  t.equal(binary.vertexCount, 1);
});

t.test('invalid headers are refused', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /begins with a line "ply"; this one begins with ""/],
    ['solid cube\n', /begins with a line "ply"; this one begins with "solid cube"/],
    ['ply\nformat ascii 1.0\n', /ends before its end_header/],
    [`ply\n${'comment x\n'.repeat(40_000)}`, /no end_header within/],
    [`ply\n${HEADER_END}\n`, /no format/],
    [ply('ascii'), /no element "vertex"/],
    [ply('utf8', ...xyz(1)), /Line 2 .*unknown format/],
    ['ply\nformat ascii 2.0\nend_header\n', /Line 2 .*unknown version/],
    [ply('ascii', 'element vertex', 'property float x'), /Line 3/],
    [ply('ascii', 'element vertex -3'), /Line 3/],
    [ply('ascii', 'element vertex 1e3'), /Line 3/],
    [ply('ascii', 'property float x'), /Line 3 .*unexpected/],
    [ply('ascii', ...xyz(1), 'property float x'), /Line 7 .*"x" is declared twice/],
    [ply('ascii', ...xyz(1), ...xyz(1)), /Line 7 .*"vertex" is declared twice/],
    [ply('ascii', ...xyz(1, 'int64')), /Line 4 .*unknown type "int64"; known are char/],
    [ply('ascii', ...xyz(1, 'toString')), /unknown type/],
    [ply('ascii', ...xyz(1), 'property list float int a'), /Line 7 .*length of a list/],
    [ply('ascii', ...xyz(1), 'hello'), /Line 7 .*unexpected "hello"/],
    [ply('ascii', 'element vertex 1', 'property float x', 'property float y'), /properties x, y, z; "z" is missing/],
    [
      ply('ascii', 'element vertex 1', 'property float x', 'property float y', 'property list int float z'),
      /"z" is of another kind/,
    ],
    [ply('ascii', ...xyz(1), 'element face 1', 'property int a'), /vertex_indices"; it is missing/],
    [ply('ascii', ...xyz(1), 'element face 1', 'property list int float vertex_indices'), /of another kind/],
    [ply('ascii', ...xyz(1), 'element edge 1', 'property int vertex1'), /"vertex2" is missing/],
    [ply('ascii', ...xyz(1), 'element other 5'), /5 × "other" without any property/],
    [`${ply('ascii', ...xyz(1), ...Array.from({ length: 1100 }, (_, i) => `property float p${i}`))}`, /more than 1024/],
  ];
  for (const [text, message] of cases)
    await t.rejects(read(text), { code: 'MALFORMED_BODY', message }, text.slice(0, 60));
  const strips = ply('ascii', ...xyz(1), 'element tristrips 1', 'property list int int vertex_indices');
  await t.rejects(read(strips), { code: 'UNIMPLEMENTED', message: /tristrips/ });
});

t.test('counts that exceed the contents are refused without allocating memory for them', async (t) => {
  const binary = 'binary_little_endian';
  const refused = { code: 'MALFORMED_BODY' };
  await t.rejects(read(ply(binary, ...xyz(100_000_000)), new Uint8Array(24)), {
    ...refused,
    message: /within vertex 2 of the 100000000/,
  });
  await t.rejects(read(ply(binary, ...xyz(4_000_000_000)), new Uint8Array(24)), {
    code: 'TOO_LARGE',
    message: /4000000000 vertices/,
  });
  await t.rejects(read(ply('ascii', ...xyz(100_000_000)), '0 0 0\n'), {
    ...refused,
    message: /before vertex 1 of the 100000000/,
  });
  const faces = ply(binary, ...xyz(1), 'element face 4000000000', FACES);
  await t.rejects(read(faces, new Uint8Array(12)), { ...refused, message: /within face 0 of the 4000000000/ });
  const long = ply(binary, ...xyz(1), 'element face 1', 'property list uint int vertex_indices');
  const claim = pack(true, ['Uint32', 4_000_000_000], ['Int32', 0]);
  await t.rejects(read(long, new Uint8Array(12), claim), {
    ...refused,
    message: /face 0 is at least 1600000000\d bytes/,
  });
  const skipped = ply(binary, 'element x 1', 'property list uint double y', ...xyz(1));
  await t.rejects(read(skipped, claim), { ...refused, message: /x 0 is at least/ });
  const negative = ply(binary, ...xyz(1), 'element face 1', 'property list char int vertex_indices');
  await t.rejects(read(negative, new Uint8Array(12), Uint8Array.of(255)), {
    ...refused,
    message: /face 0: .* length of -1/,
  });
  await t.rejects(read(ply(binary, ...xyz(1)), new Uint8Array(11)), { ...refused, message: /within vertex 0/ });
  await t.rejects(read(ply(binary, ...xyz(1)), new Uint8Array(13).fill(65)), { ...refused, message: /file continues/ });
});

t.test('ASCII records that do not match the header are refused', async (t) => {
  const header = ply('ascii', ...xyz(3), 'element face 1', FACES);
  const corners = '0 0 0\n1 0 0\n0 1 0\n';
  const cases: [string, { code: string; [key: string]: unknown }][] = [
    ['0 0\n', { code: 'MALFORMED_BODY', message: /Line 10: vertex 0: z is missing/ }],
    ['0 0 0 0\n', { code: 'MALFORMED_BODY', message: /Line 10: vertex 0: "0" is more than/ }],
    ['0 0 a\n', { code: 'MALFORMED_BODY', message: /Line 10: "a" is not a number/ }],
    [
      '0 nan 0\n',
      { code: 'NOT_FINITE', message: /Line 10: coordinate y of vertex 0/, element: { kind: 'vertex', index: 0 } },
    ],
    ['0 0 1e39\n', { code: 'NOT_FINITE', message: /coordinate z/ }],
    [corners, { code: 'MALFORMED_BODY', message: /ends before face 0/ }],
    [`${corners}3 0 1\n`, { code: 'MALFORMED_BODY', message: /Line 13: face 0: vertex_indices has 2 entries of 3/ }],
    [`${corners}-1\n`, { code: 'MALFORMED_BODY', message: /Line 13: face 0: .* length of -1/ }],
    [`${corners}3.5 0 1 2\n`, { code: 'MALFORMED_BODY', message: /not an integer/ }],
    [`${corners}3 0 1 1.5\n`, { code: 'MALFORMED_BODY', message: /Line 13: face 0: vertex_indices is "1.5"/ }],
    [
      `${corners}3 0 1 3\n`,
      {
        code: 'INDEX_OUT_OF_RANGE',
        message: /Line 13: face 0 refers to vertex 3, but the file has 3 vertices \(counting from 0\)/,
      },
    ],
    [`${corners}3 0 -1 2\n`, { code: 'INDEX_OUT_OF_RANGE', message: /vertex -1/ }],
    [`${corners}4000000000 0 1 2\n`, { code: 'MALFORMED_BODY', message: /has 3 entries of 4000000000/ }],
    [`${corners}2 0 1\n`, { code: 'INVALID_MESH', message: /Line 13: face 0 has 2 corners/ }],
    [`${corners}3 0 1 1\n`, { code: 'INVALID_MESH', message: /Line 13: face 0 uses vertex 1/ }],
    [`${corners}3 0 1 2\n3 0 1 2\n`, { code: 'MALFORMED_BODY', message: /Line 14: the file continues/ }],
  ];
  for (const [text, expected] of cases) await t.rejects(read(header, text), expected, JSON.stringify(text));
});

t.test('an integer beyond the type of its property is refused in ASCII, where nothing else bounds it', async (t) => {
  const types = ['char', 'uchar', 'short', 'ushort', 'int', 'uint'] as const;
  const ends = [
    [-128, 127],
    [0, 255],
    [-32768, 32767],
    [0, 65535],
    [-(2 ** 31), 2 ** 31 - 1],
    [0, 2 ** 32 - 1],
  ] as const;
  for (const [k, type] of types.entries()) {
    const [least, most] = ends[k]!;
    const file = await read(ply('ascii', ...xyz(1, type)), `${least} ${most} 0`);
    t.same([...file.positions], [least, most, 0], type);
    for (const beyond of [least - 1, most + 1, 1e15]) {
      const message = new RegExp(`^Line 8: vertex 0: y is "${beyond}", beyond its type u?int`);
      await t.rejects(read(ply('ascii', ...xyz(1, type)), `0 ${beyond} 0`), { code: 'MALFORMED_BODY', message });
    }
  }
  const points = Array.from({ length: 300 }, (_, i) => `${i} ${i * i} 0\n`).join('');
  const corners = [...Array(300).keys()].join(' ');
  const header = (count: string, index: string) =>
    ply('ascii', ...xyz(300), 'element face 1', `property list ${count} ${index} vertex_indices`);
  const refusal = (message: RegExp) => ({ code: 'MALFORMED_BODY', message });
  await t.rejects(
    read(header('uchar', 'int'), `${points}300 ${corners}`),
    refusal(/Line 310: face 0: the length of vertex_indices is "300", beyond its type uint8 \(0 to 255\)/),
  );
  await t.rejects(
    read(header('int', 'uchar'), `${points}3 0 1 256`),
    refusal(/Line 310: .* is "256", beyond its type/),
  );
  t.equal((await read(header('ushort', 'ushort'), `${points}300 ${corners}`)).triangles.length, 3 * 298);
});

t.test('invalid binary records are refused', async (t) => {
  const header = ply('binary_big_endian', ...xyz(3), 'element face 1', FACES);
  const corners = new Uint8Array(36);
  const face = (...ids: number[]): Uint8Array =>
    pack(false, ['Uint8', ids.length], ...ids.map((id) => ['Int32', id] as ['Int32', number]));
  await t.rejects(read(header, corners, face(0, 1, -2)), {
    code: 'INDEX_OUT_OF_RANGE',
    message: /^Face 0 refers to vertex -2/,
  });
  await t.rejects(read(header, corners, face(0, 1, 3)), { code: 'INDEX_OUT_OF_RANGE' });
  await t.rejects(read(header, corners, face(0, 1, 0)), { code: 'INVALID_MESH' });
  await t.rejects(read(header, corners, face()), { code: 'INVALID_MESH', message: /Face 0 has 0 corners/ });
  const nan = pack(false, ['Float32', 0], ['Float32', 0], ['Float32', 0], ['Float32', 0], ['Float32', Number.NaN]);
  await t.rejects(read(header, nan, new Uint8Array(4)), {
    code: 'NOT_FINITE',
    message: /Coordinate y of vertex 1/,
    element: { index: 1 },
  });
});

t.test('limits are enforced', async (t) => {
  const text = Buffer.from(
    `${ply('ascii', ...xyz(4), 'element face 1', FACES)}0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n`,
  );
  await t.rejects(readMesh([text], 'ply', { maxVertices: 3, maxElements: 9 }), { code: 'TOO_LARGE' });
  await t.rejects(readMesh([text], 'ply', { maxVertices: 4, maxElements: 1 }), { code: 'TOO_LARGE' });
  t.match(await readMesh([text], 'ply', { maxVertices: 4, maxElements: 2 }), { vertexCount: 4 });
});

t.test('a long record may arrive in tiny chunks', async (t) => {
  const count = 5000;
  const header = ply(
    'binary_little_endian',
    ...xyz(count, 'uchar'),
    'element face 1',
    'property list uint int vertex_indices',
  );
  const face = new Uint8Array(Uint32Array.from({ length: count + 1 }, (_, i) => (i === 0 ? count : i - 1)).buffer);
  const bytes = Buffer.concat([new Uint8Array(3 * count), face]);
  const file = await read(header, ...Array.from(bytes, (byte) => Uint8Array.of(byte)));
  t.equal(file.triangles.length, 3 * (count - 2));
  t.equal(file.faceVertices.at(-1), count - 1);
});
