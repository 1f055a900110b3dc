import t from 'tap';
import type { DiagnoseRequest } from '../../src/contract/diagnosis.js';
import type { PartInput } from '../../src/contract/mesh.js';
import type { ParametersInput } from '../../src/contract/parameters.js';
import { openEngine } from '../../src/jobs/engines.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import { runJob } from '../support/job.js';
import { flatSheet } from '../support/sheet.js';
import { box, codesOf, diagnose, findingOf, requestOf, type Shape, sheet, together } from './shapes.js';

const plain = sheet(8, 0.01);
/** Two triangles, ± size. */
const plane = (size: number): Shape => ({
  x: [-size, -size, 0, size, -size, 0, size, size, 0, -size, size, 0],
  triangles: [0, 1, 2, 0, 2, 3],
});
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
  const layers = together(plain, { ...plain, x: plain.x.map((v, k) => (k % 3 === 2 ? v + 0.03 : v)) });
  const exchanged = (map: (p: number[]) => number[]) =>
    problems(
      layers,
      target(layers, ([x, y, z]) => map([x!, y!, 0.03 - z!])),
    );
  t.same(await exchanged((p) => p), [], 'layers that exchange their places are their mirror image');
  t.same(await exchanged(([x, y, z]) => [x!, y!, z! + y! / 16]), [], 'also where they change a little');
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

t.test('a target without any length is none in other units', async (t) => {
  const collapsed = await diagnose(
    plain,
    target(plain, () => [0.04, 0.04, 0]),
  );
  t.same(codesOf(collapsed), SILENT);
});

