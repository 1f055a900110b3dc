import t, { type Test } from 'tap';
import { Client } from '../../src/client/index.js';
import { STRAIN_TOLERANCE } from '../../src/jobs/strained-elements.js';
import { openTestEngine } from '../support/gpu.js';
import { flatSheet, scaled } from '../support/sheet.js';
import { openService, type Service } from './service.js';

// A software driver compiles every kernel on first use, which takes up to half a minute on a busy machine.
t.setTimeout(600_000);

/** A remote solver drapes a sheet with limits over its frames, pins a corner on the way, and lets it go. */
async function drape(t: Test, service: Service): Promise<void> {
  const client = new Client(service.url);
  const { engines } = await client.info();
  t.ok(
    engines?.some(({ strainLimits }) => strainLimits === true),
    'the service says that it keeps strain limits',
  );
  const { vertexCount, rest, triangles } = flatSheet(6, 5);
  const limits = { min: 0.95, max: 1.05 };
  const session = await client.session({ vertexCount, triangles, strainLimits: { rest, ...limits } }, rest);
  const pinned = new Uint8Array(vertexCount);
  pinned[0] = 1;
  for (const [n, kinematic] of [undefined, pinned, undefined].entries()) {
    const target = scaled(rest, [1.3 + 0.2 * n, 0.7, 1]);
    if (n > 0) target.set(rest.subarray(0, 3));
    const { report, frame } = await session.step(target, kinematic ? { kinematic } : {});
    const { violated, inverted, min, max } = report.strain!;
    t.equal(frame, n + 1);
    t.match({ violated, inverted }, { violated: 0, inverted: 0 }, `frame ${frame}: ${JSON.stringify(report.strain)}`);
    t.ok(min >= limits.min - STRAIN_TOLERANCE && max <= limits.max + STRAIN_TOLERANCE);
    t.ok(max > 1.03, 'the limits are used');
  }
  t.equal(await session.close(), true);
}

t.test('a session of a remote client keeps strain limits on the engine cpu', async (t) => {
  const service = await openService();
  t.teardown(() => service.close());
  await drape(t, service);
});

const { engine, options } = await openTestEngine();
await engine?.close();

t.test('a session of a remote client keeps strain limits on the engine webgpu', options, async (t) => {
  const service = await openService(0, 'webgpu');
  t.teardown(() => service.close());
  await drape(t, service);
});
