import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document, NodeIO, type Primitive } from '@gltf-transform/core';
import t from 'tap';
import {
  attributesLost,
  formatOf,
  type MeshFile,
  readMeshFile,
  splitMorph,
  writeMeshFile,
} from '../../../src/mesh/files/index.js';

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0];

/** A document with one buffer, and what makes primitives of squares. */
function begin() {
  const document = new Document();
  const buffer = document.createBuffer();
  const vectors = (numbers: readonly number[], type: 'VEC2' | 'VEC3' = 'VEC3') =>
    document.createAccessor().setType(type).setArray(Float32Array.from(numbers)).setBuffer(buffer);
  const ids = (numbers: readonly number[]) =>
    document.createAccessor().setType('SCALAR').setArray(Uint16Array.from(numbers)).setBuffer(buffer);
  const primitive = (mode: number, indices: readonly number[] | undefined, positions = vectors(CORNERS)): Primitive =>
    document
      .createPrimitive()
      .setMode(mode as 4)
      .setAttribute('POSITION', positions)
      .setIndices(indices ? ids(indices) : null);
  return { document, scene: document.createScene(), vectors, primitive };
}

const save = async (document: Document, path: string): Promise<string> => {
  await new NodeIO().write(path, document);
  return path;
};

/** A square under a node that turns it about z by 90° and moves it, below one that doubles it. */
async function movedSquare(path: string): Promise<string> {
  const { document, scene, vectors, primitive } = begin();
  const square = primitive(4, [0, 1, 2, 0, 2, 3]);
  square.setAttribute('NORMAL', vectors(CORNERS.map((_, i) => Number(i % 3 === 0))));
  square.setAttribute('TEXCOORD_0', vectors([0, 0, 1, 0, 1, 1, 0, 1], 'VEC2'));
  square.setMaterial(document.createMaterial('red'));
  const bump = document
    .createPrimitiveTarget('Bump')
    .setAttribute('POSITION', vectors(CORNERS.map((_, i) => Number(i === 2))));
  const mesh = document
    .createMesh('square')
    .addPrimitive(square.addTarget(bump))
    .setExtras({ targetNames: ['Bump'], own: 1 });
  const half = Math.SQRT1_2;
  const inner = document.createNode('inner').setMesh(mesh).setRotation([0, 0, half, half]).setTranslation([0, 0, 3]);
  const other = document.createNode('other').setMesh(mesh);
  scene.addChild(document.createNode('outer').setScale([2, 2, 2]).addChild(inner)).addChild(other);
  const channel = document.createAnimationChannel().setTargetNode(inner).setTargetPath('weights');
  document.createAnimation('wave').addChannel(channel);
  return save(document, path);
}

t.test('every kind of primitive is read, with the transforms of its nodes', async (t) => {
  const { document, scene, primitive, vectors } = begin();
  const shared = vectors(CORNERS);
  const mesh = document.createMesh();
  mesh.addPrimitive(primitive(4, [0, 1, 2], shared)).addPrimitive(primitive(4, [0, 2, 3], shared));
  for (const mode of [5, 6, 3, 2, 1, 0]) mesh.addPrimitive(primitive(mode, mode === 5 ? [0, 1, 3, 2, 2] : undefined));
  scene.addChild(document.createNode().setMesh(mesh).setTranslation([0.5, 0, 0]));
  for (const ending of ['glb', 'gltf']) {
    const file = await readMeshFile(await save(document, join(t.testdir(), `all.${ending}`)));
    t.equal(file.vertexCount, 7 * 4, 'the first two primitives share their vertices');
    t.equal(file.scalar, 'FLOAT32');
    t.strictSame([...file.positions.subarray(0, 6)], [0.5, 0, 0, 1.5, 0, 0]);
    t.strictSame([...file.triangles], [0, 1, 2, 0, 2, 3, 4, 5, 7, 5, 6, 7, 8, 9, 10, 8, 10, 11]);
    t.strictSame([...file.segments], [12, 13, 13, 14, 14, 15, 16, 17, 17, 18, 18, 19, 19, 16, 20, 21, 22, 23]);
    t.strictSame([...file.particles], [24, 25, 26, 27]);
  }
});

