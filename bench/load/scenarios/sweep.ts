import { type Sample, type Summary, summarise } from '../../../src/load/sample.js';
import type { Row } from '../../../src/load/table.js';
import { makeCloth } from '../cloth.js';
import { runStreams, runUnary } from '../grpc-driver.js';
import { runHttp } from '../http-driver.js';
import type { ScenarioInput, ScenarioResult } from '../scenario.js';
import { deleteSessions, openSessions } from '../sessions.js';
import type { DoorName } from '../settings.js';
import { summaryRow } from '../table.js';

/** Unanswered steps of one stream that the contract allows. */
const LARGEST_WINDOW = 4;

/** Warm-up: every thread compiles its code before the measurement. */
const WARM_SESSIONS = 4;
const WARM_SECONDS = 3;

/** Measures every door with every number of sessions and of concurrent requests. */
export async function sweep({ settings, server, tell }: ScenarioInput): Promise<ScenarioResult> {
  const { seconds, doors, concurrency, sessions: counts = [1, 8], vertices = 2000 } = settings;
  const cloth = makeCloth(vertices);
  const rows: Row[] = [];
  const runs: { door: DoorName; sessions: number; concurrency: number; summary: Summary }[] = [];
  tell('warming up …');
  const warm = await openSessions(server.grpcAddress, cloth, WARM_SESSIONS);
  const warmLoad = { address: server.grpcAddress, sessions: warm, cloth, seconds: WARM_SECONDS };
  await runUnary({ ...warmLoad, concurrency: WARM_SESSIONS });
  await deleteSessions(server.grpcAddress, warm);
  for (const count of counts) {
    for (const door of doors) {
      for (const atOnce of concurrency) {
        const perSession = atOnce / count;
        // A stream belongs to one session and has at most four steps in flight, so other combinations do not exist.
        if (door === 'stream' && (!Number.isInteger(perSession) || perSession > LARGEST_WINDOW)) continue;
        const sessions = await openSessions(server.grpcAddress, cloth, count);
        const load = { sessions, cloth, seconds };
        const { address, grpcAddress } = server;
        const run: Record<DoorName, () => Promise<Sample[]>> = {
          http: () => runHttp({ ...load, address, connections: atOnce }),
          unary: () => runUnary({ ...load, address: grpcAddress, concurrency: atOnce }),
          stream: () => runStreams({ ...load, address: grpcAddress, window: perSession }),
        };
        const begun = performance.now();
        const samples = await run[door]();
        const summary = summarise(samples, (performance.now() - begun) / 1000);
        await deleteSessions(grpcAddress, sessions);
        const name = `${door}, ${count} sessions, ${atOnce} at once`;
        tell(`${name}: ${summary.throughput.toFixed(1)} steps/s, p99 ${summary.p99.toFixed(0)} ms`);
        rows.push(summaryRow(name, summary));
        runs.push({ door, sessions: count, concurrency: atOnce, summary });
      }
    }
  }
  const heading = `Sweep: sessions of ${cloth.vertices} vertices; latencies and parts in ms`;
  return {
    scenario: 'sweep',
    tables: [{ heading, rows }],
    verdicts: [],
    details: { vertices: cloth.vertices, triangles: cloth.triangles, runs },
  };
}
