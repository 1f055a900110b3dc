import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { untangleOne } from '../../bench/untangle/run-one.js';
import { buildMesh } from '../../src/mesh/build.js';
import { createCpuEngine } from '../../src/solver/cpu/engine.js';
import type { Contour } from '../../src/untangle/contours.js';
import type { Region } from '../../src/untangle/regions.js';
import { describeContours } from '../../src/untangle/report.js';
import type { KeptDecision } from '../../src/untangle/sides.js';
import { describeTopology } from '../../src/untangle/topology.js';

setFlagsFromString('--expose-gc');
const collectOnce = runInNewContext('gc') as () => void;

/** Twice, because another thread frees array buffers after a collection, at the latest when the next one begins. */
const collect = (): void => {
  collectOnce();
  collectOnce();
};

const ROW = 200;

/** Triangles in rows, each a sheet of its own; a narrow one pierces each of the first. */
function leaves(count: number, crossings: number) {
  const corners = Array.from({ length: count }, (_, n) => {
    const [x, y] = [3 * (n % ROW), 3 * Math.floor(n / ROW)];
    return [x, y, 0, x + 1, y, 0, x, y + 1, 0];
  });
  for (const [x, y] of corners.slice(0, crossings) as [number, number][])
    corners.push([x + 0.3, y + 0.3, -0.1, x + 0.3, y + 0.3, 1, x + 0.4, y + 0.3, 1]);
  const vertexCount = 3 * corners.length;
  const triangles = Uint32Array.from({ length: vertexCount }, (_, v) => v);
  return { mesh: { vertexCount, triangles }, positions: Float32Array.from(corners.flat()) };
}

t.test('what is kept of an iteration does not grow with the product of crossings and vertices', async (t) => {
  const [count, crossings] = [10_000, 400];
  const scene = leaves(count, crossings);
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let held = Number.NaN;
  const { report } = await untangleOne({ ...scene, maxIterations: 1 }, createCpuEngine(), {
    onProgress: ({ phase, contours }) => {
      if (phase !== 'UNTANGLING' || contours < crossings || held >= 0) return;
      collect();
      held = process.memoryUsage().arrayBuffers - before;
    },
  });
  t.equal(report.contours.length, crossings);
  const perVertex = held / scene.mesh.vertexCount;
  // A word for each vertex and crossing would be 1,600 bytes a vertex.
  t.ok(perVertex < 800, `${Math.round(perVertex)} bytes a vertex`);
});

t.test('the report looks at every region once, not once for every contour', (t) => {
  const topology = describeTopology(buildMesh(leaves(1, 1).mesh));
  const count = 1000;
  let looks = 0;
  const regions = Array.from({ length: count }, (_, contour) => ({
    get contour() {
      looks++;
      return contour;
    },
    role: 0,
    right: 1,
    vertices: Array.from({ length: 1 + (contour % 3) }),
  })) as unknown as Region[];
  const pierces = [{ edge: 0, triangle: 1, at: 0.5, side: 1 }];
  const contour: Contour = { pierces, roles: [0], isClosed: false, tips: [], borderEnds: [0, 0] };
  const separation = { patches: new Map(), isWhole: false };
  const decision: KeptDecision = {
    ...{ right: [1, 0], why: 'SMALLER', confidence: 0.5, isTurned: false, isKept: false },
    separations: [separation, separation],
  };
  const contours = Array.from({ length: count }, () => contour);
  const decisions = new Map(contours.map((_, c) => [c, decision]));
  const described = describeContours(topology, new Float64Array(18), { contours, decisions, regions });
  t.same(
    described.map(({ sheets }) => sheets[0].wrongVertices),
    regions.map(({ vertices }) => vertices.length),
  );
  t.ok(looks <= 2 * count, `${looks} looks at ${count} regions`);
  t.end();
});
