import t from 'tap';
import { Client } from '../../src/client/index.js';
import { flatSheet, scaled } from '../support/sheet.js';
import { openService } from './service.js';

t.test('a remote client sends lengths at rest, to a resolve and to a session whose vertices become pins', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  const client = new Client(service.url);
  const { vertexCount, rest, triangles } = flatSheet(6, 5);
  const wide = scaled(rest, [1.5, 1, 1]);
  const plain = await client.resolve({ vertexCount, triangles }, rest, wide);
  t.equal(plain.report.overlongEdges, 0);
  t.equal(plain.report.maxStretch, 1, 'relative to the target');
  const lengths = { edges: Uint32Array.of(0, 1), lengths: Float32Array.of(0.5) };
  const mesh = { vertexCount, triangles, restLengths: { positions: rest, ...lengths } };
  const { report, positions } = await client.resolve(mesh, rest, wide);
  t.equal(report.overlongEdges, 0);
  t.ok(report.maxStretch > 1.05 && report.maxStretch < 1.1001, `${report.maxStretch}`);
  t.ok(Math.abs(positions[3]! - positions[0]!) < 0.5501, 'one edge has a length of its own');

  const session = await client.session(mesh, rest);
  const pinned = new Uint8Array(vertexCount);
  pinned[vertexCount - 1] = 1;
  for (const kinematic of [undefined, pinned]) {
    const target = wide.slice();
    if (kinematic) target.set(positions.subarray(-3), target.length - 3);
    const step = await session.step(target, kinematic ? { kinematic } : {});
    t.equal(step.report.overlongEdges, 0);
    t.ok(step.report.maxStretch > 1.05, `${step.report.maxStretch}`);
  }
  await session.close();

  const unknown = { ...mesh, restLengths: { edges: Uint32Array.of(0, vertexCount - 1), lengths: Float32Array.of(1) } };
  await t.rejects(client.resolve(unknown, rest, wide), { code: 'INVALID_MESH' });
});
