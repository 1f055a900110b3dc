import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { FrameCache } from '../runner/cache.js';
import { drawCharts } from '../runner/chart.js';
import { isBeginningOf, mostContested, strideOf, warmUpOf } from '../runner/contested.js';
import { writeOutputs } from '../runner/outputs.js';
import { framesOfStrip, stripOf } from '../runner/picture.js';
import { modelOf } from '../runner/play.js';
import { makePlot, plotSpins, plotTogether } from '../runner/plot.js';
import { encodePly } from '../runner/ply.js';
import { lineOf, type Played, type StepRecord } from '../runner/records.js';
import { publishedFile, readPublished, readRecords, titleOfPublished } from '../runner/saved-records.js';
import { readSettings } from '../runner/settings.js';
import { makeStepsTable, makeTable, makeWindowsTable } from '../runner/table.js';
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
  version: '1',
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
  // Written before the state of frame 4, which was never written.
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

t.test('a cache refuses to mix frames of different runs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cache-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const facts = {
    algorithmVersion: '1',
    parameters: {},
    model: 'a',
    solver: { timeStep: 0.1, iterations: 1, tolerance: 1, maxSolverIterations: 2, repulsionStiffness: 1 },
  };
  const cache = new FrameCache(folder, model);
  cache.open();
  cache.agree({ ...facts, algorithmVersion: '0' });
  cache.agree(facts);
  cache.append(record(1, 1), { ...startOf(model), frame: 1 });
  t.doesNotThrow(() => new FrameCache(folder, model).agree(facts));
  const others = [
    { algorithmVersion: '2' },
    { parameters: { sigma: 1 } },
    { model: 'b' },
    { solver: { ...facts.solver, timeStep: 0.2 } },
    { solver: { ...facts.solver, iterations: 2 } },
  ];
  for (const other of others) t.throws(() => cache.agree({ ...facts, ...other }), /are not mixed/);
  rmSync(join(folder, 'run.json'));
  t.throws(() => cache.agree(facts), /are not mixed/, 'frames of which nothing is known');
});

t.test('a cache may begin in the middle of a scene', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cache-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const begin = { ...startOf(model), frame: 8 };
  const cache = new FrameCache(folder, model, begin);
  t.equal(cache.open(), undefined);
  cache.append(record(9, 1), { ...begin, frame: 9, x: begin.x.map((value) => Math.fround(value + 1)) });
  t.same(
    cache.open()?.records.map(({ frame }) => frame),
    [9],
  );
  t.equal(cache.read(1)[0], Math.fround(Math.fround(model.start[0]!) + 1));
  t.equal(
    new FrameCache(folder, model, { ...begin, frame: 12 }).open(),
    undefined,
    'a window that begins later is another one',
  );
});

t.test('the most contested frames are those with most steps, and begin where a warm-up can end', async (t) => {
  const records = [1, 1, 9, 9, 1, 1, 8, 9, 1, 1].map((steps, i) => record(i + 1, steps));
  t.equal(mostContested(records, 2, 1), 2);
  t.equal(mostContested(records, 2, 3), 6);
  t.equal(mostContested(records, 20, 4), 0, 'fewer frames than asked for: all of them');
  t.ok(isBeginningOf(records.slice(0, 4), records));
  t.notOk(isBeginningOf(records.slice(1, 5), records), 'another run');
  t.notOk(isBeginningOf(records, records.slice(0, 4)), 'a longer one');
  const scene = SCENES.get('rotating-sphere')!('full');
  t.equal(strideOf(scene), 4);
  const { timeStep, frames } = warmUpOf(scene, 120, false);
  t.equal(timeStep * frames, 120 * scene.timeStep);
  t.equal(frames, 30);
  const short = warmUpOf(scene, 20, true);
  t.same([short.timeStep, short.frames], [scene.timeStep, 20], 'a short way is played as it is');
  t.equal(strideOf(SCENES.get('cone')!('full')), 1);
});

t.test('records are read from runs and from published results, without a line that was cut off', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'records-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  t.same([readRecords(folder), readPublished(folder, 'mats-small')], [[], []], 'nothing was played');
  const text = `${lineOf(record(1, 4))}\n${lineOf(record(2, 8))}\n{"frame":3`;
  writeFileSync(join(folder, 'steps.jsonl'), text);
  mkdirSync(join(folder, 'records'));
  const file = publishedFile(folder, 'mats-small');
  writeFileSync(file, gzipSync(text));
  t.equal(titleOfPublished(file.slice(join(folder, 'records').length + 1)), 'mats-small');
  t.equal(titleOfPublished('verdicts.json'), undefined);
  for (const records of [readRecords(folder), readPublished(folder, 'mats-small')]) {
    t.same(
      records.map(({ steps }) => steps),
      [4, 8],
    );
  }
});

