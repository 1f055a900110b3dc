import t from 'tap';
import type { DiagnoseRequest } from '../../src/contract/diagnosis.js';
import { flatSheet } from '../support/sheet.js';
import { box, codesOf, diagnose, findingOf, type Shape, sheet, together } from './shapes.js';

const plain = sheet(8, 0.01);
/** beside the budget, which is always told */
const SILENT = ['SMALLEST_TIME_BUDGET'];
const problems = async (shape: Shape, more: Partial<DiagnoseRequest> = {}) => {
  const { findings } = await diagnose(shape, more);
  return findings.filter(({ severity }) => severity !== 'NOTE').map(({ code }) => code);
};
const target = (shape: Shape, map: (p: number[]) => number[]) => {
  const y: number[] = [];
  for (let k = 0; k < shape.x.length; k += 3) y.push(...map(shape.x.slice(k, k + 3)));
  return { target: Float64Array.from(y) };
};
/** Without symmetry, so that no map of axes leaves it as it is. */
const bent: Shape = {
  ...plain,
  x: plain.x.map((v, k) => (k % 3 === 2 ? (plain.x[k - 2]! + 2 * plain.x[k - 1]!) ** 2 * 3 : v)),
};

t.test('a mesh without problems has no findings', async (t) => {
  const diagnosis = await diagnose(
    plain,
    target(plain, ([x, y, z]) => [x!, y!, z! + 0.01]),
  );
  t.same(codesOf(diagnosis), SILENT);
  t.equal(diagnosis.accepted, true);
  t.ok(diagnosis.smallestTimeBudgetSeconds! > 0);
  // It was measured once: less may do in a process that is warm.
  t.match(findingOf(diagnosis, 'SMALLEST_TIME_BUDGET')!.advice, /may end before the first step/);
  t.ok(Math.abs(diagnosis.activationDistance! - 0.1 * diagnosis.medianEdge!) < 1e-12);
  t.match(diagnosis.components, [{ name: 'component 1', vertexCount: 81, triangleCount: 128, closed: false }]);
});

t.test('units are guessed where size and edges fit one', async (t) => {
  for (const [factor, metres] of [
    [1, 1],
    [100, 0.01],
    [1000, 0.001],
  ] as const) {
    const body = sheet(50, 0.01 * factor);
    const found = findingOf(await diagnose(body), 'UNIT_GUESS');
    t.match(found, { severity: 'NOTE', measure: metres });
    t.match(found!.message, /guess/);
  }
});

t.test('a target in other units or axes is found', async (t) => {
  for (const [factor, words] of [
    [1000, /metres to millimetres/],
    [0.01, /metres to centimetres/],
    [2.54, /inches/],
    [10, /centimetres to millimetres/],
  ] as const) {
    const found = findingOf(
      await diagnose(
        bent,
        target(bent, (p) => p.map((v) => v * factor)),
      ),
      'TARGET_SCALED',
    );
    t.match(found, { severity: 'PROBLEM', message: words });
    t.ok(Math.abs(found!.measure! / factor - 1) < 1e-9);
  }
  const axes = async (map: (p: number[]) => number[]) =>
    findingOf(await diagnose(bent, target(bent, map)), 'TARGET_AXES');
  t.match((await axes(([x, y, z]) => [x! + 5, -z!, y!]))!.message, /y and z exchanged/);
  t.match((await axes(([x, y, z]) => [-x!, y!, z!]))!.message, /mirrored in x/);
  t.equal(await axes(([x, y, z]) => [y!, -x!, z!]), undefined, 'a turn is a motion');
  t.match(
    findingOf(
      await diagnose(
        plain,
        target(plain, ([x, y, z]) => [x!, y!, z! + 5]),
      ),
      'TARGET_FAR',
    ),
    { count: 81 },
  );
});

t.test('coordinates far from the origin are found', async (t) => {
  const far = { ...plain, x: plain.x.map((v) => Math.fround(v + 1000)) };
  const positions = Float32Array.from(far.x);
  t.match(findingOf(await diagnose(far, { positions }), 'FAR_FROM_ORIGIN'), { severity: 'WARNING', unit: 'length' });
  t.match(findingOf(await diagnose({ ...plain, x: plain.x.map((v) => v + 1000) }), 'FAR_FROM_ORIGIN'), {
    severity: 'NOTE',
  });
});

