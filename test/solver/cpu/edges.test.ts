import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { EdgeLengths } from '../../../src/solver/cpu/edges.js';
import { seeded } from '../../support/random.js';
import { SceneBuilder } from '../../support/scene-builder.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const SIGMA = 1.1;

function rod(masses?: readonly number[], kinematic: readonly number[] = [0, 0]): EdgeLengths {
  const mesh = buildMesh({
    vertexCount: 2,
    segments: Uint32Array.of(0, 1),
    kinematic: Uint8Array.from(kinematic),
    ...(masses ? { masses: Float32Array.from(masses) } : {}),
  });
  return new EdgeLengths(mesh);
}

const length = (y: Float32Array, i: number, j: number): number =>
  Math.hypot(y[3 * i] - y[3 * j], y[3 * i + 1] - y[3 * j + 1], y[3 * i + 2] - y[3 * j + 2]);
const vector = (): number[] => [0, 1, 2].map(() => random.between(-1, 1));

/** Long enough that a float32 coordinate of 1 does not round much of it away, and that a tenth of a vector is short beside it. */
function edgeVector(): number[] {
  for (;;) {
    const way = vector();
    if (Math.hypot(...way) > 0.25) return way;
  }
}

t.test('a stretched edge returns to σ L* along the direction of its target', async (t) => {
  for (let n = 0; n < 100; n++) {
    const from = vector();
    const way = edgeVector();
    const target = Float32Array.from([...from, ...from.map((value, c) => value + way[c])]);
    const masses = [random.between(0.2, 5), random.between(0.2, 5)];
    const edges = rod(masses);
    edges.linearise(target, SIGMA);
    edges.reset();
    const stretch = random.between(1.2, 6);
    const side = vector();
    const y = Float32Array.from([...from, ...from.map((value, c) => value + stretch * way[c])]);
    const before = y.slice();
    edges.sweep(y);
    t.ok(Math.abs(length(y, 0, 1) / (SIGMA * length(target, 0, 1)) - 1) < 1e-5, 'σ L*');
    for (let c = 0; c < 3; c++) {
      const momentum = masses[0] * (y[c] - before[c]) + masses[1] * (y[3 + c] - before[3 + c]);
      t.ok(Math.abs(momentum) < 1e-5, 'momentum is kept');
    }
    // What is measured is the extent along the target's direction: moving sideways costs nothing.
    const turned = Float32Array.from([...from, ...from.map((value, c) => value + 0.1 * side[c])]);
    const untouched = turned.slice();
    edges.reset();
    edges.sweep(turned);
    t.strictSame([...turned], [...untouched], 'short edges stay as they are');
  }
});

t.test('an edge of at most σ L* has no constraint', async (t) => {
  const edges = rod();
  const target = Float32Array.of(0, 0, 0, 1, 0, 0);
  edges.linearise(target, SIGMA);
  for (const y of [
    target,
    Float32Array.of(0, 0, 0, 0, 0, 0),
    Float32Array.of(0, 0, 0, -9, 0, 0),
    Float32Array.of(0, 0, 0, 1, 5, 0),
    Float32Array.of(0, 0, 0, 1.0999, 0, 0),
  ]) {
    const before = y.slice();
    edges.reset();
    edges.sweep(y);
    t.strictSame([...y], [...before]);
  }
});

t.test('λ persists during the sweeps of a step and is withdrawn when the edge slackens', async (t) => {
  const edges = rod();
  edges.linearise(Float32Array.of(0, 0, 0, 1, 0, 0), SIGMA);
  edges.reset();
  const y = Float32Array.of(0, 0, 0, 3, 0, 0);
  edges.sweep(y);
  const pulled = y[0];
  t.ok(pulled > 0.9);
  // Something else pushes the far end towards the near one: the pull was more than was needed.
  y[3] -= 0.5;
  edges.sweep(y);
  t.ok(Math.abs(length(y, 0, 1) - SIGMA) < 1e-6, 'as long as it may be, and no shorter');
  t.ok(y[0] < pulled, 'part of the pull was taken back');
  y[3] -= 50;
  const at = y[0];
  edges.sweep(y);
  t.ok(at - y[0] <= at + 1e-6 && y[0] > -1e-6, 'never more than all of it: λ ≥ 0');
  edges.reset();
  const before = y.slice();
  edges.sweep(y);
  t.strictSame([...y], [...before], 'forgotten after a reset');
});

