import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { TANGLES } from '../../bench/untangle/groups.js';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { type Run, readRuns, withRun } from '../../bench/untangle/runs.js';
import { tableOf } from '../../bench/untangle/suite.js';
import { buildMesh } from '../../src/mesh/build.js';
import { algorithmVersion } from '../../src/paths.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { findIntersections } from '../../src/verify/state.js';
import { seeded } from '../support/random.js';

const RULES = { kinematicPairs: 'SKIP', maxPairs: 4 } as const;

const run = (tangle: string, seed: number, more: Partial<Run> = {}): Run => ({
  tangle,
  engine: 'cpu',
  seed,
  status: 'FREE',
  pierces: 10 * seed,
  left: 0,
  wrong: 0,
  mean: 0.1,
  max: 0.5,
  outside: 0,
  stretch: 1.1,
  iterations: 2,
  seconds: 1,
  ...more,
});

t.test('every group is tangled, and nothing counts as wrong where it belongs', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  for (const { name, make } of TANGLES) {
    const { mesh, positions, truth, countWrong } = make(random);
    const countPierces = (x: Float64Array): number => findIntersections(buildMesh(mesh), x, RULES).intersectionCount;
    t.ok(countPierces(positions) > 0, `${name} is tangled`);
    // Of some it is known which side is wrong, and not where every vertex belongs.
    if (countWrong === undefined || truth.every((p, k) => p === positions[k])) continue;
    t.equal(countPierces(truth), 0, `${name}: free where it belongs`);
    t.equal(countWrong(truth), 0, `${name}: nothing is wrong there`);
    t.ok(countWrong(positions) > 0, `${name}: something is wrong in the tangle`);
  }
});

t.test('a side that a hint decides is counted as wrong where the opposite hint was given', async (t) => {
  const group = TANGLES.find(({ name }) => name === 'crossing borders, 0.5, hinted')!;
  const tangle = group.make(seeded(3));
  const layers = tangle.layers!.map((layer) => ({ ...layer, side: 'AGAINST_NORMALS' as const }));
  const turned = await untangleOne({ ...tangle, layers }, createCpuEngine());
  t.equal(turned.report.status, 'FREE');
  t.ok(tangle.countWrong!(turned.positions) > 20);
});

t.test('the table has medians over the seeds, the worst of what has a bar, and a line for each engine', async (t) => {
  const [{ name }] = TANGLES as [(typeof TANGLES)[0]];
  const runs = [
    run(name, 1),
    run(name, 2, { left: 7, status: 'PARTIAL', wrong: 3 }),
    run(name, 3, { wrong: 1, max: 0.9 }),
  ];
  const [, , line, ...rest] = tableOf(runs);
  t.equal(line, `| ${name} | 20 | 2 of 3, 7 left at most | 1 of 2 guessed | 0.10, 0.90 | 0.0 | 1.10 | 2 | 1.0 |`);
  t.same(rest, []);
  const both = tableOf([...runs, run(name, 1, { engine: 'webgpu: X' }), run('dress, motion × 8', 0)]);
  t.equal(both.length, 2 + 3);
});

t.test('pieces of a series are put together, and not with those of another version of the algorithm', async (t) => {
  const again = run('a', 1, { left: 3 });
  t.same(withRun([run('a', 1), run('a', 2), run('b', 1)], again), [run('a', 2), run('b', 1), again]);
  const folder = mkdtempSync(join(tmpdir(), 'interstice-untangle-'));
  const file = join(folder, 'runs.json');
  t.same(readRuns(file), []);
  writeFileSync(file, JSON.stringify({ algorithmVersion, runs: [again] }));
  t.same(readRuns(file), [again]);
  writeFileSync(file, JSON.stringify({ algorithmVersion: 'other', runs: [again] }));
  t.throws(() => readRuns(file), /version other/);
});
