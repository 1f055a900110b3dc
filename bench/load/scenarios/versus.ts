import { acceptedBySession, type Summary, summarise } from '../../../src/load/sample.js';
import type { Row } from '../../../src/load/table.js';
import { makeCloth } from '../cloth.js';
import { type Contestant, median, processorMs, ratiosByRound, waitingMs, withContestants } from '../contestants.js';
import { runStreams, runUnary } from '../grpc-driver.js';
import { runHttp } from '../http-driver.js';
import type { ScenarioInput, ScenarioResult, Verdict } from '../scenario.js';
import { openSessions } from '../sessions.js';
import type { DoorName } from '../settings.js';
import { summaryRow } from '../table.js';

/** Every thread compiles its code before the measurement. */
const WARM_SECONDS = 4;
/** This build must make this many times the steps of the other one over HTTP. */
const BAR = 2;

interface Turn {
  readonly round: number;
  readonly door: DoorName;
  readonly contestant: string;
  readonly summary: Summary;
  /** ms of processor time of the service per accepted step */
  readonly processor: number;
  /** ms for which its threads were ready and waited for a core meanwhile, in total, per accepted step */
  readonly waiting: number;
  /** accepted steps of the session with the fewest and of the one with the most */
  readonly fewest: number;
  readonly most: number;
}

/** Measures steps of many sessions, each with one request at a time; builds and doors alternate. */
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
      // The order alternates, because the machine may be getting busier, or quieter.
      for (const door of round % 2 === 0 ? doors : doors.toReversed()) {
        for (const one of contestants) {
          const { pid } = one.server;
          const before = { processor: processorMs(pid), waiting: waitingMs(pid) };
          const begun = performance.now();
          const samples = await runDoor(door, one, sessions.get(one)!, seconds);
          const summary = summarise(samples, (performance.now() - begun) / 1000);
          const aStep = (now: number | undefined, then: number | undefined): number =>
            ((now ?? Number.NaN) - (then ?? Number.NaN)) / summary.accepted;
          const processor = aStep(processorMs(pid), before.processor);
          const waiting = aStep(waitingMs(pid), before.waiting);
          const bySession = acceptedBySession(samples, count);
          const [fewest, most] = [Math.min(...bySession), Math.max(...bySession)];
          turns.push({ round, door, contestant: one.name, summary, processor, waiting, fewest, most });
          tell(
            `${round + 1}/${rounds} ${door}, ${one.name}: ${summary.throughput.toFixed(1)} steps/s, ${processor.toFixed(2)} ms processor time and ${waiting.toFixed(2)} ms waiting for it a step`,
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
      return {
        ...summaryRow(`${door}, ${name}`, middle.summary),
        'processor ms': processor,
        'waiting ms': median(mine.map((turn) => turn.waiting)),
        fewest: middle.fewest,
        most: middle.most,
      };
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
    verdicts: verdictsOf(names, doors, turns),
    details: { vertices: cloth.vertices, triangles: cloth.triangles, sessions: count, turns },
  };
}

function verdictsOf(names: readonly string[], doors: readonly DoorName[], turns: readonly Turn[]): Verdict[] {
  const own = names.find((name) => name.startsWith('this build'))!;
  const [other] = names.filter((name) => !name.startsWith('this build'));
  const rates = (door: DoorName, contestant: string): number[] =>
    turns
      .filter((turn) => turn.door === door && turn.contestant === contestant)
      .map(({ summary }) => summary.throughput);
  const verdicts: Verdict[] = [];
  if (other !== undefined && doors.includes('http')) {
    verdicts.push({
      bar: `HTTP makes at least ${BAR} times the steps of the other build`,
      ...compare(rates('http', own), rates('http', other), BAR),
    });
  }
  if (doors.includes('http') && doors.includes('stream')) {
    verdicts.push({
      bar: 'the stream makes at least the steps of HTTP',
      ...compare(rates('stream', own), rates('http', own), 1),
    });
  }
  return verdicts;
}

/** Compares the steps per second of two contestants, by round. */
function compare(own: readonly number[], other: readonly number[], bar: number): Pick<Verdict, 'isMet' | 'measured'> {
  const ratios = ratiosByRound(own, other);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return {
    isMet: median(ratios) >= bar,
    measured:
      `${median(ratios).toFixed(2)} times (median of ${ratios.length} rounds, from ${least.toFixed(2)} to ${most.toFixed(2)}; ` +
      `medians ${median(own).toFixed(1)} and ${median(other).toFixed(1)} steps/s)`,
  };
}
