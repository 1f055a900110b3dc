import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readMeshFile } from '../../src/mesh/files/index.js';
import { RequestTrace, type TracedRequest } from '../../src/session/trace.js';
import { freshReport } from './fake-scheduler.js';
import { at } from './room.js';

const request: TracedRequest = {
  operation: 'step',
  requestId: 'r-1',
  mesh: { vertexCount: 3, triangles: Uint32Array.of(0, 1, 2), kinematic: Uint8Array.of(0, 1, 0) },
  parameters: { damping: 0.5 },
};
const neverFails = (reason: unknown): never => {
  throw reason;
};

t.test('a trace has the form that the command line writes', async (t) => {
  const folder = join(t.testdir(), 'traces');
  const encodeReport = ({ steps }: { steps: number }) => ({ steps });
  const trace = RequestTrace.open(request, { folder, encodeReport, onFailure: neverFails })!;
  const own = join(folder, 'r-1');
  t.strictSame(JSON.parse(readFileSync(join(own, 'trace.json'), 'utf8')), { isComplete: false });
  const states = [0, 0.1, 0.2].map((z) => Float64Array.from(at(z)));
  for (const [k, state] of states.entries()) trace.add(state, k);
  trace.finish({ positions: states[2]!, report: freshReport() });
  t.strictSame(readdirSync(own), ['state-00000.ply', 'state-00001.ply', 'state-00002.ply', 'trace.json']);
  t.match(JSON.parse(readFileSync(join(own, 'trace.json'), 'utf8')), {
    isComplete: true,
    states: 3,
    operation: 'step',
    scalar: 'FLOAT64',
    options: { parameters: { damping: 0.5 } },
    kinematicVertices: [1],
    report: { steps: 7 },
  });
  const read = await readMeshFile(join(own, 'state-00001.ply'));
  t.strictSame(read.positions, states[1], 'double for a double input');
  t.strictSame(read.triangles, request.mesh.triangles);
});

t.test('what was left out on the way to a discarded state is removed with it', async (t) => {
  const folder = t.testdir();
  const trace = RequestTrace.open(request, { folder, onFailure: neverFails })!;
  const [start, discarded, answer] = [0, 0.1, 0.2].map((z) => Float64Array.from(at(z)));
  trace.add(start!, 0);
  trace.add(discarded!, 1, { phase: 'FORWARD', step: 1, leftOut: [{ vertices: [0], patch: [1, 2] }] });
  t.ok(readdirSync(join(folder, 'r-1')).includes('left-out-00001.json'));
  trace.add(answer!, 1);
  trace.finish({ positions: answer!, report: freshReport() });
  t.strictSame(readdirSync(join(folder, 'r-1')), ['state-00000.ply', 'state-00001.ply', 'trace.json']);
});

t.test('request ids that are not plain names, or are repeated, get another folder', async (t) => {
  const folder = t.testdir();
  for (const requestId of [undefined, '../up', 'a/b', 'r-1', 'r-1']) {
    RequestTrace.open({ ...request, requestId }, { folder, onFailure: neverFails });
  }
  const names = readdirSync(folder);
  t.equal(names.length, 5);
  t.same(
    names.filter((name) => !/^(r-1|r-1-[0-9a-f]{16}|[0-9a-f]{16})$/.test(name)),
    [],
  );
});

t.test('a solid is written as its surface', async (t) => {
  const folder = t.testdir();
  const solid = { ...request, mesh: { vertexCount: 4, tetrahedra: Uint32Array.of(0, 1, 2, 3) } };
  const trace = RequestTrace.open(solid, { folder, onFailure: neverFails })!;
  const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1);
  trace.add(positions, 0);
  trace.finish({ positions, report: freshReport() });
  const read = await readMeshFile(join(folder, 'r-1', 'state-00000.ply'));
  t.equal(read.triangles.length, 12);
  t.strictSame(read.positions, positions);
});

t.test('a trace that cannot be written is reported once', async (t) => {
  const folder = t.testdir({ occupied: 'a file' });
  const reasons: unknown[] = [];
  const onFailure = (reason: unknown) => reasons.push(reason);
  t.equal(RequestTrace.open(request, { folder: join(folder, 'occupied'), onFailure }), undefined);
  t.equal(reasons.length, 1);
});

/** Longest path of Linux, in bytes with its end. */
const PATH_MAX = 4096;

t.test('a trace without an index leaves no folder', async (t) => {
  let folder = t.testdir();
  // The folder r-1 has a path that is short enough, its index has not.
  while (folder.length < PATH_MAX - 210) folder = join(folder, 'n'.repeat(200));
  folder = join(folder, 'n'.repeat(PATH_MAX - 10 - folder.length - '/'.length - '/r-1'.length));
  const reasons: unknown[] = [];
  t.equal(RequestTrace.open(request, { folder, onFailure: (reason) => reasons.push(reason) }), undefined);
  t.match(reasons, [{ code: 'ENAMETOOLONG' }]);
  t.strictSame(readdirSync(folder), []);
});
