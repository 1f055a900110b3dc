import t from 'tap';
import type { IntersticeError } from '../../src/contract/errors.js';
import type { MeshInput } from '../../src/contract/mesh.js';
import { viridis } from '../../src/page/colours.js';
import { edgeLengths, listEdges, medianLength } from '../../src/page/edges.js';
import { counts, distances, fieldsOf, gaps, stretches } from '../../src/page/fields/field.js';
import { orderNames, readMeshBlob, readOptionsText } from '../../src/page/files/open-files.js';
import { formatLength, formatNumber, formatPlural, roundTicks } from '../../src/page/format.js';
import { readCount, readNumber } from '../../src/page/numbers.js';
import { findParts } from '../../src/page/parts.js';
import { hasPath, stateOnPath, studyOfPair, withAnswer, withUntangled } from '../../src/page/study.js';
import { placeTicks } from '../../src/page/ticks.js';
import { curveOf } from '../../src/page/view/marks.js';
import { type Elements, Picker, type Ray } from '../../src/page/view/pick.js';
import { seeded } from '../support/random.js';
import { fakeUntangled } from '../transport/fake-answers.js';

/** What the page computes by itself, without a browser. */

const square = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2, 0, 2, 3) };
const flat = Float64Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);

t.test('every edge is listed once', async (t) => {
  t.same([...listEdges(square)], [0, 1, 0, 2, 0, 3, 1, 2, 2, 3]);
  t.equal(medianLength(listEdges(square), flat), 1);
});

t.test('distances and stretch are computed for every vertex', async (t) => {
  const wide = flat.map((value, i) => (i % 3 === 0 ? 2 * value : value));
  t.same([...distances(wide, flat)], [0, 1, 1, 0]);
  t.same([...stretches(wide, edgeLengths(listEdges(square), flat), listEdges(square), 4)], [2, 2, 2, 2]);
  const contacts = {
    vertices: Uint32Array.of(0, 1, 2, 3, 0, 1, 2, 0xffffffff),
    weights: Float32Array.of(1, 0.5, 0.5, 0, 1, 0.5, 0.5, 0),
    distances: Float32Array.of(0.5, 0.25),
  };
  t.same([...gaps(contacts, 4)], [0.25, 0.25, 0.25, Number.NaN], 'the nearest; none for a vertex without weight');
  t.same([...counts([{ kind: 'EDGE_TRIANGLE', a: [0, 1], b: [1, 2, 3] }], 4)], [1, 2, 1, 1]);
});

t.test('stretch refers to lengths at rest where the mesh has them', async (t) => {
  const half = flat.map((x) => x / 2);
  const stretchOf = (mesh: MeshInput) => {
    const study = studyOfPair({ title: '', mesh, start: flat, target: flat });
    const field = fieldsOf(study, listEdges(square)).find(({ id }) => id === 'stretch')!;
    return [field.explanation, ...field.valuesOf(flat, undefined)];
  };
  const words = 'The longest edge at each vertex, against its length';
  t.same(stretchOf(square), [`${words} in the target.`, 1, 1, 1, 1]);
  t.same(stretchOf({ ...square, restLengths: { positions: half } }), [`${words} at rest.`, 2, 2, 2, 2]);
});

t.test('a ray picks the front-most element and its nearest vertex, and nothing that is hidden', async (t) => {
  const positions = [...flat, ...flat.map((value, i) => (i % 3 === 2 ? 1 : value))];
  const both = Uint32Array.of(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7);
  const ray = { origin: [0.9, 0.8, 5], direction: [0, 0, -1] } as const;
  const none = new Uint32Array(0);
  const elements = (triangles: Uint32Array, particles = none) => ({ triangles, segments: none, particles });
  const pick = (shown: Elements, at: readonly number[], along: Ray, reach: number) => {
    const picker = new Picker();
    picker.setElements(shown);
    return picker.pick(at, along, reach);
  };
  t.match(pick(elements(both), positions, ray, 0.01), { vertex: 6, distance: 4 });
  t.match(pick(elements(both.subarray(0, 6)), positions, ray, 0.01), { vertex: 2, distance: 5 });
  t.equal(pick(elements(both), positions, { ...ray, origin: [1.1, 0.5, 5] }, 0.01), undefined);
  t.match(pick(elements(none, Uint32Array.of(1)), positions, { ...ray, origin: [1.001, 0, 5] }, 0.01), { vertex: 1 });
});

t.test('without named parts, connected components are the parts', async (t) => {
  const mesh = {
    vertexCount: 9,
    triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
    segments: Uint32Array.of(6, 7),
    particles: Uint32Array.of(8),
    kinematic: Uint8Array.of(0, 0, 0, 1, 1, 1, 0, 0, 0),
  };
  const { list, of } = findParts(mesh);
  t.same(
    list.map(({ name }) => name),
    ['surface', 'kinematic surface', 'strand', 'grain'],
  );
  t.same([...of], [0, 0, 0, 1, 1, 1, 2, 2, 3]);
  const parts = [
    { name: 'shirt', firstVertex: 0, vertexCount: 6 },
    { name: 'rest', firstVertex: 6, vertexCount: 3 },
  ];
  t.same(
    findParts({ ...mesh, parts }).list.map(({ name }) => name),
    ['shirt', 'rest'],
  );
});

