import { join } from 'node:path';
import t from 'tap';
import type { Positions } from '../../src/contract/mesh.js';
import { buildMesh } from '../../src/mesh/build.js';
import { readMeshFile, toMeshInput } from '../../src/mesh/files/index.js';
import type { CollisionMesh } from '../../src/mesh/types.js';
import { findDistances } from '../../src/verify/distance.js';
import { ExactMeeting } from '../../src/verify/exact-meeting.js';
import { testPath } from '../../src/verify/path.js';
import { findIntersections } from '../../src/verify/state.js';
import { PROTECT, SKIP } from './make-mesh.js';

const data = process.env.INTERSTICE_DATA;
const options = { skip: data ? false : 'INTERSTICE_DATA is not set' };
const single = (positions: Positions): Float32Array => Float32Array.from(positions);

/** In the dress the mannequin, vertices from here on, is kinematic. */
const FIRST_MANNEQUIN_VERTEX = 15_105;

async function load(file: string, firstKinematic?: number): Promise<{ mesh: CollisionMesh; x: Positions }> {
  const read = await readMeshFile(join(data as string, file));
  const input = toMeshInput(read);
  const kinematic = new Uint8Array(input.vertexCount);
  if (firstKinematic !== undefined) kinematic.fill(1, firstKinematic);
  return { mesh: buildMesh({ ...input, kinematic }), x: read.positions };
}

t.test('published states get the published verdicts', options, async (t) => {
  const counts: [string, number][] = [
    ['static/spot.obj', 0],
    ['static/bunny.ply', 0],
    ['static/height-field.ply', 0],
    ['static/two-cubes-close.ply', 0],
    ['static/two-cubes-far.ply', 0],
    ['static/two-cubes-intersecting.ply', 96],
    ['cloth_ball/cloth_ball92.ply', 62_655],
    ['cloth_ball/cloth_ball93.ply', 98_728],
  ];
  for (const [file, count] of counts) {
    const { mesh, x } = await load(file);
    t.equal(findIntersections(mesh, x, PROTECT).intersectionCount, count, file);
  }
});

t.test('a dress on a mannequin has the known intersections and distances', options, async (t) => {
  const { mesh, x } = await load('dress/x.obj', FIRST_MANNEQUIN_VERTEX);
  const y = (await load('dress/y_kick1_eighth.obj')).x;
  for (const [name, start, target] of [
    ['float64', x, y],
    ['float32', single(x), single(y)],
  ] as const) {
    t.equal(findIntersections(mesh, start, SKIP).intersectionCount, 0, `${name}: the start is free`);
    t.equal(findIntersections(mesh, target, SKIP).intersectionCount, 780, `${name}: the target`);
  }
  const gap = findDistances(mesh, x, SKIP, 1e-4).minDistance as number;
  t.ok(Math.abs(gap - 2e-5) < 1e-7, `smallest gap ${gap}`);
  const path = testPath(mesh, x, y, SKIP);
  t.equal(path.collisionCount, 792);
  t.ok(Math.abs((path.earliestImpact as number) - 0.035) < 5e-4, `first at ${path.earliestImpact}`);
  const rest = Float64Array.from(x, (value, k) => value + 0.03 * (y[k] - value));
  t.equal(testPath(mesh, x, rest, SKIP).pathFree, true, 'free up to shortly before the first impact');
});

t.test('a thick cloth has the known intersections', options, async (t) => {
  const { mesh, x } = await load('thick_cloth/x.ply');
  const y = (await load('thick_cloth/y.ply')).x;
  t.equal(findIntersections(mesh, x, PROTECT).intersectionCount, 0);
  const { intersectionCount, intersections } = findIntersections(mesh, y, PROTECT);
  t.equal(intersectionCount, 34 + 16, 'pierces and touches');
  // A touch is a pair with a corner of one on the other; a pierce crosses the inside of both.
  const meeting = new ExactMeeting(Float64Array.from(y));
  const touches = intersections.filter(
    ({ a: [p, q], b: [a, b, c] }) =>
      meeting.pointMeetsTriangle(p, a, b, c) ||
      meeting.pointMeetsTriangle(q, a, b, c) ||
      meeting.edgesMeet(p, q, a, b) ||
      meeting.edgesMeet(p, q, b, c) ||
      meeting.edgesMeet(p, q, c, a),
  );
  t.equal(touches.length, 16);
  const path = testPath(mesh, x, y, PROTECT);
  t.ok(path.collisionCount >= 12 && path.collisionCount <= 32, `${path.collisionCount} pairs collide`);
  t.ok(Math.abs((path.earliestImpact as number) - 0.489) < 5e-4, `first at ${path.earliestImpact}`);
});
