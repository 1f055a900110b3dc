import { decodeMessage } from '../../../src/transport/protobuf/codec.js';
import { makeCloth, makeSwap, resolveMessage } from '../cloth.js';
import { HoldingsWatch } from '../gauges.js';
import { GrpcClient } from '../grpc-client.js';
import { runUnary } from '../grpc-driver.js';
import { holdingsRow, summaryRow } from '../rows.js';
import { summarise } from '../sample.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';

/** Each of the two measurements is so many times longer: a p99 needs a few hundred steps. */
const LONGER = 4;
/** How many times longer the p99 of the small ones may be beside the large resolve than alone. */
const MOST_RATIO = 3;

/** Before anything counts every thread has compiled its code. */
const WARM_SECONDS = 5;

/** Small sessions alone, then beside one large resolve. */
export async function mixed({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { triangles, sessions: [count = 64] = [], vertices = 500 } = settings;
  const seconds = settings.seconds * LONGER;
  const cloth = makeCloth(vertices);
  const sessions = await openSessions(server.grpcAddress, cloth, count);
  const load = { address: server.grpcAddress, sessions, cloth, seconds, concurrency: count };
  await runUnary({ ...load, seconds: WARM_SECONDS });
  const watch = new HoldingsWatch(server);
  tell(`${count} sessions of ${cloth.vertices} vertices alone, ${seconds} s …`);
  const alone = summarise(await runUnary(load), seconds);

  // A raster has about two triangles a vertex.
  const { cloth: large, target } = makeSwap(triangles / 2);
  const message = resolveMessage(large, target, seconds);
  tell(`the same beside a resolve of ${large.triangles} triangles …`);
  const client = new GrpcClient(server.grpcAddress);
  const begun = performance.now();
  const resolving = client.call('Resolve', message).then((reply) => ({ reply, ms: performance.now() - begun }));
  const beside = summarise(await runUnary(load), seconds);
  const { reply, ms } = await resolving;
  client.close();
  const most = await watch.stop();
  await deleteSessions(server.grpcAddress, sessions);

  const report = reply.bytes && (decodeMessage('ResolveResponse', reply.bytes).report as Record<string, unknown>);
  const ratio = beside.p99 / alone.p99;
  const verdicts: Verdict[] = [
    {
      bar: `p99 of the small ones beside the large one under ${MOST_RATIO} times what it is alone`,
      isMet: ratio < MOST_RATIO,
      measured: `${alone.p99.toFixed(0)} ms alone, ${beside.p99.toFixed(0)} ms beside: ${ratio.toFixed(2)} times`,
    },
    {
      bar: 'the large resolve runs all the while and is answered',
      isMet: reply.code === 'OK' && ms >= seconds * 900,
      measured: `${reply.code} after ${(ms / 1000).toFixed(1)} s, ${Number(report?.steps ?? 0)} steps`,
    },
  ];
  return {
    scenario: 'mixed',
    tables: [
      {
        heading: `Mixed: ${count} sessions of ${cloth.vertices} vertices, one resolve of ${large.triangles} triangles; ms`,
        rows: [summaryRow('alone', alone), summaryRow('beside the resolve', beside)],
      },
      { heading: 'What the service held', rows: [holdingsRow('most', most)] },
    ],
    verdicts,
    details: { vertices: cloth.vertices, largeTriangles: large.triangles, alone, beside, resolveMs: ms, report, most },
  };
}