t.test('a table has averages and maxima, and counts what did not converge', async (t) => {
  const scene = SCENES.get('cone')!('small');
  const records = [record(1, 4), record(2, 8, 'STEP_LIMIT'), record(3, 6, 'STALLED')];
  const facts = { vertices: 8, elements: '5 tetrahedra', adapter: 'cpu', firstFrame: 0 };
  const table = makeTable([{ scene, size: 'small', ...facts, records }]);
  const timed = records.map((one, i) => ({ ...one, processorTime: i + 1 }));
  t.match(makeTable([{ scene, size: 'small', ...facts, records: timed }]), /\| 0\.2 \(0\.3\) \| 2 \(3\) \|/);
  const row = table.split('\n').find((line) => line.includes('cone, small'))!;
  const cells = row.split('|').map((cell) => cell.trim());
  t.equal(cells[4], '3 of 30');
  t.equal(cells[5], '6 (8)');
  t.equal(cells[8], '0.2 (0.3)');
  t.equal(cells[9], '', 'not known');
  t.equal(cells[19], '2');
  t.equal(cells[20], 'not judged');
  t.equal(cells[22], 'cpu, 1');
});

t.test('a table has the strains of a run, and where they were beyond the limits of the scene', async (t) => {
  const strains: [number, number][] = [
    [0.99, 1.01],
    [0.95, 1.06],
    [0.94, 1.05],
  ];
  const facts = { vertices: 8, elements: '', adapter: 'cpu', firstFrame: 0, size: 'small' } as const;
  const said = (name: string, records: StepRecord[]): string[] => {
    const row = makeTable([{ scene: SCENES.get(name)!('small'), ...facts, records }])
      .split('\n')
      .find((line) => line.includes(', small'))!;
    return row
      .split('|')
      .slice(16, 18)
      .map((cell) => cell.trim());
  };
  const strained = strains.map((strain, i) => ({ ...record(i + 1, 4), strain }));
  t.same(said('strain-5', strained), ['0.94 to 1.06', '2 (0.01)']);
  t.same(said('strain-5', strained.slice(0, 1)), ['0.99 to 1.01', '0 (0)']);
  t.same(said('mats', strained), ['0.94 to 1.06', ''], 'a scene without limits');
  t.same(said('strain-5', [...strained, record(4, 4)]), ['', ''], 'a frame does not tell');
});

t.test('a table says whether the steps of the paper are met: the average of whole scenes only', async (t) => {
  const scene = { ...SCENES.get('reef-knot')!('small'), frames: 3 }; // average 7, maximum 23
  const said = (...steps: number[]): string => {
    const records = steps.map((count, i) => record(i + 1, count));
    const facts = { vertices: 8, elements: '', adapter: 'cpu', firstFrame: 0 };
    const row = makeTable([{ scene, size: 'small', ...facts, records }])
      .split('\n')
      .find((line) => line.includes('small'))!;
    return row.split('|')[7]!.trim();
  };
  t.equal(said(1, 2, 3), 'average met, maximum met');
  t.equal(said(1, 2, 23), 'average MISSED, maximum met');
  t.equal(said(1, 2, 24), 'average MISSED, maximum MISSED');
  t.equal(said(22, 23), 'maximum met so far');
  t.equal(said(22, 24), 'maximum MISSED');
});

t.test('the short table has whole runs, and small ones where there is no larger one', async (t) => {
  const played = (size: 'small' | 'quarter' | 'full', frames: number, steps: number): Played => {
    const scene = { ...SCENES.get('reef-knot')!(size), frames: 2 };
    const facts = { vertices: 8, elements: '', adapter: 'cpu', firstFrame: 0 };
    return { scene, size, ...facts, records: Array.from({ length: frames }, (_, i) => record(i + 1, steps)) };
  };
  const table = makeStepsTable([played('small', 2, 3), played('quarter', 2, 24), played('full', 1, 4)]);
  t.match(makeStepsTable([played('small', 2, 3), played('quarter', 1, 4)]), /`reef-knot`, small/);
  t.match(table.split('\n').slice(2), [
    '| `reef-knot`, quarter | 8 | 2 | 1 | 24 (24) | 7 (23) | average MISSED, maximum MISSED | 0 | 0 | not judged |',
  ]);
  t.equal(table.split('\n').length, 3);
  t.match(
    makeWindowsTable([{ ...played('full', 1, 4), firstFrame: 1 }]),
    /\| 2 to 2 of 2 \| 1 \| 4 \(4\) \| 7 \(23\) \| maximum met \|/,
  );
});

