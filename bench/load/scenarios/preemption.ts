import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { GrpcClient } from '../../../src/load/grpc-client.js';
import { resolveMessage } from '../../../src/load/messages.js';
import { type Summary, summarise } from '../../../src/load/sample.js';
import { type Cloth, makeCloth, makeSwap } from '../cloth.js';
import { HoldingsWatch, readHoldings, settleHoldings } from '../gauges.js';
import { runUnary } from '../grpc-driver.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { holdingsRow, summaryRow } from '../table.js';

/** Each measurement is this many times longer, because a p99 needs a few hundred steps. */
const LONGER = 4;
/** The largest permitted ratio of the p99 of small sessions beside the resolves to that alone. */
const MAX_RATIO = 3;
/** ms from one step of a session to the next: the pace of a simulation with 25 frames per second. */
const PERIOD_MS = 40;
/** Warm-up, seconds: every thread compiles its code before the measurement. */
const WARM_SECONDS = 5;
/** ms between two checks whether the resolves run, and the number of checks */
const START_LOOK_MS = 250;
const START_LOOKS = 120;
/** ms from the start of the last resolve until each computes: reading and checking take about a second */
const BUILD_MS = 3000;
/** Just below the meshes for which there are heavy lanes. */
const RESOLVE_TRIANGLES = 190_000;

/**
 * Measures INTERACTIVE steps of small sessions, alone and beside BATCH resolves that follow each other without a pause.
 */
export async function preemption({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { resolves, sessions: [count = 4] = [], vertices = 32 } = settings;
  const seconds = settings.seconds * LONGER;
  const cloth = makeCloth(vertices);
  const sessions = await openSessions(server.grpcAddress, cloth, count);
  const load = { address: server.grpcAddress, sessions, cloth, concurrency: count, priority: 'INTERACTIVE' } as const;
  await runUnary({ ...load, seconds: WARM_SECONDS });
  const measure = async (): Promise<Summary> =>
    summarise(await runUnary({ ...load, seconds, period: PERIOD_MS }), seconds);

  tell(`${count} sessions of ${cloth.vertices} vertices alone, ${seconds} s …`);
  const alone = await measure();
  const { cloth: large, target } = makeSwap(RESOLVE_TRIANGLES / 2);
  tell(`the same beside ${resolves} BATCH resolves of ${large.triangles} triangles …`);
  const watch = new HoldingsWatch(server);
  const batch = startResolves(server.grpcAddress, large, target, resolves);
  // The measurement concerns the steps beside running resolves, whose bodies pass through this process, too.
  await untilRunning(server, Math.min(resolves, availableParallelism()));
  const beside = await measure();
  const { done, refused } = batch.end();
  const left = await settleHoldings(server);
  const most = await watch.stop();
  await deleteSessions(server.grpcAddress, sessions);

  const verdicts: Verdict[] = [
    {
      bar: `p99 of the small ones beside the resolves at most ${MAX_RATIO} times what it is alone`,
      isMet: beside.p99 <= MAX_RATIO * alone.p99,
      measured: `${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside: ${(beside.p99 / alone.p99).toFixed(2)} times`,
    },
    {
      bar: 'every step is accepted, and so is every resolve',
      isMet: Object.keys(beside.refused).length === 0 && refused.length === 0,
      measured: `${beside.accepted} steps, ${JSON.stringify(beside.refused)}; ${done} resolves ended, ${JSON.stringify(refused)}`,
    },
    {
      bar: 'the resolves compute all the while, and leave their threads when they are cancelled',
      isMet: most.running >= Math.min(resolves, 1) && left.running === 0,
      measured: `most at a time ${most.running}, at the end ${left.running}`,
    },
  ];
  return {
    scenario: 'preemption',
    tables: [
      {
        heading: `Preemption: ${count} sessions of ${cloth.vertices} vertices every ${PERIOD_MS} ms, ${resolves} BATCH resolves of ${large.triangles} triangles; ms`,
        rows: [summaryRow('alone', alone), summaryRow('beside', beside)],
      },
      { heading: 'What the service held', rows: [holdingsRow('most', most), holdingsRow('after', left)] },
    ],
    verdicts,
    details: {
      vertices: cloth.vertices,
      resolves,
      triangles: large.triangles,
      alone,
      beside,
      done,
      refused,
      most,
      left,
    },
  };
}

/** Waits until this many jobs run and their scenes are built. @throws Error if they do not start */
async function untilRunning(server: ScenarioInput['server'], count: number): Promise<void> {
  for (let look = 0; (await readHoldings(server)).running < count; look++) {
    if (look === START_LOOKS) throw new Error(`Fewer than ${count} resolves have started.`);
    await wait(START_LOOK_MS);
  }
  await wait(BUILD_MS);
}

/** This many resolves at a time, each followed by the next, until they are ended. */
function startResolves(address: string, large: Cloth, target: Float32Array, count: number) {
  const stopper = new AbortController();
  const message = resolveMessage(large, target, { priority: 'BATCH' });
  const clients = Array.from({ length: count }, () => new GrpcClient(address));
  let done = 0;
  const refused: string[] = [];
  const loops = clients.map(async (client) => {
    while (!stopper.signal.aborted) {
      const { code } = await client.call('Resolve', message, undefined, stopper.signal);
      if (stopper.signal.aborted) return;
      if (code === 'OK') done++;
      else refused.push(code);
      // A final refusal would otherwise be repeated without end.
      if (refused.length > count) return;
    }
  });
  return {
    end: () => {
      const outcome = { done, refused: [...refused] };
      stopper.abort();
      void Promise.all(loops).then(() => {
        for (const client of clients) client.close();
      });
      return outcome;
    },
  };
}
