import type { Answer, Reply } from '../doors/door.js';
import type { ProveScene } from '../scenes/builder.js';
import type { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { assert, assertSafe, makeScene, patientClient, targetOf } from './tools.js';

const SESSIONS = 5;
const FRAMES = 2;
/** Scenes of a submission, and ms that one waits for the others, so that simultaneous steps are submitted together. */
const CONVOY = { INTERSTICE_CONVOY_SCENES: '8', INTERSTICE_CONVOY_DELAY_MS: '200' };

/**
 * Sessions whose work is submitted together answer with the same bytes as alone. Alone: each is created, stepped and
 * deleted before the next one. Together: all are created, so that their places in the arena follow each other, and make
 * their frames at the same time.
 *
 * @param build of the service; absent = this build
 */
export async function stepsInCompany(engine: 'cpu' | 'webgpu', random: Random, build?: string): Promise<string> {
  // One thread, so that all sessions are scenes of one device.
  const server = await ServerProcess.start({ engine, build, environment: { ...CONVOY, INTERSTICE_THREADS: '1' } });
  try {
    const client = patientClient(server);
    const scenes = Array.from({ length: SESSIONS }, () => makeScene(random));
    const open = async ({ mesh, start }: ProveScene): Promise<string> => {
      const created = await client.createSession(mesh, start, {});
      assert('id' in created, `A session is refused: ${JSON.stringify(created)}`);
      return created.id;
    };
    const step = (scene: ProveScene, id: string, frame: number) =>
      client.step(id, BigInt(frame), targetOf(scene, 2 * frame));
    const alone: Answer[][] = [];
    for (const [n, scene] of scenes.entries()) {
      const id = await open(scene);
      const answers: Answer[] = [];
      for (let frame = 1; frame <= FRAMES; frame++) {
        answers.push(answerIn(await step(scene, id, frame), `frame ${frame} of session ${n} alone`));
      }
      alone.push(answers);
      await client.deleteSession(id);
    }
    const before = await countsOf(server);
    const ids: string[] = [];
    for (const scene of scenes) ids.push(await open(scene));
    for (let frame = 1; frame <= FRAMES; frame++) {
      const replies = await Promise.all(scenes.map((scene, n) => step(scene, ids[n]!, frame)));
      for (const [n, reply] of replies.entries()) {
        const where = `frame ${frame} of session ${n} in company`;
        const { positions, report } = answerIn(reply, where);
        const { positions: known, report: told } = alone[n]![frame - 1]!;
        const other = Array.from(positions).findIndex((p, k) => !Object.is(p, known[k]));
        assert(
          other < 0,
          `${where} has other bytes: coordinate ${other} is ${positions[other]}, alone ${known[other]}`,
        );
        assert(report.steps === told.steps, `${where} takes ${report.steps} steps, alone ${told.steps}`);
        assertSafe(scenes[n]!, positions, where);
      }
    }
    const after = await countsOf(server);
    const submissions = after.submissions - before.submissions;
    const parts = after.parts - before.parts;
    assert(parts > 2 * submissions, `${parts} scenes in ${submissions} submissions: they were not submitted together`);
    assert(server.isAlive, 'The server ended.');
    return `${SESSIONS * FRAMES} frames with the bytes of each session alone, ${parts} scenes in ${submissions} submissions`;
  } finally {
    await server.stop();
  }
}

function answerIn(reply: Reply, where: string): Answer {
  assert('answer' in reply, `${where} is refused: ${JSON.stringify(reply)}`);
  return reply.answer;
}

async function countsOf({ adminAddress }: ServerProcess): Promise<{ submissions: number; parts: number }> {
  const page = await (await fetch(`${adminAddress}/metrics`)).text();
  const figureOf = (name: string) =>
    Number(page.match(new RegExp(`^interstice_convoy_${name}_total (\\S+)$`, 'm'))?.[1]);
  return { submissions: figureOf('submissions'), parts: figureOf('parts') };
}
