import { makeCloth } from '../cloth.js';
import { type Contestant, median, processorMs, withContestants } from '../contestants.js';
import { runStreams, runUnary } from '../grpc-driver.js';
import { runHttp } from '../http-driver.js';
import { type Summary, summarise } from '../sample.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { openSessions } from '../sessions.js';
import type { DoorName } from '../settings.js';
import { type Row, summaryRow } from '../table.js';

/** Every thread compiles its code before the measurement. */
const WARM_SECONDS = 4;
/** How many times the steps of the other build this one has to make over HTTP. */
const BAR = 2;

interface Turn {
  readonly door: DoorName;
  readonly contestant: string;
  readonly summary: Summary;
  /** ms of processor time that the service took for an accepted step */
  readonly processor: number;
}

/** Steps of many sessions, each with one request at a time, in turn by every build and through every door. */
export async function versus(input: ScenarioInput): Promise<ScenarioResult> {
  const { settings, tell } = input;
  const { seconds, rounds, doors, sessions: [count = 16] = [], vertices = 968 } = settings;
  const cloth = makeCloth(vertices, settings.motion / 100);
  const turns: Turn[] = [];
  await withContestants(input, async (contestants) => {
    const sessions = new Map<Contestant, string[]>();
    for (const one of contestants) {
      const ids = await openSessions(one.server.grpcAddress, cloth, count, one.quality);
      sessions.set(one, ids);
      tell(`warming up ${one.name} …`);
      await runDoor('unary', one, ids, WARM_SECONDS);
    }
    for (let round = 0; round < rounds; round++) {
      for (const door of doors) {
        for (const one of contestants) {
          const before = processorMs(one.server.pid);
          const begun = performance.now();
          const samples = await runDoor(door, one, sessions.get(one)!, seconds);
          const summary = summarise(samples, (performance.now() - begun) / 1000);
          const processor = ((processorMs(one.server.pid) ?? NaN) - (before ?? NaN)) / summary.accepted;
          turns.push({ door, contestant: one.name, summary, processor });
          tell(
            `${round + 1}/${rounds} ${door}, ${one.name}: ${summary.throughput.toFixed(1)} steps/s, ${processor.toFixed(2)} ms processor time a step`,
          );
        }
      }
    }
  });

  function runDoor(door: DoorName, { server }: Contestant, ids: readonly string[], duration: number) {
    const load = { sessions: ids, cloth, seconds: duration };
    const { address, grpcAddress } = server;
    if (door === 'http') return runHttp({ ...load, address, connections: count });
    if (door === 'unary') return runUnary({ ...load, address: grpcAddress, concurrency: count });
    return runStreams({ ...load, address: grpcAddress, window: 1 });
  }

  const names = [...new Set(turns.map(({ contestant }) => contestant))];
  const of = (door: DoorName, contestant: string): readonly Turn[] =>
    turns.filter((turn) => turn.door === door && turn.contestant === contestant);
  const throughput = (door: DoorName, contestant: string): number =>
    median(of(door, contestant).map(({ summary }) => summary.throughput));
  const rows: Row[] = doors.flatMap((door) =>
    names.map((name) => {
      const mine = of(door, name);
      const middle = mine.find(({ summary }) => summary.throughput === throughput(door, name))!;
      const processor = median(mine.map((turn) => turn.processor));
      return { ...summaryRow(`${door}, ${name}`, middle.summary), 'processor ms': processor };
    }),
  );
  return {
    scenario: 'versus',
    tables: [
      {
        heading: `${count} sessions of ${cloth.vertices} vertices, motion ${settings.motion} %, median of ${rounds} rounds; ms`,
        rows,
      },
    ],
    verdicts: verdictsOf(names, doors, throughput),
    details: { vertices: cloth.vertices, triangles: cloth.triangles, sessions: count, turns },
  };
}

function verdictsOf(
  names: readonly string[],
  doors: readonly DoorName[],
  throughput: (door: DoorName, contestant: string) => number,
): Verdict[] {
  const own = names.find((name) => name.startsWith('this build'))!;
  const [other] = names.filter((name) => !name.startsWith('this build'));
  const verdicts: Verdict[] = [];
  if (other !== undefined && doors.includes('http')) {
    const [now, then] = [throughput('http', own), throughput('http', other)];
    verdicts.push({
      bar: `HTTP makes at least ${BAR} times the steps of the other build`,
      isMet: now >= BAR * then,
      measured: `${now.toFixed(1)} to ${then.toFixed(1)} steps/s: ${(now / then).toFixed(2)} times`,
    });
  }
  if (doors.includes('http') && doors.includes('stream')) {
    const [stream, http] = [throughput('stream', own), throughput('http', own)];
    verdicts.push({
      bar: 'the stream makes at least the steps of HTTP',
      isMet: stream >= http,
      measured: `${stream.toFixed(1)} to ${http.toFixed(1)} steps/s: ${(stream / http).toFixed(2)} times`,
    });
  }
  return verdicts;
}
