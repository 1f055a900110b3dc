import t from 'tap';
import { buildMesh } from '../../src/mesh/build.js';
import type { Contour } from '../../src/untangle/contours.js';
import { pushThrough } from '../../src/untangle/push.js';
import { describeTopology } from '../../src/untangle/topology.js';

/** More arguments than a call can have on the main thread, whose stack is the smallest. */
const MANY = 200_000;

t.test('a contour that is shortened may have as many pierces as a start', (t) => {
  const x = Float64Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0.3, 0.3, -0.1, 0.3, 0.3, 1, 0.4, 0.3, 1]);
  const topology = describeTopology(buildMesh({ vertexCount: 6, triangles: Uint32Array.of(0, 1, 2, 3, 4, 5) }));
  const { edges } = topology.mesh;
  const edge = [...edges.keys()].find((k) => k % 2 === 0 && edges[k] === 3 && edges[k + 1] === 4)! / 2;
  const pierce = { edge, triangle: 0, at: 0.1 / 1.1, side: -1 };
  const shortened = (count: number): Contour => ({
    pierces: Array.from({ length: count }, () => pierce),
    roles: Array.from({ length: count }, () => 0),
    isClosed: false,
    tips: [],
    borderEnds: [0, 0],
  });
  const lengths = Float64Array.from({ length: edges.length / 2 }, (_, e) =>
    Math.hypot(...[0, 1, 2].map((k) => x[3 * edges[2 * e]! + k]! - x[3 * edges[2 * e + 1]! + k]!)),
  );
  const options = { edge: 1, gap: 0.1, lengths, pulse: () => {} };
  const push = (count: number) => pushThrough(topology, x, [], [shortened(count)], options);
  t.same([...push(MANY).zone].sort(), [...push(1).zone].sort());
  t.notSame(push(MANY).targets, x);
  t.end();
});
