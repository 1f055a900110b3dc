import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { CORNERS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { areApart, MOVING_BOX } from '../../../src/solver/rigid/moving-boxes.js';
import { MovingElements } from '../../../src/solver/rigid/moving-elements.js';
import { seeded } from '../../support/random.js';
import { SceneBuilder } from '../../support/scene-builder.js';
import { allPairs, keyOf } from '../../support/trust-oracle.js';

function moved(random: ReturnType<typeof seeded>) {
  const scene = new SceneBuilder();
  const at = (size: number): [number, number, number] => [
    random.between(-size, size),
    random.between(-size, size),
    random.between(-size, size),
  ];
  const labels: number[] = [];
  const bodies = 2 + random.int(5);
  for (let b = 0; b < bodies; b++) {
    const o = at(4);
    const place = (u: number, v: number) => ({
      at: [o[0] + 2 * u, o[1] + 2 * v, o[2] + random.between(0, 0.2)] as [number, number, number],
      to: [0, 0, 0] as [number, number, number],
    });
    const before = scene.start.length / 3;
    if (b % 3 === 0) scene.strand([place(0, 0), place(1, 1), place(2, 0)]);
    else scene.sheet(2, place, random.int(3) === 0);
    scene.particle(scene.vertex(at(4)));
    // The grain belongs to the group of its neighbour.
    const label = random.int(4);
    while (labels.length < scene.start.length / 3) labels.push(label);
    if (before === labels.length) throw new Error('empty');
  }
  const { mesh, start } = scene.build();
  const x = Float32Array.from(start);
  const shifts = Array.from({ length: 6 }, () => at(3));
  const z = x.map((value, k) => {
    const label = labels[Math.floor(k / 3)];
    return label === 0 ? value : value + shifts[label][k % 3] + random.between(-0.05, 0.05);
  });
  return { mesh: buildMesh(mesh), x, z, label: Uint8Array.from(labels) };
}

t.test('a walk visits exactly the pairs of different groups that no axis keeps apart', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let visits = 0;
  for (let n = 0; n < 60; n++) {
    const { mesh, x, z, label } = moved(random);
    const isSkipped = random.int(2) === 0;
    const margin = random.between(0, 0.3);
    const found: string[] = [];
    new MovingElements(mesh, isSkipped).forEachMeeting(x, z, label, margin, undefined, (kind, ...vertices) => {
      const ids = vertices.slice(0, CORNERS[kind]);
      found.push(keyOf(kind, ids.slice(0, SIDE_A[kind]), ids.slice(SIDE_A[kind])));
      return true;
    });
    const isInner = (side: readonly number[]) => side.every((v) => mesh.kinematic[v] !== 0);
    const wanted = allPairs(mesh)
      .filter(({ a, b }) => label[a[0]] !== label[b[0]])
      // No component here has vertices of both kinds, so every kinematic element is an inner one.
      .filter(({ a, b }) => !(isSkipped && isInner(a) && isInner(b)))
      .filter(({ a, b }) => !areApart(boxOf(a, x, z), 0, boxOf(b, x, z), 0, margin));
    t.same(found.sort(), wanted.map(({ key }) => key).sort());
    visits += found.length;
  }
  t.ok(visits > 150, `${visits} pairs`);
});

function boxOf(side: readonly number[], x: Float32Array, z: Float32Array): Float32Array {
  const box = new Float32Array(MOVING_BOX);
  for (let c = 0; c < 3; c++) {
    for (const [offset, state] of [[0, x] as const, [6, z] as const]) {
      box[offset + c] = Math.min(...side.map((v) => state[3 * v + c]));
      box[offset + 3 + c] = Math.max(...side.map((v) => state[3 * v + c]));
    }
  }
  return box;
}
