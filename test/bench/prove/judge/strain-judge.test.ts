import t from 'tap';
import { judgeStrains, mayStrainsMove } from '../../../../bench/prove/judge/strain-judge.js';
import type { MeshInput } from '../../../../src/contract/mesh.js';

const REST = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
const LIMITS = { rest: REST, min: 0.9, max: 1.1 };
const SOLID: MeshInput = { vertexCount: 4, tetrahedra: Uint32Array.of(0, 1, 2, 3), strainLimits: LIMITS };
const SHEET: MeshInput = { vertexCount: 4, triangles: Uint32Array.of(0, 1, 2), strainLimits: LIMITS };

/** The rest shape scaled along its axes, then turned about z and moved. */
function place(a: number, b: number, c: number): Float64Array {
  const [cos, sin] = [Math.cos(0.7), Math.sin(0.7)];
  return Float64Array.from(REST, (_, k) => {
    const [x, y, z] = [a, b, c].map((factor, i) => factor * REST[3 * Math.floor(k / 3) + i]!) as [
      number,
      number,
      number,
    ];
    return [cos * x - sin * y, sin * x + cos * y, z][k % 3]! + 3;
  });
}

const complaints = (mesh: MeshInput, x: Float64Array, told: Parameters<typeof judgeStrains>[2], keeps = false) => {
  const found: string[] = [];
  judgeStrains(mesh, x, told, keeps, (promise) => found.push(promise));
  return found;
};

t.test('a report with the strains of the answer is right, one with others is not', async (t) => {
  const [least, middle, most] = [0.95, 1.02, 1.05];
  const right = { violated: 0, inverted: 0, min: least, max: most };
  t.same(complaints(SOLID, place(middle, least, most), right, true), []);
  t.same(complaints(SHEET, place(most, least, 7), right, true), []);
  t.same(complaints(SOLID, place(middle, least, most), { ...right, max: 1.04 }), ['report: strain']);
  t.same(complaints(SOLID, place(middle, least, most), { ...right, violated: 1 }), ['report: strain']);
  t.same(complaints(SOLID, place(middle, least, most), undefined), ['report: strain']);
});

t.test('a solid turned inside out has a negative strain, and is out of its limits', async (t) => {
  const told = { violated: '1', inverted: '1', min: -0.5, max: 1 };
  t.same(complaints(SOLID, place(1, 1, -0.5), told), []);
  t.same(complaints(SOLID, place(1, 1, -0.5), { ...told, inverted: 0 }), ['report: strain']);
  t.same(complaints(SOLID, place(1, 1, -0.5), told, true), ['strains are kept where nothing is in the way']);
});

t.test('whether a crushed solid is turned is decided without rounding', async (t) => {
  // The fourth corner lies on the plane of the others, or nearer to it than the rounding of a product of its coordinates.
  const corners = [0.1, 0.2, 0.3, 1.1, 0.2, 0.3, 0.1, 1.2, 0.3, 0.4, 0.7];
  for (const [height, inverted] of [
    [0.3, 0],
    [0.3 + 2 ** -54, 0],
    [0.3 - 2 ** -54, 1],
  ] as const) {
    const x = Float64Array.of(...corners, height);
    const [least, most] = [0, Math.sqrt(1 + 0.3 ** 2 + 0.5 ** 2)];
    const found: string[] = [];
    judgeStrains(SOLID, x, { violated: 1, inverted, min: least, max: most }, false, (_, is) => found.push(is));
    const counted = /"inverted":(\d+)/.exec(found[0] ?? `"inverted":${inverted}`)?.[1];
    t.equal(Number(counted), inverted, `height ${height}`);
    t.match(complaints(SOLID, x, { violated: 1, inverted: 1 - inverted, min: least, max: most }), ['report: strain']);
  }
});

t.test('elements that cannot move, and meshes without limits, are not judged', async (t) => {
  t.same(complaints({ ...SOLID, kinematic: new Uint8Array(4).fill(1) }, place(2, 2, 2), undefined, true), []);
  const { strainLimits: _, ...free } = SOLID;
  t.same(complaints(free, place(2, 2, 2), undefined, true), []);
});

t.test('limits that the start keeps clearly do not move it', async (t) => {
  t.notOk(mayStrainsMove(SOLID, place(0.95, 1.02, 1.05)));
  t.ok(mayStrainsMove(SOLID, place(0.95, 1.02, 1.11)));
  t.ok(mayStrainsMove(SOLID, place(1, 1, -1)), 'inside out');
  t.ok(mayStrainsMove(SHEET, place(1.1, 1, 1)), 'at the limit it cannot be told');
  const { strainLimits: _, ...free } = SOLID;
  t.notOk(mayStrainsMove(free, place(2, 2, 2)));
});
