import { percentile, type Sample, summarise } from '../../../src/load/sample.js';
import { type Cloth, makeCloth } from '../cloth.js';
import { HoldingsWatch, readHoldings, settleHoldings } from '../gauges.js';
import { runUnary } from '../grpc-driver.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import { holdingsRow, summaryRow } from '../table.js';

/**
 * Multiplies the duration: a measurement of many sessions must cover several steps of each; with opening and warm-up
 * this takes about a minute.
 */
const LONGER = 4;
/** Longest time that a refusal "at once" may take, ms. */
const AT_ONCE_MS = 250;
/**
 * Pending calls of each session if more is requested than the queue holds. Unary, because a stream answers in order.
 */
const FLOOD = 4;

/** So short that every session gets one call. */
const ONCE_SECONDS = 0.2;
/** Sessions that are opened before the others and deleted before those start. */
const WARMING = 4;

/**
 * Every thread compiles its code. The queue charges a session for the time of its steps and compensates the others: the
 * time of compiling, seconds instead of tenths, would count against the first sessions during the whole measurement.
 */
async function warmUp(server: ScenarioInput['server'], cloth: Cloth, seconds: number): Promise<void> {
  const sessions = await openSessions(server.grpcAddress, cloth, WARMING);
  await runUnary({ address: server.grpcAddress, sessions, cloth, seconds, concurrency: WARMING });
  await deleteSessions(server.grpcAddress, sessions);
}

/** Measures many sessions with one call each at a time, then with more than the queue holds. */
export async function fairness({ settings, server, served, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { deadline, sessions: [count = 64] = [], vertices = 5000 } = settings;
  const seconds = settings.seconds * LONGER;
  const cloth = makeCloth(vertices);
  const before = await readHoldings(server);
  await warmUp(server, cloth, settings.seconds);
  tell(`opening ${count} sessions of ${cloth.vertices} vertices …`);
  const sessions = await openSessions(server.grpcAddress, cloth, count);
  const opened = await readHoldings(server);
  const load = { address: server.grpcAddress, sessions, cloth, seconds };
  // Each session steps once, to find the pairs of its first step.
  await runUnary({ ...load, seconds: ONCE_SECONDS, concurrency: count });
  const watch = new HoldingsWatch(server);
  tell(`one call a session at a time, ${seconds} s …`);
  const calm = await measure(() => runUnary({ ...load, concurrency: count }));
  tell(`${FLOOD} calls a session at a time, ${seconds} s …`);
  const servedBefore = served.length;
  const flood = await measure(() => runUnary({ ...load, deadline, concurrency: FLOOD * count }));
  const most = await watch.stop();
  const inFlood = served.slice(servedBefore);
  await deleteSessions(server.grpcAddress, sessions);
  const after = await settleHoldings(server);

  const perSession = sessions.map((_, i) => paceOf(calm.samples, i));
  const median = percentile(perSession, 50);
  const slowest = Math.min(...perSession);
  const refusals = inFlood.filter(({ code }) => code === 'QUEUE_FULL').map(({ ms }) => ms);
  const tooLate = inFlood.filter(({ code }) => code === 'DEADLINE_EXCEEDED').map(({ ms }) => ms);
  const [calmSummary, floodSummary] = [calm, flood].map(({ samples, seconds }) => summarise(samples, seconds)) as [
    ReturnType<typeof summarise>,
    ReturnType<typeof summarise>,
  ];
  const verdicts: Verdict[] = [
    {
      bar: 'no starvation: the slowest session goes at least half as fast as the median one',
      isMet: slowest * 2 >= median,
      measured: `slowest ${slowest.toFixed(3)}, median ${median.toFixed(3)}, fastest ${Math.max(...perSession).toFixed(3)} steps/s, ${calmSummary.accepted} steps in all`,
    },
    {
      bar: `p99 of accepted steps within the deadline of ${deadline} s, which counts from receipt, in the flood`,
      isMet: servedP99(flood.samples) <= deadline * 1000,
      measured: `${servedP99(flood.samples).toFixed(0)} ms from receipt, ${floodSummary.p99.toFixed(0)} ms for the client; refused at the deadline: ${told(tooLate)}`,
    },
    {
      bar: `what does not fit is refused at once (p99 of QUEUE_FULL under ${AT_ONCE_MS} ms at the service)`,
      isMet: refusals.length === 0 || percentile(refusals, 99) < AT_ONCE_MS,
      measured: `at the service ${told(refusals)}; for the client, on the same cores, ${told(refusalTimes(flood.samples))}; ${JSON.stringify(floodSummary.refused)}`,
    },
    {
      bar: 'nothing is left: sessions, queue and device bytes are where they were',
      isMet: (['sessions', 'waiting', 'running', 'deviceBytes', 'hostBytes'] as const).every(
        (n) => after[n] === before[n],
      ),
      measured: JSON.stringify(after),
    },
  ];
  return {
    scenario: 'fairness',
    tables: [
      {
        heading: `Fairness: ${count} sessions of ${cloth.vertices} vertices; the flood with a deadline of ${deadline} s; ms`,
        rows: [summaryRow('one call a session', calmSummary), summaryRow(`${FLOOD} calls a session`, floodSummary)],
      },
      {
        heading: 'What the service held',
        rows: [
          holdingsRow('before', before),
          holdingsRow('opened', opened),
          holdingsRow('most', most),
          holdingsRow('deleted', after),
        ],
      },
    ],
    verdicts,
    details: {
      vertices: cloth.vertices,
      perSession,
      calm: calmSummary,
      flood: floodSummary,
      refusedAtService: { p50: percentile(refusals, 50), p99: percentile(refusals, 99), count: refusals.length },
      before,
      opened,
      most,
      after,
    },
  };
}

async function measure(run: () => Promise<Sample[]>): Promise<{ samples: Sample[]; seconds: number }> {
  const begun = performance.now();
  const samples = await run();
  return { samples, seconds: (performance.now() - begun) / 1000 };
}

/** Steps per second of one session whose next call follows the last answer: finer than a count of few steps. */
function paceOf(samples: readonly Sample[], session: number): number {
  const own = samples.filter((sample) => sample.session === session);
  const accepted = own.filter(({ code }) => code === 'OK').length;
  return accepted === 0 ? 0 : (1000 * accepted) / own.reduce((sum, { ms }) => sum + ms, 0);
}

/** From receipt until the last byte of the answer is ready, ms. */
const servedP99 = (samples: readonly Sample[]): number =>
  percentile(
    samples.filter(({ code }) => code === 'OK').map(({ timings }) => (timings?.total ?? Number.NaN) / 1000),
    99,
  );

const refusalTimes = (samples: readonly Sample[]): number[] =>
  samples.filter(({ code }) => code === 'QUEUE_FULL').map(({ ms }) => ms);

const told = (times: readonly number[]): string =>
  times.length === 0
    ? 'none'
    : `${times.length}, p50 ${percentile(times, 50).toFixed(1)} ms, p99 ${percentile(times, 99).toFixed(1)} ms`;
