import t from 'tap';
import { describeCheck, hasFindings } from '../../src/cli/commands/check.js';
import type { CheckAnswer } from '../../src/contract/requests.js';

const free: CheckAnswer = {
  intersectionFree: true,
  intersectionCount: 0,
  intersections: [],
  kinematicIntersectionCount: 0,
  closePairs: [],
};
const facts = { mesh: 'a.obj', vertexCount: 1200 };

t.test('a free state gives one line', async (t) => {
  t.equal(describeCheck(free, facts), 'a.obj (1,200 vertices): free of intersections');
  t.notOk(hasFindings(free));
});

t.test('an intersecting state lists pairs and the complete count', async (t) => {
  const pair = { kind: 'EDGE_TRIANGLE', a: [1, 2], b: [3, 4, 5] } as const;
  const answer = { ...free, intersectionFree: false, intersectionCount: 780, intersections: [pair] };
  const text = describeCheck(answer, facts);
  t.match(text, /^a\.obj \(1,200 vertices\): 780 intersections\n/);
  t.match(text, /pairs +edge 1-2 × triangle 3-4-5\n +… and 779 more/);
  t.ok(hasFindings(answer));
});

t.test('the report says how much of a path that may collide is free', async (t) => {
  const answer = { ...free, pathFree: false, earliestImpact: 0.035 };
  const text = describeCheck(answer, { ...facts, pathEnd: 'b.obj' });
  t.match(text, /free of intersections, but the path is not/);
  t.match(
    text,
    /path +straight to b\.obj: may collide; the first 3\.5 % of the way is free \(earliest impact 0\.035\)/,
  );
  t.ok(hasFindings(answer));
});

t.test('a free path is reported as free', async (t) => {
  const answer = { ...free, pathFree: true };
  t.match(describeCheck(answer, { ...facts, pathEnd: 'b.obj' }), /and so is the path[\s\S]*free all the way/);
  t.notOk(hasFindings(answer));
});

t.test('a path that begins with an intersection is reported', async (t) => {
  const answer = { ...free, intersectionFree: false, intersectionCount: 2, pathFree: false, earliestImpact: 0 };
  t.match(
    describeCheck(answer, { ...facts, pathEnd: 'b.obj' }),
    /path +straight to b\.obj: not free, because the state itself/,
  );
});

t.test('distance and close pairs are reported and do not change the exit code', async (t) => {
  const pair = { kind: 'VERTEX_VERTEX', a: [1], b: [2], distance: 0.0005 } as const;
  const answer = { ...free, minDistance: 0.0005, closePairs: [pair] };
  const text = describeCheck(answer, { ...facts, closerThan: 0.001 });
  t.match(text, /min distance +0\.0005/);
  t.match(text, /close pairs +vertex 1 × vertex 2, 0\.0005 apart/);
  t.notOk(hasFindings(answer));
  t.match(describeCheck(free, { ...facts, closerThan: 0.001 }), /close pairs +none closer than 0\.001/);
});

t.test('close pairs that did not fit into the list are not counted as if there were none', async (t) => {
  const pair = { kind: 'VERTEX_VERTEX', a: [1], b: [2], distance: 0.0005 } as const;
  const near = (count: number, maxPairs?: number): string =>
    describeCheck(
      { ...free, minDistance: 0.0005, closePairs: Array.from({ length: count }, () => pair) },
      { ...facts, closerThan: 0.001, maxPairs },
    );
  t.match(near(64), /0\.0005 apart\n +at least 64 pairs; the list is full \(--max-pairs\)$/);
  t.match(near(63), /… and 53 more$/, 'all of them are in the list');
  t.match(near(3, 3), /at least 3 pairs;/);
  t.match(
    near(0, 0),
    /close pairs +at least 1 pair; the list is full/,
    'an empty list does not mean that there is none',
  );
});

t.test('intersections among kinematic elements are reported even when they are skipped', async (t) => {
  t.match(describeCheck({ ...free, kinematicIntersectionCount: 4 }, facts), /kinematic +4 intersections among/);
});
