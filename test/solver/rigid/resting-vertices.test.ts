import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import { findIntersections } from '../../../src/verify/state.js';
import { type Random, seeded } from '../../support/random.js';
import { type Point, SceneBuilder } from '../../support/scene-builder.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

const CASES = 60;

/**
 * A sheet that turns about one pinned vertex, in some cases with a drift that would take that vertex along by less than
 * half a leap; and kinematic triangles about it.
 */
function pinnedSheet(random: Random) {
  const scene = new SceneBuilder();
  const side = 4;
  const pinned = random.int((side + 1) ** 2);
  const pin: Point = [Math.floor(pinned / (side + 1)), 0, pinned % (side + 1)];
  // Beyond a right angle the motion takes several pieces.
  const angle = random.between(-2.5, 2.5);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const most = random() < 0.4 ? 0 : 0.9;
  const drift = [0, 1, 2].map(() => random.between(-most, most));
  scene.sheet(side, (u, v) => {
    const [a, b] = [side * u - pin[0], side * v - pin[2]];
    const to: Point = [pin[0] + c * a + drift[0]!, s * a + drift[1]!, pin[2] + b + drift[2]!];
    return { at: [side * u, 0, side * v], to };
  });
  for (let n = random.int(5); n > 0; n--) {
    const centre = pin.map((p) => p + random.between(-2, 2));
    const corner = () =>
      scene.vertex(centre.map((p) => p + random.between(-0.5, 0.5)) as unknown as Point, undefined, true);
    scene.triangle(corner(), corner(), corner());
  }
  const { mesh: input, start, target } = scene.build();
  (input.kinematic as Uint8Array)[pinned] = 1;
  target.set(start.subarray(3 * pinned, 3 * pinned + 3), 3 * pinned);
  return { mesh: buildMesh(input), x: Float32Array.from(start), y: Float32Array.from(target) };
}

t.test('a kinematic vertex that rests keeps its bits in every state, whatever moves with its component', async (t) => {
  let states = 0;
  for (let n = 0; n < CASES; n++) {
    const { mesh, x, y } = pinnedSheet(random);
    if (findIntersections(mesh, x, { kinematicPairs: 'SKIP', maxPairs: 1 }).intersectionCount > 0) continue;
    const stepLimit = [1, 2, 3][n % 3]!;
    const { parameters } = resolveParameters({ stepLimit }, measureMesh(mesh, x));
    const floor = Math.fround(parameters.activationDistance / 100);
    const scene = await createCpuEngine().open(mesh, parameters, { scale: 1, floor });
    const expectKept = (state: Float32Array, what: string): void => {
      states++;
      const moved = [...mesh.kinematic.keys()].filter(
        (v) => mesh.kinematic[v] !== 0 && [0, 1, 2].some((k) => state[3 * v + k] !== x[3 * v + k]),
      );
      if (moved.length > 0) t.fail(`case ${n}, ${what}: vertex ${moved[0]} has left its place`);
    };
    const { positions } = await scene.resolve({
      ...{ x, y },
      onState: (state, from) => expectKept(state, `${from?.phase} ${from?.step}`),
    });
    expectKept(positions, 'the answer');
    scene.close();
  }
  t.ok(states > CASES, `${states} states`);
});
