import t from 'tap';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { createVolumeImpulsesEngine } from '../../../src/solver/volume-impulses/engine.js';
import { type Judged, resolveJudged } from '../../support/judged-resolve.js';
import { type Random, seeded } from '../../support/random.js';
import { type Point, SceneBuilder } from '../../support/scene-builder.js';
import { CASES, type ResolveCase, randomScene, stackSwap } from '../cases.js';

const engine = createVolumeImpulsesEngine();
type Scene = Pick<ResolveCase, 'mesh' | 'start' | 'target'>;
const resolve = ({ mesh, start, target }: Scene, parameters: ParametersInput = {}): Promise<Judged> =>
  resolveJudged(engine, mesh, start, target, { method: 'VOLUME_IMPULSES', ...parameters });

/** Vertices with the same motion. */
function add(scene: SceneBuilder, points: readonly Point[], [mx, my, mz]: Point, kinematic = false): number[] {
  return points.map(([x, y, z]) => scene.vertex([x, y, z], [x + mx, y + my, z + mz], kinematic));
}

function vertexThroughTriangle(): SceneBuilder {
  const scene = new SceneBuilder();
  const [a, b, c] = add(
    scene,
    [
      [0, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
    ],
    [0, 0, 0.2],
  ); // prettier-ignore
  scene.triangle(a, b, c);
  // A spike whose tip alone meets the triangle.
  const [d, e, f] = add(
    scene,
    [
      [0.3, 0.3, 0.1],
      [0.2, 0.3, 1.1],
      [0.4, 0.4, 1.1],
    ],
    [0, 0, -0.3],
  ); // prettier-ignore
  scene.triangle(d, e, f);
  return scene;
}

function crossingEdges(): SceneBuilder {
  const scene = new SceneBuilder();
  const [a, b] = add(
    scene,
    [
      [-1, 0, 0],
      [1, 0.1, 0],
    ],
    [0, 0, 0.3],
  ); // prettier-ignore
  const [c, d] = add(
    scene,
    [
      [0.1, -1, 0.2],
      [0, 1, 0.2],
    ],
    [0, 0, -0.4],
  ); // prettier-ignore
  scene.segment(a, b);
  scene.segment(c, d);
  return scene;
}

/** Sheets over one another, each of which falls onto the next. */
function stackedSheets(layers: number): SceneBuilder {
  const scene = new SceneBuilder();
  for (let layer = 0; layer < layers; layer++) {
    scene.sheet(6, (u, v) => {
      const at: Point = [u - 0.5 + 0.013 * layer, 0.1 * layer, v - 0.5 + 0.007 * layer * u];
      return { at, to: [at[0], at[1] - 0.11 * layer, at[2]] };
    });
  }
  return scene;
}

function spheres(n: number): SceneBuilder {
  const scene = new SceneBuilder();
  for (const side of [-1, 1]) {
    const place = (theta: number, phi: number): number => {
      const [x, y, z] = [Math.sin(theta) * Math.cos(phi), Math.cos(theta), Math.sin(theta) * Math.sin(phi)];
      const at: Point = [1.05 * side + x, 0.05 * side + y, z];
      return scene.vertex(at, [at[0] - 0.2 * side, at[1], at[2]]);
    };
    const poles = [place(0, 0), place(Math.PI, 0)];
    const rows = Array.from({ length: n - 1 }, (_, i) =>
      Array.from({ length: 2 * n }, (__, j) => place((Math.PI * (i + 1)) / n, (Math.PI * j) / n)),
    );
    for (let j = 0; j < 2 * n; j++) {
      const k = (j + 1) % (2 * n);
      scene.triangle(poles[0], rows[0][k], rows[0][j]);
      scene.triangle(poles[1], rows[n - 2][j], rows[n - 2][k]);
      for (let i = 0; i + 2 < n; i++) {
        scene.triangle(rows[i][j], rows[i][k], rows[i + 1][j]);
        scene.triangle(rows[i][k], rows[i + 1][k], rows[i + 1][j]);
      }
    }
  }
  return scene;
}

/**
 * By how much momentum has changed, over what impulses exchanged: Σ m (x' − y) and Σ m x × (x' − y). The latter is that of the
 * whole motion where this was one piece.
 */
function momentumChange({ start, target }: Scene, { mesh, positions }: Judged) {
  const linear = [0, 0, 0];
  const angular = [0, 0, 0];
  let exchanged = 0;
  for (let v = 0; v < mesh.vertexCount; v++) {
    const mass = 1 / mesh.inverseMasses[v];
    const change = [0, 1, 2].map((c) => mass * (positions[3 * v + c] - target[3 * v + c]));
    for (let c = 0; c < 3; c++) {
      const [i, j] = [(c + 1) % 3, (c + 2) % 3];
      linear[c] += change[c];
      angular[c] += start[3 * v + i] * change[j] - start[3 * v + j] * change[i];
    }
    exchanged += Math.hypot(...change);
  }
  return { linear: Math.hypot(...linear) / exchanged, angular: Math.hypot(...angular) / exchanged, exchanged };
}

/** Positions are float32: a change of momentum by 1e-6 of what is exchanged is rounding. */
const ROUNDING = 1e-6;

const SIMPLE: readonly (readonly [string, Scene, number])[] = [
  ['a vertex through a triangle', vertexThroughTriangle().build(), 1],
  ['two edges', crossingEdges().build(), 1],
  ['stacked sheets', stackedSheets(3).build(), 0],
  ['two spheres', spheres(8).build(), 1],
  ['the layers of a stack', stackSwap(8).build(), 0],
];

for (const [name, scene, pieces] of SIMPLE) {
  t.test(`${name}: everything is resolved, and momentum is preserved`, async (t) => {
    const judged = await resolve(scene);
    const { resolution } = judged;
    t.equal(judged.intersections + judged.collisions, 0, 'no state intersects, no piece collides');
    t.equal(resolution.status, 'CONVERGED');
    t.match(resolution.impulses, { motionShare: 1, remainingPairs: 0 });
    t.ok(resolution.impulses!.volumes > 0, 'something collided');
    if (pieces > 0) t.equal(resolution.steps, pieces);
    const { linear, angular, exchanged } = momentumChange(scene, judged);
    t.ok(exchanged > 0);
    t.ok(linear < ROUNDING, `linear momentum: ${linear}`);
    if (resolution.steps === 1) t.ok(angular < ROUNDING, `angular momentum: ${angular}`);
    // Inelastic: the relative motion that is taken away is nowhere added.
    const energyOf = (to: ArrayLike<number>) =>
      scene.start.reduce((sum, from, k) => sum + (to[k] - from) ** 2 / judged.mesh.inverseMasses[Math.floor(k / 3)], 0);
    if (resolution.steps === 1) t.ok(energyOf(judged.positions) < energyOf(scene.target), 'kinetic energy falls');
  });
}

t.test('the volume of a single tetrahedron is preserved', async (t) => {
  const scene = crossingEdges().build();
  const { positions } = await resolve(scene);
  const volumeOf = (x: ArrayLike<number>) => {
    const [b, c, d] = [3, 6, 9].map((k) => [0, 1, 2].map((i) => x[k + i] - x[i]));
    const cross = [c[1] * d[2] - c[2] * d[1], c[2] * d[0] - c[0] * d[2], c[0] * d[1] - c[1] * d[0]];
    return (b[0] * cross[0] + b[1] * cross[1] + b[2] * cross[2]) / 6;
  };
  const [before, after] = [scene.start, positions].map(volumeOf);
  t.ok(Math.abs(after - before) < 1e-3 * Math.abs(before), `${before} → ${after}`);
});

t.test('a motion without collisions reaches the bits of its target in one piece', async (t) => {
  const scene = new SceneBuilder();
  scene.sheet(4, (u, v) => ({ at: [u, 0, v], to: [u + 7, 0.3 * u, v] }));
  const { resolution, arrived } = await resolve(scene.build());
  t.ok(arrived.every((is) => is));
  t.match(resolution, { status: 'CONVERGED', steps: 1, residual: 0, unfinishedVertices: 0, impulses: { rounds: 1 } });
});

t.test('a kinematic body pushes everything in its way, and arrives', async (t) => {
  const { mesh, start, target } = CASES.find(({ name }) => name === 'a plate rises under a cloth')!;
  const { resolution, arrived, intersections, collisions, ...judged } = await resolve({ mesh, start, target });
  t.equal(intersections + collisions, 0);
  t.equal(resolution.status, 'CONVERGED');
  t.ok(arrived.every((is, v) => is || judged.mesh.kinematic[v] === 0));
});

t.test('a failure is reported with the remaining pairs and the share of the motion', async (t) => {
  // The volume of parallel edges is 0 wherever they are in their plane: nothing pushes them apart.
  const { mesh, start, target } = CASES.find(({ name }) => name === 'parallel rods')!;
  const { resolution, intersections, collisions } = await resolve({ mesh, start, target });
  t.equal(intersections + collisions, 0);
  t.equal(resolution.status, 'STALLED');
  const { motionShare, remainingPairs } = resolution.impulses!;
  t.ok(motionShare > 0 && motionShare < 0.5, `${motionShare}: the rods meet half way`);
  t.ok(remainingPairs > 0 && resolution.limitingPairs.length > 0);
  t.equal(resolution.residual, Math.fround(1 - motionShare));
  t.ok(resolution.unfinishedVertices > 0);
});

t.test('a time budget ends a run between pieces, and a step limit after them', async (t) => {
  const scene = stackSwap(8).build();
  const limited = await resolve(scene, { stepLimit: 1 });
  t.ok(['STEP_LIMIT', 'CONVERGED'].includes(limited.resolution.status));
  t.ok(limited.resolution.steps <= 1);
  const stopped = await resolveJudged(engine, scene.mesh, scene.start, scene.target, { method: 'VOLUME_IMPULSES' }, 0);
  t.match(stopped.resolution, { status: 'DEADLINE', steps: 0, residual: 1 });
});

const hasVolumes = ({ mesh }: Scene): boolean => (mesh.particles?.length ?? 0) < 2;

for (const scene of CASES.filter(hasVolumes)) {
  // Every target in one point: minutes, and the same end.
  if (scene.name === 'all targets in one point') continue;
  t.test(`${scene.name}: safe`, async (t) => {
    const { resolution, intersections, collisions, positions } = await resolve(scene, scene.parameters);
    t.equal(intersections + collisions, 0);
    t.ok(positions.every(Number.isFinite));
    t.ok(['CONVERGED', 'STALLED'].includes(resolution.status));
    t.equal(resolution.status === 'CONVERGED', resolution.impulses!.motionShare === 1);
  });
}

/** Without particles, which have no volumes among themselves. */
function randomSceneOf(random: Random): Scene {
  const scene = randomScene(random).build();
  return { ...scene, mesh: { ...scene.mesh, particles: new Uint32Array(0) } };
}

t.test('random scenes are safe whatever their status', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const ends: Record<string, number> = {};
  for (let n = 0; n < 20; n++) {
    const scene = randomSceneOf(random);
    const kinematicPairs = n % 3 === 0 ? 'PROTECT' : 'SKIP';
    const { resolution, intersections, collisions } = await resolve(scene, {
      kinematicPairs,
      activationDistance: 0.05,
    });
    if (intersections + collisions > 0) t.fail(`scene ${n}: ${intersections} intersections, ${collisions} collisions`);
    // Chance decides how many are resolved; an end that is none of these two would be a mistake.
    t.ok(['CONVERGED', 'STALLED'].includes(resolution.status), `scene ${n}: ${resolution.status}`);
    t.equal(
      resolution.status === 'CONVERGED',
      resolution.impulses!.motionShare === 1,
      `scene ${n}: the share says the same`,
    );
    ends[resolution.status] = (ends[resolution.status] ?? 0) + 1;
  }
  t.comment(JSON.stringify(ends));
});

t.test('equal requests get equal bytes', async (t) => {
  const scene = stackedSheets(3).build();
  const [a, b] = [await resolve(scene), await resolve(scene)];
  t.same(a.resolution.positions, b.resolution.positions);
});

t.test('particles that could meet each other are refused', async (t) => {
  const { mesh, start, target } = CASES.find(({ name }) => name === 'sand falls into a bowl')!;
  await t.rejects(resolve({ mesh, start, target }), { code: 'INVALID_PARAMETER', message: /512 free particles/ });
});
