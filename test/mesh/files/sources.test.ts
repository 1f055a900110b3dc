import t from 'tap';
import { attributesLost, concatenate, type MeshFile, readMesh, writeMesh } from '../../../src/mesh/files/index.js';
import { openReader } from '../../../src/mesh/files/read.js';

const text = (file: MeshFile, format = file.format): string =>
  Buffer.concat([...writeMesh(file, format)]).toString('latin1');

const read = (content: string | Uint8Array, format: 'obj' | 'ply'): Promise<MeshFile> =>
  readMesh([typeof content === 'string' ? Buffer.from(content, 'latin1') : content], format);

/** All coordinates doubled. */
const moved = (file: MeshFile): MeshFile => ({ ...file, positions: file.positions.map((value) => 2 * value) });

const DRESS = `# a dress
mtllib dress.mtl
o dress
v 0 0 0 1 0.5 0
v 1 0 0 0.25 0.5 1
vt 0 0
vt 1 0
vt 0 1
vn 0 0 1
v 0 1 0 1 1 1
g front
s 1
usemtl silk
f 1/1/1 2/2/1 3/3/1
v 5 5 5
v 6 5 5
v 6 6 5
usemtl wool
f -3/1/-1 -2//1 -1/-1
l 1 2 3
p 1
`;

t.test('an OBJ keeps everything but its coordinates', async (t) => {
  const file = await read(DRESS, 'obj');
  t.equal(text(file), DRESS);
  const expected = DRESS.replace(
    /^v (\S+) (\S+) (\S+)/gm,
    (_all, ...xyz) =>
      `v ${xyz
        .slice(0, 3)
        .map((n) => 2 * Number(n))
        .join(' ')}`,
  );
  t.equal(text(moved(file)), expected);
  t.same(attributesLost(file, 'obj'), []);
});

t.test('lines that continue, blanks and line ends do not matter', async (t) => {
  const file = await read(
    '\xef\xbb\xbf  v 0 0 0\r\nv\t1 0 0 # pin\r\nv 0 1 0\r\nvt 0 \\\r\n0\r\nf 1/1 \\\r\n2/1 3/1\r\n',
    'obj',
  );
  t.same(
    text(file)
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
    ['v 0 0 0', 'v 1 0 0', 'v 0 1 0', 'vt 0 0', 'f 1/1 2/1 3/1', ''],
  );
});

/** For each corner of a face its position, its texture coordinate and its normal, as numbers. */
function corners(obj: string): string[] {
  const lists: Record<string, string[]> = { v: [], vt: [], vn: [] };
  const found: string[] = [];
  for (const line of obj.split('\n')) {
    const [keyword = '', ...words] = line.split(' ');
    lists[keyword]?.push(words.slice(0, 3).join(' '));
    if (keyword !== 'f') continue;
    for (const word of words) {
      const [v, vt, vn] = word.split('/').map((part, i) => {
        const list = lists[['v', 'vt', 'vn'][i] ?? ''] ?? [];
        return part === '' ? '-' : list.at(Number(part) < 0 ? Number(part) : Number(part) - 1);
      });
      found.push(`${v} | ${vt ?? '-'} | ${vn ?? '-'}`);
    }
  }
  return found;
}

t.test('OBJ files that follow each other keep their own numbers', async (t) => {
  const plain = 'v 9 9 9\nv 8 9 9\nv 9 8 9\nv 9 9 8\nf 1 2 3 4\nl 1 2\np 4\n';
  const parts = [DRESS, plain, DRESS.replace('silk', 'velvet')];
  const { file } = concatenate(await Promise.all(parts.map((part) => read(part, 'obj'))));
  const whole = text(file);
  t.same(corners(whole), parts.flatMap(corners));
  t.match(whole, /usemtl silk[\s\S]*usemtl velvet/);
  const back = await read(whole, 'obj');
  for (const field of [
    'vertexCount',
    'positions',
    'triangles',
    'segments',
    'particles',
    'faceSizes',
    'faceVertices',
  ] as const)
    t.same(back[field], file[field], field);
});

const HEADER = (encoding: string) => `ply
format ${encoding} 1.0
comment made by hand
obj_info texture.png
element vertex 3
property uchar red
property float x
property float y
property list uchar short weights
property float z
property float nx
element material 2
property double shine
element face 1
property list uchar int vertex_indices
property list uchar float texcoord
end_header
`;

const ASCII = `${HEADER('ascii')}255 0 0 2 7 -8 0 0.5
0 1 0 0 0 0.25
128 0 1 1 9 0.5 0.125
0.1
0.2
3 0 1 2 6 0 0 1 0 0 1
`;

