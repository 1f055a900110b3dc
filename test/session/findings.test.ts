import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { OperationEvent } from '../../src/contract/events.js';
import type { Finding } from '../../src/jobs/finding.js';
import { FindingsRecorder, MAX_REPRODUCTIONS, writeFinding } from '../../src/session/findings.js';
import { Observation } from '../../src/session/observation.js';
import { fakeEngine, stepping } from '../support/fake-engine.js';
import { runJob, spike } from '../support/job.js';

async function plantedFinding(): Promise<Finding> {
  const { findings } = await runJob(spike(0.25, 0.4), fakeEngine(stepping(4)));
  return findings[0]!;
}

t.test('a finding is written with everything that reproduces it', async (t) => {
  const parent = t.testdir();
  const finding = await plantedFinding();
  const folder = await writeFinding(finding, join(parent, 'new', 'folder'));
  const manifest = JSON.parse(await readFile(join(folder, 'finding.json'), 'utf8'));
  t.match(manifest, {
    kind: 'STATE',
    engine: 'fake',
    version: finding.version,
    byteOrder: /endian/,
    resolved: { preset: 'TUNED' },
    state: { intersectionCount: 2, intersections: [{ kind: 'EDGE_TRIANGLE', a: [3, 4], b: [0, 1, 2] }, {}] },
    request: { mesh: { vertexCount: 6 } },
  });
  const { file, type, length } = manifest.request.start;
  t.match({ type, length }, { type: 'Float32Array', length: 18 });
  const bytes = await readFile(join(folder, file));
  t.same(new Float32Array(Uint8Array.from(bytes).buffer), finding.request.start);
  const triangles = await readFile(join(folder, manifest.request.mesh.triangles.file));
  t.same(new Uint32Array(Uint8Array.from(triangles).buffer), finding.request.mesh.triangles);
});

t.test('two findings are written to two folders, which only the owner can read', async (t) => {
  const parent = join(t.testdir(), 'findings');
  const finding = await plantedFinding();
  await Promise.all([writeFinding(finding, parent), writeFinding(finding, parent)]);
  t.equal((await readdir(parent)).length, 2);
  if (process.platform !== 'win32') t.equal((await stat(parent)).mode & 0o077, 0);
});

t.test('a finding that cannot be written leaves no folder', async (t) => {
  const parent = t.testdir();
  const finding = { ...(await plantedFinding()), ['n'.repeat(300)]: Uint8Array.of(1) };
  await t.rejects(writeFinding(finding, parent), { code: 'ENAMETOOLONG' });
  t.strictSame(await readdir(parent), []);
});

t.test(
  'a fault that repeats does not fill the disk: the first findings are written, and all are reported',
  async (t) => {
    const parent = join(t.testdir(), 'findings');
    const events: OperationEvent[] = [];
    const logged: string[] = [];
    const log = (_event: object, message: string) => logged.push(message);
    const recorder = new FindingsRecorder(new Observation((event) => events.push(event), log), log, parent);
    const finding = await plantedFinding();
    for (let k = 0; k < MAX_REPRODUCTIONS + 2; k++) recorder.record(finding);
    await recorder.flush();
    t.equal((await readdir(parent)).length, MAX_REPRODUCTIONS);
    t.equal(events.length, MAX_REPRODUCTIONS + 2);
    t.equal(logged.length, MAX_REPRODUCTIONS + 2);
    t.equal(logged.filter((message) => /is not written, because .* already written 100 /.test(message)).length, 2);
  },
);
