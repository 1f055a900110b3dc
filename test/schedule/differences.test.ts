import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import { compareToTarget, measureStretch } from '../../src/schedule/differences.js';

const MESH = buildMesh({
  vertexCount: 4,
  triangles: Uint32Array.of(0, 1, 2),
  particles: Uint32Array.of(3),
  kinematic: Uint8Array.of(1, 0, 0, 0),
});
const TARGET = Float64Array.of(0, 0, 0, 3, 0, 0, 0, 4, 0, 9, 9, 9);

t.test('distances to the target', async (t) => {
  const answer = Float64Array.of(0, 0, 1, 3, 0, 0, 0, 4, 2, 9, 9, 9);
  const result = compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: true });
  t.same(result, {
    unreachedKinematic: [0],
    deflectedVertices: 1,
    max: 2,
    rms: Math.sqrt(5 / 4),
    distances: Float32Array.of(1, 0, 2, 0),
  });
  t.equal(compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: false }).distances, undefined);
});

t.test('a kinematic vertex off by one bit is unreached, however small that is', async (t) => {
  const answer = TARGET.slice();
  answer[0] = Number.MIN_VALUE;
  t.same(compareToTarget(MESH, answer, TARGET, { delta: 1, scale: 1, isListed: false }).unreachedKinematic, [0]);
});

t.test('no unit is too large or too small, given the frame’s scale', async (t) => {
  for (const exponent of [-700, 700]) {
    const unit = 2 ** exponent;
    const target = TARGET.map((x) => x * unit);
    const answer = target.map((x, i) => (i === 5 ? x + 4 * unit : x));
    const { max, rms } = compareToTarget(MESH, answer, target, { delta: unit, scale: 1 / unit, isListed: false });
    t.equal(max, 4 * unit);
    t.equal(rms, 2 * unit);
    t.equal(measureStretch(MESH, answer, target, 1 / unit), 5 / 3);
  }
});

t.test('stretch: the worst edge, without those that have no length in the target', async (t) => {
  t.equal(measureStretch(MESH, TARGET, TARGET, 1), 1);
  const longer = TARGET.slice();
  longer[3] = 6;
  t.equal(measureStretch(MESH, longer, TARGET, 1), 2);
  const point = TARGET.slice().fill(0, 0, 9);
  t.equal(measureStretch(MESH, TARGET, point, 1), 1, 'nothing to compare with');
  const solid = buildMesh({ vertexCount: 4, tetrahedra: Uint32Array.of(0, 1, 2, 3) });
  const cube = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
  t.equal(
    measureStretch(
      solid,
      cube.map((x) => 3 * x),
      cube,
      1,
    ),
    3,
  );
});
