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
