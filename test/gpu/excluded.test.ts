import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { openTestEngine } from '../support/gpu.js';
import { refusalOf, runJob, spike } from '../support/job.js';
import { heightsOf, pressedSquares } from '../support/pressed-squares.js';
import { seeded } from '../support/random.js';
import { DirectSession } from '../support/scenes.js';
import { judgeTangle } from '../support/tangle.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

const IGNORE: ParametersInput = { onIntersectingStart: 'IGNORE_PAIRS' };
const at = (height: number) => spike(height, 0).start;
const random = seeded();

for (const place of ['DEVICE', 'HOST'] as const) {
  const { engine, options } = await openTestEngine(place);
  t.teardown(() => engine?.close());
  if (!engine) {
    t.test(`pairs excluded and distances of parts, search on ${place}`, options, async () => undefined);
    continue;
  }

  t.test(`${place}: whatever is excluded, everything else stays apart (seed ${random.seed})`, async (t) => {
    const { excluded, intersections, collisions } = await judgeTangle(engine, random, 24);
    t.ok(excluded[0]! > 4, `${excluded} pairs excluded`);
    t.equal(intersections, 0, 'no other pair intersects in any state');
    t.equal(collisions, 0, 'nor meets on any piece');
  });

  t.test(`${place}: pairs that have parted are protected from the next step on`, async (t) => {
    const session = new DirectSession(spike(-0.2, 0), engine);
    await session.open(IGNORE);
    t.same((await session.step(at(-0.1), { parameters: IGNORE })).positions, at(-0.1));
    t.equal((await refusalOf(session.step(at(0.5)))).code, 'INTERSECTING_START');
    const out = await session.step(at(0.5), { parameters: IGNORE });
    t.same(out.positions, at(0.5));
    t.equal(out.report.ignoredPairCount, 6);
    const back = await session.step(at(-0.5), { parameters: IGNORE });
    t.equal(back.report.ignoredPairCount, 0);
    t.notSame(back.positions, at(-0.5), 'it is stopped');
    t.same(session.findings, []);
  });

  t.test(`${place}: pairs of every kind are excluded`, async (t) => {
    // A particle in a triangle, one on a rod, two at one place, and two rods that cross; the targets separate all of them.
    const start = Float32Array.from(
      [
        [0, 0, 0, 4, 0, 0, 0, 4, 0],
        [1, 1, 0],
        [10, 0, 0, 14, 0, 0, 12, 0, 0],
        [20, 0, 0, 20, 0, 0],
        [30, -1, 0, 30, 1, 0, 29, 0, 0, 31, 0, 0],
      ].flat(),
    );
    const mesh = {
      vertexCount: 13,
      triangles: Uint32Array.of(0, 1, 2),
      segments: Uint32Array.of(4, 5, 9, 10, 11, 12),
      particles: Uint32Array.of(3, 6, 7, 8),
    };
    const target = start.slice();
    for (const v of [3, 6, 8, 11, 12]) target[3 * v + 2] = 1;
    const request = { mesh, start, target, parameters: { ...IGNORE, activationDistance: 0.1 } };
    const { answer, findings } = await runJob(request, engine);
    t.same(findings, []);
    t.same(answer.positions, target);
    t.same(
      answer.report.ignoredPairs.map(({ kind }) => kind),
      ['VERTEX_TRIANGLE', 'EDGE_EDGE', 'VERTEX_EDGE', 'VERTEX_VERTEX'],
    );
  });

  t.test(`${place}: each pair comes to rest at its part's own distance`, async (t) => {
    const { answer, findings } = await runJob(pressedSquares([undefined, 0.3, 0.05]), engine);
    t.same(findings, []);
    const { left, right } = heightsOf(answer.positions);
    for (const z of left) t.ok(Math.abs(z - 0.2) < 0.02, `left at ${z}, the mean of 0.1 and 0.3`);
    for (const z of right) t.ok(Math.abs(z - 0.075) < 0.01, `right at ${z}, the mean of 0.1 and 0.05`);
    const again = await runJob(pressedSquares([0.1, 0.1, 0.1]), engine);
    t.same(
      again.answer.positions,
      (await runJob(pressedSquares([]), engine)).answer.positions,
      'equal ones are as one',
    );
  });
}
