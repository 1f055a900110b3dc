import type { Test } from 'tap';
import type { Positions, RestLengthsInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { buildMesh } from '../../src/mesh/build.js';
import type { Engine } from '../../src/solver/engine.js';
import { runJob } from '../support/job.js';
import { flatSheet, scaled } from '../support/sheet.js';

const SIGMA = 1.1;
/** What rounding adds to the stretch of an edge at its limit: coordinates of a hundred edges, in float32. */
const ROUNDING = 1e-4;

const sheet = flatSheet(10, 8);
const wide = scaled(sheet.rest, [1.6, 1, 1]);

function stretches(x: Positions, reference: Positions): number[] {
  const { edges } = buildMesh(sheet);
  return Array.from({ length: edges.length / 2 }, (_, e) => {
    const [a, b] = [3 * edges[2 * e]!, 3 * edges[2 * e + 1]!];
    const lengthIn = (p: Positions) => Math.hypot(p[a]! - p[b]!, p[a + 1]! - p[b + 1]!, p[a + 2]! - p[b + 2]!);
    return lengthIn(x) / lengthIn(reference);
  });
}

/** The table of cases of lengths at rest, for every engine. */
export function testRestLengths(t: Test, engine: Engine): void {
  const resolve = async (restLengths: RestLengthsInput | undefined, parameters: ParametersInput = {}) => {
    const { vertexCount, triangles, rest } = sheet;
    const mesh = { vertexCount, triangles, ...(restLengths ? { restLengths } : {}) };
    return (await runJob({ mesh, start: rest, target: wide, parameters }, engine)).answer;
  };

  for (const quality of ['BALANCED', 'FINE'] as const) {
    t.test(`${quality}: a target that is itself stretched is followed as far as lengths at rest allow`, async (t) => {
      const free = await resolve(undefined, { quality });
      t.ok(Math.max(...stretches(free.positions, sheet.rest)) > 1.5, 'without them its own lengths count');
      const { positions, report } = await resolve({ positions: sheet.rest }, { quality });
      const found = stretches(positions, sheet.rest);
      t.ok(Math.max(...found) <= SIGMA + ROUNDING, `longest ${Math.max(...found)}`);
      t.ok(Math.max(...found) > SIGMA - 0.01, 'the limit is used');
      t.equal(report.overlongEdges, 0);
      t.ok(Math.abs(report.maxStretch - Math.max(...found)) < ROUNDING, 'the report is relative to the same lengths');
    });
  }

  t.test(
    'FAST: edges are pulled back towards their lengths at rest, and the report counts the longer ones',
    async (t) => {
      const free = await resolve(undefined, { quality: 'FAST' });
      t.equal(free.report.overlongEdges, 0);
      const { positions, report } = await resolve({ positions: sheet.rest }, { quality: 'FAST' });
      const found = stretches(positions, sheet.rest);
      const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
      t.ok(mean(found) < mean(stretches(free.positions, sheet.rest)) - 0.01, 'shorter than without');
      const over = found.filter((stretch) => stretch > SIGMA + ROUNDING).length;
      t.ok(Math.abs(report.overlongEdges - over) <= 2, `${report.overlongEdges} reported, ${over} found`);
      if (report.overlongEdges > 0) {
        const warning = report.warnings.find(({ code }) => code === 'OVERLONG_EDGES');
        t.match(warning?.message, /length at rest/);
      }
    },
  );

  t.test('lengths of single edges: 0 means no limit, and unnamed edges are relative to the target', async (t) => {
    const { edges } = buildMesh(sheet);
    const row = (v: number) => Math.floor(v / 11);
    const named = [...Array(edges.length / 2).keys()].filter((e) => row(edges[2 * e]!) < 4);
    const list = {
      edges: Uint32Array.from(named.flatMap((e) => [edges[2 * e]!, edges[2 * e + 1]!])),
      lengths: Float32Array.from(named, () => 1),
    };
    const own = await resolve(list);
    const byRest = stretches(own.positions, sheet.rest);
    t.ok(Math.max(...byRest) > 1.4, 'the other half follows the target');
    const free = await resolve({ ...list, lengths: new Float32Array(named.length) });
    t.same(free.report.overlongEdges, 0);
    t.ok(Math.max(...stretches(free.positions, sheet.rest)) > 1.5);
    const none = await resolve({ positions: sheet.rest }, { stretchLimit: 0 });
    t.ok(Math.max(...stretches(none.positions, sheet.rest)) > 1.5, 'stretchLimit 0 is off');
  });

  t.test('a start that is its own target is shortened to its lengths at rest', async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    const mesh = { vertexCount, triangles, restLengths: { positions: rest } };
    for (const [quality, isShortened] of [
      ['FAST', false],
      ['BALANCED', true],
      ['FINE', true],
    ] as const) {
      const { answer } = await runJob({ mesh, start: wide, target: wide, parameters: { quality } }, engine);
      const longest = Math.max(...stretches(answer.positions, rest));
      if (isShortened) t.ok(longest <= SIGMA + ROUNDING, `${quality}: longest ${longest}`);
      else t.same([...answer.positions], [...wide], `${quality} moves nothing`);
      t.equal(answer.report.overlongEdges > 0, !isShortened);
      t.equal(answer.report.status, 'CONVERGED');
    }
  });

  t.test('lengths at rest equal to those of the target change only rounding', async (t) => {
    const plain = await resolve(undefined);
    const same = await resolve({ positions: wide });
    const worst = Math.max(...Array.from(same.positions, (value, k) => Math.abs(value - plain.positions[k]!)));
    t.ok(worst < 1e-3, `${worst}`);
    t.equal(same.report.status, plain.report.status);
  });

  t.test('reasons name edges at the limits of their lengths at rest', async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    const mesh = { vertexCount, triangles, restLengths: { positions: rest } };
    const request = { mesh, start: rest, target: wide, parameters: {}, include: { reasons: true } };
    const { answer } = await runJob(request, engine);
    const EDGE = 3;
    t.ok(answer.reasons!.holds.filter((hold) => hold === EDGE).length > 10);
  });

  t.test('a new mesh unit changes nothing: lengths are in the unit of the positions', async (t) => {
    const { vertexCount, triangles, rest } = sheet;
    for (const unit of [1e-3, 250]) {
      const of = (x: Float32Array) => x.map((value) => value * unit);
      const mesh = { vertexCount, triangles, restLengths: { positions: of(rest) } };
      const { answer } = await runJob({ mesh, start: of(rest), target: of(wide), parameters: {} }, engine);
      t.ok(Math.max(...stretches(answer.positions, of(rest))) <= SIGMA + ROUNDING);
      t.equal(answer.report.overlongEdges, 0);
    }
  });
}
