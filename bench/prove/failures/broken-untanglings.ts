import { setTimeout as wait } from 'node:timers/promises';
import type { Untangled } from '../doors/door.js';
import { readSurface } from '../judge/surface.js';
import { plant, removePlant } from '../mutants/planting.js';
import type { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { TANGLED_STARTS, type TangledStart } from '../untangling/tangled-starts.js';
import { judgeUntangled } from '../untangling/untangling-judge.js';
import { SABOTAGE } from './sabotage.js';
import { assert, patientClient } from './tools.js';

type EngineName = 'cpu' | 'webgpu';

/** Untanglings during which something breaks, and from which a caller disconnects. */
const BROKEN = 6;
/** Largest number if nothing was hit, because a disturbance at a random moment may fall between two requests. */
const MOST_BROKEN = 40;
const GONE = 4;

/** Services that end, and the largest number if no untangling was cut short. */
const ENDED = 3;
const MOST_ENDED = 15;

/** The smallest memory for the pairs of a request, bytes. */
const LEAST_PAIR_BYTES = 2 ** 20;

/** m; contacts so wide that the pairs of most tangles do not fit into it */
const WIDE_CONTACTS = [0.01, 0.02] as const;

/** Every answer, whatever cut it short, must be the best state that was found, with the remaining pairs. */
function judge({ mesh, start }: TangledStart, answer: Untangled, where: string): void {
  const rules = { kinematicPairs: 'SKIP' } as const;
  const question = { surface: readSurface(mesh), start, rules, maxDisplacement: undefined, rest: undefined };
  judgeUntangled(question, answer, (promise, details) => assert(false, `${where}: ${promise}: ${details}`));
}

const isSame = (a: Untangled, b: Untangled): boolean => a.positions.every((p, i) => p === b.positions[i]);

/** Threads end, the device is lost, and callers disconnect at any moment; the next untangling must be unaffected. */
export async function untanglingsBroken(engine: EngineName, random: Random): Promise<string> {
  const sabotage = engine === 'cpu' ? SABOTAGE.killedWorker : SABOTAGE.lostDevice;
  const build = await plant({ ...sabotage, name: `${sabotage.name}-untangling-${engine}` });
  try {
    const server = await ServerProcess.start({ engine, build });
    try {
      const client = patientClient(server);
      const tangled = TANGLED_STARTS.crossed(random);
      const { mesh, start } = tangled;
      const ask = (signal?: AbortSignal) => client.untangle(mesh, start, {}, {}, signal ? { signal } : {});
      await ask();
      const before = performance.now();
      const whole = await ask();
      const usual = performance.now() - before;
      assert('report' in whole, 'An untangling was refused.');
      judge(tangled, whole, 'undisturbed');
      let [refused, short] = [0, 0];
      let tries = 0;
      for (; tries < BROKEN || (refused + short === 0 && tries < MOST_BROKEN); tries++) {
        const breaking = wait(random.between(0, 0.9 * usual)).then(() => server.signal('SIGWINCH'));
        const reply = await ask();
        await breaking;
        if ('refusal' in reply) {
          assert(reply.refusal.code === 'DEVICE_LOST', `${reply.refusal.code}: ${reply.refusal.message}`);
          refused++;
          continue;
        }
        judge(tangled, reply, `after a fault, ${reply.report.ended ?? 'whole'}`);
        if (reply.report.ended === 'LOST_DEVICE') short++;
        else assert(isSame(reply, whole), 'an untangling has other bytes after a fault');
      }
      let gone = 0;
      for (let n = 0; n < GONE; n++) {
        const signal = AbortSignal.timeout(Math.ceil(random.between(1, 0.9 * usual)));
        await ask(signal).catch(() => {
          gone++;
        });
      }
      const last = await ask();
      assert('report' in last && isSame(last, whole), 'an untangling has other bytes after all faults');
      assert(server.isAlive, 'The server ended.');
      assert(refused + short > 0, 'No untangling was cut short: the failure never took effect.');
      return `of ${tries} untanglings ${refused} refused and ${short} answered with the best state so far, ${gone} of ${GONE} callers went away, then the same bytes`;
    } finally {
      await server.stop();
    }
  } finally {
    await removePlant(build);
  }
}

/** The pairs of an untangling exceed the memory of a request: the answer is the best state so far, with the reason. */
export async function untanglingOutOfMemory(engine: EngineName, random: Random): Promise<string> {
  const server = await ServerProcess.start({
    engine,
    environment: { INTERSTICE_MAX_PAIR_BYTES: String(LEAST_PAIR_BYTES) },
  });
  try {
    const client = patientClient(server);
    let ended = 0;
    for (const name of Object.keys(TANGLED_STARTS)) {
      const tangled = TANGLED_STARTS[name](random);
      const parameters = { activationDistance: random.between(...WIDE_CONTACTS) };
      const reply = await client.untangle(tangled.mesh, tangled.start, parameters, {});
      assert('report' in reply, `An untangling was refused for lack of memory: ${name}.`);
      judge(tangled, reply, name);
      if (reply.report.ended === 'MEMORY') ended++;
    }
    assert(ended > 0, 'No untangling ended for lack of memory: the failure never took effect.');
    return `${ended} of ${Object.keys(TANGLED_STARTS).length} untanglings answered with the best state so far`;
  } finally {
    await server.stop();
  }
}

/** The service ends during an untangling: the caller gets the best state so far, or a refusal with the reason. */
export async function untanglingsEnded(engine: EngineName, random: Random): Promise<string> {
  const tangled = TANGLED_STARTS.crossed(random);
  let [services, short, refused] = [0, 0, 0];
  for (; services < ENDED || (short + refused === 0 && services < MOST_ENDED); services++) {
    const server = await ServerProcess.start({ engine, environment: { INTERSTICE_DRAIN_SECONDS: '0' } });
    try {
      const client = patientClient(server);
      const ask = () => client.untangle(tangled.mesh, tangled.start, {}, {});
      await ask();
      const before = performance.now();
      await ask();
      const usual = performance.now() - before;
      const ending = wait(random.between(0.1, 0.7) * usual).then(() => server.signal('SIGTERM'));
      const reply = await ask();
      await ending;
      if ('refusal' in reply) {
        assert(reply.refusal.code === 'DRAINING', `${reply.refusal.code}: ${reply.refusal.message}`);
        refused++;
        continue;
      }
      judge(tangled, reply, `the service ended, ${reply.report.ended ?? 'whole'}`);
      if (reply.report.ended === 'CANCELLED') short++;
    } finally {
      await server.stop();
    }
  }
  assert(short + refused > 0, 'No untangling was cut short: the failure never took effect.');
  return `of ${services} untanglings ${short} answered with the best state so far, ${refused} refused`;
}