t.test('the components of a mesh are grouped in one pass over them', async (t) => {
  // With a pass for each of them this would take hours.
  const vertexCount = 1_000_000;
  const { list, of } = findParts({ vertexCount, particles: Uint32Array.from({ length: vertexCount }, (_, v) => v) });
  t.match(list, [{ name: '1000000 grains', vertexCount, isKinematic: false }]);
  t.ok(of.every((part) => part === 0));
});

t.test('the lightness of the colour map increases monotonically', async (t) => {
  const lightness = ([r, g, b]: readonly number[]) => 0.2126 * r! ** 2.2 + 0.7152 * g! ** 2.2 + 0.0722 * b! ** 2.2;
  for (let i = 1; i <= 64; i++) {
    const [before, now] = [lightness(viridis((i - 1) / 64)), lightness(viridis(i / 64))];
    if (now <= before) t.fail(`${i}: ${before} → ${now}`);
  }
  t.ok(lightness(viridis(1)) > 10 * lightness(viridis(0)));
});

t.test('numbers are shown in a readable form', async (t) => {
  t.equal(formatLength(0.00123, 'm'), '1.23\u202fmm');
  t.equal(formatLength(12, 'cm'), '120\u202fmm');
  t.equal(formatLength(3, 'unit'), '3\u202funits');
  t.equal(formatPlural(1, 'vertex', 'vertices'), '1\u202fvertex');
  t.equal(formatPlural(2, 'vertex', 'vertices'), '2\u202fvertices');
  t.equal(formatNumber(1234567), '1,234,567');
  t.equal(formatNumber(1.5e-9), '1.5\u202f×\u202f10⁻⁹');
  t.same(
    roundTicks(0, 0.07).map((value) => Number(value.toFixed(3))),
    [0, 0.02, 0.04, 0.06],
  );
});

t.test(
  'values beside a colour map differ, have room, and are whole where only whole numbers have a meaning',
  async (t) => {
    const texts = (low: number, high: number, unit = '', isWhole = false) =>
      placeTicks(low, high, unit, isWhole).map(({ text }) => text);
    t.same(texts(1, 1.01, '×'), ['1', '1.005', '1.01\u202f×'], 'three digits would not distinguish them');
    t.same(texts(0, 1, '', true), ['0', '1']);
    t.same(texts(0, 7, '', true), ['0', '2', '4', '6']);
    t.same(texts(0, 70.2, 'mm'), ['0', '20', '40', '60\u202fmm']);
    t.equal(texts(0, 5_000_000, '', true).at(-1), '4,000,000');
    const random = seeded();
    t.comment(`TEST_SEED=${random.seed}`);
    for (let round = 0; round < 300; round++) {
      const low = random.int(2);
      const high = low + 10 ** random.between(-6, 6);
      const unit = ['', 'mm', '×'][random.int(3)]!;
      const ticks = placeTicks(low, high, unit, false);
      t.equal(new Set(ticks.map(({ text }) => text)).size, ticks.length, `${low} to ${high}: no text twice`);
      if (unit !== '') t.ok(ticks.at(-1)?.text.endsWith(unit), `${low} to ${high}: the unit is there`);
      // Seven of the 242 pixels of the map for a character.
      const ends = ticks.map(({ at, text, isAtEnd }, i) => {
        const width = (7 / 242) * text.length;
        return i === 0 && at === 0 ? [0, width] : isAtEnd ? [at - width, at] : [at - width / 2, at + width / 2];
      });
      for (let i = 1; i < ends.length; i++)
        t.ok(ends[i - 1]![1]! < ends[i]![0]!, `${low} to ${high}: no text on another`);
    }
  },
);

t.test('a comma begins a fraction, unless it could also separate thousands', async (t) => {
  const read = (text: string) => readNumber(text, 'Time budget');
  t.same(['', '  ', '0', '3000', '0.5', '0,5', ' 2,25 ', '0,005', '1e-3', '1234,567'].map(read), [
    undefined,
    undefined,
    0,
    3000,
    0.5,
    0.5,
    2.25,
    0.005,
    1e-3,
    1234.567,
  ]);
  t.throws(() => read('3,000'), { message: 'Time budget: “3,000” could be 3000 or 3.000. Write it without a comma.' });
  t.throws(() => read('1,234,567'), { message: /“1,234,567” could be 1234567\. Write it without/ });
  for (const text of ['1,234.5', '1.234,5', '1,2,3', '-1', 'many', 'Infinity', 'NaN']) {
    t.throws(() => read(text), { message: `Time budget: “${text}” is no number from 0 up.` });
  }
  const count = (text: string) => readCount(text, 'Kinematic from vertex');
  t.same(['', '0', '3000', '3.0', '1e3'].map(count), [undefined, 0, 3000, 3, 1000]);
  t.throws(() => count('3,000'), { message: /could be 3000 or 3\.000/ });
  for (const text of ['3,5', '3.5', '3,0']) t.throws(() => count(text), { message: /is no whole number from 0 up/ });
});

