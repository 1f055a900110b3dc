import t from 'tap';
import type { Answer, WireReport } from '../../../../bench/prove/doors/door.js';
import { judgeAnswer } from '../../../../bench/prove/judge/answer-judge.js';
import { mayLengthsMove } from '../../../../bench/prove/judge/edge-judge.js';
import { expectReply } from '../../../../bench/prove/judge/expectation.js';
import type { Question } from '../../../../bench/prove/judge/question.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';

const surface = readSurface({
  vertexCount: 6,
  triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
  kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0),
});
const at = (height: number) =>
  Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, height, 1.2, 0.2, height, 0.2, 1.2, height);
const start = at(1);
const question: Question = { surface, start, target: at(0.5), invariants: [], verify: 'STATE' };

/** What a right answer of height 0.5 says. */
const report: WireReport = {
  status: 'CONVERGED',
  steps: 3,
  searches: 1,
  proximitySetReused: false,
  residual: 0,
  unfinishedVertices: 0,
  unreachedKinematic: 0,
  deflectedVertices: 0,
  distanceToTargetMax: 0,
  distanceToTargetRms: 0,
  kinematicDistanceMax: 0,
  overlongEdges: '0',
  maxStretch: 1,
  ignoredPairCount: '0',
  intersectingPairCount: '0',
  verification: { performed: 'STATE', intersections: '0', fellBack: false },
  resolved: {
    activationDistance: 0.1,
    reach: 0.18,
    leap: 2,
    searchRadiusMax: 0.4,
    stepLimit: 512,
    residualTolerance: 1e-4,
    stretchLimit: 1.1,
    quality: 'BALANCED',
    preset: 'TUNED',
    kinematicPairs: 'SKIP',
  },
  sessionRebuilt: false,
  engine: 'cpu',
};
const pullBackOf = (steps: number, overlongEdges: string): NonNullable<WireReport['pullBack']> => {
  const fidelity = { distanceToTargetRms: 0, distanceToTargetMax: 0, overlongEdges };
  return { steps, before: fidelity, after: fidelity };
};
const WITHIN = { violated: '0', inverted: '0', min: 1, max: 1 };
const judge = (answer: Partial<Answer>, asked: Partial<Question> = {}) =>
  judgeAnswer({ ...question, ...asked }, { positions: at(0.5), report, ...answer }).map(({ promise }) => promise);

t.test('a right answer has no findings', async (t) => {
  t.same(judge({}), []);
  t.same(judge({ report: { ...report, pullBack: pullBackOf(3, '0') } }), []);
  t.same(
    judge({
      report: { ...report, status: 'DEADLINE', pullBack: pullBackOf(3, '0'), unfinishedVertices: 2, residual: 1 },
    }),
    [],
    'edges were being shortened',
  );
});

t.test('distances are over dynamic vertices, edges over σ those with a dynamic end', async (t) => {
  // Vertex 5 of the upper triangle lies 0.5 beyond its target along its edge, vertex 2 of the lower one 0.1 short of it.
  const positions = Float64Array.from(at(0.5), (p, i) => (i === 16 ? p + 0.5 : p));
  const target = Float64Array.from(at(0.5), (p, i) => (i === 7 ? p + 0.1 : p));
  const right: WireReport = {
    ...{ ...report, status: 'STALLED', unfinishedVertices: 2, unreachedKinematic: 1, deflectedVertices: 1 },
    ...{
      distanceToTargetMax: 0.5,
      distanceToTargetRms: 0.5 / Math.sqrt(3),
      kinematicDistanceMax: 0.1,
      maxStretch: 1.5,
    },
    ...{ overlongEdges: '2', worstEdge: { a: 3, b: 5, stretch: 1.5 } },
  };
  const told = (lie: Partial<WireReport>) => judge({ positions, report: { ...right, ...lie } }, { target });
  t.same(told({}), []);
  for (const overlongEdges of ['1', '3']) t.ok(told({ overlongEdges }).includes('report: overlongEdges'));
  for (const stretch of [1.4, 1.6]) t.ok(told({ worstEdge: { a: 3, b: 5, stretch } }).includes('report: worstEdge'));
  t.ok(told({ distanceToTargetRms: 0.5 / Math.sqrt(6) }).includes('report: distanceToTargetRms'));
});

