import t from 'tap';
import type { Door } from '../../../../bench/prove/doors/door.js';
import { openDoors } from '../../../../bench/prove/doors/doors.js';
import { GENERATED } from '../../../../bench/prove/scenes/generated.js';
import { Random } from '../../../../bench/prove/scenes/random.js';
import { ServerProcess } from '../../../../bench/prove/server.js';

/** So few that no reply meets the time budget of the doors, even on a very busy machine. */
const FEW_STEPS = { stepLimit: 4 };
const scene = GENERATED.soup(new Random(4));
const crossed = GENERATED.crossed(new Random(4));

t.test('the three doors give the same bytes, numbers and refusals', async (t) => {
  const server = await ServerProcess.start({ engine: 'cpu' });
  const doors = openDoors(server);
  t.teardown(async () => {
    for (const door of Object.values(doors)) door.close();
    await server.stop();
  });

  const steps = async (door: Door) => {
    const created = await door.createSession(scene.mesh, scene.start, FEW_STEPS);
    if ('refusal' in created) throw new Error(created.refusal.message);
    const kinematic = new Uint8Array(scene.mesh.vertexCount);
    const one = await door.step(created.id, 1n, scene.target, { kinematic });
    const two = await door.stepFast(created.id, 2n, scene.start);
    const rest = await door.step(created.id, 3n, scene.start, { parts: [] });
    const back = await door.step(created.id, 4n, scene.target, { start: scene.start });
    const old = await door.step(created.id, 2n, scene.target);
    await door.deleteSession(created.id);
    return [one, two, rest, back, old];
  };
  const all = async (door: Door) => {
    const resolve = await door.resolve(scene.mesh, scene.start, scene.target, FEW_STEPS);
    const refused = await door.resolve(crossed.mesh, crossed.start, crossed.target, {});
    const check = await door.check(crossed.mesh, crossed.start, crossed.target);
    return { replies: [resolve, refused, ...(await steps(door))], check };
  };

  const expected = await all(doors.JSON);
  t.match(expected.replies[1], { refusal: { code: 'INTERSECTING_START' } });
  t.match(expected.replies[6], { refusal: { code: 'FRAME_OUT_OF_ORDER' } });
  for (const name of ['PROTOBUF', 'GRPC'] as const) {
    const got = await all(doors[name]);
    t.same(got.check, expected.check, name);
    for (const [k, reply] of got.replies.entries()) {
      const other = expected.replies[k];
      if ('refusal' in reply) t.same(reply, other, `${name}, reply ${k}`);
      else {
        if ('refusal' in other) throw new Error(`${name}, reply ${k} was refused`);
        t.same(reply.answer.positions, other.answer.positions, `${name}, reply ${k}`);
        t.equal(reply.answer.report.status, other.answer.report.status);
        t.equal(reply.answer.report.distanceToTargetRms, other.answer.report.distanceToTargetRms);
        t.equal(reply.answer.report.minDistance, other.answer.report.minDistance);
      }
    }
  }
});
