import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { describeFlow, summarise } from '../../src/cli/commands/flow.js';
import { assertClosedSurface, enclosedVolume } from '../../src/cli/flow/closed-surface.js';
import { smooth, vertexNormals } from '../../src/cli/flow/normals.js';
import type { Report } from '../../src/contract/report.js';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { openService } from '../clients/service.js';
import { boxesObj, insideOut } from './boxes.js';
import { sampleReport } from './fakes.js';
import { run } from './in-process.js';
import { verticesOf } from './sheets.js';

const cube = boxesObj([{ at: [10, 0, 0], size: [1, 1, 1], cells: 6 }]);
/** 0.2 apart, shifted against each other */
const neighbours = boxesObj([
  { at: [0, 0, 0], size: [1, 1, 1], cells: 6 },
  { at: [1.2, 0.13, 0.07], size: [1, 1, 1], cells: 6 },
]);
const slab = boxesObj([{ at: [0, 0, 0], size: [1, 1, 0.1], cells: 8 }]);

function inFolder(t: Test, files: Readonly<Record<string, string>>) {
  const cwd = t.testdir(files);
  return {
    flow: (...argv: string[]) => run(['flow', ...argv], { cwd }),
    check: async (name: string) => (await run(['check', name, '--quiet'], { cwd })).status,
    at: (name: string) => join(cwd, name),
  };
}

t.test('a cube grows by what is asked, whichever way its triangles are oriented', async (t) => {
  const { flow, check, at } = inFolder(t, { 'cube.obj': cube, 'reversed.obj': insideOut(cube) });
  const grown = await flow('cube.obj', '--offset', '0.3', '-o', 'grown.obj');
  t.equal(grown.status, 0, grown.stderr);
  t.match(grown.stdout, /^cube\.obj: moved outwards in 4 steps/);
  t.match(grown.stdout, /reached +mean 0\.3, least 0\.3 .* of 0\.3 in the unit of the mesh/);
  t.match(grown.stdout, /held back +0 of 218 vertices/);
  t.match(grown.stdout, /written +grown\.obj/);
  const middle = verticesOf(readFileSync(at('grown.obj'), 'utf8')).map(([x]) => x!);
  t.ok(Math.abs(Math.max(...middle) - 11.3) < 1e-5 && Math.abs(Math.min(...middle) - 9.7) < 1e-5, 'its faces moved');
  t.equal(await check('grown.obj'), 0);
  await flow('reversed.obj', '--offset', '0.3', '-o', 'too.obj', '--quiet');
  const { positions } = await readMeshFile(at('grown.obj'));
  const other = (await readMeshFile(at('too.obj'))).positions;
  t.ok(positions.every((value, i) => Math.abs(value - other[i]!) < 1e-4));
});

t.test('two cubes that grow meet and stop each other', async (t) => {
  const { flow, check } = inFolder(t, { 'two.obj': neighbours });
  const { status, stdout, stderr } = await flow(
    'two.obj',
    '--offset',
    '0.3',
    '--steps',
    '6',
    '-o',
    'out.obj',
    '--json',
  );
  t.ok(status === 0 || status === 4, stderr);
  const summary = JSON.parse(stdout);
  t.match(summary, {
    offset: 0.3,
    steps: 6,
    smoothing: 0,
    surfaceVertices: 436,
    lastReport: { intersectingPairCount: '0' },
  });
  t.ok(summary.leastOffset < 0.15 && summary.meanOffset > 0.2 && summary.meanOffset < 0.3, 'most vertices are free');
  t.ok(summary.heldVertices > 10);
  t.ok(summary.minDistance > 0 && summary.minDistance < 0.02, 'they nearly touch');
  t.equal(await check('out.obj'), 0);
});