t.test('every wrong report and every fault is found by name', async (t) => {
  const lies: [Partial<WireReport>, string][] = [
    [{ distanceToTargetMax: 1e-6 }, 'report: distanceToTargetMax'],
    [{ distanceToTargetRms: 1e-6 }, 'report: distanceToTargetRms'],
    [{ kinematicDistanceMax: 1e-6 }, 'report: kinematicDistanceMax'],
    [{ overlongEdges: '1' }, 'report: overlongEdges'],
    [{ pullBack: pullBackOf(4, '0') }, 'report: pullBack'],
    [{ pullBack: pullBackOf(2, '1') }, 'report: pullBack'],
    [{ pullBack: pullBackOf(2, '0'), resolved: { ...report.resolved, quality: 'FAST' } }, 'report: pullBack'],
    [{ deflectedVertices: 1 }, 'report: deflectedVertices'],
    [{ unreachedKinematic: 1 }, 'report: unreachedKinematic'],
    [{ maxStretch: 1.00001 }, 'report: maxStretch'],
    [{ minDistance: 0.1 }, 'report: minDistance'],
    [{ residual: 0.1 }, 'report: CONVERGED'],
    [{ unfinishedVertices: 1 }, 'report: CONVERGED'],
    [{ status: 'STEP_LIMIT', unfinishedVertices: 1 }, 'report: STEP_LIMIT'],
    [{ status: 'STEP_LIMIT', unfinishedVertices: 1, steps: 383 }, 'report: STEP_LIMIT'],
    [{ status: 'DEADLINE', pullBack: undefined }, 'report: DEADLINE'],
    [{ status: 'DEADLINE', pullBack: pullBackOf(3, '0') }, 'report: DEADLINE'],
    [{ status: 'STEP_LIMIT', steps: 512, pullBack: pullBackOf(3, '0'), strain: WITHIN }, 'report: STEP_LIMIT'],
    [
      { status: 'DEADLINE', resolved: { ...report.resolved, quality: 'FAST' }, pullBack: undefined },
      'report: DEADLINE',
    ],
    [{ status: 'STALLED' }, 'report: STALLED'],
    [{ steps: 513 }, 'report: steps'],
    [{ verification: { performed: 'NONE', intersections: '0', fellBack: false } }, 'report: performed'],
    [{ verification: { performed: 'STATE', intersections: '1', fellBack: false } }, 'report: intersections 0'],
    [{ verification: { performed: 'STATE', intersections: '0', fellBack: true } }, 'the engine was never caught'],
  ];
  for (const [lie, promise] of lies) t.same(judge({ report: { ...report, ...lie } }), [promise], promise);
  t.ok(
    judge({ positions: Float64Array.from(at(0.5), (p, i) => (i === 11 ? -0.5 : p)) }).includes(
      'no intersections in the answer',
    ),
  );
  t.same(judge({ positions: Float64Array.from(at(0.5), (p, i) => (i === 11 ? Number.NaN : p)) }), ['finite positions']);
  t.ok(
    judge({ positions: Float64Array.from(at(0.5), (p, i) => (i === 2 ? 1e-9 : p)) }).includes(
      'a kinematic vertex at its target stays',
    ),
  );
});

