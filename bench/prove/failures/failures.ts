import type { ProveScene } from '../scenes/builder.js';
import { Random } from '../scenes/random.js';
import { ServerProcess } from '../server.js';
import { bodiesBeyondMemory } from './body-flood.js';
import { deviceLost, outOfDeviceMemory, outOfMemory, workerKilled } from './broken-service.js';
import { untanglingOutOfMemory, untanglingsBroken, untanglingsEnded } from './broken-untanglings.js';
import { stepsInCompany } from './company.js';
import { threadKilledWithProcess, threadStarvedWithProcess } from './lost-process.js';
import { parkedAndExpired } from './parked-sessions.js';
import { assert, assertSafe, describeThrown, makeScene, patientClient, targetOf } from './tools.js';

export interface FailureResult {
  readonly name: string;
  readonly result: 'HELD' | 'BROKEN' | 'SKIPPED';
  readonly details: string;
}

interface Failure {
  readonly name: string;
  /** the only engine that can fail like this, and why the other cannot */
  readonly only?: { readonly engine: 'cpu' | 'webgpu'; readonly because: string };
  readonly run: (engine: 'cpu' | 'webgpu', random: Random) => Promise<string>;
}

const NO_DEVICE = 'this engine has no device';

/** Failures around the engine, under which every answer stays valid and no unsafe state is sent. */
const FAILURES: readonly Failure[] = [
  { name: 'the client goes away in the middle of a resolve', run: clientGone },
  { name: 'the server is killed between and during resolves', run: killedBetweenResolves },
  { name: 'the server is killed between any two frames of a session', run: killedBetweenFrames },
  { name: 'an answered frame is sent again', run: sentAgain },
  {
    name: 'more bodies are promised than there is memory for',
    run: (engine, random) => bodiesBeyondMemory(engine, random),
  },
  {
    name: 'sessions are parked and expire, and their clients hang up and ask wrongly',
    run: parkedAndExpired,
  },
  {
    name: 'a thread is killed at any moment',
    // Dawn ends the whole process if a thread of it ends in the middle of its work.
    run: (engine, random) => (engine === 'cpu' ? workerKilled : threadKilledWithProcess)(engine, random),
  },
  {
    name: 'a thread runs out of memory',
    run: (engine, random) => (engine === 'cpu' ? outOfMemory : threadStarvedWithProcess)(engine, random),
  },
  { name: 'an untangling loses its thread, its device or its caller at any moment', run: untanglingsBroken },
  { name: 'the service ends amid an untangling', run: untanglingsEnded },
  { name: 'the pairs of an untangling do not fit into its memory', run: untanglingOutOfMemory },
  {
    name: 'the device is lost at any moment',
    run: deviceLost,
    only: { engine: 'webgpu', because: NO_DEVICE },
  },
  {
    name: 'sessions submit their work together',
    run: (engine, random) => stepsInCompany(engine, random),
    only: { engine: 'webgpu', because: NO_DEVICE },
  },
  {
    name: 'a mesh does not fit on the device',
    run: outOfDeviceMemory,
    only: { engine: 'webgpu', because: NO_DEVICE },
  },
];

/** @param isTried whether it is the turn of a failure, by its index, on this engine */
export async function runFailures(
  engine: 'cpu' | 'webgpu',
  seed: number,
  isTried: (index: number) => boolean,
  tell: (line: string) => void,
): Promise<FailureResult[]> {
  const results: FailureResult[] = [];
  for (const [index, { name, only, run }] of FAILURES.entries()) {
    if (!isTried(index)) continue;
    let result: FailureResult;
    if (only && only.engine !== engine) result = { name, result: 'SKIPPED', details: only.because };
    else {
      result = await run(engine, new Random(seed)).then(
        (details): FailureResult => ({ name, result: 'HELD', details }),
        (error: unknown): FailureResult => ({ name, result: 'BROKEN', details: describeThrown(error) }),
      );
    }
    results.push(result);
    tell(`fault, ${engine}: ${name}: ${result.result}: ${result.details}`);
  }
  return results;
}

/** Resolves are cancelled after random times; the server must answer the next one as if nothing had happened. */
async function clientGone(engine: 'cpu' | 'webgpu', random: Random): Promise<string> {
  const server = await ServerProcess.start({ engine });
  try {
    const client = patientClient(server);
    const scene = makeScene(random);
    const { mesh, start, target } = scene;
    const whole = await client.resolve(mesh, start, target, {});
    assert('answer' in whole, 'The first resolve was refused.');
    let gone = 0;
    for (let k = 0; k < 8; k++) {
      const signal = AbortSignal.timeout(Math.floor(random.between(1, 120)));
      await client.resolve(mesh, start, target, {}, { signal }).catch(() => {
        gone++;
      });
    }
    const again = await client.resolve(mesh, start, target, {});
    assert('answer' in again, 'The resolve after the cancelled ones was refused.');
    assertSafe(scene, again.answer.positions, 'after cancelled requests');
    assert(
      again.answer.positions.every((p, i) => p === whole.answer.positions[i]),
      'the same request has other bytes after cancelled ones',
    );
    assert(server.isAlive, 'The server ended.');
    return `${gone} of 8 callers went away, then the same request gave the same bytes`;
  } finally {
    await server.stop();
  }
}