t.test('the two sides of a slab meet on the way inwards, and its volume stays positive', async (t) => {
  const { flow, check, at } = inFolder(t, { 'slab.obj': slab });
  const { status, stdout, stderr } = await flow('slab.obj', '--offset', '-0.2', '--smoothing', '0.1', '-o', 'thin.obj');
  t.ok(status === 0 || status === 4, stderr);
  t.match(stdout, /moved inwards in \d+ steps/);
  const [, mean] = /reached +mean (-[\d.]+)/.exec(stdout) ?? [];
  t.ok(Number(mean) < -0.01 && Number(mean) > -0.2, `held back: ${mean}`);
  t.equal(await check('thin.obj'), 0);
  const { triangles, positions } = await readMeshFile(at('thin.obj'));
  const volume = enclosedVolume(triangles, positions);
  t.ok(volume > 0 && volume < 0.02, `${volume} of 0.1`);
});

t.test('on a service the answer has the same bytes, and no session is left', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const { flow, at } = inFolder(t, { 'two.obj': neighbours, 'key.txt': 'secret' });
  const argv = ['two.obj', '--offset', '0.12', '--steps', '2', '--quiet'];
  t.equal((await flow(...argv, '-o', 'local.obj')).status, 0);
  const remote = await flow(...argv, '-o', 'remote.obj', '--server', service.url, '--api-key-file', 'key.txt');
  t.equal(remote.status, 0, remote.stderr);
  t.equal(readFileSync(at('remote.obj'), 'utf8'), readFileSync(at('local.obj'), 'utf8'));
  const lines = service.seen.map(({ line }) => line.replace(/sessions\/[^/ ]+/, 'sessions/ID'));
  t.strictSame(
    lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['POST /v1/sessions', 'POST /v1/sessions/ID/steps', 'POST /v1/sessions/ID/steps', 'DELETE /v1/sessions/ID'],
  );
});

t.test('what has no inside, and what makes no sense, is refused before anything is computed', async (t) => {
  const crossing = boxesObj([
    { at: [0, 0, 0], size: [1, 1, 1], cells: 2 },
    { at: [0.5, 0.3, 0.4], size: [1, 1, 1], cells: 3 },
  ]);
  const { flow } = inFolder(t, {
    'cube.obj': cube,
    'open.obj': cube.replace(/f .*\n$/, ''),
    'mixed.obj': cube.replace(/f (\d+) (\d+) (\d+)\n$/, 'f $1 $3 $2\n'),
    'rod.obj': 'v 0 0 0\nv 1 0 0\nl 1 2\n',
    'flat.obj': 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n',
    'crossing.obj': crossing,
  });
  const cases: [string[], number, RegExp][] = [
    [['open.obj', '--offset', '1'], 3, /open\.obj: The surface is open/],
    [['mixed.obj', '--offset', '1'], 3, /Two triangles run from vertex/],
    [['rod.obj', '--offset', '1'], 3, /no triangles/],
    [['flat.obj', '--offset', '1'], 3, /encloses no volume.*\s+hint {2}A flow needs a surface around a volume/],
    [['crossing.obj', '--offset', '0.1'], 3, /INTERSECTING_START/],
    [['cube.obj'], 2, /--offset/],
    [['cube.obj', '--offset', '0'], 2, /--offset must not be 0/],
    [['cube.obj', '--offset', 'far'], 2, /A number is needed/],
    [['cube.obj', '--offset', '1', '--steps', '0'], 2, /--steps must be 1 or more/],
    [['cube.obj', '--offset', '1', '--smoothing', '1.5'], 2, /--smoothing must be 0 to 1/],
    [['cube.obj', '--offset', '1000'], 2, /over 1000 steps/],
    [['cube.obj', '--offset', '1', '-o', 'cube.obj'], 2, /overwrite the input/],
    [['cube.obj', '--offset', '1', '-o', 'cube.stl'], 2, /format of cube\.stl is unknown/],
    [['none.obj', '--offset', '1'], 2, /does not exist/],
    [['cube.obj', '--offset', '1', '--server', 'http://x', '--engine', 'cpu'], 2, /--engine cannot be used/],
  ];
  for (const [argv, status, message] of cases) {
    const result = await flow(...argv);
    t.equal(result.status, status, argv.join(' '));
    t.match(result.stderr, message);
  }
  t.match(JSON.parse((await flow('open.obj', '--offset', '1', '--json')).stdout), { code: 'INVALID_MESH' });
});

