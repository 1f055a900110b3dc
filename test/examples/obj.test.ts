import t from 'tap';
import { writeObj } from '../../examples/obj.js';
import { assemble } from '../../examples/scenes/assemble.js';

const triangle = Float64Array.of(0, 0, 0, 0.1, 0, 0, 0, 0.1, 1 / 3);
const scene = assemble('tiny', 'Nothing happens.', [
  { name: 'floor', role: 'obstacle', isKinematic: true, start: triangle, target: triangle, triangles: [0, 1, 2] },
  { name: 'hair', role: 'first', isKinematic: false, start: triangle, target: triangle, segments: [0, 1, 1, 2] },
  {
    name: 'dust',
    role: 'second',
    isKinematic: false,
    start: Float64Array.of(-0, 2e-8, 5),
    target: Float64Array.of(1, 2, 3),
    particles: [0],
  },
]);

t.test('kinematic bodies come last and element ids follow', async (t) => {
  t.same(
    scene.bodies.map((body) => [body.name, body.firstVertex, body.vertexCount]),
    [
      ['hair', 0, 3],
      ['dust', 3, 1],
      ['floor', 4, 3],
    ],
  );
  t.equal(scene.kinematicFrom, 4);
  t.same([...scene.triangles], [4, 5, 6]);
  t.same([...scene.particles], [3]);
});

t.test('every element kind is written, strands as one line', async (t) => {
  const lines = writeObj(scene, scene.start, 'tiny').split('\n');
  t.equal(lines.filter((line) => line.startsWith('v ')).length, 7);
  t.ok(lines.includes('l 1 2 3'));
  t.ok(lines.includes('p 4'));
  t.ok(lines.includes('f 5 6 7'));
});

t.test('numbers read back as the very same doubles, without a minus zero', async (t) => {
  const read = writeObj(scene, scene.start, 'tiny')
    .split('\n')
    .filter((line) => line.startsWith('v '))
    .flatMap((line) => line.slice(2).split(' ').map(Number));
  t.same(read, [...scene.start]);
  t.ok(read.every((value) => !Object.is(value, -0)));
  t.equal(scene.start[9], 0, 'rounded to a tenth of a micrometre');
});
