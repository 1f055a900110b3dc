import t from 'tap';
import type { MeshInput } from '../../src/contract/mesh.js';
import type { StepRequest } from '../../src/contract/sessions.js';
import { changeMesh, checkStep, composeTarget, layOver } from '../../src/session/step-input.js';

const mesh: MeshInput = {
  vertexCount: 3,
  triangles: Uint32Array.of(0, 1, 2),
  masses: Float32Array.of(1, 2, 3),
  parts: [
    { name: 'left', firstVertex: 0, vertexCount: 2 },
    { name: 'right', firstVertex: 2, vertexCount: 1, kinematic: true },
  ],
};
const step = (more: Partial<StepRequest>): StepRequest => ({ sessionId: 'x', ...more });
const right = (...xyz: number[]) => ({ part: 'right', target: Float32Array.from(xyz) });

t.test('invalid steps are refused with the reason', async (t) => {
  const rows: [Partial<StepRequest>, string, RegExp][] = [
    [{ target: new Float32Array(8) }, 'SIZE_MISMATCH', /target has 8 entries, expected 9/],
    [{ start: new Float64Array(10) }, 'SIZE_MISMATCH', /start has 10 entries, expected 9/],
    [{ target: new Float32Array(9), partTargets: [right(1, 2, 3)] }, 'INVALID_PARAMETER', /not both/],
    [{ target: new Float32Array(9), scalar: 'FLOAT32' }, 'INVALID_PARAMETER', /only without/],
    [{ partTargets: [{ part: 'up', target: new Float32Array(3) }] }, 'INVALID_PARAMETER', /"up".*"left", "right"/],
    [{ partTargets: [right(1, 2, 3), right(1, 2, 3)] }, 'INVALID_PARAMETER', /"right" twice/],
    [{ partTargets: [right(1, 2)] }, 'SIZE_MISMATCH', /target of part "right" has 2 entries, expected 3/],
    [{ kinematic: new Uint8Array(2) }, 'SIZE_MISMATCH', /kinematic has 2 entries/],
    [{ kinematic: Uint8Array.of(0, 2, 0) }, 'INVALID_MESH', /kinematic of vertex 1 is 2/],
    [{ masses: new Float32Array(4) }, 'SIZE_MISMATCH', /masses has 4 entries/],
    [{ masses: Float32Array.of(1, 0, 1) }, 'INVALID_MESH', /vertex 1/],
    [{ masses: Float32Array.of(1, NaN, 1) }, 'NOT_FINITE', /vertex 1/],
  ];
  for (const [request, code, message] of rows) t.throws(() => checkStep(step(request), mesh), { code, message });
  t.throws(() => checkStep(step({ partTargets: [right(1, 2, 3)] }), { vertexCount: 3 }), { message: /no parts/ });
  const hints: [Float32Array, string][] = [
    [new Float32Array(8), 'Send arrays of the stated length.'],
    [
      new Float32Array(18),
      'That is twice as many: if they are FLOAT64, set scalar to that (?scalar=float64 with bare positions).',
    ],
  ];
  for (const [target, hint] of hints)
    t.throws(() => checkStep(step({ target }), mesh), { code: 'SIZE_MISMATCH', hint });
  t.throws(() => checkStep(step({ start: new Float64Array(6) }), { vertexCount: 4 }), {
    code: 'SIZE_MISMATCH',
    hint: /half as many.*FLOAT32/,
  });
  checkStep(step({}), mesh);
  checkStep(step({ kinematic: Uint8Array.of(0, 1, 0), masses: Float32Array.of(1, 1, 1) }), mesh);
});

t.test('the target is complete, composed of parts, or the last one', async (t) => {
  const last = Float32Array.from({ length: 9 }, (_, i) => i);
  const target = new Float32Array(9);
  t.equal(composeTarget(step({ target }), mesh, last), target);
  t.equal(composeTarget(step({}), mesh, last), last, 'the last target holds on');
  t.equal(composeTarget(step({ partTargets: [] }), mesh, last), last, 'an empty list of parts is no target');
  const some = composeTarget(step({ partTargets: [right(-1, -2, -3)] }), mesh, last);
  t.same([...some], [0, 1, 2, 3, 4, 5, -1, -2, -3]);
  t.same([...last], [0, 1, 2, 3, 4, 5, 6, 7, 8], 'the last target itself is not touched');
});