/** Every answer is complete and safe; an unanswered request is sent to the next server, which gives the same bytes. */
async function killedBetweenResolves(engine: 'cpu' | 'webgpu', random: Random): Promise<string> {
  const scene = makeScene(random);
  const { mesh, start, target } = scene;
  let server = await ServerProcess.start({ engine });
  let first: ArrayLike<number> | undefined;
  let lost = 0;
  try {
    for (let k = 0; k < MAX_KILLS[engine]; k++) {
      const pending = patientClient(server)
        .resolve(mesh, start, target, {})
        .catch(() => undefined);
      const killing = new Promise<void>((resolve) => {
        setTimeout(resolve, Math.floor(random.between(0, 250)));
      }).then(() => server.kill());
      const reply = await pending;
      await killing;
      if (reply === undefined) lost++;
      else {
        assert('answer' in reply, 'A resolve was refused.');
        const { positions } = reply.answer;
        assertSafe(scene, positions, 'in an answer from just before the kill');
        const known = first;
        assert(known === undefined || positions.every((p, i) => p === known[i]), 'Two servers gave other bytes.');
        first = positions;
      }
      server = await ServerProcess.start({ engine });
    }
    const last = await patientClient(server).resolve(mesh, start, target, {});
    assert('answer' in last, 'The last server refuses.');
    assertSafe(scene, last.answer.positions, 'in the last answer');
    return `${MAX_KILLS[engine]} kills, ${lost} unanswered requests`;
  } finally {
    await server.stop();
  }
}

const FRAMES = 12;
/** A software driver takes seconds to start. */
const MAX_KILLS = { cpu: 6, webgpu: 3 };

/**
 * The client's part of the contract: it keeps its last received answer, creates the session again from it on a new
 * server, and sends the unanswered frame again. Nothing answered may be lost and nothing applied twice, so every answer
 * must follow from the previous one.
 */
async function killedBetweenFrames(engine: 'cpu' | 'webgpu', random: Random): Promise<string> {
  const scene = makeScene(random);
  let server = await ServerProcess.start({ engine });
  let x: Float64Array = scene.start;
  let kills = 0;
  try {
    let id = await open(server, scene, x);
    for (let frame = 1; frame <= FRAMES; frame++) {
      const y = targetOf(scene, frame);
      for (;;) {
        const pending = patientClient(server)
          .step(id, BigInt(frame), y)
          .catch(() => undefined);
        if (kills < MAX_KILLS[engine] && random.next() < 0.35) {
          await new Promise((resolve) => setTimeout(resolve, Math.floor(random.between(0, 60))));
          await server.kill();
          kills++;
        }
        const reply = await pending;
        if (reply !== undefined) {
          assert('answer' in reply, `Frame ${frame} was refused.`);
          x = Float64Array.from(reply.answer.positions);
          assertSafe(scene, x, `in frame ${frame}`);
        }
        if (!server.isAlive) {
          server = await ServerProcess.start({ engine });
          id = await open(server, scene, x);
        }
        if (reply !== undefined) break;
      }
    }
    return `${FRAMES} frames, ${kills} kills, every frame answered once and safe`;
  } finally {
    await server.stop();
  }
}

async function open(server: ServerProcess, scene: ProveScene, x: Float64Array): Promise<string> {
  const created = await patientClient(server).createSession(scene.mesh, x, {});
  assert('id' in created, `No session from the last answer: ${JSON.stringify(created)}`);
  return created.id;
}

/** A retry gives the stored bytes, and the frame after it starts from them: applied once. */
async function sentAgain(engine: 'cpu' | 'webgpu', random: Random): Promise<string> {
  const scene = makeScene(random);
  const server = await ServerProcess.start({ engine });
  try {
    const client = patientClient(server);
    const [once, twice] = [await open(server, scene, scene.start), await open(server, scene, scene.start)];
    for (let frame = 1; frame <= 6; frame++) {
      const y = targetOf(scene, frame);
      const one = await client.step(once, BigInt(frame), y);
      const two = await client.step(twice, BigInt(frame), y);
      const again = await client.step(twice, BigInt(frame), y);
      assert('answer' in one && 'answer' in two && 'answer' in again, `Frame ${frame} was refused.`);
      const same = (a: ArrayLike<number>, b: ArrayLike<number>) => Array.from(a).every((p, i) => p === b[i]);
      assert(same(two.answer.positions, again.answer.positions), `Frame ${frame} sent again has other bytes.`);
      assert(same(one.answer.positions, two.answer.positions), `Frame ${frame} was applied twice.`);
    }
    return '6 frames, each sent twice, same bytes as sent once';
  } finally {
    await server.stop();
  }
}
