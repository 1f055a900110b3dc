import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FrameCache } from '../runner/cache.js';
import { framesOfStrip } from '../runner/picture.js';
import { encodePly } from '../runner/ply.js';
import type { StepRecord } from '../runner/records.js';
import { readSettings } from '../runner/settings.js';
import { makeTable } from '../runner/table.js';
import { SCENES } from '../scenes/index.js';
import { makeBlock } from '../scenes/shapes.js';
import { assemble } from '../src/bodies.js';
import { startOf } from '../src/integrator.js';

const model = assemble([
  {
    name: 'block',
    geometry: makeBlock([2, 2, 2], [0.1, 0.1, 0.1]),
    material: { kind: 'solid', density: 1000, young: 1e5, poisson: 0.3 },
  },
]);

const record = (frame: number, steps: number, status = 'CONVERGED'): StepRecord => ({
  frame,
  engine: 'cpu',
  statuses: [status],
  steps,
  pullBackSteps: 0,
  searches: 1,
  reused: 1,
  residual: 0,
  distanceRms: 0,
  distanceMax: 0,
  stretch: 1,
  overlongEdges: 0,
  contacts: 0,
  unreachedKinematic: 0,
  cost: 0.1 * frame,
  serviceTime: 0.2,
  dynamicsTime: 0.3,
  solverIterations: 5,
  solverResidual: 1e-4,
  impulses: { linear: [0, 0, 0], angular: [0, 0, 0], total: 0 },
  drift: 0,
  energies: { kinetic: 0, elastic: 0, potential: 0 },
  warnings: [],
});

t.test('a cache gives back what it was given, and cuts off what an interruption has left', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cache-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const cache = new FrameCache(folder, model);
  t.equal(cache.open(), undefined);
  let state = startOf(model);
  for (let frame = 1; frame <= 3; frame++) {
    state = { ...state, frame, x: state.x.map((value) => Math.fround(value + 1)) };
    cache.append(record(frame, frame), state);
  }
  // Written before the state of frame 4, which never came.
  appendFileSync(join(folder, 'frames.f32'), Buffer.alloc(12 * model.vertexCount + 5));
  appendFileSync(join(folder, 'steps.jsonl'), '{"frame":4');
  const again = new FrameCache(folder, model).open();
  t.equal(again?.saved.frame, 3);
  t.same(
    again?.records.map(({ frame }) => frame),
    [1, 2, 3],
  );
  t.equal(cache.frameCount, 3);
  t.same([...cache.read(3)], [...state.x]);
  t.same([...cache.read(0)], [...startOf(model).x]);
});

t.test('a table has averages and maxima, and counts what did not converge', async (t) => {
  const scene = SCENES.get('cone')!('small');
  const records = [record(1, 4), record(2, 8, 'STEP_LIMIT'), record(3, 6, 'STALLED')];
  const table = makeTable([{ scene, size: 'small', vertices: 8, elements: '5 tetrahedra', adapter: 'cpu', records }]);
  const row = table.split('\n').find((line) => line.includes('cone, small'))!;
  const cells = row.split('|').map((cell) => cell.trim());
  t.equal(cells[5], '6 (8)');
  t.equal(cells[6], '0.2 (0.3)');
  t.equal(cells[12], '2');
});

t.test('frames of a strip are evenly spaced, first and last included', async (t) => {
  t.same(framesOfStrip(100, 5), [0, 25, 50, 75, 100]);
  t.same(framesOfStrip(7, 1), [7]);
});

t.test('a PLY holds vertices and the surface of solids', async (t) => {
  const bytes = encodePly(model, model.start);
  const end = bytes.indexOf('end_header\n') + 'end_header\n'.length;
  const header = bytes.subarray(0, end).toString();
  t.match(header, /element vertex 8\n/);
  t.match(header, /element face 12\n/);
  t.equal(bytes.length - end, 8 * 12 + 12 * 13);
  t.equal(bytes.readFloatLE(end), Math.fround(model.start[0]!));
});

t.test('unknown scenes and sizes are named', async (t) => {
  t.throws(() => readSettings(['--scene', 'nothing']), /No scene is named nothing/);
  t.throws(() => readSettings(['--size', 'huge']), /small, quarter, full, not huge/);
  t.throws(() => readSettings(['--frames=-1']), /whole number, not -1/);
  t.same(readSettings(['--quality', 'FINE', '--parameters', '{"stepLimit":9}']).parameters, {
    stepLimit: 9,
    quality: 'FINE',
  });
});
