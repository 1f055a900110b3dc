import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Reply } from '../doors/door.js';
import { judgeAnswer } from '../judge/answer-judge.js';
import { readSurface } from '../judge/surface.js';
import { type Plant, plant, removePlant } from '../mutants/planting.js';
import type { ProveScene } from '../scenes/builder.js';
import type { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { SABOTAGE } from './sabotage.js';
import { assert, makeScene, patientClient, targetOf } from './tools.js';

type EngineName = 'cpu' | 'webgpu';

/** Frames during which something breaks. */
const FRAMES = 6;
/** Largest number if nothing was hit, because a disturbance at a random moment may fall between two requests. */
const MAX_FRAMES = 40;
/** How often a refused request is sent again: one fault affects one answer, and the next attempt must succeed. */
const ATTEMPTS = 3;

interface Breakage {
  readonly sabotage: Plant;
  /** what a refusal says */
  readonly code: string;
  readonly message: RegExp;
  /** how many faults a request survives without a refusal */
  readonly survives: 0 | 1;
  /** counts the faults that had an effect so far; absent = as many as there were refusals */
  readonly countFaults?: (server: ServerProcess) => Promise<number>;
}

/** What runs on a device that is lost is repeated once, so that only a second loss refuses it. */
export const deviceLost = (engine: EngineName, random: Random): Promise<string> =>
  breakOften(engine, random, {
    sabotage: SABOTAGE.lostDevice,
    code: 'DEVICE_LOST',
    message: /device/,
    survives: 1,
    countFaults: countLostDevices,
  });

export const workerKilled = (engine: EngineName, random: Random): Promise<string> =>
  breakOften(engine, random, {
    sabotage: SABOTAGE.killedWorker,
    code: 'DEVICE_LOST',
    message: /thread that computed this ended/,
    survives: 0,
  });

export const outOfMemory = (engine: EngineName, random: Random): Promise<string> =>
  breakOften(engine, random, {
    sabotage: SABOTAGE.outOfMemory,
    code: 'OUT_OF_DEVICE_MEMORY',
    message: /ran out of memory/,
    survives: 0,
  });

/**
 * Breaks a service at random moments of a session's steps and of resolves beside it. Every refusal must state its
 * reason, and there must not be more of them than the faults explain. Every answer must be correct, and every repeated
 * request must be answered: nothing is lost and nothing is applied twice.
 */
async function breakOften(engine: EngineName, random: Random, breakage: Breakage): Promise<string> {
  const { sabotage, code: expected, message: pattern, survives, countFaults } = breakage;
  const build = await plant({ ...sabotage, name: `${sabotage.name}-${engine}` });
  let refused = 0;
  try {
    const server = await ServerProcess.start({ engine, build });
    const faultCount = async (): Promise<number> => (countFaults ? countFaults(server) : refused);
    try {
      const client = patientClient(server);
      const scene = makeScene(random);
      const { mesh, start, target } = scene;
      const whole = answerIn(await client.resolve(mesh, start, target, {}), 'the first resolve');
      const created = await client.createSession(mesh, start, {});
      assert('id' in created, 'No session.');
      const insist = async (what: string, send: () => Promise<Reply>): Promise<Answer> => {
        for (let n = 1; ; n++) {
          const reply = await send();
          if ('answer' in reply) return reply.answer;
          const { code, message } = reply.refusal;
          assert(code === expected && pattern.test(message), `${what}: ${code}: ${message}`);
          assert(n < ATTEMPTS, `${what} is refused ${n} times: ${code}: ${message}`);
          refused++;
        }
      };
      let x: Float64Array = start;
      // The time of the last undisturbed answer, on a machine that is busy at times.
      let usual = await timeOf(() => client.resolve(mesh, start, target, {}));
      const disturb = async (): Promise<void> => {
        await breakAfter(server, random.between(0, 0.9 * usual));
        // A second fault may hit the repetition.
        if (survives > 0 && random.next() < 0.5) await breakAfter(server, random.between(0, 2 * usual));
      };
      let frames = 0;
      let faults = 0;
      for (let frame = 1; frame <= FRAMES || (faults === 0 && frame <= MAX_FRAMES); frame++) {
        frames = frame;
        const breaking = disturb();
        const y = targetOf(scene, frame);
        const answer = await insist(`frame ${frame}`, () => client.step(created.id, BigInt(frame), y));
        await breaking;
        judge(scene, x, y, answer, `frame ${frame}`);
        x = Float64Array.from(answer.positions);
        faults = await faultCount();
        if (frame % 2 === 0) {
          if (faults === 0) usual = await timeOf(() => client.resolve(mesh, start, target, {}));
          continue;
        }
        const other = disturb();
        const again = await insist('a resolve', () => client.resolve(mesh, start, target, {}));
        await other;
        assert(
          again.positions.every((p, i) => p === whole.positions[i]),
          'a resolve has other bytes after a fault',
        );
      }
      const last = await insist('the frame after all faults', () => client.step(created.id, 100n, start));
      judge(scene, x, start, last, 'the last frame');
      assert(server.isAlive, 'The server ended.');
      faults = await faultCount();
      assert(faults > 0, 'The failure never took effect.');
      assert(refused * (survives + 1) <= faults, `${refused} requests were refused, after only ${faults} faults`);
      const counted = countFaults ? `${faults} faults, ` : '';
      return `${frames} frames and ${Math.ceil(frames / 2)} resolves, ${counted}${refused} refused with ${expected} and answered when sent again`;
    } catch (thrown) {
      if (server.isAlive) throw thrown;
      throw new Error(`The server ended: ${server.log.slice(-4).join('\n')}`, { cause: thrown });
    } finally {
      await server.stop();
    }
  } finally {
    await removePlant(build);
  }
}

async function countLostDevices({ adminAddress }: ServerProcess): Promise<number> {
  const page = await (await fetch(`${adminAddress}/metrics`)).text();
  const value = page.match(/^interstice_devices_lost_total (\S+)$/m)?.[1];
  assert(value !== undefined, 'The metrics have no interstice_devices_lost_total.');
  return Number(value);
}

async function breakAfter(server: ServerProcess, ms: number): Promise<void> {
  await wait(ms);
  server.signal('SIGWINCH');
}

async function timeOf(action: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await action();
  return performance.now() - before;
}

function answerIn(reply: Reply, what: string): Answer {
  assert('answer' in reply, `${what} was refused: ${JSON.stringify(reply)}`);
  return reply.answer;
}

function judge(scene: ProveScene, start: Float64Array, target: Float64Array, answer: Answer, where: string): void {
  const surface = readSurface(scene.mesh);
  const findings = judgeAnswer({ surface, start, target, invariants: scene.invariants, verify: 'STATE' }, answer);
  assert(findings.length === 0, `${where}: ${findings.map((f) => `${f.promise}: ${f.details}`).join('; ')}`);
}

/** bytes of the device: room for a small scene and not for a large one */
const SMALL_DEVICE = 48 * 2 ** 20;

/** A mesh that does not fit is refused repeatedly, and the existing session continues with the same bytes. */
export async function outOfDeviceMemory(engine: EngineName, random: Random): Promise<string> {
  const server = await ServerProcess.start({
    engine,
    environment: { INTERSTICE_MAX_DEVICE_BYTES: String(SMALL_DEVICE) },
  });
  try {
    const client = patientClient(server);
    const small = makeScene(random);
    const large = largeScene();
    const created = await client.createSession(small.mesh, small.start, {});
    assert('id' in created, `A small session was refused: ${JSON.stringify(created)}`);
    const whole = answerIn(await client.resolve(small.mesh, small.start, small.target, {}), 'a small resolve');
    let x: Float64Array = small.start;
    for (let frame = 1; frame <= 3; frame++) {
      const reply = await client.resolve(large.mesh, large.start, large.start, {});
      assert('refusal' in reply, 'A mesh larger than the device was answered.');
      const { code, isRetryable, message } = reply.refusal;
      assert(code === 'OUT_OF_DEVICE_MEMORY' && isRetryable, `${code}, retryable ${isRetryable}: ${message}`);
      const y = targetOf(small, frame);
      const answer = answerIn(await client.step(created.id, BigInt(frame), y), `frame ${frame}`);
      judge(small, x, y, answer, `frame ${frame}`);
      x = Float64Array.from(answer.positions);
    }
    const again = answerIn(await client.resolve(small.mesh, small.start, small.target, {}), 'a small resolve');
    assert(
      again.positions.every((p, i) => p === whole.positions[i]),
      'a small resolve has other bytes afterwards',
    );
    return '3 meshes too large for the device refused as such; a session and resolves beside them went on';
  } finally {
    await server.stop();
  }
}

/** One flat sheet, which is sufficient if only the size matters. */
function largeScene(): Pick<ProveScene, 'mesh' | 'start'> {
  const side = 300;
  const start = new Float64Array(3 * side * side);
  const triangles: number[] = [];
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const v = j * side + i;
      start.set([0.01 * i, 0.01 * j, 0], 3 * v);
      if (i + 1 < side && j + 1 < side) triangles.push(v, v + 1, v + side, v + 1, v + side + 1, v + side);
    }
  }
  return { mesh: { vertexCount: side * side, triangles: Uint32Array.from(triangles) }, start };
}
