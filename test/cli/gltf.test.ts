import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document, NodeIO } from '@gltf-transform/core';
import t from 'tap';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { boxesObj } from './boxes.js';
import { run } from './in-process.js';
import { verticesOf, writeSheets } from './sheets.js';

/** A floor, and above it a strip of two squares, stored apart at their seam, that a morph target sends through the floor. */
async function writeStrip(folder: string): Promise<void> {
  const document = new Document();
  const buffer = document.createBuffer();
  const vectors = (numbers: readonly number[]) =>
    document.createAccessor().setType('VEC3').setArray(Float32Array.from(numbers)).setBuffer(buffer);
  const square = (x: number, z: number) => [x, 0, z, x + 1, 0, z, x + 1, 1, z, x, 1, z];
  const mesh = document.createMesh('strip').setExtras({ targetNames: ['Through'] });
  for (const [x, z, drop] of [
    [0.2, 0.1, -0.2],
    [1.2, 0.1, -0.2],
    [0, 0, 0],
  ] as const) {
    const indices = document
      .createAccessor()
      .setType('SCALAR')
      .setArray(Uint16Array.of(0, 1, 2, 0, 2, 3))
      .setBuffer(buffer);
    const shift = document
      .createPrimitiveTarget('Through')
      .setAttribute('POSITION', vectors(square(0, 0).map((_, i) => (i % 3 === 2 ? drop : 0))));
    mesh.addPrimitive(
      document
        .createPrimitive()
        .setAttribute('POSITION', vectors(square(x, z)))
        .setIndices(indices)
        .addTarget(shift),
    );
  }
  document.createScene().addChild(document.createNode('strip').setMesh(mesh));
  await new NodeIO().write(join(folder, 'strip.glb'), document);
}

const floor = ['--kinematic-from', '8'];

t.test('a morph target is a target; seams need a decision', async (t) => {
  const cwd = t.testdir();
  await writeStrip(cwd);
  const argv = ['resolve', 'strip.glb', 'strip.glb#Through', '-o', 'answer.glb', ...floor];
  const refused = await run(argv, { cwd });
  t.equal(refused.status, 3);
  t.match(refused.stderr, /2 vertices of elements lie exactly where another one lies/);
  t.match(refused.stderr, /--weld/);
  const { status, stderr } = await run([...argv, '--weld', '--json'], { cwd });
  t.ok(status === 0 || status === 4, stderr);
  t.match(stderr, /does not hold morph targets of strip\.glb/);
  const { positions } = await readMeshFile(join(cwd, 'answer.glb'));
  const at = (vertex: number): number[] => [...positions.subarray(3 * vertex, 3 * vertex + 3)];
  t.strictSame([at(1), at(2)], [at(4), at(7)], 'the seam stays closed');
  t.ok(Math.min(...[0, 1, 2, 3].map((vertex) => at(vertex)[2]!)) > 0, 'the strip has stopped above the floor');
  t.equal((await run(['check', 'answer.glb', '--weld'], { cwd })).status, 0);
});

t.test('an answer as .glb has the bits that were tested', async (t) => {
  const cwd = writeSheets(t.testdir());
  const { status, stderr } = await run(['resolve', 'start.obj', 'free.obj', '-o', 'out.glb'], { cwd });
  t.equal(status, 0, stderr);
  const [target, answer] = await Promise.all(['free.obj', 'out.glb'].map((name) => readMeshFile(join(cwd, name))));
  t.strictSame([...answer!.positions], [...Float32Array.from(target!.positions)]);
  t.equal(
    (await run(['resolve', 'start.obj', 'free.obj', '-o', 'out.gltf'], { cwd })).status,
    2,
    'several files are refused',
  );
});

t.test('a closed surface that is stored apart flows once it is welded', async (t) => {
  const box = boxesObj([{ at: [0, 0, 0], size: [1, 1, 1], cells: 3 }]);
  const vertices = verticesOf(box);
  const corners = [...box.matchAll(/^f (\d+) (\d+) (\d+)$/gm)].flatMap(([, ...ids]) =>
    ids.map((id) => vertices[Number(id) - 1]!),
  );
  const faces = Array.from({ length: corners.length / 3 }, (_, i) => `f ${3 * i + 1} ${3 * i + 2} ${3 * i + 3}`);
  const cwd = t.testdir({
    'box.obj': `${[...corners.map((corner) => `v ${corner.join(' ')}`), ...faces].join('\n')}\n`,
  });
  const argv = ['flow', 'box.obj', '--offset', '0.1', '-o', 'out.obj'];
  t.equal((await run(argv, { cwd })).status, 3, 'it is not closed');
  const { status, stderr } = await run([...argv, '--weld'], { cwd });
  t.equal(status, 0, stderr);
  const answer = verticesOf(readFileSync(join(cwd, 'out.obj'), 'utf8'));
  t.equal(answer.length, corners.length, 'ids stay');
  const places = new Map(corners.map((corner, i) => [corner.join(), answer[i]!.join()]));
  t.ok(
    corners.every((corner, i) => places.get(corner.join()) === answer[i]!.join()),
    'copies stay together',
  );
  t.ok(Math.min(...answer.flat()) < -0.05 && Math.max(...answer.flat()) > 1.05);
});
