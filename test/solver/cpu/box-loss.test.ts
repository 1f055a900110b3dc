import t from 'tap';
import { BOX_LOSS } from '../../../src/solver/constants.js';
import { losesToBoxes } from '../../../src/solver/cpu/box-loss.js';

/** Unit boxes around `count` vertices in the origin. */
const boxesOf = (count: number): Float32Array =>
  Float32Array.from({ length: 6 * count }, (_, k) => (k % 6 < 3 ? -1 : 1));

t.test('a search is worthwhile if boxes take more than their share of the motions', async (t) => {
  const count = 100;
  const box = boxesOf(count);
  const x = new Float32Array(3 * count);
  const wanted = new Uint8Array(count);
  // Every second vertex wants to move; of these `far` to twice the distance of the face, which takes half of their motion.
  const judge = (far: number): boolean => {
    const y = x.slice();
    for (let i = 0; i < count; i += 2) y[3 * i] = i < 2 * far ? 2 : 0.5;
    return losesToBoxes(box, x, y, wanted);
  };
  const most = Math.floor(2 * BOX_LOSS * (count / 2));
  t.notOk(judge(0));
  t.notOk(judge(most - 1));
  t.ok(judge(most + 1));
  t.same(
    [...wanted],
    [...wanted].map((_, i) => (i % 2 === 0 ? 1 : 0)),
    'those that want to move get new boxes',
  );
});

t.test('without moving vertices boxes reduce no motion', async (t) => {
  const x = Float32Array.of(0, 0, 0, 5, 5, 5);
  const wanted = Uint8Array.of(1, 1);
  t.notOk(losesToBoxes(boxesOf(2), x, x, wanted));
  t.same([...wanted], [0, 0]);
});
