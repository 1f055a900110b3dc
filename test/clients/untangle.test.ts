import t from 'tap';
import { Client, type UntangleProgress } from '../../src/client/index.js';
import { openService } from './service.js';

/** A triangle in the plane z = 0, and one whose tip hangs through it. */
const MESH = {
  vertexCount: 6,
  triangles: Uint32Array.of(0, 1, 2, 3, 4, 5),
  parts: [
    { name: 'lower', firstVertex: 0, vertexCount: 3 },
    { name: 'upper', firstVertex: 3, vertexCount: 3 },
  ],
};
const PIERCED = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -0.1, 0.2, 0.4, 0.9, 0.4, 0.2, 0.9);
const LAYERS = [{ inner: 'lower', outer: 'upper' }];

t.test('a remote client untangles, with progress and hints', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url);
  const seen: UntangleProgress[] = [];
  const options = { layers: LAYERS, maxIterations: 20, onProgress: (one: UntangleProgress) => seen.push(one) };
  const { positions, report, regions } = await client.untangle(MESH, PIERCED, options);
  t.equal(report.status, 'FREE', JSON.stringify(report));
  t.ok(positions instanceof Float64Array, 'in the scalar of the start');
  t.ok(report.piercesBefore > 0 && report.piercesAfter === 0);
  t.equal(report.piercesByIteration[0], report.piercesBefore);
  t.match(report.contours[0], { id: 0, why: 'HINT' });
  t.ok(report.contours[0]!.points.length % 3 === 0 && report.contours[0]!.points.length > 0);
  t.equal(regions.length, 6);
  t.ok((await client.check(MESH, positions)).intersectionFree);
  t.ok(seen.every(({ pierces, phase }) => pierces >= 0 && phase.length > 0));
  const silent = await client.untangle(MESH, PIERCED, { layers: LAYERS, maxIterations: 20 });
  t.same(silent.positions, positions, 'progress changes nothing');
  await t.rejects(client.untangle(MESH, PIERCED, { layers: [{ inner: 'coat', outer: 'upper' }] }), {
    code: 'INVALID_PARAMETER',
  });
});

t.test('an untangling runs as a job, whose answer is the one that a connection gets', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url);
  const options = { layers: LAYERS, maxIterations: 20 };
  const job = await client.submitUntangling(MESH, PIERCED, { ...options, label: 'coat', keepForSeconds: 60 });
  const { positions, report, regions } = await client.job(job.id).untangled();
  const direct = await client.untangle(MESH, PIERCED, options);
  t.same({ positions, regions }, { positions: direct.positions, regions: direct.regions });
  t.same({ ...report, seconds: 0 }, { ...direct.report, seconds: 0 });
  t.match(await job.status(), { state: 'JOB_DONE', label: 'coat' });
  await t.rejects(job.result(), TypeError, 'it is no resolve');
  const resolve = await client.submit(MESH, positions, positions);
  await t.rejects(resolve.untangled(), TypeError, 'it is no untangling');
  await Promise.all([job.delete(), resolve.delete()]);
});

t.test('a session opens on an untangled start, also again after it was lost', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url);
  await t.rejects(client.session(MESH, PIERCED), { code: 'INTERSECTING_START' });
  const parameters = { onIntersectingStart: 'UNTANGLE' } as const;
  const session = await client.session(MESH, PIERCED, { parameters, untangle: { layers: LAYERS } });
  const { positions, report } = session.untangled!;
  t.equal(report.status, 'FREE');
  await fetch(`${service.url}/v1/sessions/${session.id}`, { method: 'DELETE' });
  const { positions: kept } = await session.step(positions);
  t.same(kept, positions, 'it goes on from the state that was told');
  t.equal(session.recreations, 1);
  await session.close();
});