t.test('elements that no operation reads are named, and the rest is looked at', async (t) => {
  const [a, b, c] = plain.triangles as [number, number, number];
  const broken = { ...plain, triangles: [...plain.triangles, a, b, 9999, a, a, b, c, a, b] };
  const diagnosis = await diagnose(broken);
  t.equal(diagnosis.accepted, false);
  t.match(findingOf(diagnosis, 'INDEX_OUT_OF_RANGE'), {
    count: 1,
    elements: [{ kind: 'triangle', index: 128, vertices: [a, b, 9999] }],
  });
  t.match(findingOf(diagnosis, 'REPEATED_VERTEX'), {
    count: 1,
    elements: [{ index: 129 }],
    // Files of the other formats with such an element are refused before they could be welded.
    advice: /Of a glTF file, interstice doctor --weld-to FILE does it/,
  });
  t.match(findingOf(diagnosis, 'DUPLICATE_ELEMENT'), { count: 1, elements: [{ index: 130 }] });
  t.equal(diagnosis.components[0]!.triangleCount, 128);
  const infinite = await diagnose({ ...plain, x: plain.x.map((v, k) => (k === 31 ? Number.NaN : v)) });
  t.match(findingOf(infinite, 'NOT_FINITE'), { severity: 'PROBLEM', count: 1, elements: [{ index: 10 }] });
  t.match(findingOf(infinite, 'ELEMENT_NOT_FINITE'), { count: 4 });
  t.match(findingOf(await diagnose({ x: [0, 0, 0], triangles: [] }), 'NO_ELEMENTS'), { severity: 'PROBLEM' });
});

t.test('the range of coordinates is that of a resolve, for each coordinate', async (t) => {
  const wide = (most: number) => diagnose({ x: [0, 0, 0, most, 0, 0, most, most, most], triangles: [0, 1, 2] });
  t.equal(findingOf(await wide(9e29), 'COORDINATE_RANGE'), undefined);
  t.match(findingOf(await wide(2e30), 'COORDINATE_RANGE'), { severity: 'PROBLEM', count: 2 });
});

t.test('unused vertices, coincident vertices, seams and flipped panels are found', async (t) => {
  t.match(findingOf(await diagnose({ ...plain, x: [...plain.x, 5, 5, 5] }), 'UNUSED_VERTICES'), {
    count: 1,
    elements: [{ index: 81 }],
  });
  // Powers of two, whose sums are exact: the seam is at one place to the bit.
  const exact = sheet(8, 0.0078125);
  const other = sheet(8, 0.0078125, 0, 0.0625);
  const panels = await diagnose(together(exact, other));
  const seam = findingOf(panels, 'COINCIDENT_VERTICES')!;
  t.match(seam, { severity: 'PROBLEM', count: 9, message: /seams of 8 edges \(component 1 and component 2\)/ });
  t.match(seam.elements[0], { vertices: [81, 8] });
  t.equal(findingOf(panels, 'FLIPPED_PANEL'), undefined);
  const reversed = { ...other, triangles: [...other.triangles].reverse() };
  t.match(findingOf(await diagnose(together(exact, reversed)), 'FLIPPED_PANEL'), { count: 8 });
});

t.test('inconsistent orientation and edges with three triangles are found', async (t) => {
  const [a, b, c, ...rest] = plain.triangles as [number, number, number, ...number[]];
  t.match(findingOf(await diagnose({ ...plain, triangles: [a, c, b, ...rest] }), 'FLIPPED_TRIANGLES'), {
    count: 1,
    elements: [{ index: 0 }],
  });
  const fin = { x: [...plain.x, 0.015, 0.015, 0.01], triangles: [...plain.triangles, 10, 11, 81] };
  t.match(findingOf(await diagnose(fin), 'NON_MANIFOLD_EDGE'), { count: 1, elements: [{ vertices: [10, 11] }] });
});

t.test('slivers, and triangles and edges without extent, are found', async (t) => {
  const at = (x: number[]) => ({ x: [...plain.x, ...x], triangles: [...plain.triangles, 81, 82, 83] });
  t.match(findingOf(await diagnose(at([1, 0, 0, 1.01, 0, 0, 1.005, 0.0001, 0])), 'SLIVER_TRIANGLE'), {
    count: 1,
    elements: [{ index: 128 }],
  });
  t.match(findingOf(await diagnose(at([1, 0, 0, 2, 0, 0, 3, 0, 0])), 'ZERO_AREA_TRIANGLE'), { count: 1 });
  t.match(findingOf(await diagnose(at([1, 0, 0, 1, 0, 0, 1, 1, 0])), 'ZERO_LENGTH_EDGE'), {
    count: 1,
    elements: [{ vertices: [81, 82] }],
  });
});

t.test('thin gaps are found', async (t) => {
  const thin = await diagnose(together(plain, sheet(8, 0.01, 1e-5)));
  t.match(findingOf(thin, 'THIN_GAP'), { severity: 'NOTE' });
  t.ok(Math.abs(findingOf(thin, 'THIN_GAP')!.measure! - 1e-5) < 1e-9);
  t.match(findingOf(await diagnose(together(plain, sheet(8, 0.01, 1e-9))), 'THIN_GAP'), { severity: 'WARNING' });
});