t.test('a morph target is read as a separate state', async (t) => {
  const path = await movedSquare(join(t.testdir(), 'moved.glb'));
  const plain = await readMeshFile(path);
  for (const name of ['Bump', '0']) {
    const bumped = await readMeshFile(`${path}#${name}`);
    const differing = [...bumped.positions.keys()].filter((i) => bumped.positions[i] !== plain.positions[i]);
    t.strictSame(differing, [2, 14], 'the first corner of both squares rises');
    t.equal(bumped.positions[2]! - plain.positions[2]!, 2, 'by 1, doubled by the outer node');
  }
  await t.rejects(readMeshFile(`${path}#Dent`), { code: 'INVALID_MESH', hint: /"Bump"/ });
  t.same(splitMorph('a#b/c.glb#d'), { path: 'a#b/c.glb', morph: 'd' });
  t.same(splitMorph('a.obj#d'), { path: 'a.obj#d', morph: undefined });
});

t.test('an answer comes back with its bits, and with what else the file holds', async (t) => {
  const folder = t.testdir();
  const start = await readMeshFile(await movedSquare(join(folder, 'start.glb')));
  // Turned by 90° about z, doubled: (x, y, z) -> (-2 y, 2 x, 2 (z + 3)).
  t.ok(
    [...start.positions.subarray(0, 12)].every(
      (value, i) => Math.abs(value - [0, 0, 6, 0, 2, 6, -2, 2, 6, -2, 0, 6][i]!) < 1e-6,
    ),
  );
  const answer = start.positions.map((value, i) => Math.fround(value + 0.1 * Math.sin(i)));
  await writeMeshFile(join(folder, 'answer.glb'), { ...start, positions: answer as Float32Array });
  const back = await readMeshFile(join(folder, 'answer.glb'));
  t.strictSame(
    [...back.positions].sort((a, b) => a - b),
    [...answer].sort((a, b) => a - b),
    'bit for bit, whatever the order of the nodes',
  );
  t.same(attributesLost(start, 'gltf'), ['morph targets', 'animations']);
  t.same(attributesLost(start, 'obj'), ['NORMAL', 'TEXCOORD_0', 'materials', 'nodes']);
  const document = await new NodeIO().read(join(folder, 'answer.glb'));
  const root = document.getRoot();
  t.equal(root.listAnimations().length, 0);
  const meshes = root.listMeshes();
  t.equal(meshes.length, 2, 'two nodes had one mesh');
  t.same(
    meshes.map((mesh) => mesh.getExtras()),
    [{ own: 1 }, { own: 1 }],
  );
  const nodes = root.listNodes().filter((node) => node.getMesh());
  t.same(nodes.map((node) => node.getName()).sort(), ['inner', 'other']);
  for (const node of nodes) {
    const [primitive] = node.getMesh()!.listPrimitives();
    t.equal(primitive!.getMaterial()?.getName(), 'red');
    t.equal(primitive!.getAttribute('TEXCOORD_0')?.getCount(), 4);
    const normal = primitive!.getAttribute('NORMAL')!.getElement(0, []);
    const expected = node.getName() === 'inner' ? [0, 1, 0] : [1, 0, 0];
    t.ok(
      normal.every((value, axis) => Math.abs(value - expected[axis]!) < 1e-6),
      `${normal}: turned with its node`,
    );
  }
});

