import t from 'tap';
import { EXIT, exitCodeOfReport } from '../../src/cli/exit-codes.js';
import { summariseRun } from '../../src/cli/summary.js';
import { sampleReport } from './fakes.js';

const facts = {
  vertexCount: 2704,
  kinematicCount: 120,
  comparedLength: 'in the target',
  writtenTo: 'out.obj',
} as const;
const summary = (changes: Parameters<typeof sampleReport>[0] = {}, more: object = {}): string =>
  summariseRun(sampleReport(changes), { ...facts, ...more });

t.test('a converged run in words, with the distance that is left', async (t) => {
  const lines = summary().split('\n');
  t.equal(lines[0], 'converged in 7 steps, 2 searches, 0.61 s (cpu)');
  t.match(
    summary(),
    /to target +max 0\.01235, rms 0\.0004 in the unit of the mesh; 12 of 2,704 vertices deflected by more than δ = 0\.001/,
  );
  t.match(summary(), /kinematic +120 kinematic vertices, each at its target/);
  t.match(summary(), /min distance +0\.00061/);
  t.match(summary(), /max stretch +1\.08 ×/);
  t.match(summary(), /verified +state: 12,345 pairs tested \(2 by exact arithmetic\), 0 intersections/);
  t.match(summary(), /written +out\.obj/);
  t.notMatch(summary(), /overlong|pull-back|unfinished|held by|hint|warning|fell back|touching|ignored/);
});

t.test('a run that reached its target says so', async (t) => {
  t.match(summary({ distanceToTargetMax: 0, distanceToTargetRms: 0 }), /to target +every vertex is at its target/);
});

t.test('a run that did not converge says what is left, what holds it and what to do', async (t) => {
  const text = summary({
    status: 'STALLED',
    residual: 1,
    unfinishedVertices: 3,
    limitingPairs: [{ kind: 'VERTEX_TRIANGLE', a: [7], b: [1, 2, 3], distance: 0.00001 }],
  });
  t.match(text, /^stalled \(safe, not converged\) in 7 steps/);
  t.match(text, /unfinished +3 vertices with motion left; residual 1/);
  t.match(text, /held by +vertex 7 × triangle 1-2-3, 0\.00001 apart/);
  t.match(text, /hint +Contacts hold/);
  const limitingEdges = [{ a: 4, b: 9, stretch: 1.0999 }];
  t.match(
    summary({ status: 'STALLED', limitingEdges }),
    /held by +edge 4-9, at or over its limit with 1\.1 × the length in the target$[\s\S]*hint +.*edges at their limit/m,
  );
  t.match(summary({ status: 'STEP_LIMIT' }), /step limit[\s\S]*--step-limit/);
  t.match(summary({ status: 'DEADLINE' }), /time budget[\s\S]*--time-budget/);
});

t.test('overlong edges and the gain of the pull-back are reported', async (t) => {
  t.match(summary({ overlongEdges: 1 }), /overlong +1 edge longer than σ = 1\.1 × the length in the target$/m);
  const worstEdge = { a: 4, b: 9, stretch: 2.5 };
  t.match(summary({ overlongEdges: 3, worstEdge }), /overlong +3 edges .*; the worst, 4-9, 2\.5 ×$/m);
  const before = { distanceToTargetRms: 0.0069, distanceToTargetMax: 0.02, overlongEdges: 1362 };
  const after = { distanceToTargetRms: 0.0049, distanceToTargetMax: 0.015, overlongEdges: 0 };
  const text = summary({ pullBack: { steps: 19, before, after } });
  t.match(text, /pull-back +19 steps; rms 0\.0069 → 0\.0049, max 0\.02 → 0\.015, overlong edges 1,362 → 0/);
});

