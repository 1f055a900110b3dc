import t from 'tap';
import { apartAlong, areBoxesApart } from '../../../src/solver/cpu/box-separation.js';
import { CORNERS, PAIR_KINDS, SIDE_A } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

const X = new Float32Array(12);
const IDS = [0, 1, 2, 3] as const;

/** The boxes of four vertices, side a about a place above side b. */
function makeBoxes(kind: number): Float32Array {
  const box = new Float32Array(24);
  for (const v of IDS) {
    for (let c = 0; c < 3; c++) {
      const middle = random() - 0.5 + (v < SIDE_A[kind]! ? 1 : 0);
      box[6 * v + c] = middle - 0.3 * random();
      box[6 * v + 3 + c] = middle + 0.3 * random();
    }
  }
  return box;
}

/** The gap between the corners of the sides along n, one corner after the other. */
function gapBetween(box: Float32Array, kind: number, n: readonly number[]): number {
  const heights = (v: number): number[] =>
    Array.from({ length: 8 }, (_, corner) =>
      n.reduce((sum, part, c) => sum + part * box[6 * v + 3 * ((corner >> c) & 1) + c]!, 0),
    );
  const ids = IDS.slice(0, CORNERS[kind]!);
  const sideA = ids.slice(0, SIDE_A[kind]!).flatMap(heights);
  const sideB = ids.slice(SIDE_A[kind]!).flatMap(heights);
  return Math.min(...sideA) - Math.max(...sideB);
}

for (const [kind, { name }] of PAIR_KINDS.entries()) {
  t.test(`boxes are as far apart as their corners: ${name}`, async (t) => {
    const seen = new Set<boolean>();
    for (let n = 0; n < 500; n++) {
      const box = makeBoxes(kind);
      const direction = [0, 1, 2].map(() => (random() < 0.2 ? 0 : 2 * random() - 0.6));
      const by = 0.2 * random();
      const gap = gapBetween(box, kind, direction);
      if (Math.abs(gap - by) < 1e-9) continue;
      const [x, y, z] = direction as [number, number, number];
      Object.assign(apartAlong, { x, y, z, by });
      const isApart = areBoxesApart(box, X, kind, ...IDS);
      seen.add(isApart);
      if (isApart !== gap > by) t.fail(`gap ${gap}, by ${by}, ${direction}`);
    }
    t.equal(seen.size, 2, 'some are apart, some are not');
  });

  t.test(`an infinite box is apart from nothing: ${name}`, async (t) => {
    Object.assign(apartAlong, { x: 0, y: 0, z: 1, by: 0.1 });
    for (const endless of IDS.slice(0, CORNERS[kind]!)) {
      const box = new Float32Array(24);
      for (const v of IDS) box[6 * v + 2] = box[6 * v + 5] = v < SIDE_A[kind]! ? 1 : 0;
      t.equal(areBoxesApart(box, X, kind, ...IDS), true, 'as points they are');
      box.fill(Number.NEGATIVE_INFINITY, 6 * endless, 6 * endless + 2);
      box.fill(Number.POSITIVE_INFINITY, 6 * endless + 3, 6 * endless + 5);
      t.equal(areBoxesApart(box, X, kind, ...IDS), false, `vertex ${endless}`);
    }
  });
}