t.test('triangles under a node that mirrors keep their front, in the mesh and in an answer', async (t) => {
  const { document, scene, primitive, vectors } = begin();
  const mesh = document.createMesh();
  // Two triangles each: a list, a strip with and without indices, a fan.
  const lists = [
    primitive(4, [0, 1, 2, 0, 2, 3]),
    primitive(5, [0, 1, 3, 2]),
    primitive(5, undefined),
    primitive(6, undefined),
  ];
  for (const list of lists) {
    mesh.addPrimitive(list.setAttribute('NORMAL', vectors(CORNERS.map((_, i) => Number(i % 3 === 2)))));
  }
  const matrix = [0, -1, 0, 0, -2, 0, 0, 0, 0, 0, 3, 0, 5, 6, 7, 1] as const;
  scene.addChild(document.createNode('plain').setMesh(mesh));
  scene.addChild(
    document
      .createNode('mirrored')
      .setMesh(mesh)
      .setMatrix([...matrix]),
  );
  const folder = t.testdir();
  const start = await readMeshFile(await save(document, join(folder, 'start.glb')));
  const [list, strip] = [
    [0, 1, 2, 0, 2, 3],
    [0, 1, 3, 1, 2, 3],
  ] as const;
  const reversed = ([a, b, c, d, e, f]: readonly number[]) => [a!, c!, b!, d!, f!, e!];
  const expected = [list, strip, [0, 1, 2, 1, 3, 2], list];
  t.strictSame(
    [...start.triangles],
    [...expected, ...expected.map(reversed)].flatMap((ids, k) => ids.map((id) => id + 4 * k)),
  );
  await writeMeshFile(join(folder, 'answer.glb'), start);
  const back = await readMeshFile(join(folder, 'answer.glb'));
  t.strictSame(back.positions, start.positions);
  t.strictSame(back.triangles, start.triangles);
  const answer = await new NodeIO().read(join(folder, 'answer.glb'));
  const nodes = answer
    .getRoot()
    .listNodes()
    .filter((node) => node.getMesh());
  t.strictSame(
    nodes.map((node) => node.getMatrix()),
    [IDENTITY, IDENTITY],
  );
  for (const node of nodes) {
    for (const own of node.getMesh()!.listPrimitives())
      t.strictSame(own.getAttribute('NORMAL')!.getElement(0, []), [0, 0, 1]);
  }
});

t.test('a mesh of another format becomes a .glb file, in single precision only', async (t) => {
  const folder = t.testdir({ 'a.obj': 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\nl 1 4\np 4\n' });
  const file = await readMeshFile(join(folder, 'a.obj'));
  const path = join(folder, 'a.glb');
  await t.rejects(writeMeshFile(path, file), { code: 'SIZE_MISMATCH' });
  const single: MeshFile = { ...file, scalar: 'FLOAT32', positions: Float32Array.from(file.positions) };
  await writeMeshFile(path, single);
  const back = await readMeshFile(path);
  t.same(
    [back.positions, back.triangles, back.segments, back.particles],
    [single.positions, file.triangles, file.segments, file.particles],
  );
});

t.test('files that would be read wrongly are refused with a remedy', async (t) => {
  const folder = t.testdir();
  const { document, scene, primitive } = begin();
  const node = document.createNode('skinned').setMesh(document.createMesh().addPrimitive(primitive(4, [0, 1, 2])));
  scene.addChild(node.setSkin(document.createSkin().addJoint(document.createNode('bone'))));
  const skinned = await save(document, join(folder, 'skinned.glb'));
  await t.rejects(readMeshFile(skinned), { code: 'UNIMPLEMENTED', message: /skinned/ });
  const write = (name: string, json: object): string => {
    writeFileSync(join(folder, name), JSON.stringify({ asset: { version: '2.0' }, ...json }));
    return join(folder, name);
  };
  const packed = write('packed.gltf', { extensionsUsed: ['KHR_draco_mesh_compression'] });
  await t.rejects(readMeshFile(packed), { code: 'UNIMPLEMENTED', message: /KHR_draco/ });
  await t.rejects(readMeshFile(write('empty.gltf', {})), { code: 'INVALID_MESH', message: /no scene/ });
  const apart = write('apart.gltf', { buffers: [{ byteLength: 4, uri: 'missing.bin' }] });
  await t.rejects(readMeshFile(apart), { code: 'MALFORMED_BODY', message: /missing\.bin/ });
  await t.rejects(readMeshFile(join(folder, 'none.glb')), { code: 'ENOENT' });
  writeFileSync(join(folder, 'text.glb'), 'no glTF at all');
  await t.rejects(readMeshFile(join(folder, 'text.glb')), { code: 'MALFORMED_BODY' });
  for (const name of ['a.usd', 'a.usda', 'a.fbx', 'a.abc']) {
    t.throws(() => formatOf(name), { code: 'UNSUPPORTED_MEDIA_TYPE', hint: /is not read\. Export/ });
  }
});