t.test('a mesh without extent is accepted where a resolve accepts it', async (t) => {
  const at = (mesh: Partial<DiagnoseRequest['mesh']>, vertexCount: number) =>
    diagnose(
      { x: Array(3 * vertexCount).fill(1), triangles: [] },
      { mesh: { vertexCount, ...mesh }, parameters: { activationDistance: 0.1 } },
    );
  const particle = await at({ particles: Uint32Array.of(0) }, 1);
  t.match([codesOf(particle), particle.accepted], [SILENT, true]);
  const triangle = await at({ triangles: Uint32Array.of(0, 1, 2) }, 3);
  t.match(findingOf(triangle, 'NO_EXTENT'), { severity: 'WARNING', message: /^All 3 vertices/ });
  t.equal(triangle.accepted, true);
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

t.test('the search for gaps ends where nearly all pairs are near, and says so', async (t) => {
  /** Triangles over each other, all within the gap that an answer opens. */
  const stack = (layers: number, gap: number): Shape =>
    together(
      ...Array.from({ length: layers }, (_, k) => ({
        x: [0, 0, k * gap, 1, 0, k * gap, 0, 1, k * gap],
        triangles: [0, 1, 2],
      })),
    );
  const few = await diagnose(stack(20, 1e-4));
  t.equal(findingOf(few, 'GAPS_NOT_MEASURED'), undefined);
  t.match(findingOf(few, 'THIN_GAP')!.message, /^The smallest gap is [^;]*; [\d,]+ pairs are below/);
  const many = await diagnose(stack(400, 1e-5));
  const most = 2 ** 18 + 256 * 7 * 400;
  t.match(findingOf(many, 'GAPS_NOT_MEASURED'), { severity: 'NOTE', count: most });
  const { count, message } = findingOf(many, 'THIN_GAP')!;
  t.match(message, /^The smallest gap that was found is [^;]*; at least [\d,]+ pairs are below/);
  t.ok(count > 0 && count <= most);
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

t.test('counts are complete, and lists hold no more than the limit, whatever it is', async (t) => {
  const boxes = Array.from({ length: 70 }, (_, k) => box([k, 0, 5], [k + 0.5, 0.5, 5.5]));
  const shape = together(plain, sheet(8, 0.01, 1e-5), ...boxes);
  const ask = (maxElements: number) => diagnose(shape, { maxElements });
  const all = await ask(65_536);
  t.ok(findingOf(all, 'THIN_GAP')!.count > 100);
  t.equal(findingOf(all, 'KINEMATIC_CANDIDATE')!.count, 70, 'those beyond the components that are listed too');
  for (const maxElements of [0, 1, 16]) {
    const { findings } = await ask(maxElements);
    t.same(
      findings.map(({ code, count }) => [code, count]),
      all.findings.map(({ code, count }) => [code, count]),
    );
    t.ok(findings.every(({ elements }) => elements.length <= maxElements));
  }
  const { count, message } = findingOf(all, 'THIN_GAP')!;
  t.match(message, `${count.toLocaleString('en')} pairs are below`);
  const closed = await diagnose(together(...boxes));
  t.equal(findingOf(closed, 'KINEMATIC_CANDIDATE'), undefined, 'none is beside an open surface');
});

t.test('a thin gap is one below the gap that an answer leaves between those parts', async (t) => {
  const shape = together(plain, sheet(8, 0.01, 1e-4), sheet(8, 0.01, 1e-4, 1));
  const vertexCount = shape.x.length / 3;
  const between = async (...own: Partial<PartInput>[]) => {
    const { mesh } = requestOf(shape);
    const parts = own.map((part, k) => ({ name: `part ${k}`, firstVertex: 81 * k, vertexCount: 81, ...part }));
    return diagnose(shape, { mesh: { ...mesh, vertexCount, parts } });
  };
  // δ is 0.001, an eighth of it 0.000125.
  t.match(findingOf(await between({}, {}, {}), 'THIN_GAP'), { severity: 'NOTE', message: /below 0.000125/ });
  t.equal(findingOf(await between({ contactOffset: 0 }, {}, {}), 'THIN_GAP'), undefined, 'the mean of both sides');
  const wide = findingOf(await between({ contactOffset: 0.001 }, { contactOffset: 0 }, {}), 'THIN_GAP');
  t.match(wide, { severity: 'NOTE', message: /below the gap to which an answer opens nearer pairs of their parts/ });
  t.ok(Math.abs(wide!.measure! - 1e-4) < 1e-9);
  t.equal(
    findingOf(await between({ activationDistance: 2e-4 }, {}, {}), 'THIN_GAP'),
    undefined,
    'a share of its own δ',
  );
  t.equal(findingOf(await between({}, {}, { contactOffset: 0.001 }), 'THIN_GAP')!.count, 0 + wide!.count);
});

t.test('what is said of thin gaps is what the method and the quality do with them', async (t) => {
  const delta = 1e-3;
  const engine = await openEngine({ engine: 'cpu' });
  const at = async (gap: number, parameters: ParametersInput) => {
    const shape = together(sheet(3, 0.01), sheet(3, 0.01, gap));
    const all = { activationDistance: delta, ...parameters };
    const { mesh, positions } = requestOf(shape);
    const shifted = positions.map((value, k) => (k >= 48 && k % 3 === 0 ? value + 0.003 : value));
    const { answer } = await runJob({ mesh, start: positions, target: shifted, parameters: all }, engine);
    return { found: findingOf(await diagnose(shape, { parameters: all }), 'THIN_GAP'), report: answer.report };
  };
  for (const [parameters, opened, words] of [
    [{ quality: 'BALANCED' }, delta / 8, /A smaller contactOffset keeps/],
    [{ quality: 'FAST' }, delta / 4, /A smaller activationDistance keeps.* contactOffset has no effect/],
    [{ quality: 'FAST', contactOffset: delta }, delta / 4, /A smaller activationDistance keeps/],
    [{ preset: 'PAPER' }, delta / 4, /A smaller activationDistance keeps/],
  ] as const) {
    const name = JSON.stringify(parameters);
    const { found, report } = await at(0.6 * opened, parameters);
    t.match(found, { severity: 'NOTE', message: new RegExp(`below ${opened}, the gap to which`), advice: words }, name);
    // A motion shorter than δ/50 is not made.
    t.ok(report.minDistance! > 0.99 * opened - delta / 50, `${name} opens to ${report.minDistance}`);
    t.equal((await at(1.1 * opened, parameters)).found, undefined, name);
  }
  const impulses = { method: 'VOLUME_IMPULSES' } as const;
  const { found, report } = await at(delta / 20, impulses);
  t.equal(found, undefined);
  t.ok(Math.abs(report.minDistance! - delta / 20) < 1e-9, `no gap is opened: ${report.minDistance}`);
  const tight = await at(delta / 500, impulses);
  t.match(tight.found, { severity: 'WARNING', advice: /VOLUME_IMPULSES opens no gap/ });
  t.ok(tight.report.minDistance! < delta / 400);
  const opened = await at(delta / 500, {});
  t.match(opened.found, { severity: 'WARNING', advice: /no room to approach: the service opens the gap/ });
  t.ok(opened.report.minDistance! > 0.1 * delta);
});

t.test('the floor of a diagnosis is that of a resolve, which large geometry at rest does not raise', async (t) => {
  const gap = 5e-4;
  const shape = together(sheet(4, 0.017, 0.3), sheet(4, 0.017, 0.3 + gap), plane(500));
  const vertexCount = shape.x.length / 3;
  const over = (kinematic: boolean) => {
    const cloth = { name: 'cloth', firstVertex: 0, vertexCount: vertexCount - 4 };
    const parts = [cloth, { name: 'plane', firstVertex: vertexCount - 4, vertexCount: 4, kinematic }];
    return diagnose(shape, { mesh: { ...requestOf(shape).mesh, parts } });
  };
  t.equal(findingOf(await over(true), 'THIN_GAP'), undefined, 'a gap of 0.3 δ is far above the floor of δ/100');
  t.match(findingOf(await over(false), 'THIN_GAP'), { severity: 'WARNING', advice: /single precision cannot tell/ });
});

t.test('a floor above δ, with which a resolve is refused, makes no gap thin', async (t) => {
  // Otherwise all pairs of the sheet, tens of millions, would be nearer than the floor.
  const shape = together(sheet(40, 0.01, 1), plane(1e9));
  const found = await diagnose(shape);
  t.equal(found.accepted, false);
  t.ok(findingOf(found, 'TOLERANCE_TOO_SMALL'));
  t.equal(findingOf(found, 'THIN_GAP'), undefined);
});

t.test('a start that intersects is accepted where its pairs are to be ignored', async (t) => {
  const size = 0.0078125;
  const shape = together(sheet(8, size), sheet(8, size), box([0.02, 0.02, -0.01], [0.031, 0.031, 0.01]));
  const positions = Float32Array.from(shape.x);
  const refused = await diagnose(shape, { positions });
  t.equal(refused.accepted, false);
  t.match(findingOf(refused, 'INTERSECTION'), { severity: 'PROBLEM' });
  t.match(findingOf(refused, 'COINCIDENT_VERTICES'), { severity: 'PROBLEM' });
  const ignored = await diagnose(shape, { positions, parameters: { onIntersectingStart: 'IGNORE_PAIRS' } });
  t.equal(ignored.accepted, true);
  t.match(findingOf(ignored, 'INTERSECTION'), {
    severity: 'WARNING',
    count: findingOf(refused, 'INTERSECTION')!.count,
  });
  t.same(ignored.regions, refused.regions);
  t.notOk(ignored.findings.some(({ severity }) => severity === 'PROBLEM'));
  t.ok(ignored.smallestTimeBudgetSeconds! > 0);
});

t.test('a vertex of an element that cannot be read is no vertex without an element', async (t) => {
  const infinite = await diagnose({ ...plain, x: plain.x.map((v, k) => (k === 0 ? Number.NaN : v)) });
  t.match(findingOf(infinite, 'ELEMENT_NOT_FINITE'), { severity: 'PROBLEM' });
  t.equal(findingOf(infinite, 'UNUSED_VERTICES'), undefined);
  const [a, b] = plain.triangles as [number, number];
  const twice = { x: [...plain.x, 5, 5, 5, 6, 6, 6], triangles: [...plain.triangles, 81, 81, a, a, b, 9999] };
  t.match(findingOf(await diagnose(twice), 'UNUSED_VERTICES'), { count: 1, elements: [{ index: 82 }] });
});

t.test('what is said of a stretched target is what a resolve of it does', async (t) => {
  const wide = target(plain, ([x, y, z]) => [1.5 * x!, y!, z!]);
  const { mesh, positions } = requestOf(plain);
  for (const [restLengths, follows] of [
    [undefined, true],
    [{ positions }, false],
  ] as const) {
    const own = { ...mesh, ...(restLengths ? { restLengths } : {}) };
    const { advice } = findingOf(await diagnose(plain, { ...wide, mesh: own }), 'TARGET_STRETCHED')!;
    t.match(advice, follows ? /the answer follows it/ : /stops short/);
    const { answer } = await runJob(
      { mesh: own, start: positions, target: wide.target, parameters: {} },
      createCpuEngine(),
    );
    t.equal(answer.report.distanceToTargetMax < 1e-6, follows);
  }
});

t.test('kinematic pairs are judged as a resolve with the same parameters judges them', async (t) => {
  const shape = together(plain, box([0.02, 0.02, -0.01], [0.031, 0.031, 0.01]));
  const mesh = { ...requestOf(shape).mesh, kinematic: new Uint8Array(shape.x.length / 3).fill(1) };
  const skipped = await diagnose(shape, { mesh });
  t.equal(skipped.accepted, true);
  t.same([skipped.regionCount, findingOf(skipped, 'INTERSECTION')], [0, undefined]);
  const { count } = findingOf(skipped, 'KINEMATIC_INTERSECTION')!;
  const kept = await diagnose(shape, { mesh, parameters: { kinematicPairs: 'PROTECT' } });
  t.equal(kept.accepted, false);
  t.match(findingOf(kept, 'INTERSECTION'), { severity: 'PROBLEM', count });
  t.equal(findingOf(kept, 'KINEMATIC_INTERSECTION'), undefined, 'they are constrained');
  t.equal(kept.regionCount, 1);
});