t.test('a kept target has the scalar that is asked for, unless it would be rounded', async (t) => {
  const [single, double] = [new Float32Array(9).fill(0.1), new Float64Array(9).fill(0.1)];
  t.equal(composeTarget(step({ scalar: 'FLOAT32' }), mesh, single), single);
  t.equal(composeTarget(step({ scalar: 'FLOAT64' }), mesh, double), double);
  t.strictSame(composeTarget(step({ scalar: 'FLOAT64' }), mesh, single), new Float64Array(9).fill(Math.fround(0.1)));
  t.throws(() => composeTarget(step({ scalar: 'FLOAT32' }), mesh, double), {
    code: 'INVALID_PARAMETER',
    message: /FLOAT32 .* FLOAT64/,
  });
});

t.test('mixed scalars become float64 without rounding', async (t) => {
  const last = new Float32Array(9).fill(Math.fround(0.1));
  const mixed = composeTarget(
    step({ partTargets: [{ part: 'right', target: Float64Array.of(0.1, 2, 3) }] }),
    mesh,
    last,
  );
  t.ok(mixed instanceof Float64Array);
  t.same([...mixed], [...new Array(6).fill(Math.fround(0.1)), 0.1, 2, 3]);
  const kept = composeTarget(step({ partTargets: [right(1, 2, 3)] }), mesh, new Float64Array(9));
  t.ok(kept instanceof Float64Array, 'a kept target may need it');
  const both = [right(1, 2, 3), { part: 'left', target: new Float32Array(6) }];
  t.ok(
    composeTarget(step({ partTargets: both }), mesh, new Float64Array(9)) instanceof Float32Array,
    'nothing is kept',
  );
});

t.test('flags and masses replace the earlier ones', async (t) => {
  t.equal(changeMesh(step({}), mesh), undefined);
  const kinematic = Uint8Array.of(1, 0, 0);
  const changed = changeMesh(step({ kinematic }), mesh)!;
  t.equal(changed.kinematic, kinematic);
  t.same(changed.parts, [
    { name: 'left', firstVertex: 0, vertexCount: 2 },
    { name: 'right', firstVertex: 2, vertexCount: 1 },
  ]);
  t.equal(changed.masses, mesh.masses);
  const masses = Float32Array.of(3, 3, 3);
  t.match(changeMesh(step({ masses }), mesh), { masses, parts: mesh.parts! });
  t.equal(mesh.parts![1]!.kinematic, true);
});

t.test('unset parameters keep the values below', async (t) => {
  t.same(layOver({ damping: 0.5, leap: 1 }, { damping: undefined, leap: 2 }), { damping: 0.5, leap: 2 });
  t.same(layOver({ damping: 0.5 }, undefined), { damping: 0.5 });
});

t.test('targets of many parts are found without a search for each', async (t) => {
  const count = 1000;
  let reads = 0;
  const parts = Array.from({ length: count }, (_, firstVertex) => ({
    get name() {
      reads++;
      return `part ${firstVertex}`;
    },
    firstVertex,
    vertexCount: 1,
  }));
  const mesh = { vertexCount: count, particles: Uint32Array.from({ length: count }, (_, v) => v), parts };
  const partTargets = Array.from({ length: count }, (_, k) => ({
    part: `part ${count - 1 - k}`,
    target: new Float32Array(3).fill(k),
  }));
  const request = { sessionId: 's', partTargets };
  checkStep(request, mesh);
  const target = composeTarget(request, mesh, new Float32Array(3 * count));
  t.equal(target[0], count - 1);
  t.equal(target.at(-1), 0);
  t.ok(reads <= 4 * count, `${reads} names were read`);
});
