import t from 'tap';
import type { Untangled, WireUntangleReport } from '../../../bench/prove/doors/door.js';
import { readSurface } from '../../../bench/prove/judge/surface.js';
import { LeftOutPairs } from '../../../bench/prove/untangling/left-out-pairs.js';
import {
  COUNTED,
  FREE_IS_EXACT,
  IN_LIMITS,
  judgeUntangled,
  judgeUntangledPath,
  NO_WORSE,
  NOTHING_ELSE_MET,
  TOLD,
  WHOLE_PATH,
} from '../../../bench/prove/untangling/untangling-judge.js';

/** A triangle, the tip of another one that reaches through it, and one that lies above both. */
const MESH = { vertexCount: 9, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8) };
const surface = readSurface(MESH);
const at = (tip: number): Float64Array =>
  Float64Array.of(
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    1,
    0,
    0.2,
    0.2,
    tip,
    0.2,
    0.4,
    tip + 1,
    0.4,
    0.2,
    tip + 1,
    0,
    0,
    3,
    1,
    0,
    3,
    0,
    1,
    3,
  );
const start = at(-0.1);
const rules = { kinematicPairs: 'SKIP' } as const;
const question = { surface, start, rules, maxDisplacement: undefined, rest: undefined };
const REGIONS = Uint32Array.from({ length: 9 }, (_, v) => (v === 3 ? 0 : 0xffffffff));

const answerOf = (positions: Float64Array, more: Partial<WireUntangleReport> = {}, moved = 0.3): Untangled => ({
  positions,
  regions: REGIONS,
  report: {
    status: 'FREE',
    piercesBefore: '2',
    piercesAfter: '0',
    piercesByIteration: ['2', '0'],
    regions: { vertices: 3, mean: moved, max: moved },
    outside: { vertices: 6, mean: 0, max: 0 },
    maxStretch: 1,
    minStretch: 1,
    leftOutVertices: '1',
    remaining: [],
    engine: 'cpu',
    ...more,
  },
});

const foundIn = (answer: Untangled, asked = question): string[] => {
  const found: string[] = [];
  judgeUntangled(asked, answer, (promise) => found.push(promise));
  return found;
};

t.test('a right answer passes, and what it says wrongly is found', async (t) => {
  t.same(foundIn(answerOf(at(0.2))), []);
  t.same(foundIn(answerOf(at(-0.05), {}, 0.05)).includes(FREE_IS_EXACT), true);
  t.same(foundIn(answerOf(at(0.2), { piercesBefore: '3' })), [COUNTED]);
  t.same(foundIn(answerOf(at(0.2), { status: 'PARTIAL' })), [TOLD]);
  t.same(foundIn(answerOf(at(0.2), { maxStretch: 1.1 })), [TOLD]);
  t.same(foundIn(answerOf(at(0.2), { leftOutVertices: '2' })), [TOLD]);
  t.same(foundIn(answerOf(at(0.2)), { ...question, maxDisplacement: 0.2 } as never), [IN_LIMITS]);
  const unresolved = { status: 'UNRESOLVED', piercesAfter: '2', piercesByIteration: ['2', '2'] } as const;
  const pairs = [
    { a: [3, 4], b: [0, 1, 2] },
    { a: [3, 5], b: [0, 1, 2] },
  ];
  t.same(foundIn(answerOf(start, { ...unresolved, remaining: pairs }, 0)), []);
  t.same(foundIn(answerOf(start, { ...unresolved, remaining: pairs.slice(1) }, 0)), [COUNTED]);
  t.same(foundIn(answerOf(at(-0.05), { ...unresolved, remaining: pairs }, 0.05)), [NO_WORSE], 'it is not the start');
  const lost = { ...unresolved, piercesByIteration: ['2', '1'], remaining: pairs };
  t.same(foundIn(answerOf(start, lost, 0)), [NO_WORSE], 'a better state was on the way');
});

const leftOut = [{ vertices: [3], patch: [0, 1, 2] }];
const piece = (tip: number, iteration = 1) => ({
  positions: at(tip),
  iteration,
  leftOut: iteration > 0 ? leftOut : [],
});
const first = { positions: start, iteration: 0, leftOut: [] };

const metOn = (path: Parameters<typeof judgeUntangledPath>[2], answer: Untangled): string[] => {
  const found: string[] = [];
  judgeUntangledPath(question, answer, path, (promise) => found.push(promise));
  return found;
};

t.test('on a path nothing meets but what was left out', async (t) => {
  t.same(metOn([first, piece(0.1), piece(0.2, 0)], answerOf(at(0.2))), []);
  t.same(metOn([first, piece(3.5), piece(0.2, 0)], answerOf(at(0.2))), [NOTHING_ELSE_MET], 'into the triangle above');
  t.same(metOn([first, piece(0.2, 0)], answerOf(at(0.2))), [NOTHING_ELSE_MET], 'the pull-back leaves out nothing');
  t.same(metOn([first, piece(0.1)], answerOf(at(0.2))), [WHOLE_PATH], 'the answer is no state of it');
  t.same(metOn([first, piece(0.2), piece(0.1)], answerOf(at(0.2))), [WHOLE_PATH], 'it goes on beyond the answer');
  const unresolved = answerOf(start, { status: 'UNRESOLVED' });
  t.same(metOn([first], unresolved), [], 'nothing was gained');
  t.same(metOn([first, piece(0.1)], unresolved), [WHOLE_PATH], 'a better state that is not the answer');
  t.same(metOn([piece(0.1)], answerOf(at(0.1))), [WHOLE_PATH], 'it begins elsewhere');
  const told = answerOf(at(0.2), { piercesByIteration: ['2', '1', '0'] });
  t.same(metOn([first, piece(0.1), piece(0.2, 2)], told), [WHOLE_PATH], 'a state of the first iteration is missing');
});

t.test('a region leaves out an element with a vertex in it and one that lies in its patch, and no more', async (t) => {
  const pairs = new LeftOutPairs([], leftOut);
  t.ok(
    pairs.has([3], [0, 1, 2]) && pairs.has([0, 1, 2], [3]) && pairs.has([3, 4], [0, 1]) && pairs.has([3, 4], [0, 1, 2]),
  );
  t.notOk(pairs.has([4], [0, 1, 2]) || pairs.has([4, 5], [0, 1]) || pairs.has([4, 5], [0, 1, 2]));
  t.notOk(pairs.has([3], [0, 1, 8]) || pairs.has([3], [6, 7, 8]) || pairs.has([3, 4], [0, 6]));
  const meeting = new LeftOutPairs([{ a: [4, 5], b: [6, 7, 8] }], []);
  t.ok(meeting.has([4], [6, 7, 8]) && meeting.has([4, 5], [6, 7]));
  t.notOk(meeting.has([3], [6, 7, 8]));
});
