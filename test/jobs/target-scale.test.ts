import t from 'tap';
import { requestOf } from '../../examples/resolve-scene.js';
import { EXAMPLES } from '../../examples/scenes/index.js';
import { warnOfScale } from '../../src/jobs/target-scale.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
import { seeded } from '../support/random.js';

/** A square of cloth, float64[3·V], and its mesh. */
function cloth(side = 12) {
  const positions = Float64Array.from({ length: 3 * side * side }, (_, k) => {
    const v = Math.floor(k / 3);
    return [0.01 * (v % side), 0.01 * Math.floor(v / side), 0.5][k % 3];
  });
  const triangles: number[] = [];
  for (let r = 0; r + 1 < side; r++) {
    for (let c = 0; c + 1 < side; c++) {
      const v = r * side + c;
      triangles.push(v, v + 1, v + side, v + 1, v + side + 1, v + side);
    }
  }
  return { mesh: { vertexCount: side * side, triangles: Uint32Array.from(triangles) }, positions };
}

const { mesh: input, positions } = cloth();
const warningsOf = (target: Float64Array, mesh = buildMesh(input)) => warnOfScale(mesh, positions, target);

t.test('a target in other units is reported with the factor and the units', async (t) => {
  for (const [factor, words] of [
    [1000, /is 1000 times as large as the start, the ratio of metres to millimetres: are both/],
    [0.001, /is 1000 times as small as the start, the ratio of metres to millimetres/],
    [25.4, /25\.4 times as large .* inches to millimetres/],
    [39.37, /39\.37 times .* metres to inches/],
    [10, /10 times .* centimetres to millimetres/],
    [50, /50 times as large as the start: are both/],
  ] as const) {
    const found = warningsOf(positions.map((p) => p * factor));
    t.match(found, [{ code: 'TARGET_SCALED', message: words, element: { kind: 'vertex' } }], `${factor}`);
    t.match(found[0]?.message, /^The target of the dynamic vertices is /);
  }
});

t.test('a deformed target in other units is reported, too', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const deformed = positions.map((p) => 100 * (p + random.between(-0.0005, 0.0005)));
  t.match(warningsOf(deformed), [{ code: 'TARGET_SCALED' }]);
});

t.test(
  'motions are not reported as other units: a fall of 10 km, a turn, crumpling, collapse to a point, growth to double size',
  async (t) => {
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    t.same(warningsOf(positions.map((p, k) => (k % 3 === 2 ? p - 10_000 : p))), []);
    t.same(warningsOf(positions.map((_, k) => positions[k - (k % 3) + ((k + 1) % 3)])), []);
    t.same(warningsOf(positions.map(() => random.between(-10, 10))), [], 'crumpled at random, far out');
    t.same(warningsOf(positions.map(() => 0.25)), []);
    t.same(warningsOf(positions.map((p) => 2 * p)), []);
  },
);

t.test('no example is reported as having other units', async (t) => {
  for (const [name, make] of Object.entries(EXAMPLES)) {
    const { mesh, start, target } = requestOf(make());
    t.same(warnOfScale(buildMesh(mesh), start, target), [], name);
  }
});

t.test('parts, kinematic vertices and particles are judged separately', async (t) => {
  const both = {
    vertexCount: 288,
    triangles: Uint32Array.from([...input.triangles, ...input.triangles.map((v) => v + 144)]),
  };
  const start = Float64Array.from([...positions, ...positions.map((p) => p + 1)]);
  const target = start.map((p, k) => (k < 432 ? p : 100 * p));
  const parts = [
    { name: 'coat', firstVertex: 0, vertexCount: 144 },
    { name: 'body', firstVertex: 144, vertexCount: 144, kinematic: true },
  ];
  const found = warnOfScale(buildMesh({ ...both, parts }), start, target);
  t.match(found, [{ message: /^The target of the kinematic vertices of part "body" is 100 times/ }]);
  t.ok((found[0]?.element?.index ?? 0) >= 144, 'one of its vertices');
  const grains = buildMesh({ vertexCount: 144, particles: Uint32Array.from({ length: 144 }, (_, v) => v) });
  t.match(
    warningsOf(
      positions.map((p) => 1000 * p),
      grains,
    ),
    [{ code: 'TARGET_SCALED' }],
  );
  t.same(
    warningsOf(
      positions.map((p, k) => (k % 3 === 2 ? p - 1 : p)),
      grains,
    ),
    [],
  );
});

t.test('the warning about units is the first warning of the report', async (t) => {
  const target = positions.map((p) => 100 * p);
  const parameters = { stepLimit: 1 } as const;
  const { answer } = await runJob({ mesh: input, start: positions, target, parameters }, createCpuEngine());
  t.equal(answer.report.warnings[0]?.code, 'TARGET_SCALED');
});
