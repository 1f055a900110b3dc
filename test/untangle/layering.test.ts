import t from 'tap';
import { Surfaces } from '../../bench/untangle/surfaces.js';
import { buildMesh } from '../../src/mesh/build.js';
import { Layering } from '../../src/untangle/layering.js';
import { surfaceOf } from '../../src/untangle/measures.js';
import { describeTopology } from '../../src/untangle/topology.js';

const SIZE = 10;
const COUNT = (SIZE + 1) ** 2;

/** Two level sheets. @param height of the second one above the first, and by how much it is shifted along it */
function sheets(height: (u: number) => number, shift = 0.3, pulse = () => {}) {
  const scene = new Surfaces();
  scene.grid('first', SIZE, SIZE, (u, v) => ({ at: [SIZE * u, SIZE * v, 0] }));
  scene.grid('second', SIZE, SIZE, (u, v) => ({ at: [SIZE * u + shift, SIZE * v + 0.2, height(u)] }));
  const { mesh, positions } = scene.build();
  const topology = describeTopology(buildMesh(mesh));
  const layering = new Layering(topology, surfaceOf(topology, positions).areas, 1, pulse);
  return { layering, x: Float64Array.from(positions), turn: topology.turn[0]! };
}

t.test('where two sheets lie over one another, the side of the larger part decides', async (t) => {
  for (const share of [0.2, 0.8]) {
    const { layering, x, turn } = sheets((u) => u - share);
    const found = layering.of([0, COUNT], x)!;
    // Normals of the grid, turned, go down or up; what is above in one sense is below in the other.
    const isAbove = (found.upper === COUNT ? 1 : -1) * found.side * normalOf(x) * turn > 0;
    t.equal(isAbove, share < 0.5);
    t.ok(found.confidence > 0.7 && found.confidence < 1, `${found.confidence}`);
  }
});

t.test('a decision about layers is kept', async (t) => {
  const { layering, x } = sheets((u) => u - 0.1);
  const before = layering.of([0, COUNT], x);
  t.equal(layering.of([0, COUNT], sheets((u) => u - 0.8).x), before);
});

t.test('sheets of which half is on each side, or that do not lie over one another, are no layers', async (t) => {
  const halves = sheets((u) => u - 0.5);
  t.equal(halves.layering.of([0, COUNT], halves.x), undefined);
  const beside = sheets((u) => u - 0.1, 9);
  t.equal(beside.layering.of([0, COUNT], beside.x), undefined);
  const far = sheets(() => 4);
  t.equal(far.layering.of([0, COUNT], far.x), undefined);
  t.equal(halves.layering.of([0, 0], halves.x), undefined, 'a sheet is no layer upon itself');
});

t.test('the end of the time budget is noticed within a decision, and an unfinished decision is not kept', async (t) => {
  let pulses = 0;
  let left = Number.POSITIVE_INFINITY;
  const pulse = () => {
    pulses++;
    if (left-- <= 0) throw new Error('over');
  };
  const { layering, x } = sheets((u) => u - 0.1, 0.3, pulse);
  const whole = layering.of([0, COUNT], x)!;
  // A pulse every 64 vertices of both sheets, and one for the tree of each.
  t.ok(pulses >= (2 * COUNT) / 64 + 2, `${pulses}`);
  const again = sheets((u) => u - 0.1, 0.3, pulse);
  left = pulses - 1;
  pulses = 0;
  t.throws(() => again.layering.of([0, COUNT], again.x), /over/);
  left = Number.POSITIVE_INFINITY;
  t.same(again.layering.of([0, COUNT], again.x), whole);
});

/** 1 or −1: along which side of z the first triangle of the grid has its normal. */
function normalOf(x: Float64Array): number {
  const [a, b, c] = [x.subarray(0, 3), x.subarray(3 * (SIZE + 1), 3 * (SIZE + 1) + 3), x.subarray(3 * (SIZE + 2))];
  return Math.sign((b[0]! - a[0]!) * (c[1]! - a[1]!) - (b[1]! - a[1]!) * (c[0]! - a[0]!));
}
