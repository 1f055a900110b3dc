import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import type { Scene, StepInput } from '../../../src/solver/engine.js';
import { findIntersections } from '../../../src/verify/state.js';
import { openCase } from '../../support/open-case.js';
import { pinnedStack } from '../../support/pinned-stack.js';
import { shareOf } from '../../support/share.js';
import { stackSwap } from '../cases.js';

const { x, y, mesh, open } = pinnedStack(24);

/** There is all the time in the world until it is asked for the `count`-th time, and none from then on. */
function until(count: number): { readonly timeLeft: () => number; readonly asked: () => number } {
  let asked = 0;
  return { timeLeft: () => (++asked >= count ? 0 : Number.POSITIVE_INFINITY), asked: () => asked };
}

async function watch(scene: Scene, more: Partial<StepInput> = {}) {
  const states = [x.slice()];
  const resolution = await scene.resolve({ x, y, ...more, onState: (state) => states.push(state.slice()) });
  return { resolution, states };
}

t.test('a step that is abandoned, at any point, changes nothing', async (t) => {
  const whole = until(Infinity);
  const plain = await watch(await open());
  const { resolution, states } = await watch(await open(), whole);
  t.same(resolution.positions, plain.resolution.positions, 'being asked changes nothing');
  t.ok(whole.asked() > 20, `asked ${whole.asked()} times`);
  let inSearch = 0;
  let inForward = 0;
  const counts: number[] = [];
  for (let count = 1; count <= whole.asked(); count += count < 40 ? 1 : 7) counts.push(count);
  for (const count of shareOf(counts, 3)) {
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

/** Last steps that only shorten edges follow. */
const TAUT = { quality: 'BALANCED', stretchLimit: 1.01 } as const;

t.test('an abandoned last step tells as unfinished what a stop before it does', async (t) => {
  const { mesh, start, target } = stackSwap(8).build();
  const run = async (more: Partial<StepInput>) => {
    const { scene, resolve } = await openCase(createCpuEngine(), mesh, start, target, TAUT);
    const answer = await resolve(more);
    scene.close();
    return answer;
  };
  let shortened = 0;
  const whole = await run({
    onState: (_, from) => {
      if (from?.phase === 'SHORTENING') shortened ||= from.step;
    },
  });
  t.ok(shortened > 0, 'it shortens edges');
  for (let last = shortened; last < whole.steps; last++) {
    let steps = 0;
    const onProgress: StepInput['onProgress'] = (progress) => {
      steps = progress.steps;
    };
    const stopped = await run({ onProgress, shouldStop: () => steps >= last });
    steps = 0;
    const abandoned = await run({ onProgress, timeLeft: () => (steps >= last ? 0 : Number.POSITIVE_INFINITY) });
    t.equal(abandoned.status, 'DEADLINE');
    t.ok(abandoned.unfinishedVertices > 0);
    t.strictSame({ ...abandoned, timings: undefined }, { ...stopped, timings: undefined });
  }
});

// The kinematic corners stay: under BALANCED the first search is the first of the pull-back.
for (const quality of ['FAST', 'BALANCED'] as const)
  t.test(
    `${quality}: a first search that takes too much of the time left restarts with half the leap, once`,
    async (t) => {
      const plain = await watch(await open(quality));
      const pairsOf = ({ pairs }: typeof plain.resolution) => pairs.vertexTriangle + pairs.edgeEdge;
      const ends = new Set<string>();
      const times = Array.from({ length: 12 }, (_, k) => 4 + 10 * k);
      for (const time of shareOf(times, 3)) {
        // A question takes one unit of time; once less than half is seen to be left, there is plenty again.
        let left = time;
        let seen = 0;
        const timeLeft = (): number => {
          if (left >= time / 2) return left--;
          return seen++ < 2 ? left : 1e9;
        };
        const { resolution, states } = await watch(await open(quality), { timeLeft });
        t.equal(resolution.status, plain.resolution.status);
        t.equal(countIntersecting(states), 0);
        ends.add(same(resolution.positions, plain.resolution.positions) ? 'as without' : 'otherwise');
        // The pull-back searches again, towards another y.
        if (quality === 'FAST' && pairsOf(resolution) > pairsOf(plain.resolution))
          t.fail(`${time}: more pairs with less time`);
      }
      t.comment([...ends].join());
      t.ok(ends.has('otherwise'));
      t.ok(ends.has('as without'), 'where the search has come to its end in time nothing changes');
    },
  );

function countIntersecting(states: readonly Float32Array[]): number {
  const rules = { kinematicPairs: 'SKIP', maxPairs: 1 } as const;
  return states.filter((state) => findIntersections(mesh, Float64Array.from(state), rules).intersectionCount > 0)
    .length;
}

function same(a: Float32Array, b: Float32Array): boolean {
  return a.every((value, k) => Object.is(value, b[k]));
}
