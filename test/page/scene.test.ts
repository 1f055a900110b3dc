import t from 'tap';
import { findMoving } from '../../src/page/moving.js';
import { updateNormals } from '../../src/page/view/normals.js';
import { Picker, type Ray } from '../../src/page/view/pick.js';
import { PickTree } from '../../src/page/view/pick-tree.js';
import { seeded } from '../support/random.js';

/** What follows a scene of the page while it moves: the tree by which is picked, and normals. */

/** A soup of triangles in the unit cube. */
function soup(count: number, random: () => number) {
  const positions = Float32Array.from({ length: 9 * count }, random);
  for (let i = 0; i < positions.length; i++) {
    const first = positions[i - (i % 9) + (i % 3)]!;
    if (i % 9 > 2) positions[i] = first + 0.2 * (positions[i]! - 0.5);
  }
  return { positions, triangles: Uint32Array.from({ length: 3 * count }, (_, i) => i) };
}

/** By Cramer's rule in another arrangement than the page's: the ray meets the plane, and the point has an area in each corner. */
function nearest(triangles: Uint32Array, p: ArrayLike<number>, { origin, direction }: Ray): number {
  const at = (v: number) => [p[3 * v]!, p[3 * v + 1]!, p[3 * v + 2]!];
  const minus = (a: readonly number[], b: readonly number[]) => a.map((value, c) => value - b[c]!);
  const cross = ([a, b, c]: readonly number[], [x, y, z]: readonly number[]) => [
    b! * z! - c! * y!,
    c! * x! - a! * z!,
    a! * y! - b! * x!,
  ];
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, c) => sum + value * b[c]!, 0);
  let best = Infinity;
  for (let i = 0; i < triangles.length; i += 3) {
    const corners = [0, 1, 2].map((k) => at(triangles[i + k]!)) as [number[], number[], number[]];
    const normal = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]));
    const distance = dot(minus(corners[0], origin), normal) / dot(direction, normal);
    const point = origin.map((value, c) => value + distance * direction[c]!);
    const isInside = [0, 1, 2].every(
      (k) => dot(normal, cross(minus(corners[(k + 1) % 3]!, corners[k]!), minus(point, corners[k]!))) >= 0,
    );
    if (isInside && distance > 0) best = Math.min(best, distance);
  }
  return best;
}

const random = seeded();

t.test(
  `a pick finds what a search of all triangles finds, and follows what moves (TEST_SEED=${random.seed})`,
  async (t) => {
    for (const count of [0, 1, 8, 9, 300]) {
      const { positions, triangles } = soup(count, random);
      const picker = new Picker();
      picker.setElements({ triangles, segments: new Uint32Array(0), particles: new Uint32Array(0) });
      for (let turn = 0; turn < 3; turn++) {
        let hits = 0;
        for (let n = 0; n < 40; n++) {
          const origin = [3 * random() - 1, 3 * random() - 1, 3] as const;
          // Every other ray goes through the middle of a triangle, the rest anywhere, or along an axis.
          const own = 9 * (n % Math.max(1, count));
          const middle = [0, 1, 2].map(
            (c) => (positions[own + c]! + positions[own + 3 + c]! + positions[own + 6 + c]!) / 3,
          );
          const other = n % 4 === 1 ? [origin[0], origin[1], 0] : [random(), random(), random()];
          const aim = n % 2 === 0 && count > 0 ? middle : other;
          const way = aim.map((value, c) => value - origin[c]!);
          const length = Math.hypot(...way);
          const ray = { origin, direction: way.map((value) => value / length) as [number, number, number] };
          const wanted = nearest(triangles, positions, ray);
          const found = picker.pick(positions, ray, 0)?.distance ?? Infinity;
          if (wanted < Infinity) hits++;
          // Both round; a ray that hits an edge within the rounding may count for one of them only.
          if (!(Math.abs(found - wanted) < 1e-6) && found !== wanted)
            t.fail(`${count} triangles, ray ${n}: ${found}, ${wanted}`);
        }
        if (count > 0) t.ok(hits >= 20, `${hits} hits`);
        for (let i = 0; i < positions.length; i++) positions[i]! += 0.1 * (random() - 0.5);
        picker.move();
      }
    }
  },
);

t.test('a pick tests only few of many triangles', async (t) => {
  const side = 100;
  const positions = Float32Array.from({ length: 3 * (side + 1) ** 2 }, (_, i) => {
    const v = Math.floor(i / 3);
    return [v % (side + 1), Math.floor(v / (side + 1)), 0][i % 3]!;
  });
  const triangles = new Uint32Array(6 * side * side);
  for (let s = 0; s < side * side; s++) {
    const v = s + Math.floor(s / side);
    triangles.set([v, v + 1, v + side + 2, v, v + side + 2, v + side + 1], 6 * s);
  }
  const tree = new PickTree(triangles, positions);
  for (const [x, y] of [
    [50.2, 50.1],
    [3.2, 97.9],
    [-1, 50],
  ] as const) {
    const hit = tree.hit(positions, { origin: [x, y, 9], direction: [0, 0, -1] });
    t.equal(hit?.vertex, x < 0 ? undefined : Math.round(x) + (side + 1) * Math.round(y));
    t.ok(tree.visited <= 60, `${tree.visited} boxes`);
  }
});

t.test('only moved vertices and the normals around them are written', async (t) => {
  // A strip of five squares, of which the last two vertices move.
  const mesh = { vertexCount: 12, triangles: new Uint32Array(30) };
  for (let s = 0; s < 5; s++)
    mesh.triangles.set(
      [s, s + 1, s + 7, s, s + 7, s + 6].map((v) => v),
      6 * s,
    );
  const flat = Float32Array.from({ length: 36 }, (_, i) => [Math.floor(i / 3) % 6, i < 18 ? 0 : 1, 0][i % 3]!);
  const bent = flat.map((value, i) => (i % 3 === 2 && Math.floor(i / 3) % 6 === 5 ? 1 : value));
  const moving = findMoving(mesh, [flat, bent]);
  t.same([...moving.vertices], [4, 5, 10, 11]);
  t.same([moving.first, moving.end], [4, 12]);
  t.equal(moving.triangles.length / 3, 4, 'the triangles at them');
  const whole = findMoving(mesh, [flat, flat.map((value) => value + 1)]);
  t.equal(whole.vertices.length, 12);
  const [all, some] = [new Float32Array(36), new Float32Array(36)];
  updateNormals(whole, flat, some);
  t.same([...some.subarray(0, 3)], [0, 0, 1]);
  updateNormals(moving, bent, some);
  updateNormals(whole, bent, all);
  t.same(some, all);
});
