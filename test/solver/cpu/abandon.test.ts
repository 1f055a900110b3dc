import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { measureMesh } from '../../../src/mesh/measure.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { resolveParameters } from '../../../src/solver/parameters.js';
import type { Scene, StepInput } from '../../../src/solver/types.js';
import { findIntersections } from '../../../src/verify/state.js';
import { stackSwap } from '../cases.js';

const builder = stackSwap(24);
const { mesh: input } = builder.build();
const SCALE = 64;
const image = (positions: ArrayLike<number>) => Float32Array.from(positions, (value) => value * SCALE);
const x = image(builder.start);
const y = image(builder.target);
const mesh = buildMesh(input);

async function open(): Promise<Scene> {
  const { parameters } = resolveParameters({ stepLimit: 6 }, measureMesh(mesh, Float32Array.from(builder.start)));
  const units = { scale: SCALE, floor: parameters.activationDistance * 0.01 * SCALE };
  return createCpuEngine().open(mesh, parameters, units);
}

/** Asked for the `count`-th time, and from then on, a step is given up. */
function until(count: number): { readonly shouldAbandon: () => boolean; readonly asked: () => number } {
  let asked = 0;
  return { shouldAbandon: () => ++asked >= count, asked: () => asked };
}

async function watch(scene: Scene, more: Partial<StepInput> = {}) {
  const states = [x.slice()];
  const resolution = await scene.resolve({ x, y, ...more, onState: (state) => states.push(state.slice()) });
  return { resolution, states };
}

t.test('a step that is given up, wherever that is, has not happened', async (t) => {
  const whole = until(Infinity);
  const plain = await watch(await open());
  const { resolution, states } = await watch(await open(), whole);
  t.same(resolution.positions, plain.resolution.positions, 'being asked changes nothing');
  t.ok(whole.asked() > 20, `asked ${whole.asked()} times`);
  let inSearch = 0;
  let inForward = 0;
  for (let count = 1; count <= whole.asked(); count++) {
    const scene = await open();
    const { steps, searches, positions, status, limitingPairs, pairs } = (await watch(scene, until(count))).resolution;
    if (status !== 'DEADLINE') t.fail(`given up the ${count}th time: ${status}`);
    if (!same(positions, states[steps]!)) t.fail(`given up the ${count}th time: not the state of step ${steps}`);
    if (steps > 0) continue;
    const next = await watch(scene);
    if (searches === 0) {
      inSearch++;
      t.same([limitingPairs.length, pairs.vertexTriangle, pairs.edgeEdge], [0, 0, 0], 'what was found so far is no P');
      t.notOk(next.resolution.proximitySetReused);
    } else {
      inForward++;
      t.ok(next.resolution.proximitySetReused, 'the search had come to its end');
    }
    t.equal(next.resolution.steps, 6);
    t.equal(countIntersecting(next.states), 0, 'the scene serves on');
  }
  t.ok(inSearch > 3 && inForward > 0, `${inSearch} times in the search, ${inForward} times after it`);
});

function countIntersecting(states: readonly Float32Array[]): number {
  const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
  return states.filter((state) => findIntersections(mesh, Float64Array.from(state), rules).intersectionCount > 0)
    .length;
}

function same(a: Float32Array, b: Float32Array): boolean {
  return a.every((value, k) => Object.is(value, b[k]));
}
