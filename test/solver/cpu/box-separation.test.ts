import t from 'tap';
import { apartAlong, areBoxesApart, cutoffOver } from '../../../src/solver/cpu/box-separation.js';
import { CLOSEST_POINTS, closest } from '../../../src/solver/cpu/closest.js';
import { CORNERS, PAIR_KINDS, SIDE_A, VT } from '../../../src/solver/pair-kinds.js';
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

t.test('boxes so far out that rounding exceeds the distance between them are apart from nothing', async (t) => {
  // A vertex whose box contains a plane through far corners: 3 p + 2 q + r = 0, all float32, so the plane contains 0.
  const by = 0.1;
  let [seemedApart, dropped] = [0, 0];
  for (let n = 0; n < 20_000; n++) {
    const unit = 2 ** random.between(56, 64);
    const power = 2 ** Math.floor(Math.log2(unit)) * 2 ** -19;
    const corner = (): number[] => [0, 1, 2].map(() => power * Math.round((unit * (2 * random() - 1)) / power));
    const [p, q] = [corner(), corner()];
    const r = p.map((value, c) => -3 * value - 2 * q[c]!);
    const x = Float32Array.from([0.2, 0.3, 0.4, ...p, ...q, ...r]);
    if ([...p, ...q, ...r].some((value, k) => value !== x[k + 3])) continue;
    const box = Float32Array.from(
      [0, 1, 2, 3].flatMap((v) =>
        [-1, 1].flatMap((side) => [0, 1, 2].map((c) => x[3 * v + c]! + (v === 0 ? side : 0))),
      ),
    );
    CLOSEST_POINTS[VT]!(x, ...IDS);
    const d = Math.sqrt(closest.squared);
    const drops = (cutoff: number): boolean => {
      Object.assign(apartAlong, { x: closest.x / d, y: closest.y / d, z: closest.z / d, by: cutoff });
      return d > cutoff && areBoxesApart(box, x, VT, ...IDS);
    };
    if (drops(by)) seemedApart++;
    if (drops(cutoffOver(box, by, by / 400))) dropped++;
  }
  t.ok(seemedApart > 0, `${seemedApart} seem to be apart by ${by}`);
  t.equal(dropped, 0);
});

t.test('the cutoff holds to coordinates of ten thousand million edges', async (t) => {
  t.equal(cutoffOver(Float32Array.of(1e10, -3, 2), 0.1, 0.00025), 0.1);
  t.equal(cutoffOver(Float32Array.of(3, -1e11, 2), 0.1, 0.00025), Number.POSITIVE_INFINITY);
  t.equal(cutoffOver(Float32Array.of(3, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), 0.1, 0.00025), 0.1);
});
