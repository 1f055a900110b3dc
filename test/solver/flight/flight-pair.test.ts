import t from 'tap';
import { passableShare } from '../../../src/solver/flight/flight-pair.js';
import { VV } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';

const FLOOR = 0.01;
/** Largest slope of a line of flight against the x axis: beside the other point it is off by up to a twentieth of the floor. */
const SLOPE = 1e-3;
/** Times at which the distance is measured; it is least within a few thousandths of the way, so most are early. */
const TIMES = Float64Array.from({ length: 2000 }, (_, k) => (k / 1999) ** 3);

/** The least distance of two points that move from x to z, over the share of the way. */
function leastOnTheWay(x: Float32Array, z: Float32Array, share: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const time of TIMES) {
    const at = (k: number) => x[k]! + share * time * (z[k]! - x[k]!);
    least = Math.min(least, Math.hypot(at(0) - at(3), at(1) - at(4), at(2) - at(5)));
  }
  return least;
}

t.test('a flight that passes another point keeps half of the floor from it', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  let [whole, near] = [0, 0];
  for (let n = 0; n < 4000; n++) {
    const far = 10 ** random.between(1, 4);
    // The point that stays lies beside the line, mostly by less than twice the floor, and near its beginning.
    const ahead = random.between(0.05, 0.4);
    const beside = FLOOR * random.between(0, 2);
    const angle = random.between(0, 2 * Math.PI);
    const turn = random.between(-SLOPE, SLOPE);
    const x = Float32Array.of(0, 0, 0, ahead, beside * Math.cos(angle), beside * Math.sin(angle));
    const z = Float32Array.of(far, far * turn, far * random.between(-SLOPE, SLOPE), x[3]!, x[4]!, x[5]!);
    const share = passableShare({ x, z, kind: VV, vertices: [0, 1] }, FLOOR);
    if (share === 1) whole++;
    const least = leastOnTheWay(x, z, share);
    if (least < FLOOR) near++;
    if (least < FLOOR / 2) t.fail(`case ${n}: ${least / FLOOR} floors, share ${share}`);
  }
  t.ok(whole > 400 && near > 0, `${whole} flew the whole way, ${near} came nearer than the floor`);
});

t.test('a flight that begins less than a floor apart keeps half of the floor, too', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const direction = (): number[] => {
    const n = [0, 1, 2].map(() => random.between(-1, 1));
    return n.map((value) => value / Math.hypot(...n));
  };
  let whole = 0;
  for (let n = 0; n < 4000; n++) {
    const near = FLOOR * random.between(0.5, 1);
    const far = FLOOR * 10 ** random.between(-0.3, 1);
    const [from, to] = [direction().map((value) => near * value), direction().map((value) => far * value)];
    const x = Float32Array.of(0, 0, 0, ...from);
    const z = Float32Array.of(0, 0, 0, ...to);
    if (passableShare({ x, z, kind: VV, vertices: [0, 1] }, FLOOR) < 1) continue;
    whole++;
    const least = leastOnTheWay(x, z, 1);
    // The numbers are rounded to float32 after the draw.
    if (least < 0.4999 * FLOOR) t.fail(`case ${n}: ${least / FLOOR} floors`);
  }
  t.ok(whole > 1000, `${whole} flew the whole way`);
});