t.test('lengths of edges are named by what they are compared with', async (t) => {
  const edges = { overlongEdges: 1, limitingEdges: [{ a: 4, b: 9, stretch: 5.5 }] };
  const rows = (more: object): string[] =>
    summary(edges, more)
      .split('\n')
      .filter((line) => / × the length/.test(line));
  for (const [more, name] of [
    [{}, 'in the target'],
    [{ comparedLength: 'at rest' }, 'at rest'],
    [{ comparedLength: undefined }, 'in the target or at rest'],
  ] as const) {
    t.equal(rows(more).length, 3, 'max stretch, overlong, held by');
    for (const row of rows(more)) t.ok(row.endsWith(`× the length ${name}`), row);
  }
});

t.test('an answer that still intersects says so, and names pairs', async (t) => {
  const pair = { kind: 'EDGE_TRIANGLE', a: [5, 6], b: [1, 2, 3] } as const;
  const changes = {
    ignoredPairCount: 400,
    ignoredPairs: [pair],
    intersectingPairCount: 354,
    intersectingPairs: [pair],
  };
  const text = summary(changes);
  t.match(text, /intersecting +edge 5-6 × triangle 1-2-3\n +… and 353 more/);
  t.match(text, /verified +state: .* tested .*, 354 intersections left of the start, no other/);
  t.notMatch(text, / 0 intersections/);
  t.equal(exitCodeOfReport(sampleReport(changes)), EXIT.FOUND);
  t.equal(exitCodeOfReport(sampleReport({ ...changes, status: 'STALLED' })), EXIT.FOUND);
  t.equal(exitCodeOfReport(sampleReport({ status: 'STALLED' })), EXIT.NOT_CONVERGED);
  t.equal(exitCodeOfReport(sampleReport()), EXIT.OK);
});

t.test('kinematic vertices that were held back are counted', async (t) => {
  const held = { unreachedKinematic: 3, kinematicDistanceMax: 0.25 };
  t.match(summary(held), /3 of 120 kinematic vertices held back from the target, by up to 0\.25/);
  t.match(summary({ ...held, distanceToTargetMax: 0 }), /to target +every dynamic vertex is at its target/);
  t.notMatch(summary({}, { kinematicCount: 0 }), /kinematic/);
});

t.test('warnings come with their count and a cure where there is one', async (t) => {
  const text = summary({
    warnings: [
      { code: 'ZERO_AREA_TRIANGLE', message: 'Triangle 3 has no area.', count: 2 },
      { code: 'SOMETHING_NEW', message: 'Unheard of.', count: 1 },
    ],
  });
  t.match(text, /warning +ZERO_AREA_TRIANGLE \(2 times\): Triangle 3 has no area\.\n +Remove the triangle/);
  t.match(text, /warning +SOMETHING_NEW: Unheard of\.\n +written/);
});

t.test('everything that weakens the answer is mentioned', async (t) => {
  const verification = {
    performed: 'PATH',
    pairsTested: 1,
    doubtfulPairs: 0,
    intersections: 0,
    fellBack: true,
  } as const;
  t.match(summary({ verification }), /state and path: 1 pair tested, 0 intersections/);
  t.match(summary({ verification }), /fell back/);
  t.match(summary({ verification: { ...verification, performed: 'NONE' } }), /not verified/);
  t.match(summary({ touchingPairs: 2 }), /touching +2 pairs/);
  t.match(summary({ ignoredPairCount: 5 }), /ignored +5 pairs/);
  t.match(summary({ minDistance: undefined }), /min distance +nothing within reach/);
  const warnings = [{ code: 'MIN_DISTANCE_NOT_MEASURED', message: 'It is omitted.', count: 1 }];
  t.match(summary({ minDistance: undefined, warnings }), /min distance +not measured/);
});

t.test('the summary names the files of answer and trace', async (t) => {
  t.match(summary({}, { writtenTo: undefined }), /written +nothing; name a file with -o/);
  t.match(summary({}, { traceFolder: 'path', traceStates: 8 }), /trace +path \(8 states\)/);
});
