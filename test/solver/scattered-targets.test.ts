import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import {
  LEAST_PROGRESS,
  ON_ITS_WAY,
  SCATTERED_MIN_GAIN,
  SCATTERED_MOTION,
  SCATTERED_VERTICES,
} from '../../src/solver/constants.js';
import { planPullBack } from '../../src/solver/scattered-targets.js';
import { PLAN as PULL_BACK } from '../support/pull-back-bench.js';
import { seeded } from '../support/random.js';
import { type Point, SceneBuilder } from '../support/scene-builder.js';
import { makeSettings } from '../support/settings.js';
import { scatteredSheet } from './cases.js';

/** Relative: a few products and quotients of doubles. */
const ROUNDING = 2 ** -50;
const EDGES = 16;
/** As by default: δ is a tenth of an edge, a leap two edges. */
const settings = makeSettings({ delta: 0.1 / EDGES, leap: 2 / EDGES, pullBack: PULL_BACK });

/** The plan for a sheet of side 1 with targets at these places. */
function planFor(to: (at: Point) => Point, isKinematic = false, asked = settings) {
  const scene = new SceneBuilder();
  scene.sheet(
    EDGES,
    (u, v) => {
      const at: Point = [u - 0.5, v - 0.5, 0.1 * Math.sin(6 * u)];
      return { at, to: to(at) };
    },
    isKinematic,
  );
  return planOf(scene, asked);
}

function planOf(scene: SceneBuilder, asked = settings) {
  const { mesh, start, target } = scene.build();
  return planPullBack(buildMesh(mesh), asked, Float32Array.from(start), Float32Array.from(target));
}

/** Small meshes may have 65,536 pairs, and twice that before a step of theirs must gain more. */
const cheapPairs = 2 * 65_536;

/** What depends on the number of vertices, which is Σm: masses are relative to their mean. */
const wayOf = (vertices: number) => ({
  far: ON_ITS_WAY * settings.leap * Math.sqrt(vertices),
  progress: 2 * LEAST_PROGRESS * settings.delta * Math.sqrt(vertices),
});
const VERTICES = (EDGES + 1) ** 2;
const EARLY = { ...PULL_BACK, isEarly: true, longest: 2 / EDGES, cheapPairs, ...wayOf(VERTICES) };

t.test('targets that neighbours share are not scattered, however far they are', async (t) => {
  const targets: Record<string, (at: Point) => Point> = {
    'at rest': (at) => at,
    'far away': ([x, y, z]) => [x + 1e6, y, z],
    'turned round': ([x, y, z]) => [-x, -y, z],
    folded: ([x, y, z]) => [Math.abs(x), y, x > 0 ? z : 0.05 - z],
    'turned inside out': ([x, y, z]) => [-x, y, z],
    'all in one point': () => [0, 0, 0],
    'half of it torn off': ([x, y, z]) => [x > 0 ? x + 5 : x, y, z],
  };
  for (const [name, to] of Object.entries(targets)) t.same(planFor(to), EARLY, name);
});

t.test('targets that tear most edges apart are scattered', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const scattered = {
    ...PULL_BACK,
    isEarly: false,
    longest: SCATTERED_MOTION * settings.delta,
    cheapPairs,
    ...wayOf(VERTICES),
    far: Number.POSITIVE_INFINITY,
  };
  t.same(planOf(scatteredSheet(EDGES, 4, random)), scattered);
  const draw = (): Point => [random() - 0.5, random() - 0.5, random() - 0.5];
  t.same(planFor(draw), scattered);
  const tall = { ...settings, delta: 1.9 / EDGES };
  t.equal(planFor(draw, false, tall)?.longest, tall.leap, 'a step is no longer than a leap');
});

t.test('a step of scattered targets must gain the more, the larger the mesh is', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const gainOf = (vertices: number) => {
    const scene = new SceneBuilder();
    const draw = (): Point => [random() - 0.5, random() - 0.5, random() - 0.5];
    for (let k = 0; k < vertices / 2; k++) {
      scene.segment(scene.vertex([k, 0, 0], draw()), scene.vertex([k, 1, 0], draw()));
    }
    return planOf(scene)!.minGain / PULL_BACK.minGain;
  };
  t.equal(gainOf(2), 1);
  t.equal(gainOf(SCATTERED_VERTICES / (2 * SCATTERED_MIN_GAIN)), 1);
  t.ok(Math.abs(gainOf(SCATTERED_VERTICES / 2) / SCATTERED_MIN_GAIN - 1 / 2) < ROUNDING);
  t.equal(gainOf(SCATTERED_VERTICES), SCATTERED_MIN_GAIN);
  t.equal(gainOf(2 * SCATTERED_VERTICES), SCATTERED_MIN_GAIN);
});

t.test('random targets near the vertices do not count, nor do edges that cannot move', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  t.same(planOf(scatteredSheet(EDGES, 1, random)), EARLY);
  t.same(
    planFor(() => [random(), random(), random()], true),
    { ...EARLY, ...wayOf(0) },
  );
});

t.test('without edges, and without a pull-back, there is nothing to plan', async (t) => {
  const scene = new SceneBuilder();
  const random = seeded();
  for (let k = 0; k < 8; k++) scene.particle(scene.vertex([k, 0, 0], [random(), random(), random()]));
  t.same(planOf(scene), { ...EARLY, ...wayOf(8) }, 'particles alone');
  t.equal(
    planFor((at) => at, false, { ...settings, pullBack: undefined }),
    undefined,
  );
});
