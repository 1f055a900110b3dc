import t from 'tap';
import { layOutSearch, type SearchLayout, type WalkPass } from '../../../gpu/search/layout.js';
import { buildMesh } from '../../../src/mesh/build.js';
import type { CollisionMesh } from '../../../src/mesh/types.js';
import { findKinematicBorder } from '../../../src/solver/exclusion-rules.js';
import { EE, VT } from '../../../src/solver/pair-kinds.js';
import { seeded } from '../../support/random.js';

const random = seeded();
t.comment(`seed ${random.seed}`);

/** A square sheet of n × n vertices, its triangles and vertices in a random order. */
function shuffledSheet(n: number, isKinematic: (row: number) => boolean): { mesh: CollisionMesh; x: Float32Array } {
  const place = Array.from({ length: n * n }, (_, k) => k);
  for (let k = place.length - 1; k > 0; k--) {
    const other = random.int(k + 1);
    [place[k], place[other]] = [place[other], place[k]];
  }
  const rows: number[][] = [];
  for (let r = 0; r + 1 < n; r++) {
    for (let c = 0; c + 1 < n; c++) {
      const [a, b, d, e] = [r * n + c, r * n + c + 1, (r + 1) * n + c, (r + 1) * n + c + 1].map((k) => place[k]);
      rows.push([a, b, d], [b, e, d]);
    }
  }
  rows.sort(() => random() - 0.5);
  const x = new Float32Array(3 * n * n);
  place.forEach((v, k) => {
    x.set([(k % n) / n, Math.floor(k / n) / n, 0], 3 * v);
  });
  const kinematic = new Uint8Array(n * n);
  place.forEach((v, k) => {
    if (isKinematic(Math.floor(k / n))) kinematic[v] = 1;
  });
  return { mesh: buildMesh({ vertexCount: n * n, triangles: Uint32Array.from(rows.flat()), kinematic }), x };
}

const walkOf = (layout: SearchLayout, kind: number): WalkPass => layout.walks.find((walk) => walk.kind === kind)!;

/** The words of the elements of a set, each as its vertices. */
const elementsOf = ({ topology }: SearchLayout, { vertices, size, count }: WalkPass['own']): string[] =>
  rowsOf(topology.subarray(vertices, vertices + size * count), size);

const rowsOf = (vertices: Uint32Array, size: number): string[] =>
  Array.from({ length: vertices.length / size }, (_, e) => vertices.subarray(size * e, size * (e + 1)).join('-'));

t.test('every element has one slot', async (t) => {
  const { mesh, x } = shuffledSheet(20, () => false);
  const layout = layOutSearch(mesh, x);
  const [ofVertices, ofEdges] = [walkOf(layout, VT), walkOf(layout, EE)];
  t.same(elementsOf(layout, ofVertices.own).sort(), rowsOf(mesh.contactVertices, 1).sort(), 'vertices');
  t.same(elementsOf(layout, ofVertices.other).sort(), rowsOf(mesh.triangles, 3).sort(), 'triangles');
  t.same(elementsOf(layout, ofEdges.own).sort(), rowsOf(mesh.edges, 2).sort(), 'edges');
  t.equal(layout.border, 0, 'no region, no border');
});

t.test('the bits of the border are those of its elements', async (t) => {
  const { mesh, x } = shuffledSheet(12, (row) => row < 5);
  const layout = layOutSearch(mesh, x);
  const border = findKinematicBorder(mesh);
  t.not(layout.border, 0);
  const isMarked = (slot: number) => ((layout.topology[layout.border + (slot >> 5)] >>> (slot & 31)) & 1) === 1;
  for (const [set, vertices, size, marks] of [
    [walkOf(layout, VT).own, mesh.contactVertices, 1, border.contactVertices],
    [walkOf(layout, EE).own, mesh.edges, 2, border.edges],
  ] as const) {
    const marked = elementsOf(layout, set).filter((_, n) => isMarked(set.slot + n));
    t.ok(marked.length > 0);
    t.same(
      marked.sort(),
      rowsOf(vertices, size)
        .filter((_, e) => marks[e] === 1)
        .sort(),
      `${size} vertices`,
    );
  }
});

t.test('neighbours in a set are near each other, in whatever order the mesh lists them', async (t) => {
  const n = 64;
  const { mesh, x } = shuffledSheet(n, () => false);
  const layout = layOutSearch(mesh, x);
  for (const set of [walkOf(layout, VT).other, walkOf(layout, EE).own]) {
    // The first vertices of neighbours, in edges of the sheet.
    let sum = 0;
    for (let k = 1; k < set.count; k++) {
      const [a, b] = [k - 1, k].map((place) => 3 * layout.topology[set.vertices + set.size * place]);
      sum += n * Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1]);
    }
    // A random order would have about n / 2.
    const mean = sum / (set.count - 1);
    t.ok(mean < 3, `${mean} edges apart`);
  }
});
