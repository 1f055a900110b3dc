import t from 'tap';
import { checkPositions, checkRange } from '../../src/mesh/positions.js';

const cube = Float64Array.of(10, 0, 0, 12, 1, 1);

t.test(
  'positions of a wrong length or with non-finite numbers are refused, naming the array and the first vertex',
  async (t) => {
    t.doesNotThrow(() => checkPositions(cube, 2, 'start'));
    t.throws(() => checkPositions(cube, 3, 'start'), { code: 'SIZE_MISMATCH', message: /start has 6 .* 9/ });
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      t.throws(() => checkPositions(Float32Array.of(0, 0, 0, 0, bad, bad), 2, 'target'), {
        code: 'NOT_FINITE',
        message: /y coordinate of vertex 1 of target/,
        element: { kind: 'vertex', index: 1, vertices: [1] },
      });
    }
  },
);

t.test('a target within 1e12 extents of the centre is taken, beyond it is not', async (t) => {
  // The extent is 2, the centre is (11, 0.5, 0.5).
  const at = (x: number): Float64Array => Float64Array.of(0, 0, 0, x, 0, 0);
  t.doesNotThrow(() => checkRange(cube, at(2e12 + 11), 'target'));
  t.doesNotThrow(() => checkRange(cube, at(-2e12 + 11), 'target'));
  for (const x of [2e12 + 12, -2e12 + 10]) {
    t.throws(() => checkRange(cube, at(x), 'target'), {
      code: 'COORDINATE_RANGE',
      message: /x coordinate of vertex 1 of target/,
      element: { kind: 'vertex', index: 1 },
    });
  }
});

t.test('a start further than 1e12 extents from the origin is refused', async (t) => {
  const beside = (x: number): Float64Array => Float64Array.of(x, 0, 0, x + 2, 1, 1);
  t.doesNotThrow(() => checkRange(beside(1.9e12), beside(1.9e12), 'target'));
  t.throws(() => checkRange(beside(2.1e12), beside(2.1e12), 'target'), {
    code: 'COORDINATE_RANGE',
    message: /x coordinate of vertex 0 of start/,
    element: { kind: 'vertex', index: 0 },
  });
});

t.test('a start without extent is measured by its coordinates, or by 1', async (t) => {
  const point = Float64Array.of(-4, 2, 0);
  t.doesNotThrow(() => checkRange(point, Float64Array.of(4e12 - 4, 0, 0), 'target'));
  t.throws(() => checkRange(point, Float64Array.of(4e12, 0, 0), 'target'), { code: 'COORDINATE_RANGE' });
  const origin = new Float64Array(3);
  t.doesNotThrow(() => checkRange(origin, Float64Array.of(0, 1e12, 0), 'target'));
  t.throws(() => checkRange(origin, Float64Array.of(0, 1.1e12, 0), 'target'), { code: 'COORDINATE_RANGE' });
});

t.test('no coordinate beyond 1e30 is accepted, in start or target', async (t) => {
  const huge = Float64Array.of(-2e30, 0, 0, 2e30, 0, 0);
  const small = Float64Array.of(-1e30, 0, 0, 1e30, 0, 0);
  t.doesNotThrow(() => checkRange(small, small, 'target'));
  t.throws(() => checkRange(huge, small, 'target'), { code: 'COORDINATE_RANGE', message: /vertex 0 of start.*1e\+30/ });
  t.throws(() => checkRange(small, huge, 'y'), { code: 'COORDINATE_RANGE', message: /vertex 0 of y.*1e\+30/ });
});

t.test('accepted positions come with their bounding box, which the check of the range uses', async (t) => {
  const start = checkPositions(cube, 2, 'start');
  t.same(start, [10, 0, 0, 12, 1, 1]);
  const far = Float64Array.of(0, 0, 0, 3e12, 0, 0);
  const target = checkPositions(far, 2, 'target');
  t.throws(() => checkRange(cube, far, 'target', { boxes: { start, target } }), {
    code: 'COORDINATE_RANGE',
    message: /vertex 1/,
  });
  t.doesNotThrow(() => checkRange(cube, cube, 'target', { boxes: { start, target: start } }));
});
