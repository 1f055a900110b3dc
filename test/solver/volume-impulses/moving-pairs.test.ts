import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { closest, closestEdgeEdge, closestVertexTriangle } from '../../../src/solver/cpu/closest.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { MovingPairs } from '../../../src/solver/volume-impulses/moving-pairs.js';
import { seeded } from '../../support/random.js';
import { randomScene } from '../cases.js';

/** Every pair of elements without a common vertex, as the broad phase names them. */
function* allPairs({ triangles, edges, contactVertices }: CollisionMesh): Generator<[number, ...number[]]> {
  for (const a of contactVertices) {
    for (let k = 0; k < triangles.length; k += 3) {
      const corners = [...triangles.subarray(k, k + 3)];
      if (!corners.includes(a)) yield [VT, a, ...corners];
    }
  }
  for (let e = 0; e < edges.length; e += 2) {
    for (let f = e + 2; f < edges.length; f += 2) {
      const ends = [...edges.subarray(e, e + 2), ...edges.subarray(f, f + 2)];
      if (new Set(ends).size === 4) yield [EE, ...ends];
    }
  }
}

const TIMES = 24;

/** Whether the distance of a pair is below `reach` at one of some times. */
function comesNear(kind: number, x: Float32Array, z: Float32Array, slots: readonly number[], reach: number): boolean {
  const points = new Float32Array(12);
  for (let n = 0; n <= TIMES; n++) {
    const time = n / TIMES;
    slots.forEach((v, s) => {
      for (let c = 0; c < 3; c++) points[3 * s + c] = (1 - time) * x[3 * v + c] + time * z[3 * v + c];
    });
    if (kind === VT) closestVertexTriangle(points, 0, 1, 2, 3);
    else closestEdgeEdge(points, 0, 1, 2, 3);
    if (closest.squared < reach ** 2) return true;
  }
  return false;
}

t.test('no pair that comes near on its way is missed, and none is reported twice', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let meeting = 0;
  for (let n = 0; n < 12; n++) {
    const { mesh: input, start, target } = randomScene(random).build();
    const mesh = buildMesh(input);
    const x = Float32Array.from(start);
    const z = Float32Array.from(target);
    const floor = 10 ** random.between(-2, 0);
    const found = new Set<string>();
    const moving = new MovingPairs(mesh, { skipsKinematic: false, excluded: undefined });
    let count = 0;
    moving.find(
      x,
      z,
      floor / 2,
      () => undefined,
      (...pair) => {
        found.add(pair.join());
        count++;
      },
    );
    moving.free();
    t.equal(found.size, count, 'each once');
    for (const [kind, a, b, c, d] of allPairs(mesh)) {
      if (!comesNear(kind, x, z, [a, b, c, d], floor / 2)) continue;
      const rests = [a, b, c, d].every(
        (v) => mesh.kinematic[v] === 1 && [0, 1, 2].every((k) => x[3 * v + k] === z[3 * v + k]),
      );
      if (rests) continue;
      meeting++;
      if (!found.has([kind, a, b, c, d].join())) t.fail(`pair ${kind}: ${[a, b, c, d]} was missed`);
    }
  }
  t.ok(meeting > 100, `${meeting} pairs come near`);
});
