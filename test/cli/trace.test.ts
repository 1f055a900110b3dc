import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { prepareTraceFolder } from '../../src/cli/outputs.js';
import { type MeshFile, readMeshFile } from '../../src/mesh/files/index.js';
import { beginTrace, TraceWriter } from '../../src/session/trace.js';

const start: MeshFile = {
  format: 'obj',
  scalar: 'FLOAT64',
  vertexCount: 3,
  positions: new Float64Array([0, 0, 0, 1, 0, 0, 0, 1, 0]),
  triangles: new Uint32Array([0, 1, 2]),
  segments: new Uint32Array(),
  particles: new Uint32Array(),
  faceSizes: new Uint32Array([3]),
  faceVertices: new Uint32Array([0, 1, 2]),
};

const at = (z: number): Float32Array => new Float32Array([0, 0, z, 1, 0, z, 0, 1, z]);
const neverFails = (): void => {
  throw new Error('no write may fail here');
};

async function open(folder: string): Promise<TraceWriter> {
  await prepareTraceFolder(folder);
  return new TraceWriter(folder, start, neverFails);
}

const indexOf = (folder: string): object => JSON.parse(readFileSync(join(folder, 'trace.json'), 'utf8'));

t.test('states are numbered from the start to the answer, in their own scalar', async (t) => {
  const folder = join(t.testdir(), 'deep', 'path');
  const trace = await open(folder);
  t.strictSame(indexOf(folder), { isComplete: false }, 'an interrupted trace is known as one');
  for (const [k, z] of [0, 0.1, 0.2].entries()) trace.add(at(z), k);
  trace.finish({ note: 'x' });
  t.strictSame(readdirSync(folder), ['state-00000.ply', 'state-00001.ply', 'state-00002.ply', 'trace.json']);
  t.strictSame(indexOf(folder), { isComplete: true, states: 3, discardedStates: 0, note: 'x' });
  const state = await readMeshFile(join(folder, 'state-00001.ply'));
  t.strictSame(state.positions, at(0.1));
  t.strictSame(state.triangles, start.triangles);
  t.equal(state.plyEncoding, 'binary_little_endian');
});

t.test('states that were given up are no part of the path', async (t) => {
  const folder = t.testdir();
  const trace = await open(folder);
  for (const [k, z] of [0, 0.1, 0.2, 0.3].entries()) trace.add(at(z), k);
  trace.add(at(0.15), 1);
  trace.finish({});
  t.strictSame(readdirSync(folder), ['state-00000.ply', 'state-00001.ply', 'trace.json']);
  t.match(indexOf(folder), { states: 2, discardedStates: 2 });
  t.strictSame(
    (await readMeshFile(join(folder, 'state-00001.ply'))).positions,
    at(0.15),
    'the one that took their place',
  );
});

t.test('an earlier trace is replaced as a whole, anything else is left alone', async (t) => {
  const folder = t.testdir();
  const trace = await open(folder);
  for (const [k, z] of [0, 0.1, 0.2].entries()) trace.add(at(z), k);
  const states = readdirSync(folder);
  await t.rejects(prepareTraceFolder(folder, [join(folder, 'state-00001.ply')]), {
    name: 'UsageError',
    message: /the input .*state-00001\.ply lies in it/,
  });
  t.strictSame(readdirSync(folder), states, 'a state that the run begins from is not removed');
  await prepareTraceFolder(folder);
  t.strictSame(readdirSync(folder), ['trace.json']);
  mkdirSync(join(folder, 'mine'));
  await t.rejects(prepareTraceFolder(folder), { name: 'UsageError', message: /contains mine/ });
  const other = t.testdir({ 'state-00000.ply': 'of another program' });
  await t.rejects(prepareTraceFolder(other), { name: 'UsageError', message: /contains state-00000\.ply/ });
  t.strictSame(readdirSync(other), ['state-00000.ply']);
});

t.test('a state that cannot be written stops the run once and is told at the end', async (t) => {
  const folder = t.testdir();
  let stops = 0;
  const trace = new TraceWriter(join(folder, 'gone'), start, () => stops++);
  trace.add(at(0), 0);
  trace.add(at(0.1), 1);
  t.equal(stops, 1);
  t.throws(() => trace.assertWritten(), { code: 'ENOENT' });
  t.throws(() => trace.finish({}), { code: 'ENOENT' });
});

t.test('no half file is left under the name of a whole one', async (t) => {
  const folder = t.testdir();
  const trace = new TraceWriter(folder, start, () => {});
  // A file of this size cannot be written after it was created, as on a full disk.
  trace.add(new Float32Array(6), 0);
  t.throws(() => trace.assertWritten());
  t.strictSame(readdirSync(folder), []);
  mkdirSync(join(folder, 'trace.json'));
  t.throws(() => beginTrace(folder), { code: 'EISDIR' });
  t.strictSame(readdirSync(folder), ['trace.json'], 'the index gets its name when it is complete');
});

t.test('a trace whose process was killed while it wrote the index is replaced', async (t) => {
  const folder = t.testdir({ 'trace.json.tmp': '{' });
  await prepareTraceFolder(folder);
  t.strictSame(readdirSync(folder), ['trace.json']);
});
