import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { Components } from '../../../src/solver/rigid/groups.js';
import { type Point, SceneBuilder } from '../../support/scene-builder.js';

const LEAP = 1;

/** Squares beside each other, each with its own motion. */
function squares(...moves: ((p: Point) => Point)[]) {
  const scene = new SceneBuilder();
  moves.forEach((move, n) => {
    scene.sheet(3, (u, v) => {
      const at: Point = [10 * n + 3 * u, 3 * v, 0];
      return { at, to: move(at) };
    });
  });
  return scene;
}

type Edit = (kinematic: Uint8Array, target: Float32Array, x: Float32Array, inverseMasses: Float32Array) => void;

function group(scene: SceneBuilder, edit?: Edit, off = LEAP / 2) {
  const { mesh: input, start, target } = scene.build();
  const [x, y] = [Float32Array.from(start), Float32Array.from(target)];
  const inverseMasses = new Float32Array(input.vertexCount).fill(1);
  edit?.(input.kinematic as Uint8Array, y, x, inverseMasses);
  const built = buildMesh(input);
  const mesh = { ...built, inverseMasses: inverseMasses.map((w, v) => (built.kinematic[v] ? 0 : w)) };
  const { groups, label } = new Components(mesh).group(mesh, x, y, LEAP, off);
  return {
    count: groups.length,
    labels: [0, 1, 2, 3, 4, 5, 6].map((n) => label[16 * n]).slice(0, x.length / 48),
    label,
  };
}

const by =
  (x: number, y = 0, z = 0) =>
  (p: Point): Point => [p[0] + x, p[1] + y, p[2] + z];
const stay = by(0);

t.test('components with the same motion form a group; components that move by less than a leap rest', async (t) => {
  const { count, labels } = group(squares(by(5), by(5, 0.5), stay, by(0.5), by(0, 4)));
  t.equal(count, 2);
  t.same(labels, [1, 1, 0, 0, 2]);
});

t.test('no group moves if no vertex moves by a leap', async (t) => {
  t.equal(group(squares(by(0.9), by(0, 0.9))).count, 0);
});

t.test('a component that turns joins the component about which it turns', async (t) => {
  const turned = (p: Point): Point => [-p[1], p[0], p[2]];
  t.same(group(squares(turned, turned, stay)).labels, [1, 1, 0]);
});

t.test('a component that deforms more than it moves rests', async (t) => {
  const folded = (p: Point): Point => [p[0], p[1], p[2] + (p[0] % 2 === 0 ? 3 : -3)];
  t.same(group(squares(folded, by(4))).labels, [0, 1]);
});

t.test('a component with a pinned vertex rests', async (t) => {
  const { labels } = group(squares(by(5), by(5)), (kinematic, target, x) => {
    kinematic[3] = 1;
    target.set(x.subarray(9, 12), 9);
  });
  t.same(labels, [0, 1]);
});

t.test('a component rests if its motion would take a kinematic vertex that rests too far from its place', async (t) => {
  const turned = (p: Point): Point => [-p[1] + 0.3, p[0], p[2]];
  const labels = (off: number) =>
    group(
      squares(turned),
      (kinematic, target, x) => {
        kinematic[0] = 1;
        target.set(x.subarray(0, 3), 0);
      },
      off,
    ).labels;
  t.same(labels(0.5), [1]);
  t.same(labels(0.2), [0]);
});

t.test(
  'a component with a fixed vertex rests, although its motion keeps that within half a leap of its target',
  async (t) => {
    const { labels } = group(squares(by(5), by(5)), (_kinematic, _target, _x, inverseMasses) => {
      inverseMasses[3] = 0;
    });
    t.same(labels, [0, 1]);
  },
);

t.test('at most five groups move, those with the longest motions', async (t) => {
  const { count, labels } = group(squares(by(5), by(0, 9), by(-7), by(0, -6), by(0, 0, 8), by(0, 0, -4), by(3, 3)));
  t.equal(count, 5);
  t.same(labels, [5, 1, 3, 4, 2, 0, 0]);
});

t.test('a vertex of no element joins no group', async (t) => {
  const scene = squares(by(5));
  scene.vertex([0, 0, 5], [5, 0, 5]);
  t.equal(group(scene).label[16], 0);
});