t.test('the names of the files decide which one is the start', async (t) => {
  t.same(orderNames(['target.obj', 'start.obj']), ['start.obj', 'target.obj']);
  t.same(orderNames(['frame10.ply', 'frame9.ply']), ['frame9.ply', 'frame10.ply']);
  t.same(orderNames(['shirt_y.obj', 'shirt_x.obj']), ['shirt_x.obj', 'shirt_y.obj']);
});

t.test('the slider runs over the pieces of the path', async (t) => {
  const study = studyOfPair({
    title: '',
    mesh: { vertexCount: 1 },
    start: Float64Array.of(0, 0, 0),
    target: undefined,
  });
  const path = {
    phases: Uint8Array.of(1, 5, 7),
    steps: Uint32Array.of(0, 1, 2),
    positions: Float64Array.of(0, 0, 0, 4, 0, 0, 4, 2, 0),
  };
  const answer = { positions: Float64Array.of(4, 2, 0), report: {}, path } as never;
  const full = withAnswer(study, answer);
  t.same(full.pathWords, ['start', 'forward, step 1', 'pulled back, step 2']);
  const at = (place: number) => [...stateOnPath(full.path, place, new Float64Array(3))];
  t.same(
    [at(0), at(0.25), at(0.5), at(1)],
    [
      [0, 0, 0],
      [2, 0, 0],
      [4, 0, 0],
      [4, 2, 0],
    ],
  );
});

t.test('an untangled start is a path of two states, and its regions have the colours of their contours', async (t) => {
  const study = studyOfPair({ title: '', mesh: square, start: flat, target: undefined });
  t.equal(hasPath(study), false);
  const untangled = withUntangled(study, fakeUntangled(flat), { layers: [], turned: [3] });
  t.ok(hasPath(untangled));
  t.match(untangled, { answer: undefined, hints: { turned: [3] }, path: { length: 2 } });
  const certified = { ...study, certificate: {} as never };
  t.notOk('certificate' in withUntangled(certified, fakeUntangled(flat), { layers: [], turned: [] }));
  const field = fieldsOf(untangled, listEdges(square)).find(({ id }) => id === 'regions')!;
  const [first, none] = [0, field.categories!.length - 1];
  t.equal(field.categories![first]!.label, 'contour 0');
  t.same([...field.valuesOf(flat, 'start')], [first, none, none, none]);
  t.ok([...field.valuesOf(flat, undefined)].every(Number.isNaN), 'nothing on the way');
});

t.test('a closed contour ends at its first point', async (t) => {
  const points = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0);
  t.same([...curveOf(points, false)], [0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0]);
  t.equal(curveOf(points, true).length, 18);
  t.same([...curveOf(points, true).subarray(12)], [1, 1, 0, 0, 0, 0]);
  t.equal(curveOf(points.subarray(0, 3), false).length, 0);
});

t.test('a file that cannot be read is refused with its name and a hint about the file', async (t) => {
  const torn = { obj: 'v 0 0\n', ply: 'ply\nformat ascii 1.0\n', glb: 'glTF' };
  for (const [ending, text] of Object.entries(torn)) {
    const name = `torn.${ending}`;
    const expected = { code: 'MALFORMED_BODY', message: new RegExp(`^(MALFORMED_BODY: )?${name}: `) };
    const thrown = await readMeshBlob(name, new Blob([text])).catch((error: unknown) => error);
    t.match(thrown, expected);
    t.notMatch((thrown as IntersticeError).hint, /body/, ending);
  }
  const gone = Object.assign(new Blob(['x']), { arrayBuffer: () => Promise.reject(new Error('NotReadableError')) });
  await t.rejects(readMeshBlob('a.glb', gone), {
    code: 'MALFORMED_BODY',
    message: /^a\.glb: .*cannot read/,
    hint: /2 GiB/,
  });
  t.throws(() => readOptionsText('options.json', '{'), { code: 'MALFORMED_BODY', hint: /^Write an object/ });
  t.throws(() => readOptionsText('options.json', '[]'), { code: 'MALFORMED_BODY', hint: /kinematicFrom/ });
  for (const wrong of ['{"parameters": 5}', '{"parameters": []}', '{"kinematicVertices": 5}'])
    t.throws(() => readOptionsText('options.json', wrong), { code: 'MALFORMED_BODY', message: /must be/ }, wrong);
});
