import t from 'tap';
import {
  defaultDelta,
  expectReply,
  hasNoDefault,
  isWithinRounding,
} from '../../../../bench/prove/judge/expectation.js';
import { readSurface } from '../../../../bench/prove/judge/surface.js';
import { Builder } from '../../../../bench/prove/scenes/builder.js';
import { GENERATED } from '../../../../bench/prove/scenes/generated.js';
import { Random } from '../../../../bench/prove/scenes/random.js';
import { buildMesh } from '../../../../src/mesh/build.js';
import { measureMesh } from '../../../../src/mesh/measure.js';

t.test('grains without other elements have the tolerance of their spacing', async (t) => {
  const { mesh, start } = GENERATED.gatheringGrains(new Random(1));
  const surface = readSurface(mesh);
  t.equal(expectReply(surface, Float32Array.from(start), undefined), 'ANSWER');
  const far = Float32Array.from(start, (p) => p + 1e5);
  t.equal(expectReply(surface, far, undefined), 'TOLERANCE_TOO_SMALL');
});

t.test('a start that only float64 resolves may be refused, and no other', async (t) => {
  for (const [name, expected] of [
    ['hairsBreadth', true],
    ['layers', false],
    ['slivers', false],
  ] as const) {
    const { mesh, start } = GENERATED[name](new Random(2));
    t.equal(isWithinRounding(readSurface(mesh), start, 'SKIP'), expected, name);
  }
});

t.test('edges that rounding has made points leave no default distance', async (t) => {
  const { mesh, start } = GENERATED.layers(new Random(2));
  const surface = readSurface(mesh);
  const collapsed = Float32Array.from(start, (p) => 1e4 + 1e-3 * p);
  t.equal(hasNoDefault(surface, collapsed, undefined), true);
  t.equal(hasNoDefault(surface, collapsed, 1e-3), false);
  t.equal(hasNoDefault(surface, start, undefined), false);
});

t.test('a session keeps the default distance of its opening, however its state has grown', async (t) => {
  const { mesh, start } = GENERATED.layers(new Random(2));
  const surface = readSurface(mesh);
  const grown = Float32Array.from(start, (p) => 1e5 * p);
  t.equal(expectReply(surface, grown, undefined), 'ANSWER');
  t.equal(expectReply(surface, grown, defaultDelta(surface, start)), 'TOLERANCE_TOO_SMALL');
});

t.test('what stays need not be within the range of numbers', async (t) => {
  const b = new Builder();
  const corners = [-1, 1].map((side) => b.vertex([1e6 * side, 1e6, 0], undefined, true));
  b.triangle(corners[0], corners[1], b.vertex([0, -1e6, 0], undefined, true));
  b.sheet(3, 3, (u, v) => [u, v, 1]);
  const { mesh, start } = b.build();
  const surface = readSurface(mesh);
  const single = Float32Array.from(start);
  t.equal(expectReply(surface, single, undefined), 'EITHER');
  const sinking = single.map((p, k) => (k === 2 ? p - 1 : p));
  t.equal(expectReply(surface, single, undefined, true, sinking), 'TOLERANCE_TOO_SMALL');
});

t.test('no generated scene has several scales: the judge takes the median edge for the default of δ', async (t) => {
  for (const [name, make] of Object.entries(GENERATED)) {
    const { mesh, start } = make(new Random(3));
    const { medianEdge, typicalEdge } = measureMesh(buildMesh(mesh), start);
    t.equal(typicalEdge, medianEdge, name);
  }
});
