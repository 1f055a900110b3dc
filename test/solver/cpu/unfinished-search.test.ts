import t from 'tap';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import type { Resolution, Scene, StepInput } from '../../../src/solver/engine.js';
import { pinnedStack } from '../../support/pinned-stack.js';

const { x, y, open } = pinnedStack(40);

/** No time for a step, and for a search as many questions as given. */
function briefly(questions: number): Partial<StepInput> {
  let left = questions;
  return { shouldStop: () => true, timeLeft: () => 0, searchTimeLeft: () => left-- };
}

const plain = await (await open()).resolve({ x, y });

/** @returns the requests that were answered without a step, until the search was complete */
async function searchBriefly(scene: Scene, questions: number, between = async () => {}): Promise<Resolution[]> {
  const resolutions: Resolution[] = [];
  for (let n = 0; n < 200; n++) {
    const resolution = await scene.resolve({ x, y, ...briefly(questions) });
    resolutions.push(resolution);
    if (resolution.searches > 0) break;
    await between();
  }
  return resolutions;
}

for (const quality of ['FAST', 'BALANCED'] as const)
  t.test(`${quality}: an abandoned search is continued, and ends as if it had not been interrupted`, async (t) => {
    // The kinematic corners stay: under BALANCED the first search is the first of the pull-back.
    const plain = await (await open(quality)).resolve({ x, y });
    let most = 0;
    for (const questions of [12, 14, 17, 25]) {
      const scene = await open(quality);
      const requests = await searchBriefly(scene, questions);
      most = Math.max(most, requests.length);
      const last = requests.pop()!;
      t.match(
        last,
        { status: 'DEADLINE', steps: 0, searches: 1 },
        `${questions} questions: found by request ${requests.length + 1}`,
      );
      for (const { status, steps, positions, limitingPairs, pairs } of requests) {
        t.same([status, steps, limitingPairs.length, pairs.vertexTriangle, pairs.edgeEdge], ['DEADLINE', 0, 0, 0, 0]);
        t.same(positions, x, 'nothing has moved');
      }
      const done = await scene.resolve({ x, y });
      t.ok(done.proximitySetReused);
      t.same(done.pairs, plain.pairs);
      t.same(done.positions, plain.positions, 'to the bit');
    }
    t.ok(most > 2, `at most ${most} requests for one search`);
  });

t.test('an abandoned search of the pull-back is continued without the multipliers of another scene', async (t) => {
  const { x, y, open } = pinnedStack(24);
  const { positions: inContact } = await (await open('BALANCED')).resolve({ x, y });
  const request = { x: inContact, y };
  const plain = await (await open('BALANCED')).resolve(request);
  const engine = createCpuEngine();
  const scene = await open('BALANCED', engine);
  const other = await open('BALANCED', engine);
  t.match(await scene.resolve({ ...request, ...briefly(12) }), { status: 'DEADLINE', searches: 0 });
  await other.resolve(request);
  t.same((await scene.resolve(request)).positions, plain.positions, 'to the bit');
});

t.test('under BALANCED, too, a search may precede the first step where P is that of another start', async (t) => {
  const { x, y, open } = pinnedStack(24);
  const aside = (positions: Float32Array) => positions.map((value, k) => value + (k % 3 === 0 ? 1000 : 0));
  const request = { x: aside(x), y: aside(y) };
  const plainScene = await open('BALANCED');
  await plainScene.resolve({ x, y });
  const plain = await plainScene.resolve(request);
  const scene = await open('BALANCED');
  await scene.resolve({ x, y });
  let last: Resolution | undefined;
  for (let n = 0; n < 50 && !last?.searches; n++) last = await scene.resolve({ ...request, ...briefly(12) });
  t.match(
    last,
    { status: 'DEADLINE', steps: 0, searches: 1 },
    'the search was made although there is no time for a step',
  );
  t.same((await scene.resolve(request)).positions, plain.positions, 'to the bit');
});

t.test('pairs found for another start, or in trees that another scene has used, are searched for again', async (t) => {
  const engine = createCpuEngine();
  const scene = await open('FAST', engine);
  const other = await open('FAST', engine);
  const [first] = await searchBriefly(scene, 20);
  t.equal(first!.searches, 0);
  await other.resolve({ x, y });
  t.same((await scene.resolve({ x, y })).positions, plain.positions, 'after another scene');

  const moved = await open();
  await moved.resolve({ x, y, ...briefly(20) });
  const away = x.map((value, k) => value + (k % 3 === 0 ? 1000 : 0));
  const there = y.map((value, k) => value + (k % 3 === 0 ? 1000 : 0));
  const elsewhere = await moved.resolve({ x: away, y: there });
  const fresh = await (await open()).resolve({ x: away, y: there });
  t.same(elsewhere.positions, fresh.positions, 'from another start');
});

t.test('a search may take the time that is reserved for a test only as long as some is left', async (t) => {
  const scene = await open();
  const none = await scene.resolve({ x, y, shouldStop: () => true, timeLeft: () => 0, searchTimeLeft: () => 0 });
  t.match(none, { status: 'DEADLINE', steps: 0, searches: 0 });
  t.same(none.positions, x);
});
