import t from 'tap';
import type { ParametersInput } from '../../../src/contract/parameters.js';
import { createCpuEngine } from '../../../src/solver/cpu/engine.js';
import { Proximity } from '../../../src/solver/cpu/proximity.js';
import { EE, VE, VT, VV } from '../../../src/solver/pair-kinds.js';
import { distancesByVertex, pairActivationDistance } from '../../../src/solver/part-distances.js';
import { runJob } from '../../support/job.js';
import { looseScene } from '../../support/loose-scene.js';
import { heightsOf, pressedSquares } from '../../support/pressed-squares.js';
import { seeded } from '../../support/random.js';
import { makeSettings } from '../../support/settings.js';
import { allPairs, boundsApart, keysOf, leastDistance } from '../../support/trust-oracle.js';

t.test('δ of a pair is the mean of its sides, each with the largest δ of its vertices', async (t) => {
  const d = Float32Array.of(1, 2, 3, 8);
  t.equal(pairActivationDistance(d, VT, 0, 1, 2, 3), 4.5);
  t.equal(pairActivationDistance(d, EE, 0, 1, 2, 3), 5);
  t.equal(pairActivationDistance(d, VE, 3, 0, 1, -1), 5);
  t.equal(pairActivationDistance(d, VV, 1, 3, -1, -1), 5);
});

for (const preset of ['TUNED', 'PAPER'] as const) {
  t.test(`${preset}: each pair comes to rest at its own distance`, async (t) => {
    const more: ParametersInput = preset === 'PAPER' ? { preset, searchRadiusMin: 0.4 } : { preset };
    const { answer, findings } = await runJob(pressedSquares([undefined, 0.3, 0.05], more), createCpuEngine());
    t.same(findings, []);
    const { left, right } = heightsOf(answer.positions);
    for (const z of left) t.ok(Math.abs(z - 0.2) < 0.02, `left at ${z}, the mean of 0.1 and 0.3`);
    for (const z of right) t.ok(Math.abs(z - 0.075) < 0.01, `right at ${z}, the mean of 0.1 and 0.05`);
  });
}

t.test('the same distance for every part is the same as one for all, to the bit', async (t) => {
  const one = await runJob(pressedSquares([]), createCpuEngine());
  const each = await runJob(pressedSquares([0.1, 0.1, 0.1]), createCpuEngine());
  t.same(each.answer.positions, one.answer.positions);
  t.equal(each.answer.report.steps, one.answer.report.steps);
});

t.test('the floor follows the smallest distance of any part', async (t) => {
  const small = pressedSquares([1e-9, undefined, undefined]);
  await t.rejects(runJob(small, createCpuEngine()), {
    code: 'TOLERANCE_TOO_SMALL',
    message: /activationDistance 1e-9/,
  });
  const unused = pressedSquares([0.1, 0.1, 0.1], { activationDistance: 1e-9, reach: 0.2 });
  t.match((await runJob(unused, createCpuEngine())).answer.report, { verification: { fellBack: false } });
});

t.test('the search finds every pair within its own distance, wherever its vertices are in their boxes', async (t) => {
  const random = seeded();
  t.comment(`seed ${random.seed}`);
  const settings = makeSettings({ delta: 0.05, leap: 0.2, reach: 0.02 });
  for (let round = 0; round < 3; round++) {
    const { mesh, x, y } = looseScene(random, { elements: 40, side: 2.5, travel: 0.2, parts: 4 });
    const own = mesh.parts.map((part, k) =>
      k === 0 ? part : { ...part, activationDistance: [0.3, 0.01, 0.1][k - 1]! },
    );
    const parted = { ...mesh, parts: own, ignoredPartPairs: new Uint32Array(0) };
    const proximity = new Proximity(parted, settings);
    proximity.renew(x, y);
    const distances = distancesByVertex(parted, settings)!;
    const inP = new Set(keysOf(proximity.pairs));
    const { box } = proximity.boxes;
    const far = { within: 0, beyond: 0 };
    for (const pair of allPairs(parted)) {
      const ids = [...pair.a, ...pair.b, -1, -1];
      const delta = pairActivationDistance(distances, pair.kind, ids[0]!, ids[1]!, ids[2]!, ids[3]!);
      if (boundsApart(box, pair) > delta + 1e-5) {
        far.beyond++;
        if (inP.has(pair.key)) t.fail(`${pair.key} is in P, but ${delta} is all it needs`);
      } else if (leastDistance(box, pair) < delta - 1e-5) {
        far.within++;
        if (!inP.has(pair.key)) t.fail(`${pair.key} comes within ${delta} and is not in P`);
      }
    }
    t.ok(far.within > 20 && far.beyond > 50, `${far.within} pairs within their distance, ${far.beyond} beyond`);
  }
});
