import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ServerProcess } from '../../../bench/prove/server.js';
import { FrameCache } from '../runner/cache.js';
import { follow } from '../runner/follow.js';
import { makeJudge } from '../runner/judge.js';
import { modelOf, play } from '../runner/play.js';
import { interpolate, refine } from '../runner/refine.js';
import { SCENES } from '../scenes/index.js';

/** m: rounding of sums of four products of lengths near 1 */
const ROUNDING = 1e-12;

t.test('a state of a coarse model is transferred to a fine one, and linear functions stay linear', async (t) => {
  // A flat sheet, and a solid: their vertices lie in elements of the coarse ones.
  for (const [name, body] of [
    ['funnel-40', 0],
    ['mats', 0],
  ] as const) {
    const [coarse, fine] = [SCENES.get(name)!('small'), SCENES.get(name)!('quarter')];
    const refinement = refine([coarse.bodies[body]!], [fine.bodies[body]!])!;
    const map = (x: Float64Array): Float64Array =>
      x.map((_, i) => {
        const v = i - (i % 3);
        return x[v]! * (1 + (i % 3)) - 2 * x[v + 1]! + 0.5 * x[v + 2]! + (i % 3);
      });
    const carried = interpolate(refinement, map(coarse.bodies[body]!.geometry.positions));
    const expected = map(fine.bodies[body]!.geometry.positions);
    t.equal(carried.length, expected.length);
    const worst = carried.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
    t.ok(worst < ROUNDING, `${name}: ${worst}`);
  }
});

t.test('a model of grains cannot be refined, because grains have no elements', async (t) => {
  t.equal(refine(SCENES.get('sand')!('small').bodies, SCENES.get('sand')!('quarter').bodies), undefined);
  t.equal(refine(SCENES.get('cone')!('small').bodies, SCENES.get('funnel-40')!('small').bodies), undefined);
});

t.test('a fine model follows a coarse one without passing through anything', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'follow-'));
  const server = await ServerProcess.start({ engine: 'cpu' });
  t.teardown(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const [coarse, fine] = [SCENES.get('rotating-sphere')!('small'), SCENES.get('rotating-sphere')!('small')];
  const model = modelOf(coarse);
  const cache = new FrameCache(join(folder, 'coarse'), model);
  const common = { address: server.grpcAddress, parameters: {} };
  await play(coarse, { ...common, size: 'small', isJudged: true, cache, model, frames: 30, onStep: () => true });
  const leader = { cache, refinement: refine(coarse.bodies, fine.bodies)!, start: model.start };
  const told: number[] = [];
  const options = { ...common, stride: 8, folder: join(folder, 'led') };
  const onTarget = (frame: number): boolean => told.push(frame) > 0;
  const reached = await follow(fine, model, 30, leader, { ...options, onTarget });
  t.same(told, [8, 16, 24, 30]);
  t.equal(reached?.frame, 30);
  t.equal(makeJudge(model)(reached!.x), 0);
  const led = cache.read(30);
  const farthest = reached!.x.reduce((most, value, i) => Math.max(most, Math.abs(value - led[i]!)), 0);
  t.ok(farthest < 0.01, `${farthest} m from where it was led to`);
  t.ok(
    reached!.velocity.some((value) => value !== 0),
    'it moves on',
  );
  const again = await follow(fine, model, 30, leader, { ...options, onTarget: () => t.fail('it was saved') as never });
  t.same([...again!.x], [...reached!.x]);
  t.equal(await follow(fine, model, 20, leader, { ...options, onTarget: () => false }), undefined, 'ended early');
});