t.test('normals weigh triangles by area; smoothing keeps a plane flat and moves towards neighbours', async (t) => {
  // A pyramid over the unit square; its base has two triangles.
  const triangles = Uint32Array.of(0, 2, 1, 0, 3, 2, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4);
  const positions = Float64Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1);
  assertClosedSurface(triangles, 5);
  t.ok(Math.abs(enclosedVolume(triangles, positions) - 1 / 3) < 1e-12);
  const normals = vertexNormals(triangles, positions);
  t.strictSame(
    [...normals.subarray(12)].map((value) => Math.round(value * 1e12) / 1e12 + 0),
    [0, 0, 1],
    'the top',
  );
  // Corner 0: twice the vector areas (0, −1, ½), (−1, 0, ½) of two sides and twice (0, 0, −1) of the base.
  const corner = [-1, -1, -1].map((value) => value / Math.sqrt(3));
  t.ok(corner.every((value, k) => Math.abs(value - normals[k]!) < 1e-12));
  t.strictSame([...vertexNormals(Uint32Array.of(0, 1, 2), new Float64Array(12))], new Array(12).fill(0), 'no area');

  const fan = Uint32Array.of(0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4);
  const flat = Float64Array.of(0, 0, 2, 1, 0, 2, 1, 1, 2, 0, 1, 2, 0.5, 0.5, 2);
  const y = flat.slice();
  smooth(fan, y, 0.5);
  t.ok(
    y.every((value, i) => i % 3 !== 2 || Math.abs(value - 2) < 1e-12),
    'flat',
  );
  t.ok(Math.abs(y[12]! - 0.5) < 1e-12, 'the middle stays');
  const raised = flat.slice();
  raised[14] = 2.2;
  smooth(fan, raised, 0.5);
  t.ok(raised[14]! < 2.2 && raised[14]! > 2);
  const same = flat.slice();
  smooth(fan, same, 0);
  t.strictSame(same, flat);
});

t.test('a step whose smallest gap was not measured is told apart from one with nothing within reach', async (t) => {
  const warnings = [{ code: 'MIN_DISTANCE_NOT_MEASURED', message: 'The time was over.', count: 1 }];
  const measured = sampleReport({ minDistance: 0.25 });
  const [far, unmeasured] = [
    sampleReport({ minDistance: undefined }),
    sampleReport({ minDistance: undefined, warnings }),
  ];
  const rows: [reports: Report[], gap: RegExp, unmeasured: number][] = [
    [[measured, far], /^smallest gap +0\.25 in the unit of the mesh$/m, 0],
    [[measured, unmeasured], /^smallest gap +0\.25 in the unit of the mesh; not measured after 1 step$/m, 1],
    [[far, unmeasured], /^smallest gap +nothing within reach; not measured after 1 step$/m, 1],
    [[unmeasured, unmeasured], /^smallest gap +not measured: /m, 2],
  ];
  const triangles = Uint32Array.of(0, 1, 2);
  const settings = { distance: 1, steps: 2, smoothing: 0 };
  for (const [reports, gap, unmeasuredSteps] of rows) {
    const result = { positions: new Float32Array(9), reports, reached: Float64Array.of(1, 1, 1) };
    const summary = summarise(result, triangles, settings, 1);
    t.equal(summary.unmeasuredSteps, unmeasuredSteps);
    t.match(describeFlow('a.obj', summary, undefined).replace(/^ +/gm, ''), gap);
  }
});
