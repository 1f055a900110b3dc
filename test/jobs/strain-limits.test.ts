import t from 'tap';
import { findStrainedElements } from '../../src/jobs/strained-elements.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
import { seeded } from '../support/random.js';
import { flatSheet, scaled } from '../support/sheet.js';
import { testStrainLimits } from './strain-limit-tests.js';

const sheet = flatSheet(12, 9, 0.01);
const pressed = scaled(sheet.rest, [2, 0.5, 1]);

testStrainLimits(t, createCpuEngine());

t.test(
  'FAST reports strains and names the qualities that enforce limits; without limits the report has no strains',
  async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    const mesh = { vertexCount, triangles, strainLimits: { rest, max: 1.1 } };
    const { answer } = await runJob(
      { mesh, start: rest, target: pressed, parameters: { quality: 'FAST' } },
      createCpuEngine(),
    );
    t.ok(answer.report.strain!.violated > 0);
    t.equal(answer.report.strain!.worst!.limit, 1.1, 'the limit as it was set');
    const warning = answer.report.warnings.find(({ code }) => code === 'STRAINED_ELEMENTS');
    t.match(warning?.message, /BALANCED/);
    t.equal(warning?.element?.kind, 'triangle');
    const plain = await runJob(
      { mesh: { vertexCount, triangles }, start: rest, target: rest, parameters: {} },
      createCpuEngine(),
    );
    t.notOk('strain' in plain.answer.report);
  },
);

t.test('tetrahedra that are crushed to a line or a plane count as inverted exactly if they are', async (t) => {
  const random = seeded();
  t.comment(`TEST_SEED=${random.seed}`);
  const volumeOf = (x: ArrayLike<number>): bigint => {
    const [a, b, c] = [1, 2, 3].map((v) => [0, 1, 2].map((k) => BigInt(x[3 * v + k]!) - BigInt(x[k]!))) as bigint[][];
    const minor = (i: number, j: number) => b![i]! * c![j]! - b![j]! * c![i]!;
    return a![0]! * minor(1, 2) + a![1]! * minor(2, 0) + a![2]! * minor(0, 1);
  };
  const tetrahedra = Uint32Array.of(0, 1, 2, 3);
  let flat = 0;
  for (let n = 0; n < 400; n++) {
    const rest = Float64Array.from({ length: 12 }, () => random.int(2 ** 10));
    if (volumeOf(rest) === 0n) continue;
    const directions = [0, 1].map(() => [0, 1, 2].map(() => random.between(-1, 1)));
    const x = new Float64Array(12);
    for (let v = 0; v < 4; v++) {
      const shares = [random.between(-1, 1), n % 2 === 0 ? 0 : random.between(-1, 1)];
      for (let k = 0; k < 3; k++) {
        const along = directions.reduce((sum, direction, d) => sum + shares[d]! * direction[k]!, 0);
        x[3 * v + k] = Math.round(2 ** 30 * along) + random.int(3);
      }
    }
    const mesh = buildMesh({ vertexCount: 4, tetrahedra, strainLimits: { rest, max: 2 } });
    const found = findStrainedElements(mesh, x, { origin: [0, 0, 0], scale: 2 ** -30 });
    const turned = volumeOf(x) * volumeOf(rest);
    if (turned === 0n) flat++;
    t.equal(found?.inverted, turned < 0n ? 1 : 0, `${[...x]} at rest ${[...rest]}`);
    t.equal(found!.min < 0, turned < 0n);
  }
  t.ok(flat < 100);
});

t.test('an engine without strain limits refuses them', async (t) => {
  const { vertexCount, triangles, rest } = sheet;
  const engine = createCpuEngine();
  const without = {
    ...engine,
    description: { ...engine.description, strainLimits: false },
    open: engine.open.bind(engine),
  };
  const mesh = { vertexCount, triangles, strainLimits: { rest, max: 1.1 } };
  await t.rejects(runJob({ mesh, start: rest, target: pressed, parameters: {} }, without), { code: 'UNIMPLEMENTED' });
});

t.test('under FAST edges of elements with strain limits hold vertices like others', async (t) => {
  // A strip of six squares whose pinned end stays while the target stretches it to half again its length.
  const corners = Array.from({ length: 14 }, (_, v) => [Math.floor(v / 2), v % 2, 0]).flat();
  const triangles = Array.from({ length: 6 }, (_, i) => [2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 3]);
  const start = Float32Array.from(corners);
  const mesh = {
    vertexCount: 14,
    triangles: Uint32Array.from(triangles.flat()),
    kinematic: Uint8Array.from({ length: 14 }, (_, v) => (v < 2 ? 1 : 0)),
    restLengths: { positions: start },
  };
  const target = start.map((value, k) => (k % 3 === 0 ? 1.5 * value : value));
  const explain = async (strain: object) => {
    const parameters = { quality: 'FAST', stretchLimit: 1.1 } as const;
    const request = { mesh: { ...mesh, ...strain }, start, target, parameters, include: { reasons: true } };
    const { report, reasons } = (await runJob(request, createCpuEngine())).answer;
    return { edges: report.limitingEdges, holds: [...(reasons?.holds ?? [])] };
  };
  const plain = await explain({});
  t.ok(plain.edges.length > 0);
  t.strictSame(await explain({ strainLimits: { rest: start, max: 1.2 } }), plain);
});
