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

/** Untanglings during which something breaks, and from which a caller goes away. */
const BROKEN = 6;
/** As many while nothing was hit: what breaks at a random moment may break between two requests. */
const MOST_BROKEN = 40;
const GONE = 4;

/** Services that end, and as many while no untangling was cut short. */
const ENDED = 3;
const MOST_ENDED = 15;

/** The least that the pairs of a request may be given, bytes. */
const LEAST_PAIR_BYTES = 2 ** 20;

/** m; contacts so wide that the pairs of most tangles do not fit into it */
const WIDE_CONTACTS = [0.01, 0.02] as const;

/** Every answer, whatever cut it short, is the best state that was found, with the pairs that are left. */
function judge({ mesh, start }: TangledStart, answer: Untangled, where: string): void {
  const rules = { kinematicPairs: 'SKIP' } as const;
  const question = { surface: readSurface(mesh), start, rules, maxDisplacement: undefined, rest: undefined };
  judgeUntangled(question, answer, (promise, details) => assert(false, `${where}: ${promise}: ${details}`));
}

const isSame = (a: Untangled, b: Untangled): boolean => a.positions.every((p, i) => p === b.positions[i]);

/** Threads end, or the device is lost, and callers go away at any moment of an untangling; the next one is as if nothing had happened. */
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

/** The pairs of an untangling do not fit into the memory of a request: it answers with the best state so far, and says why. */
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

/** The service ends amid an untangling and waits for nothing: the caller gets the best state so far, or a refusal that says why. */
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
