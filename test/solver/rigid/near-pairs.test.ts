import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { MovingElements } from '../../../src/solver/rigid/moving-elements.js';
import { NearPairs } from '../../../src/solver/rigid/near-pairs.js';
import { Placement, place } from '../../../src/solver/rigid/twist.js';
import { findDistances } from '../../../src/verify/distance.js';
import { testPath } from '../../../src/verify/path.js';
import { seeded } from '../../support/random.js';
import { SceneBuilder } from '../../support/scene-builder.js';

const RULES = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;

t.test('pairs nearer than the floor neither cross nor lose their gap, piece after piece', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let settled = 0;
  let refused = 0;
  let worn = 0;
  for (let n = 0; n < 300; n++) {
    // Grains above triangles at gaps from a quarter of the floor to one and a half of it, a tenth as far out as the
    // floor covers.
    const floor = 2 ** -10;
    const reach = floor / (8 * Math.sqrt(3) * 2 ** -23) / 20;
    const scene = new SceneBuilder();
    const normals = Array.from({ length: 6 }, () => random.between(-1, 1));
    for (let k = 0; k < 12; k++) {
      const o = [0, 1, 2].map(() => random.between(-reach, reach) / 3);
      const u = [1, 0, normals[k % 6]];
      const v = [0, 1, normals[(k + 1) % 6]];
      const at = (a: number, b: number, h: number) => {
        const m = [-u[2], -v[2], 1];
        const l = Math.hypot(...m);
        return [0, 1, 2].map((c) => o[c] + a * u[c] + b * v[c] + (h * m[c]) / l) as [number, number, number];
      };
      const first = scene.vertex(at(0, 0, 0));
      scene.vertex(at(1, 0, 0));
      scene.vertex(at(0, 1, 0));
      scene.triangle(first, first + 1, first + 2);
      scene.particle(scene.vertex(at(0.3, 0.3, floor * 10 ** random.between(-0.6, 0.2))));
    }
    const { mesh: input, start } = scene.build();
    const mesh = buildMesh(input);
    let x = Float32Array.from(start);
    if (testPath(mesh, x, x, RULES).collisionCount > 0) continue;
    const distances = (state: Float32Array) => findDistances(mesh, state, RULES, 2 * floor).minDistance ?? 2 * floor;
    const begun = distances(x);
    const label = new Uint8Array(mesh.vertexCount).fill(1);
    const near = new NearPairs(new MovingElements(mesh, true), x, label, 4 * floor, undefined, () => undefined);
    t.ok(near.count >= 12);
    const vertices = Uint32Array.from(label, (_, v) => v);
    for (let piece = 0; piece < 6; piece++) {
      const spin = [0, 1, 2].map(() => random.between(-0.3, 0.3)) as [number, number, number];
      const twist = { centre: [0, 0, 0] as const, shift: [random.between(-reach, reach) / 3, 0, 0] as const, spin };
      const placement = new Placement(twist);
      const z = x.slice();
      place(vertices, placement, x, x, floor, z);
      const plain = z.slice();
      const { fails } = near.settle(x, z, label, [placement], [spin], floor);
      if (fails[0]) {
        refused++;
        continue;
      }
      settled++;
      const { collisionCount } = testPath(mesh, x, z, RULES);
      if (collisionCount > 0) t.fail(`piece ${piece}: ${collisionCount} collisions`);
      const least = Math.min(begun, floor / 2) * (1 - 1e-6);
      if (!(distances(z) >= least)) t.fail(`piece ${piece}: ${distances(z)} of ${begun}`);
      if (!(distances(plain) >= least)) worn++;
      x = z;
    }
  }
  t.comment(`${settled} pieces settled, ${refused} refused, ${worn} would have worn a gap down`);
  t.ok(settled > 300 && worn > 30, 'rounding was worth a test');
});

t.test('a grain does not pass through a sliver that is nearer to it than its sides are', async (t) => {
  // Eight floors wide, with an angle of less than 1e-5 between its long sides. A target moves the grain by less than floor/8.
  const floor = 2 ** -10;
  const scene = new SceneBuilder();
  const first = scene.vertex([-480, 0, 0]);
  scene.vertex([480, 0, 0]);
  scene.vertex([470, 0.009, 0]);
  scene.triangle(first, first + 1, first + 2);
  const grain = scene.vertex([300, 0.0037, floor / 20]);
  scene.particle(grain);
  const { mesh: input, start } = scene.build();
  const mesh = buildMesh(input);
  const x = Float32Array.from(start);
  const label = new Uint8Array(mesh.vertexCount).fill(1);
  const near = new NearPairs(new MovingElements(mesh, true), x, label, 4 * floor, undefined, () => undefined);
  const placement = new Placement({ centre: [0, 0, 0], shift: [1, 0, 0], spin: [0, 0, 0.1] });
  const image = new Float64Array(3);
  placement.at(x, 3 * grain, image);
  const target = x.slice();
  target.set([image[0], image[1], image[2] - 0.12 * floor], 3 * grain);
  const z = x.slice();
  place(Uint32Array.of(0, 1, 2, 3), placement, x, target, floor, z);
  t.ok(z[3 * grain + 2] < 0, 'the grain is set onto its target');
  const { fails } = near.settle(x, z, label, [placement], [[0, 0, 0.1]], floor);
  t.ok(fails[0] || testPath(mesh, x, z, RULES).collisionCount === 0);
});

t.test('a group with more near pairs than are listed does not move rigidly', async (t) => {
  const random = seeded(5);
  // 320,000 pairs within the radius.
  const count = 800;
  const mesh = buildMesh({ vertexCount: count, particles: Uint32Array.from({ length: count }, (_, v) => v) });
  const x = Float32Array.from({ length: 3 * count }, () => random());
  const label = new Uint8Array(count).fill(1);
  const near = new NearPairs(new MovingElements(mesh, true), x, label, 2, undefined, () => undefined);
  const twist = { centre: [0, 0, 0] as const, shift: [1, 0, 0] as const, spin: [0, 0, 0.1] as const };
  const placement = new Placement(twist);
  const z = x.slice();
  place(
    Uint32Array.from(label, (_, v) => v),
    placement,
    x,
    x,
    2 ** -10,
    z,
  );
  const before = z.slice();
  t.strictSame(
    near.settle(
      x,
      z,
      label,
      [placement, undefined],
      [
        [0, 0, 0.1],
        [0, 0, 0],
      ],
      2 ** -10,
    ),
    {
      fails: [true, false],
      hasMoved: false,
    },
  );
  t.same(z, before);
  t.equal(near.count, 2 ** 18);
});

t.test('the test of many near pairs can be stopped', async (t) => {
  const random = seeded(6);
  const count = 200;
  const floor = 2 ** -10;
  const mesh = buildMesh({ vertexCount: count, particles: Uint32Array.from({ length: count }, (_, v) => v) });
  const x = Float32Array.from({ length: 3 * count }, () => random.between(0, floor / 2));
  const label = new Uint8Array(count).fill(1);
  let pulses = 0;
  let last = Number.POSITIVE_INFINITY;
  const pulse = () => {
    if (++pulses > last) throw new Error('stopped');
  };
  const near = new NearPairs(new MovingElements(mesh, true), x, label, floor, undefined, pulse);
  t.ok(near.count > 2 * 4096);
  last = pulses + 2;
  const placement = new Placement({ centre: [0, 0, 0], shift: [1, 0, 0], spin: [0, 0, 0.1] });
  t.throws(() => near.settle(x, x.slice(), label, [placement], [[0, 0, 0.1]], floor), { message: 'stopped' });
});
