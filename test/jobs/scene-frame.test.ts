import t from 'tap';
import { frameFor } from '../../src/jobs/scene-frame.js';
import { floorOf } from '../../src/solver/frame.js';

type Bounds = readonly [number, number, number, number, number, number];

const EDGE = 1;
const DELTA = 0.1;

/** A cube of side 1 with its lower corner at (x, 0, 0): two corners are enough here. */
function cubeAt(x: number, isDouble = false) {
  const corners = [x, 0, 0, x + 1, 1, 1];
  const start = isDouble ? Float64Array.from(corners) : Float32Array.from(corners);
  return { start, bounds: [...start] as unknown as Bounds };
}

const fit = (x: number, isDouble = false) => {
  const { start, bounds } = cubeAt(x, isDouble);
  return frameFor(
    undefined,
    start,
    EDGE,
    { start: bounds, target: undefined },
    DELTA,
    isDouble ? 'FLOAT64' : 'FLOAT32',
  );
};

function next(fitted: ReturnType<typeof fit>, x: number, { isDouble = false, delta = DELTA } = {}) {
  const { start, bounds } = cubeAt(x, isDouble);
  return frameFor(fitted, start, EDGE, { start: bounds, target: undefined }, delta, isDouble ? 'FLOAT64' : 'FLOAT32');
}

t.test('the coordinate frame is kept while it loses no precision', async (t) => {
  const first = fit(0);
  for (const x of [0, 0.5, 1, 30]) {
    const { frame, range } = next(first, x);
    t.equal(frame, first.frame, `at ${x}`);
    t.equal(range.floor, first.range.floor, 'δ/100');
  }
});

t.test('the frame is fitted again when the floor rises with the distance', async (t) => {
  const first = fit(0, true);
  const far = next(first, 5000, { isDouble: true });
  t.not(far.frame, first.frame);
  t.equal(far.range.floor, first.range.floor, 'centred there, nothing is lost');
});

t.test(
  'the frame is fitted again when a float32 state returns from far away and its image would be rounded',
  async (t) => {
    const { start, bounds } = cubeAt(100);
    const far = frameFor(undefined, start, EDGE, { start: bounds, target: undefined }, DELTA, 'FLOAT32');
    t.ok(far.frame.origin[0] > 99);
    const small = Float32Array.of(0.1, 0.3, 0.7, 1.1, 0.9, 0.2);
    const back = frameFor(
      far,
      small,
      EDGE,
      { start: [0.1, 0.2, 0.2, 1.1, 0.9, 0.9], target: undefined },
      DELTA,
      'FLOAT32',
    );
    t.not(back.frame, far.frame);
    t.ok(back.frame.isExact(small, back.frame.toEngine(small)));
  },
);

t.test('the frame is fitted again when a part that was far away has returned, and the floor would fall', async (t) => {
  for (const [away, isFittedAgain] of [
    [6000, true],
    [1000, false],
  ] as const) {
    const { start, bounds } = cubeAt(0, true);
    const apart: Bounds = [0, 0, 0, away, 1, 1];
    const far = frameFor(undefined, start, EDGE, { start: apart, target: undefined }, DELTA, 'FLOAT64');
    t.equal(far.range.floor > DELTA / 100, isFittedAgain, `the floor of parts ${away} apart`);
    const back = next(far, 0, { isDouble: true });
    t.equal(back.frame !== far.frame, isFittedAgain, 'a frame that costs nothing is kept');
    t.equal(back.range.floor, DELTA / 100);
    t.equal(frameFor(back, start, EDGE, { start: bounds, target: undefined }, DELTA, 'FLOAT64').frame, back.frame);
  }
});

t.test('the frame is fitted again for another scalar', async (t) => {
  const first = fit(0);
  t.not(next(first, 0, { isDouble: true }).frame, first.frame);
  t.equal(next(first, 0).frame, first.frame);
});

t.test('within the frame the floor is that of the current state', async (t) => {
  const delta = 5e-5;
  const { start, bounds } = cubeAt(0, true);
  const first = frameFor(undefined, start, EDGE, { start: bounds, target: undefined }, delta, 'FLOAT64');
  const moved = cubeAt(0.4, true);
  const present = frameFor(first, moved.start, EDGE, { start: moved.bounds, target: undefined }, delta, 'FLOAT64');
  t.equal(present.frame, first.frame);
  t.equal(present.range.floor, floorOf(delta, first.frame.over(moved.bounds), 'FLOAT64'));
  t.ok(present.range.floor > first.range.floor);
});

t.test('a δ that is too small for the old frame gets a new one before it is refused', async (t) => {
  const first = fit(0, true);
  t.not(next(first, 0.9, { isDouble: true, delta: 2e-5 }).frame, first.frame);
  t.throws(() => next(first, 0.9, { isDouble: true, delta: 1e-7 }), { code: 'TOLERANCE_TOO_SMALL' });
});
