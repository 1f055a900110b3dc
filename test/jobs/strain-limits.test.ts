import t from 'tap';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
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
