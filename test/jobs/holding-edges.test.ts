import t from 'tap';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { fakeEngine, resolution } from '../support/fake-engine.js';
import { runJob } from '../support/job.js';

const COUNT = 12;
const inRow = (): Float32Array => Float32Array.from({ length: 3 * COUNT }, (_, i) => (i % 3 === 0 ? i / 3 : 0));

/** A chain of rods in a row, of which vertex 0 is held; from vertex 6 on the target is `away` farther. */
function chain(away: number, parameters: ParametersInput) {
  const start = inRow();
  const target = start.map((x, i) => (i % 3 === 0 && i >= 18 ? x + away : x));
  const mesh = {
    vertexCount: COUNT,
    segments: Uint32Array.from({ length: 2 * (COUNT - 1) }, (_, i) => (i >> 1) + (i & 1)),
    kinematic: Uint8Array.from({ length: COUNT }, (_, v) => (v === 0 ? 1 : 0)),
    restLengths: { positions: start },
  };
  return { mesh, start, target, parameters };
}

for (const parameters of [{ quality: 'BALANCED' }, { quality: 'FAST', preset: 'PAPER' }] as const) {
  const name = Object.values(parameters).join(', ');
  t.test(
    `${name}: if there is no contact, the edges at their limit are named, that of the farthest vertex first`,
    async (t) => {
      const { answer } = await runJob(chain(8, parameters), createCpuEngine());
      const { limitingEdges, limitingPairs, resolved } = answer.report;
      t.same(limitingPairs, []);
      t.ok(limitingEdges.length > 0 && limitingEdges.length <= 8, `${limitingEdges.length} edges`);
      t.equal(new Set(limitingEdges.map(({ a }) => a)).size, limitingEdges.length, 'each once');
      const x = (v: number) => answer.positions[3 * v]!;
      const away = inRow().map((at, i) => (i % 3 === 0 ? Math.abs(at + (i >= 18 ? 8 : 0) - answer.positions[i]!) : 0));
      const { a, b } = limitingEdges[0]!;
      t.equal(Math.max(away[3 * a]!, away[3 * b]!), Math.max(...away.subarray(3)), 'one end is the farthest vertex');
      limitingEdges.forEach((edge) => {
        t.equal(edge.b, edge.a + 1);
        t.ok(Math.abs(edge.stretch - (x(edge.b) - x(edge.a))) < 1e-5, 'relative to its length at rest, 1');
        t.ok(edge.stretch >= 0.995 * resolved.stretchLimit);
      });
    },
  );
}

t.test('no edge is named for a vertex that reaches its target', async (t) => {
  const { answer } = await runJob(chain(0, {}), createCpuEngine());
  t.same(answer.report.limitingEdges, []);
});

t.test('an edge at its limit is named for a vertex that would move on, under every status', async (t) => {
  const start = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 0, 9, 1, 0, 9);
  const target = start.map((x, i) => (i === 0 || i === 3 ? x + 5 : x));
  const mesh = { vertexCount: 4, segments: Uint32Array.of(0, 1, 2, 3) };
  for (const status of ['STALLED', 'STEP_LIMIT', 'CONVERGED'] as const) {
    // Vertex 0 stays, and vertex 1 goes as far as the rod allows.
    const engine = fakeEngine((step) => {
      const x = step.x.slice();
      x[3] = x[0]! + 1.0999 * (x[3]! - x[0]!);
      return resolution(step, x, status, 1);
    });
    const request = { mesh, start, target, parameters: { stretchLimit: 1.1 } };
    const { limitingEdges } = (await runJob(request, engine)).answer.report;
    t.match(limitingEdges, [{ a: 0, b: 1 }], status);
    t.ok(Math.abs(limitingEdges[0]!.stretch - 1.0999) < 1e-5);
    const unlimited = await runJob({ ...request, parameters: { stretchLimit: 0 } }, engine);
    t.same(unlimited.answer.report.limitingEdges, [], 'without a limit none is at it');
  }
});
