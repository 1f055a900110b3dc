import { GrpcClient } from '../../../src/load/grpc-client.js';
import { resolveMessage } from '../../../src/load/messages.js';
import { type Summary, summarise } from '../../../src/load/sample.js';
import { type Cloth, makeCloth, makeSwap } from '../cloth.js';
import { HoldingsWatch, settleHoldings } from '../gauges.js';
import { runUnary } from '../grpc-driver.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { holdingsRow, summaryRow } from '../table.js';

/** Each measurement is this many times longer, because a p99 needs a few hundred steps. */
const LONGER = 4;
/** The largest permitted ratio of the p99 of small sessions beside the large resolve to that alone. */
const MAX_RATIO = 3;
/** Share of their throughput alone that the small sessions request at a fixed pace. */
const EASY_SHARE = 0.4;

/** Warm-up: every thread compiles its code before the measurement. */
const WARM_SECONDS = 5;

/** The pace at which the small sessions send their steps. */
interface Pace {
  readonly name: string;
  /** ms; undefined = the next step follows the last answer */
  readonly period: number | undefined;
  readonly alone: Summary;
}

/**
 * Measures small sessions alone, then beside one large resolve: at a slow pace, which shows a delayed step, and at full
 * speed, where they mostly wait for each other.
 */
export async function mixed({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { triangles, sessions: [count = 64] = [], vertices = 500 } = settings;
  const seconds = settings.seconds * LONGER;
  const cloth = makeCloth(vertices);
  const sessions = await openSessions(server.grpcAddress, cloth, count);
  const load = { address: server.grpcAddress, sessions, cloth, seconds, concurrency: count };
  await runUnary({ ...load, seconds: WARM_SECONDS });
  const watch = new HoldingsWatch(server);
  const measure = async (period?: number): Promise<Summary> => summarise(await runUnary({ ...load, period }), seconds);

  tell(`${count} sessions of ${cloth.vertices} vertices alone, twice ${seconds} s …`);
  const fast: Pace = { name: 'as fast as they can', period: undefined, alone: await measure() };
  const period = (1000 * count) / (EASY_SHARE * fast.alone.throughput);
  const easy: Pace = { name: 'at an easy pace', period, alone: await measure(period) };

  // A grid has about two triangles per vertex.
  const { cloth: large, target } = makeSwap(triangles / 2);
  tell(`the same beside a resolve of ${large.triangles} triangles …`);
  const resolve = startResolve(server.grpcAddress, large, target);
  const paces = [easy, fast];
  const results: (Pace & { readonly beside: Summary })[] = [];
  for (const pace of paces) results.push({ ...pace, beside: await measure(pace.period) });
  const { endedAs, ran } = resolve.end();
  const begun = performance.now();
  const left = await settleHoldings(server);
  const freed = performance.now() - begun;
  const most = await watch.stop();
  await deleteSessions(server.grpcAddress, sessions);

  const verdicts: Verdict[] = [
    ...results.map(({ name, alone, beside }) => ({
      bar: `p99 of the small ones, ${name}, beside the large one under ${MAX_RATIO} times what it is alone`,
      isMet: beside.p99 < MAX_RATIO * alone.p99,
      measured: `${alone.p99.toFixed(0)} ms alone, ${beside.p99.toFixed(0)} ms beside: ${(beside.p99 / alone.p99).toFixed(2)} times`,
    })),
    {
      bar: 'the large resolve runs all the while, and leaves its thread when it is cancelled',
      isMet: endedAs === undefined && left.running === 0,
      measured: `${endedAs ?? 'cancelled'} after ${(ran / 1000).toFixed(1)} s; idle ${(freed / 1000).toFixed(1)} s later`,
    },
  ];
  return {
    scenario: 'mixed',
    tables: [
      {
        heading: `Mixed: ${count} sessions of ${cloth.vertices} vertices, one resolve of ${large.triangles} triangles; ms`,
        rows: results.flatMap(({ name, alone, beside }) => [
          summaryRow(`${name}, alone`, alone),
          summaryRow(`${name}, beside`, beside),
        ]),
      },
      { heading: 'What the service held', rows: [holdingsRow('most', most), holdingsRow('after', left)] },
    ],
    verdicts,
    details: { vertices: cloth.vertices, largeTriangles: large.triangles, results, ran, endedAs, freed, most, left },
  };
}

/** A resolve without a time budget that runs until it is ended. */
function startResolve(address: string, large: Cloth, target: Float32Array) {
  const client = new GrpcClient(address);
  const stopper = new AbortController();
  const begun = performance.now();
  let endedAs: string | undefined;
  const done = client.call('Resolve', resolveMessage(large, target), undefined, stopper.signal).then(({ code }) => {
    endedAs = code;
  });
  return {
    /** @returns how it ended before this call, if it did, and how long it has run */
    end: () => {
      const outcome = { endedAs, ran: performance.now() - begun };
      stopper.abort();
      void done.then(() => client.close());
      return outcome;
    },
  };
}