/** The same file in binary, written down once more. */
function binary(isLittle: boolean, size: 4 | 8 = 4, factor = 1): Buffer {
  const pieces: Buffer[] = [];
  const put = (
    bytes: number,
    method: 'setUint8' | 'setInt16' | 'setInt32' | 'setFloat32' | 'setFloat64',
    value: number,
  ) => {
    const view = new DataView(new ArrayBuffer(bytes));
    view[method](0, value, isLittle);
    pieces.push(Buffer.from(view.buffer));
  };
  const coordinate = (value: number) => put(size, size === 4 ? 'setFloat32' : 'setFloat64', factor * value);
  const vertices: [number, number, number, number[], number, number][] = [
    [255, 0, 0, [7, -8], 0, 0.5],
    [0, 1, 0, [], 0, 0.25],
    [128, 0, 1, [9], 0.5, 0.125],
  ];
  for (const [red, x, y, weights, z, nx] of vertices) {
    put(1, 'setUint8', red);
    coordinate(x);
    coordinate(y);
    put(1, 'setUint8', weights.length);
    for (const weight of weights) put(2, 'setInt16', weight);
    coordinate(z);
    put(4, 'setFloat32', nx);
  }
  for (const shine of [0.1, 0.2]) put(8, 'setFloat64', shine);
  put(1, 'setUint8', 3);
  for (const vertex of [0, 1, 2]) put(4, 'setInt32', vertex);
  put(1, 'setUint8', 6);
  for (const uv of [0, 0, 1, 0, 0, 1]) put(4, 'setFloat32', uv);
  const header = HEADER(isLittle ? 'binary_little_endian' : 'binary_big_endian');
  const declared = size === 4 ? header : header.replace(/float ([xyz])$/gm, 'double $1');
  return Buffer.concat([Buffer.from(declared), ...pieces]);
}

t.test('a PLY keeps everything but its coordinates', async (t) => {
  const ascii = await read(ASCII, 'ply');
  t.equal(text(ascii), ASCII);
  t.match(text(moved(ascii)), '\n255 0 0 2 7 -8 0 0.5\n0 2 0 0 0 0.25\n128 0 2 1 9 1 0.125\n0.1\n');
  for (const isLittle of [true, false]) {
    const bytes = binary(isLittle);
    const file = await read(bytes, 'ply');
    t.ok(Buffer.concat([...writeMesh(file, 'ply')]).equals(bytes));
    t.ok(Buffer.concat([...writeMesh(moved(file), 'ply')]).equals(binary(isLittle, 4, 2)));
    const wide = { ...file, scalar: 'FLOAT64' as const, positions: Float64Array.from(file.positions, (x) => 2 * x) };
    t.ok(Buffer.concat([...writeMesh(wide, 'ply')]).equals(binary(isLittle, 8, 2)), 'in doubles');
  }
});

t.test('properties that are called like several coordinates are no coordinates', async (t) => {
  const names = ['xy', 'yz', 'xyz'];
  const header = (encoding: string) =>
    `ply\nformat ${encoding} 1.0\nelement vertex 1\n${['x', 'y', 'z'].map((n) => `property float ${n}\n`).join('')}${names.map((n) => `property short ${n}\n`).join('')}end_header\n`;
  const ascii = `${header('ascii')}1 2 3 4 5 6\n`;
  t.equal(text(moved(await read(ascii, 'ply'))), ascii.replace('1 2 3 4', '2 4 6 4'));
  const body = Buffer.alloc(18);
  for (const i of [0, 1, 2]) {
    body.writeFloatLE(1 + i, 4 * i);
    body.writeInt16LE(4 + i, 12 + 2 * i);
  }
  const binary = Buffer.concat([Buffer.from(header('binary_little_endian')), body]);
  t.ok(Buffer.concat([...writeMesh(await read(binary, 'ply'), 'ply')]).equals(binary));
});

t.test('the source of a file does not depend on how its bytes arrive', async (t) => {
  for (const bytes of [binary(true), binary(false), Buffer.from(ASCII), Buffer.from(DRESS)]) {
    const format = bytes.subarray(0, 3).toString() === 'ply' ? 'ply' : 'obj';
    for (const length of [1, 2, 3, 7, 64, 200]) {
      const reader = openReader(format);
      for (let at = 0; at < bytes.length; at += length) reader.push(Uint8Array.from(bytes.subarray(at, at + length)));
      t.ok(Buffer.concat([...writeMesh(reader.finish(), format)]).equals(bytes), `${format} in pieces of ${length}`);
    }
  }
});

t.test('contents that another format, or several files, cannot hold are named', async (t) => {
  const [obj, ply] = [await read(DRESS, 'obj'), await read(ASCII, 'ply')];
  t.same(attributesLost(obj, 'ply').slice(0, 4), ['mtllib', 'o', 'vertex colours or weights', 'vt']);
  t.same(attributesLost(ply, 'obj'), ['vertex.red', 'vertex.weights', 'vertex.nx', 'material', 'face.texcoord']);
  t.notMatch(text(obj, 'ply'), /vt|red/);
  t.equal((await read(text(ply, 'obj'), 'obj')).vertexCount, 3);
  const { file: two } = concatenate([ply, ply]);
  t.ok(attributesLost(two, 'ply').includes('vertex.nx'));
  t.equal((await read(text(two), 'ply')).vertexCount, 6, 'but the mesh is whole');
  const { file: mixed } = concatenate([obj, ply]);
  t.ok(attributesLost(mixed, 'obj').includes('vertex.nx'));
  t.equal((await read(text(mixed), 'obj')).vertexCount, 9);
  const many = `ply\nformat ascii 1.0\nelement vertex 1\n${'xyz'.replace(/./g, 'property float $&\n')}${Array.from({ length: 500 }, (_, i) => `property float \x07${'n'.repeat(300)}${i}\n`).join('')}end_header\n${'0 '.repeat(503)}\n`;
  const names = attributesLost(await read(many, 'ply'), 'obj');
  t.equal(names.length, 21);
  t.equal(names.at(-1), '480 more');
  for (const name of names) t.match(name, /^[\x20-\x7e]{1,40}$/);
});

t.test('a file with nothing but the mesh keeps no text', async (t) => {
  t.equal((await read('# only a comment\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n', 'obj')).sources, undefined);
  t.equal(
    (
      await read(
        'ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n',
        'ply',
      )
    ).sources,
    undefined,
  );
});