t.test('charts show every line with its name and position on the axis', async (t) => {
  const played = (name: string, count: number, firstFrame = 0): Played => {
    const records = Array.from({ length: count }, (_, i) => record(firstFrame + i + 1, i + 1));
    const scene = SCENES.get(name)!('small');
    return { scene, size: 'small', vertices: 8, elements: '', adapter: 'cpu', firstFrame, records };
  };
  const together = plotTogether('two time steps', [played('funnel-20', 4), played('funnel-40', 8)]);
  t.match(together, />funnel-20<\/text>[\s\S]*>funnel-40<\/text>/);
  t.match(together, />time, s: 0\.2<\/text>/, 'both end at the same time');
  t.equal(together.match(/<path d="M[^"]*L/g)?.length, 6, 'three charts of two lines');
  const spins = plotSpins(['spin-0', 'spin-45', 'spin-90'].map((name) => played(name, 1)));
  t.match(spins, />spin, degrees: 90<\/text>/);
  const window = makePlot(played('cone', 5, 12));
  t.match(window, />frame 13<\/text>[\s\S]*>frame 17<\/text>/);
  t.notMatch(`${together}${spins}${window}`, /NaN|Infinity|undefined/);
});

t.test('labels of small values have an exponent', async (t) => {
  const chart = drawCharts('strain', [{ title: 'strain', lines: [{ values: [0, 2.46e-6] }], isLogarithmic: false }]);
  t.match(chart, />2\.46e-6<\/text>/);
  t.match(chart, />0<\/text>/);
  t.notMatch(chart, />0\.0/);
});

t.test('frames of a strip are evenly spaced, first and last included', async (t) => {
  t.same(framesOfStrip(100, 5), [0, 25, 50, 75, 100]);
  t.same(framesOfStrip(7, 1), [7]);
});

t.test('a strip has the colours of bodies, and shows what moves', async (t) => {
  const scene = SCENES.get('needle')!('small');
  const whole = modelOf(scene);
  const sheet = stripOf(scene, whole, [whole.start, whole.start]);
  const [row] = sheet.rows;
  t.equal(row!.states.length, 2);
  t.equal(row!.framed.length, 2 * 3 * whole.isKinematic.filter((is) => is === 0).length);
  const colours = row!.bodies.map(({ colour }) => colour.join());
  const obstacles = scene.bodies.map(({ material }) => material.kind === 'obstacle');
  t.equal(new Set(colours.filter((_, b) => obstacles[b])).size, 1, 'obstacles have one colour');
  const cloths = colours.filter((_, b) => !obstacles[b]);
  t.ok(cloths.length > 1);
  t.equal(new Set(cloths).size, cloths.length, 'layers have different ones');
});

t.test('without a browser there is no strip, and the rest is written', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'outputs-'));
  const { PATH } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  const scene = SCENES.get('cone')!('small');
  const whole = modelOf(scene);
  const facts = { vertices: whole.vertexCount, elements: '', adapter: 'cpu', firstFrame: 0 };
  const played: Played = { scene, size: 'small', ...facts, records: [record(1, 1)] };
  const said = t.capture(process.stderr, 'write', () => true);
  process.env.PATH = '/nowhere';
  await writeOutputs(played, whole, new FrameCache(folder, whole), { pictures: 2, ply: true });
  t.match(
    said()
      .map(({ args }) => `${args[0]}`)
      .join(''),
    /No strip is drawn\..*deploy\/install-browser\.sh/,
  );
  t.same(readdirSync(folder).sort(), ['plot.svg', 'ply']);
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
  t.throws(() => readSettings(['--contested', '20', '--size', 'quarter']), /another size/);
  t.throws(() => readSettings(['--frames=-1']), /whole number, not -1/);
  t.throws(() => readSettings(['--iterations', '0']), /at least 1/);
  t.throws(() => readSettings(['--repulsion', 'stiff']), /positive number, not stiff/);
  t.same(readSettings(['--iterations', '2', '--repulsion', '1e6']).solver, { iterations: 2, repulsionStiffness: 1e6 });
  t.same(readSettings([]).solver, {}, 'those of the scenes');
  t.same(readSettings(['--quality', 'FINE', '--parameters', '{"stepLimit":9}']).parameters, {
    stepLimit: 9,
    quality: 'FINE',
  });
});
