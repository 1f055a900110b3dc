import { setTimeout as wait } from 'node:timers/promises';
import { judgeAnswer } from '../judge/answer-judge.js';
import { readSurface } from '../judge/surface.js';
import { type Plant, plant, removePlant } from '../mutants/planting.js';
import type { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { SABOTAGE } from './sabotage.js';
import { assert, makeScene, patientClient, targetOf } from './tools.js';

type EngineName = 'cpu' | 'webgpu';

const FRAMES = 8;
/** Frames during which a thread is broken: a software driver takes seconds to start again. */
const BREAKS = 3;
/** How often one frame may be sent again. */
const ATTEMPTS = 3;

export const threadKilledWithProcess = (engine: EngineName, random: Random): Promise<string> =>
  loseProcesses(engine, random, SABOTAGE.killedWorker);

export const threadStarvedWithProcess = (engine: EngineName, random: Random): Promise<string> =>
  loseProcesses(engine, random, SABOTAGE.outOfMemory);

/**
 * If the end of a thread ends the process (Dawn aborts it), a caller starts the service again, creates the session from
 * the last answer that arrived, and sends the unanswered frame again. A frame that is lost or applied twice would not
 * have the bytes of a resolve from the last answer to its target.
 */
async function loseProcesses(engine: EngineName, random: Random, sabotage: Plant): Promise<string> {
  const build = await plant({ ...sabotage, name: `${sabotage.name}-with-process-${engine}` });
  const scene = makeScene(random);
  const { mesh, invariants } = scene;
  const surface = readSurface(mesh);
  let server = await ServerProcess.start({ engine, build });
  let x: Float64Array = scene.start;
  const counts = { deaths: 0, refused: 0, again: 0 };
  try {
    let id = await open(server);
    for (let frame = 1; frame <= FRAMES; frame++) {
      const y = targetOf(scene, frame);
      const isBroken = frame % 2 === 0 && counts.deaths + counts.refused < BREAKS;
      let isFresh = false;
      for (let n = 1; ; n++) {
        const pending = patientClient(server)
          .step(id, BigInt(frame), y)
          .catch(() => undefined);
        if (isBroken && n === 1) {
          await wait(random.between(0, 120));
          server.signal('SIGWINCH');
        }
        const reply = await pending;
        if (reply !== undefined && 'answer' in reply) {
          const { positions } = reply.answer;
          const question = { surface, start: x, target: y, invariants, verify: 'STATE' as const };
          const findings = judgeAnswer(question, reply.answer);
          assert(
            findings.length === 0,
            `frame ${frame}: ${findings.map((f) => `${f.promise}: ${f.details}`).join('; ')}`,
          );
          if (isFresh) {
            const once = await patientClient(server).resolve(mesh, x, y, {});
            assert('answer' in once, `Frame ${frame}: a resolve was refused.`);
            assert(
              once.answer.positions.every((p, i) => p === positions[i]),
              `frame ${frame}, sent again, is not what one step from the last answer gives`,
            );
            counts.again++;
          }
          x = Float64Array.from(positions);
          break;
        }
        assert(n < ATTEMPTS, `Frame ${frame} was not answered ${n} times: ${JSON.stringify(reply)}`);
        if (reply !== undefined) {
          const { code, isRetryable, message } = reply.refusal;
          assert(isRetryable, `Frame ${frame}: ${code}, not to be sent again: ${message}`);
          counts.refused++;
        }
        // The process may live a moment longer than its last answer, and on a busy machine long after its last connection.
        const patience = reply === undefined ? LONGEST_AFTERMATH_MS : AFTERMATH_MS;
        for (const end = performance.now() + patience; server.isAlive && performance.now() < end; ) await wait(LOOK_MS);
        if (server.isAlive) continue;
        counts.deaths++;
        server = await ServerProcess.start({ engine, build });
        id = await open(server);
        isFresh = true;
      }
    }
    assert(counts.deaths + counts.refused > 0, 'No frame had to be sent again: the failure never took effect.');
    return `${FRAMES} frames: the process ended ${counts.deaths} times, ${counts.refused} times a refusal said so first or instead; ${counts.again} frames sent again to a new process, each with the bytes of one step from the last answer`;
  } finally {
    await server.stop();
    await removePlant(build);
  }

  async function open(from: ServerProcess): Promise<string> {
    const created = await patientClient(from).createSession(mesh, x, {});
    assert('id' in created, `No session from the last answer: ${JSON.stringify(created)}`);
    return created.id;
  }
}

const AFTERMATH_MS = 300;
const LONGEST_AFTERMATH_MS = 60_000;
const LOOK_MS = 20;
