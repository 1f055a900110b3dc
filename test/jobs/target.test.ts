import t from 'tap';
import { IntersticeError } from '../../src/contract/errors.js';
import { ResidentScenes } from '../../src/jobs/resident-scenes.js';
import { checkTarget } from '../../src/jobs/target.js';
import { CoordinateFrame } from '../../src/solver/frame.js';
import { seeded } from '../support/random.js';

const random = seeded();
t.comment(`TEST_SEED=${random.seed}`);

const BOX = [0, 0, 0, 4, 4, 4] as const;
const frameOf = (medianEdge: number) => CoordinateFrame.fit(new Float32Array(0), medianEdge, BOX);
const positionsOf = (vertices: number) => Float32Array.from({ length: 3 * vertices }, () => 8 * random() - 2);

function refusalOf(act: () => unknown): IntersticeError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof IntersticeError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

t.test('box and image of a target do not depend on whether the frame was expected', async (t) => {
  const scenes = new ResidentScenes();
  const [frame, other] = [frameOf(0.3), frameOf(3)];
  for (const vertices of [5, 2, 7]) {
    const target = positionsOf(vertices);
    const plain = checkTarget(target, vertices, undefined);
    for (const guess of [frame, other]) {
      const checked = checkTarget(target, vertices, { frame: guess, image: scenes.acquireImage(3 * vertices, {}) });
      t.same(checked.box, plain.box);
      t.same(checked.imageUnder(frame), frame.toEngine(target));
      t.same(plain.imageUnder(frame), frame.toEngine(target));
    }
  }
});

t.test('refusals name the same vertex whether the frame was expected or not', async (t) => {
  const scenes = new ResidentScenes();
  const frame = frameOf(2 ** -20);
  for (const isExpected of [false, true]) {
    const expected = isExpected ? { frame, image: scenes.acquireImage(12, {}) } : undefined;
    t.equal(refusalOf(() => checkTarget(positionsOf(3), 4, expected)).code, 'SIZE_MISMATCH');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const target = positionsOf(4);
      target[7] = value;
      target[10] = value;
      const refusal = refusalOf(() => checkTarget(target, 4, expected));
      t.match(refusal, { code: 'NOT_FINITE', element: { kind: 'vertex', index: 2 } });
      t.match(refusal.message, `The y coordinate of vertex 2 of target is ${value}`);
    }
    const far = positionsOf(4);
    far[5] = -1e35;
    const checked = checkTarget(far, 4, expected);
    t.match(
      refusalOf(() => checked.imageUnder(frame)),
      { code: 'COORDINATE_RANGE', element: { index: 1 } },
    );
  }
});