t.test('intersections are grouped by region, with size and depth', async (t) => {
  const spike = (left: number, depth: number): Shape => ({
    x: [left - 0.004, 0.041, 0.02, left + 0.005, 0.042, 0.02, left + 0.001, 0.047, 0.02, left, 0.0437, -depth],
    triangles: [0, 1, 3, 1, 2, 3, 2, 0, 3],
  });
  const shape = together(sheet(8, 0.0101), spike(0.0151, 0.003), spike(0.0643, 0.006));
  const diagnosis = await diagnose(shape);
  t.equal(diagnosis.accepted, false);
  t.equal(diagnosis.regionCount, 2);
  for (const region of diagnosis.regions) {
    t.equal(region.contour, 'CLOSED');
    const depth = region.centre[0] < 0.04 ? 0.003 : 0.006;
    t.ok(Math.abs(region.depth - depth) < 1e-9, `depth ${region.depth} of ${depth}`);
    t.ok(region.size > 0.0005 && region.size < 0.01, `size ${region.size}`);
    t.equal(region.names.length, 2);
  }
  t.equal(
    diagnosis.regions.reduce((sum, { pairCount }) => sum + pairCount, 0),
    findingOf(diagnosis, 'INTERSECTION')!.count,
  );
  const upright: Shape = { x: [0.035, 0.035, -0.02, 0.1, 0.035, -0.02, 0.06, 0.035, 0.033], triangles: [0, 1, 2] };
  const cut = await diagnose(together(sheet(8, 0.01), upright));
  t.equal(cut.regions[0]!.contour, 'BORDER');
});

t.test('a long cut through a large surface encloses nothing: it is as deep as edges reach through', async (t) => {
  const { rest, triangles } = flatSheet(600, 50, 0.01);
  // From beyond one end of the sheet nearly to the other, farther than a walk through it goes.
  const wall: Shape = {
    x: [-3.1, 0.003, -0.004, 2.95, 0.003, -0.004, 2.95, 0.003, 0.02, -3.1, 0.003, 0.02],
    triangles: [0, 1, 2, 0, 2, 3],
  };
  const { regions } = await diagnose(together({ x: [...rest], triangles: [...triangles] }, wall));
  t.equal(regions.length, 1);
  t.ok(regions[0]!.pairCount > 500, `${regions[0]!.pairCount} pairs`);
  t.ok(regions[0]!.depth <= 0.01, `depth ${regions[0]!.depth}`);
});

t.test('the order of layers is found', async (t) => {
  const layers = await diagnose(together(box([0, 0, -1], [1, 1, 0]), sheet(10, 0.1, 0.02), sheet(10, 0.1, 0.04)));
  const [body, first, second] = ['component 3', 'component 1', 'component 2'];
  const told = layers.layers.map(({ inner, outer }) => `${inner} < ${outer}`);
  t.ok(told.includes(`${first} < ${second}`), told.join('; '));
  t.ok(told.includes(`${body} < ${first}`), told.join('; '));
  t.match(findingOf(layers, 'KINEMATIC_CANDIDATE'), { count: 1, message: /component 3/ });
});

t.test('a target that stretches edges over the limit', async (t) => {
  const wide = target(plain, ([x, y, z]) => [1.5 * x!, y!, z!]);
  t.match(findingOf(await diagnose(plain, wide), 'TARGET_STRETCHED'), { severity: 'WARNING' });
  t.equal(
    findingOf(await diagnose(plain, { ...wide, parameters: { stretchLimit: 0 } }), 'TARGET_STRETCHED'),
    undefined,
  );
});

t.test('what a resolve refuses is a finding', async (t) => {
  const diagnosis = await diagnose(plain, { parameters: { activationDistance: -1 } });
  t.match(findingOf(diagnosis, 'INVALID_PARAMETER'), { severity: 'PROBLEM', message: /activationDistance/ });
  t.equal(diagnosis.accepted, false);
  t.same(await problems(plain), []);
});

t.test('elements are counted completely and named up to the limit', async (t) => {
  const loose = { ...plain, x: [...plain.x, ...new Array(30).fill(2)] };
  t.match(findingOf(await diagnose(loose, { maxElements: 3 }), 'UNUSED_VERTICES'), {
    count: 10,
    elements: { length: 3 },
  });
  await t.rejects(diagnose(plain, { maxElements: -1 }), { code: 'INVALID_PARAMETER' });
});

t.test('a diagnosis can be cancelled, and input that is not a mesh is refused', async (t) => {
  let asked = 0;
  await t.rejects(
    diagnose(plain, {}, () => ++asked > 2),
    { code: 'CANCELLED' },
  );
  await t.rejects(diagnose(plain, { positions: new Float64Array(3) }), { code: 'SIZE_MISMATCH' });
  await t.rejects(diagnose(plain, { target: new Float64Array(3) }), { code: 'SIZE_MISMATCH' });
});
