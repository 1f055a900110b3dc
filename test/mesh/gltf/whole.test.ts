import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readMeshFile } from '../../../src/mesh/files/index.js';
import { meshOfGltf } from '../../../src/mesh/gltf/mesh.js';
import { parseGltf } from '../../../src/mesh/gltf/parse.js';
import { refusalOf } from '../../support/job.js';

const CORNERS = Buffer.from(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0).buffer);
const uriOf = (bytes: Buffer) => `data:application/octet-stream;base64,${bytes.toString('base64')}`;
const VIEW = { buffer: 0, byteLength: 36 };
const POSITIONS = { bufferView: 0, componentType: 5126, count: 3, type: 'VEC3' };

/** A triangle, with other members in place of its own. */
const gltf = (more: object = {}) => ({
  asset: { version: '2.0' },
  scenes: [{ nodes: [0] }],
  nodes: [{ mesh: 0 }],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
  buffers: [{ byteLength: 36, uri: uriOf(CORNERS) }],
  bufferViews: [VIEW],
  accessors: [POSITIONS],
  ...more,
});

/** One replacement of an entry is there. */
const sparse = (count: number, index = 0) => ({
  buffers: [
    { byteLength: 36, uri: uriOf(CORNERS) },
    { byteLength: 16, uri: uriOf(Buffer.concat([Buffer.from(Uint32Array.of(index).buffer), CORNERS.subarray(0, 12)])) },
  ],
  bufferViews: [VIEW, { buffer: 1, byteLength: 4 }, { buffer: 1, byteOffset: 4, byteLength: 12 }],
  accessors: [
    { ...POSITIONS, sparse: { count, indices: { bufferView: 1, componentType: 5125 }, values: { bufferView: 2 } } },
  ],
});

const withIndices = (indices: object) => ({
  accessors: [POSITIONS, indices],
  meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
});

const BROKEN: readonly (readonly [what: string, more: object, message: RegExp])[] = [
  ['a buffer that was cut off', { buffers: [{ byteLength: 36, uri: uriOf(CORNERS.subarray(0, 24)) }] }, /24 of its 36/],
  ['a view beyond its buffer', { bufferViews: [{ buffer: 0, byteOffset: 4, byteLength: 36 }] }, /end of buffer 0/],
  ['a view of no buffer', { bufferViews: [{ buffer: 2, byteLength: 36 }] }, /refers to buffer 2/],
  ['an accessor beyond its view', { accessors: [{ ...POSITIONS, count: 3000 }] }, /end of bufferView 0/],
  ['an accessor that begins too late', { accessors: [{ ...POSITIONS, byteOffset: 12 }] }, /end of bufferView 0/],
  ['an accessor of no view', { accessors: [{ ...POSITIONS, bufferView: 3 }] }, /refers to bufferView 3/],
  ['a negative count', { accessors: [{ ...POSITIONS, count: -3 }] }, /an invalid count, type/],
  ['more replacements than entries', sparse(1e6), /replaces 1000000 of its 3/],
  ['replacements beyond their view', sparse(2), /end of bufferView 1/],
  ['a replacement of no entry', sparse(1, 9), /replaces entry 9, but has only 3 entries/],
  ['a mesh without its accessor', { meshes: [{ primitives: [{ attributes: { POSITION: 4 } }] }] }, /accessor 4/],
  [
    'a morph target without its accessor',
    { meshes: [{ primitives: [{ attributes: { POSITION: 0 }, targets: [{ POSITION: 8 }] }] }] },
    /accessor 8/,
  ],
  ['a node without its mesh', { nodes: [{ mesh: 5 }] }, /refers to mesh 5/],
  ['a scene without its node', { scenes: [{ nodes: [7] }] }, /refers to node 7/],
  ['a node that is its own child', { nodes: [{ mesh: 0, children: [0] }] }, /child of node 0/],
  ['nodes in a circle', { nodes: [{ mesh: 0, children: [1] }, { children: [2] }, { children: [1] }] }, /node 1 is/],
  ['nodes in a circle of their own', { nodes: [{ mesh: 0 }, { children: [2] }, { children: [1] }] }, /in a circle/],
  [
    'a chain of nodes',
    { nodes: Array.from({ length: 3000 }, (_, n) => (n < 2999 ? { children: [n + 1] } : { mesh: 0 })) },
    /1024 levels deep/,
  ],
  ['a default scene that is none', { scene: 3 }, /the file refers to scene 3/],
  [
    'a translation of words',
    { nodes: [{ mesh: 0, translation: ['5', 0, 0] }] },
    /translation of node 0 is not 3 numbers/,
  ],
  ['a matrix of three numbers', { nodes: [{ mesh: 0, matrix: [1, 0, 0] }] }, /matrix of node 0 is not 16 numbers/],
  ['positions of two coordinates', { accessors: [{ ...POSITIONS, type: 'VEC2' }] }, /positions of mesh 0 are no VEC3/],
  [
    'normals of one number',
    {
      accessors: [POSITIONS, { ...POSITIONS, type: 'SCALAR' }],
      meshes: [{ primitives: [{ attributes: { POSITION: 0, NORMAL: 1 } }] }],
    },
    /NORMAL of mesh 0 is no VEC3/,
  ],
  [
    'entries that overlap',
    { bufferViews: [{ ...VIEW, byteStride: 4 }] },
    /take 12 bytes, but follow each other after 4/,
  ],
  ['indices of floats', withIndices({ bufferView: 0, componentType: 5126, count: 3, type: 'SCALAR' }), /of unsigned/],
  ['indices of pairs', withIndices({ bufferView: 0, componentType: 5123, count: 3, type: 'VEC2' }), /of unsigned/],
  [
    'indices of fractions',
    withIndices({ bufferView: 0, componentType: 5123, count: 3, type: 'SCALAR', normalized: true }),
    /of unsigned/,
  ],
  ['indices without data', withIndices({ componentType: 5125, count: 3e8, type: 'SCALAR' }), /has no bufferView/],
  [
    'a node with two parents',
    { scenes: [{ nodes: [0, 1] }], nodes: [{ children: [2] }, { children: [2] }, { mesh: 0 }] },
    /node 2 is a child of node 0 and of node 1/,
  ],
];