t.test('a least distance may be missing where the budget was spent and a warning says so', async (t) => {
  const close = at(0.05);
  const asked = { target: close };
  const cut = { ...report, status: 'DEADLINE', unfinishedVertices: 1, residual: 1 };
  const judged = (told: WireReport) => judge({ positions: close, report: told }, asked);
  t.same(judged({ ...cut, warnings: [{ code: 'MIN_DISTANCE_NOT_MEASURED' }] }), []);
  t.same(judged({ ...cut, warnings: [{ code: 'UNUSED_VERTICES' }] }), ['report: minDistance']);
  const ended = { ...report, warnings: [{ code: 'MIN_DISTANCE_NOT_MEASURED' }] };
  t.same(judged(ended), ['report: minDistance']);
  const BUDGET = 10;
  const inBudget = (told: WireReport) => judge({ positions: close, report: told }, { ...asked, budgetSeconds: BUDGET });
  const taking = (seconds: number) => ({ search: 0.3e6 * seconds, verify: 0.7e6 * seconds });
  t.same(inBudget({ ...ended, timings: taking(0.4 * BUDGET) }), ['report: minDistance'], 'there was time');
  t.same(inBudget({ ...ended, timings: taking(0.9 * BUDGET) }), [], 'it ended by itself when the time was up');
  t.same(
    inBudget({ ...ended, timings: taking(0.9 * BUDGET), warnings: [] }),
    ['report: minDistance'],
    'and must say so',
  );
});

t.test('a gap below half of the floor is found, unless the start was that close', async (t) => {
  const close = at(4e-4);
  const told = { ...report, minDistance: 4e-4 };
  const asked = { target: close };
  t.same(judge({ positions: close, report: told }, asked), ['half of the floor is kept']);
  t.same(judge({ positions: close, report: told }, { ...asked, start: at(5e-4) }), []);
});

t.test('too coarse a scalar must be refused, and a fine one must not', async (t) => {
  const moved = (by: number) => start.map((p) => p + by);
  t.equal(expectReply(surface, Float32Array.from(moved(1e6)), 0.1), 'TOLERANCE_TOO_SMALL');
  t.equal(expectReply(surface, Float32Array.from(moved(1e3)), 0.1), 'ANSWER');
  t.equal(expectReply(surface, moved(1e6), 0.1), 'ANSWER');
  t.equal(expectReply(surface, start, 1e-7), 'EITHER', 'float32 inside the engine may be too coarse');
});

t.test('lengths at rest take the place of those in the target, and edges at their limit are told', async (t) => {
  const rest = { edges: Uint32Array.of(3, 4), lengths: Float32Array.of(0.5), positions: at(1) };
  const rested = readSurface({
    vertexCount: 6,
    triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
    kinematic: Uint8Array.of(1, 1, 1, 0, 0, 0),
    restLengths: rest,
  });
  t.equal(rested.atRest.get('3 4'), 0.5, 'a length that is named counts');
  t.equal(rested.atRest.get('3 5'), 1);
  const worstEdge = { a: 3, b: 4, stretch: 2 };
  const right: WireReport = { ...report, overlongEdges: '1', worstEdge, maxStretch: 2, warnings: [] };
  const told = (lie: Partial<WireReport>, asked: Partial<Question> = {}) =>
    judge({ report: { ...right, ...lie } }, { surface: rested, ...asked });
  t.same(told({}), []);
  t.same(told({ limitingEdges: [worstEdge] }), []);
  t.ok(told({ maxStretch: 1 }).includes('report: maxStretch'));
  t.ok(told({ overlongEdges: '0' }).includes('report: overlongEdges'));
  const lies = [
    { a: 3, b: 5, stretch: 1 },
    { a: 3, b: 4, stretch: 1 },
    { a: 0, b: 3, stretch: 2 },
  ];
  for (const lie of lies) t.ok(told({ limitingEdges: [lie] }).includes('report: limitingEdges'), JSON.stringify(lie));
  const held = told({}, { keepsLengths: true });
  t.ok(held.includes('lengths are kept where nothing is in the way'));
  t.ok(held.includes('report: limitingEdges'), 'somebody has to be named');
});

t.test('a mesh at its target moves by itself where an edge is at the limit of its length at rest', async (t) => {
  const mesh = { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2) };
  const x = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const rested = (length: number) =>
    readSurface({ ...mesh, restLengths: { edges: Uint32Array.of(0, 1), lengths: Float32Array.of(length) } });
  t.ok(mayLengthsMove(rested(0.9), x, 1.1));
  t.notOk(mayLengthsMove(rested(1), x, 1.1));
  t.notOk(mayLengthsMove(rested(0.5), x, 0), 'without a limit');
  t.notOk(mayLengthsMove(readSurface(mesh), x, 1.1), 'without lengths at rest');
});
