import t from 'tap';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
import { flatSheet } from '../support/sheet.js';
import { testRestLengths } from './rest-length-tests.js';

testRestLengths(t, createCpuEngine());

t.test('an edge without length in the target is limited by its length at rest', async (t) => {
  const { vertexCount, triangles, rest } = flatSheet(1, 1);
  const mesh = { vertexCount, triangles, restLengths: { positions: rest } };
  // All four vertices have the same target; the answer may be there or not, and no edge is longer than at rest.
  const target = rest.map(() => 0);
  const { answer } = await runJob({ mesh, start: rest, target, parameters: {} }, createCpuEngine());
  t.equal(answer.report.overlongEdges, 0);
  t.ok(answer.report.maxStretch <= 1.1001);
});

t.test('vertices with very distant targets keep within limits during a flight', async (t) => {
  const { vertexCount, triangles, rest } = flatSheet(4, 4);
  const mesh = { vertexCount, triangles, restLengths: { positions: rest } };
  const target = rest.map((value, k) => (k % 3 === 0 ? value * 40 : value));
  const { answer } = await runJob({ mesh, start: rest, target, parameters: {} }, createCpuEngine());
  t.equal(answer.report.overlongEdges, 0, JSON.stringify(answer.report.worstEdge));
});

t.test('lengths whose squares overflow or underflow in float32 are refused, and the field is named', async (t) => {
  const { vertexCount, triangles, rest } = flatSheet(1, 1);
  for (const positions of [rest.map((p) => 1e30 * p), Float64Array.from(rest, (p) => 1.7e308 * Math.sign(p - 0.01))]) {
    const mesh = { vertexCount, triangles, restLengths: { positions } };
    const asked = runJob({ mesh, start: rest, target: rest, parameters: {} }, createCpuEngine());
    await t.rejects(asked, { code: 'INVALID_PARAMETER', message: /mesh\.restLengths/ });
  }
});