t.test('a damaged file is refused, and missing data is never replaced', async (t) => {
  const folder = t.testdir();
  const write = (json: object) => {
    const path = join(folder, 'mesh.gltf');
    writeFileSync(path, JSON.stringify(json));
    return path;
  };
  t.equal((await readMeshFile(write(gltf()))).vertexCount, 3);
  for (const [what, more, message] of BROKEN) {
    const json = gltf(more);
    t.match(await refusalOf(readMeshFile(write(json))), { code: 'MALFORMED_BODY', message }, what);
    const inMemory = parseGltf('mesh.gltf', new Map([['mesh.gltf', new TextEncoder().encode(JSON.stringify(json))]]));
    t.match(await refusalOf(inMemory), { code: 'MALFORMED_BODY', message }, `${what}, in a browser`);
  }
});

t.test('a file that is neither is refused in words', async (t) => {
  for (const bytes of ['', '{', 'glTF and then nothing']) {
    const path = join(t.testdir(), 'mesh.glb');
    writeFileSync(path, bytes);
    const refusal = { code: 'MALFORMED_BODY', message: /it is neither a \.glb file nor valid JSON \(/ };
    t.match(await refusalOf(readMeshFile(path)), refusal, bytes);
  }
});

t.test('a .glb file that ends in its headers is refused in words', async (t) => {
  const bytes = Buffer.alloc(40);
  for (const [at, word] of [0x46546c67, 2, 40, 4000, 0x4e4f534a].entries()) bytes.writeUInt32LE(word, 4 * at);
  const path = join(t.testdir(), 'mesh.glb');
  for (const length of [12, 16, 20, 40]) {
    writeFileSync(path, bytes.subarray(0, length));
    const refusal = { code: 'MALFORMED_BODY', message: /it ends before what its header announces\.$/ };
    t.match(await refusalOf(readMeshFile(path)), refusal, `${length} bytes`);
    const inMemory = parseGltf('mesh.glb', new Map([['mesh.glb', new Uint8Array(bytes.subarray(0, length))]]));
    t.match(await refusalOf(inMemory), refusal, `${length} bytes, in a browser`);
  }
});

t.test('a reference to something that is no file is refused in words', async (t) => {
  const path = join(t.testdir(), 'mesh.gltf');
  for (const [uri, message] of [
    ['.', /it refers to a folder, which cannot be read\.$/],
    ['none.bin', /it refers to .*none\.bin, which cannot be read\.$/],
    ['data:', /its JSON does not have the shape of glTF\.$/],
    ['http://127.0.0.1:1/x.bin', /it refers to an address in a network, which is not read\.$/],
  ] as const) {
    writeFileSync(path, JSON.stringify(gltf({ buffers: [{ byteLength: 36, uri }] })));
    t.match(await refusalOf(readMeshFile(path)), { code: 'MALFORMED_BODY', message }, uri);
  }
  await t.rejects(readMeshFile(join(t.testdir({ 'a.gltf': {} }), 'a.gltf')), { code: 'EISDIR' });
});

t.test('a file is read only with files of its folder and below', async (t) => {
  const own = { '..a.bin': CORNERS, below: { 'b.bin': CORNERS } };
  const folder = t.testdir({ 'outside.bin': CORNERS, own, 'own-too': { 'a.bin': CORNERS } });
  const path = join(folder, 'own', 'mesh.gltf');
  const readWith = (uri: string) => {
    writeFileSync(path, JSON.stringify(gltf({ buffers: [{ byteLength: 36, uri }] })));
    return readMeshFile(path);
  };
  const outside = ['../outside.bin', '%2e%2e/outside.bin', 'below/../../outside.bin', '../own-too/a.bin', '..'];
  for (const uri of [...outside, join(folder, 'outside.bin'), '/dev/zero']) {
    const error = await refusalOf(readWith(uri));
    t.match(error, { code: 'MALFORMED_BODY', message: /which lies outside of its folder and is not read\.$/ }, uri);
    t.match(error, { hint: /Move what it refers to into its folder/ });
  }
  for (const uri of ['below/b.bin', './below/../below/b.bin', '..a.bin', join(folder, 'own', 'below', 'b.bin')])
    t.equal((await readWith(uri)).positions.length, 9, uri);
  // An image would become part of an answer.
  writeFileSync(path, JSON.stringify({ ...gltf({}), images: [{ uri: '../outside.bin' }] }));
  t.match(await refusalOf(readMeshFile(path)), { message: /outside of its folder/ });
});

t.test('JSON that is no glTF is refused in words', async (t) => {
  const path = join(t.testdir(), 'mesh.gltf');
  for (const text of ['{}', '[1]', 'null', '7', '{"asset": null}', JSON.stringify(gltf({ buffers: 7 }))]) {
    writeFileSync(path, text);
    const refusal = { code: 'MALFORMED_BODY', message: /its JSON does not have the shape of glTF\.$/ };
    t.match(await refusalOf(readMeshFile(path)), refusal, text);
    const inMemory = parseGltf('mesh.gltf', new Map([['mesh.gltf', new TextEncoder().encode(text)]]));
    t.match(await refusalOf(inMemory), refusal, `${text}, in a browser`);
  }
});

t.test('a matrix that shears or projects, which the library does not keep, is refused', async (t) => {
  const read = async (matrix: readonly number[]) => {
    const text = JSON.stringify(gltf({ nodes: [{ mesh: 0, matrix }] }));
    const opened = await parseGltf('mesh.gltf', new Map([['mesh.gltf', new TextEncoder().encode(text)]]));
    return [...meshOfGltf('mesh.gltf', opened, undefined).positions];
  };
  // A turn by 90° about z, a scale and a shift; as printed with six digits, and mirrored.
  t.same(await read([0, 2, 0, 0, -3, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]), [5, 6, 7, 5, 8, 7, 2, 6, 7]);
  await read([0.866025, 0.5, 0, 0, -0.500001, 0.866025, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  await read([-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  for (const matrix of [
    [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    [1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2],
  ]) {
    t.match(await refusalOf(read(matrix)), { code: 'UNIMPLEMENTED', message: /shears or projects/ });
  }
});

t.test('a rotation has the length 1, except for its digits, and a matrix of zeros is refused', async (t) => {
  const read = async (...nodes: object[]) => {
    const text = JSON.stringify(gltf({ nodes }));
    const opened = await parseGltf('mesh.gltf', new Map([['mesh.gltf', new TextEncoder().encode(text)]]));
    return [...meshOfGltf('mesh.gltf', opened, undefined).positions];
  };
  const turned = [0, 0, 0, 0, 1, 0, -1, 0, 0];
  // Edges, for coordinates of one edge: eight units in the last place of float32.
  const rounding = 1e-6;
  for (const half of [Math.SQRT1_2, 0.7072, 0.708, 0.71]) {
    const positions = await read({ mesh: 0, rotation: [0, 0, half, half] });
    t.ok(
      positions.every((value, i) => Math.abs(value - turned[i]!) < rounding),
      `${half} turns by 90°`,
    );
  }
  for (const rotation of [
    [0, 0, 0, 0],
    [0, 0, 1, 1],
    [0, 0, 0.6, 0.6],
  ]) {
    const refusal = { code: 'MALFORMED_BODY', message: /no unit quaternion/ };
    t.match(await refusalOf(read({ mesh: 0, rotation })), refusal);
    t.match(await refusalOf(read({ children: [1], rotation }, { mesh: 0 })), refusal, 'also above the mesh');
    t.same((await read({ mesh: 0 }, { rotation })).length, 9, 'but not elsewhere');
  }
  t.same(await read({ mesh: 0, scale: [-2, 0, 1] }), [0, 0, 0, -2, 0, 0, 0, 0, 0], 'a scale may be zero or negative');
  const flat = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  t.match(await refusalOf(read({ mesh: 0, matrix: flat })), { code: 'UNIMPLEMENTED', message: /scales to zero/ });
});

t.test('what a primitive or a name leaves open is refused', async (t) => {
  const read = (json: object, more: readonly string[] = []) => {
    const files = new Map([['mesh.gltf', new TextEncoder().encode(JSON.stringify(json))]]);
    for (const name of more) files.set(name, new Uint8Array(CORNERS));
    return parseGltf('mesh.gltf', files).then((opened) => meshOfGltf('mesh.gltf', opened, undefined));
  };
  const lines = gltf({ meshes: [{ primitives: [{ attributes: { POSITION: 0 }, mode: 1 }] }] });
  t.match(await refusalOf(read(lines)), { code: 'INVALID_MESH', message: /A primitive of lines has 3 ends/ });
  // Counted before they are collected: more than an array holds would end the process.
  const many = gltf({ nodes: [{ mesh: 0 }] });
  const small = { maxVertices: 3, maxElements: 0 };
  const opened = parseGltf('mesh.gltf', new Map([['mesh.gltf', new TextEncoder().encode(JSON.stringify(many))]]));
  t.match(await refusalOf(opened.then((file) => meshOfGltf('mesh.gltf', file, undefined, small))), {
    code: 'TOO_LARGE',
  });
  const buffers = ['a/mesh.bin', 'b/mesh.bin'].map((uri) => ({ byteLength: 36, uri }));
  t.match(await refusalOf(read(gltf({ buffers }), ['mesh.bin'])), {
    code: 'MALFORMED_BODY',
    message: /a\/mesh\.bin and b\/mesh\.bin, two files of one name/,
  });
});

t.test('positions that only a sparse accessor gives are refused', async (t) => {
  const path = join(t.testdir(), 'mesh.gltf');
  const { bufferView: _, ...positions } = sparse(1).accessors[0]!;
  writeFileSync(path, JSON.stringify(gltf({ ...sparse(1), accessors: [positions] })));
  t.match(await refusalOf(readMeshFile(path)), { code: 'UNIMPLEMENTED', message: /bufferView/ });
});
