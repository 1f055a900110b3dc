import { join } from 'node:path';
import t from 'tap';
import { buildMesh } from '../../../src/mesh/build.js';
import { readMeshFile, toMeshInput } from '../../../src/mesh/files/index.js';
import { shareOf } from '../../support/share.js';
import { PROTECT, SKIP } from '../../verify/make-mesh.js';
import { compare, openFilterDevice, verdictOf } from './filter-device.js';

const { device, options, close } = await openFilterDevice();
t.teardown(close);
const data = process.env.INTERSTICE_DATA;
const skip = data ? options : { skip: 'INTERSTICE_DATA is not set' };

/** In the dress the mannequin, vertices from here on, is kinematic. */
const FIRST_MANNEQUIN_VERTEX = 15_105;

t.test('published states', skip, async (t) => {
  if (!device) return;
  const cases: [file: string, intersections: number, mostDoubtful: number, firstKinematic?: number][] = [
    ['static/spot.obj', 0, 100],
    ['static/two-cubes-close.ply', 0, 100],
    ['static/two-cubes-intersecting.ply', 96, 200],
    ['thick_cloth/x.ply', 0, 100],
    ['thick_cloth/y.ply', 50, 200],
    ['dress/x.obj', 0, 100, FIRST_MANNEQUIN_VERTEX],
    ['dress/y_kick1_eighth.obj', 780, 1000, FIRST_MANNEQUIN_VERTEX],
    ['cloth_ball/cloth_ball92.ply', 62_655, 63_000],
  ];
  for (const [file, intersections, mostDoubtful, firstKinematic] of shareOf(cases, 2)) {
    const read = await readMeshFile(join(data as string, file));
    const input = toMeshInput(read);
    const kinematic = new Uint8Array(input.vertexCount);
    if (firstKinematic !== undefined) kinematic.fill(1, firstKinematic);
    const mesh = buildMesh({ ...input, kinematic });
    const rules = firstKinematic === undefined ? PROTECT : SKIP;
    for (const x of [Float32Array.from(read.positions), Float64Array.from(read.positions)]) {
      const { doubtful, filtered, exact } = await compare(device, mesh, x, rules);
      const name = `${file} in ${x.constructor.name}`;
      t.equal(filtered.intersectionCount, intersections, name);
      t.same(verdictOf(filtered), verdictOf(exact));
      const count = doubtful ? doubtful.pairs.length / 2 : Number.POSITIVE_INFINITY;
      t.ok(count <= mostDoubtful, `${count} of ${exact.pairsTested} pairs are left to the host`);
    }
  }
});