t.test('a kinematic end does not move, and the other compensates for it', async (t) => {
  const edges = rod(undefined, [1, 0]);
  edges.linearise(Float32Array.of(0, 0, 0, 1, 0, 0), SIGMA);
  edges.reset();
  const y = Float32Array.of(0, 0, 0, 4, 0, 0);
  edges.sweep(y);
  t.strictSame([...y.subarray(0, 3)], [0, 0, 0]);
  t.ok(Math.abs(y[3] - SIGMA) < 1e-6);
});

t.test('edges of two kinematic ends, and edges without length in the target, have no constraint', async (t) => {
  for (const [edges, target] of [
    [rod(undefined, [1, 1]), [0, 0, 0, 1, 0, 0]],
    [rod(), [2, 3, 4, 2, 3, 4]],
  ] as const) {
    edges.linearise(Float32Array.from(target), SIGMA);
    edges.reset();
    const y = Float32Array.of(0, 0, 0, 9, 9, 9);
    edges.sweep(y);
    t.strictSame([...y], [0, 0, 0, 9, 9, 9]);
  }
});

t.test('a target is linearised again for each request', async (t) => {
  const edges = rod();
  edges.linearise(Float32Array.of(1, 1, 1, 1, 1, 1), SIGMA);
  edges.linearise(Float32Array.of(0, 0, 0, 0, 2, 0), SIGMA);
  edges.reset();
  const y = Float32Array.of(0, 0, 0, 0, 8, 0);
  edges.sweep(y);
  t.ok(Math.abs(y[4] - y[1] - 2 * SIGMA) < 1e-5);
});

t.test('sweeping a mesh: momentum is preserved, stretch falls, inner edges of solids count', async (t) => {
  const scene = new SceneBuilder();
  scene.sheet(5, (u, v) => ({ at: [u, 0, v], to: [u, 0, v] }));
  scene.block(3, (u, v, w) => ({ at: [u, 2 + v, w], to: [u, 2 + v, w] }));
  const { mesh: input, target } = scene.build();
  const mesh = buildMesh({
    ...input,
    masses: Float32Array.from({ length: input.vertexCount }, () => random.between(0.3, 3)),
  });
  t.ok(mesh.innerEdges.length > 0);
  const edges = new EdgeLengths(mesh);
  t.ok(edges.colours >= 6 && edges.colours < 60, `${edges.colours} colours`);
  const rest = Float32Array.from(target);
  edges.linearise(rest, SIGMA);
  edges.reset();
  const y = rest.map((value) => 1.6 * value + random.between(-0.05, 0.05));
  const before = y.slice();
  const all = [...mesh.edges, ...mesh.innerEdges];
  const excess = (): number => {
    let sum = 0;
    for (let k = 0; k < all.length; k += 2) {
      const [i, j] = [all[k], all[k + 1]];
      const size = length(rest, i, j);
      const along = [0, 1, 2].reduce(
        (d, c) => d + ((rest[3 * i + c] - rest[3 * j + c]) / size) * (y[3 * i + c] - y[3 * j + c]),
        0,
      );
      sum += Math.max(0, along / (SIGMA * size) - 1 - 1e-3);
    }
    return sum;
  };
  const stretched = excess();
  for (let n = 0; n < 400; n++) edges.sweep(y);
  t.ok(stretched > 10 && excess() < 0.01 * stretched, `${stretched} over the limit in all, then ${excess()}`);
  for (let c = 0; c < 3; c++) {
    let momentum = 0;
    for (let v = 0; v < mesh.vertexCount; v++) momentum += (y[3 * v + c] - before[3 * v + c]) / mesh.inverseMasses[v];
    t.ok(Math.abs(momentum) < 0.01, `momentum ${momentum}`);
  }
});
